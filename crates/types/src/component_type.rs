//! `ComponentType` and `ClusterComponentType`: how a platform team says what components of a kind become.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    reference::Reference,
    schema,
    templates::{PostRenderValidation, ResourceTemplate, SchemaSection, ValidationRule},
};

/// What is asked of a component type.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "ComponentType",
    plural = "componenttypes",
    namespaced,
    shortname = "ct",
    shortname = "cts",
    category = "openchoreo",
    status = "ComponentTypeStatus",
    derive = "PartialEq",
    doc = "What components of a kind become: parameters, and templates of Kubernetes objects.",
    printcolumn(
        name = "WorkloadType",
        type_ = "string",
        json_path = ".spec.workloadType"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[
    (
        "!has(self.validations) || !has(self.preRenderValidations) || \
         self.validations.size() == 0 || self.preRenderValidations.size() == 0",
        "give preRenderValidations, or the older validations, not both",
    ),
    (
        "self.workloadType == 'proxy' || self.resources.exists(resource, resource.id == self.workloadType)",
        "one of the resources must have the workloadType as its id",
    ),
])))]
pub struct ComponentTypeSpec {
    /// What runs; cannot change.
    #[schemars(extend(
        "enum" = ["deployment", "statefulset", "cronjob", "job", "proxy"],
        "x-kubernetes-validations" = schema::rules(&[("self == oldSelf", "workloadType is immutable; make another object")]),
    ))]
    pub workload_type: String,
    /// The workflows that may build components of the type; none where nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_workflows: Vec<AllowedWorkflow>,
    /// The traits that components of the type may have; none where nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_traits: Vec<AllowedTrait>,
    /// What a component says once, for all environments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<SchemaSection>,
    /// What is said for each environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment_configs: Option<SchemaSection>,
    /// Traits that every component of the type has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 100),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["instanceName"])
    )]
    pub traits: Vec<EmbeddedTrait>,
    /// What must hold before anything is rendered, by its older name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validations: Vec<ValidationRule>,
    /// What must hold before anything is rendered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pre_render_validations: Vec<ValidationRule>,
    /// What must hold of what was rendered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub post_render_validations: Vec<PostRenderValidation>,
    /// The objects.
    #[schemars(
        length(min = 1, max = 200),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"])
    )]
    pub resources: Vec<ResourceTemplate>,
}

/// What is asked of a component type of the whole cluster: the same, of things of the whole cluster.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "ClusterComponentType",
    plural = "clustercomponenttypes",
    shortname = "cct",
    shortname = "ccts",
    category = "openchoreo",
    status = "ComponentTypeStatus",
    derive = "PartialEq",
    doc = "A component type for every organization.",
    printcolumn(
        name = "WorkloadType",
        type_ = "string",
        json_path = ".spec.workloadType"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message",
        priority = 1
    )
)]
#[serde(transparent)]
#[schemars(transform = only_cluster_wide_references)]
pub struct ClusterComponentTypeSpec(pub ComponentTypeSpec);

/// A workflow that may build components of a type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AllowedWorkflow {
    /// `ClusterWorkflow` (meant where nothing is said), or `Workflow` in the same namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Workflow", "ClusterWorkflow"]))]
    pub kind: Option<String>,
    /// The name of the workflow.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// A trait that components of a type may have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AllowedTrait {
    /// `Trait` in the same namespace, or `ClusterTrait`; where nothing is said, the one of the type's own scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Trait", "ClusterTrait"]))]
    pub kind: Option<String>,
    /// The name of the trait.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// A trait that every component of a type has. Its values may have `${…}` in them, over the component's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddedTrait {
    /// `Trait` in the same namespace, or `ClusterTrait`; where nothing is said, the one of the type's own scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Trait", "ClusterTrait"]))]
    pub kind: Option<String>,
    /// The name of the trait.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Which use of the trait this is.
    #[schemars(length(min = 1, max = 253))]
    pub instance_name: String,
    /// Parameters of the trait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub parameters: Option<Value>,
    /// What the trait is told for each environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub environment_configs: Option<Value>,
}

/// What was seen of a component type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentTypeStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Whether the type can be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
}

/// The kind of trait that a reference without a kind means, in a type of a kind.
pub fn usual_trait_kind(type_kind: &str) -> &'static str {
    if type_kind == "ClusterComponentType" {
        "ClusterTrait"
    } else {
        "Trait"
    }
}

impl ComponentTypeSpec {
    /// What must hold before anything is rendered, under whichever name it was written, with that name.
    pub fn pre_render_rules(&self) -> (&'static str, &[ValidationRule]) {
        if self.pre_render_validations.is_empty() {
            ("validations", &self.validations)
        } else {
            ("preRenderValidations", &self.pre_render_validations)
        }
    }

    /// Whether components of the type may have a trait; `type_kind` is the type's own kind.
    pub fn allows(&self, type_kind: &str, wanted: &Reference) -> bool {
        let usual = usual_trait_kind(type_kind);
        let mut allowed = self.allowed_traits.iter();
        allowed.any(|allowed| {
            Reference::given(allowed.kind.as_deref(), usual, &allowed.name) == *wanted
        })
    }
}

impl EmbeddedTrait {
    /// The trait that is meant, in a type of a kind.
    pub fn reference(&self, type_kind: &str) -> Reference {
        Reference::given(
            self.kind.as_deref(),
            usual_trait_kind(type_kind),
            &self.name,
        )
    }
}

/// In a definition, leaves only the kinds that belong to no namespace.
fn only_cluster_wide_references(schema: &mut Schema) {
    for (list, kind) in [
        ("allowedWorkflows", "ClusterWorkflow"),
        ("allowedTraits", "ClusterTrait"),
        ("traits", "ClusterTrait"),
    ] {
        let allowed = schema.pointer_mut(&format!("/properties/{list}/items/properties/kind/enum"));
        if let Some(allowed) = allowed {
            *allowed = json!([kind]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_of_the_cluster_means_traits_of_the_cluster() {
        let spec: ComponentTypeSpec = serde_json::from_value(json!({
            "workloadType": "deployment",
            "allowedTraits": [{ "name": "scaler" }],
            "traits": [{ "name": "budget", "instanceName": "b" }],
            "resources": [],
        }))
        .unwrap();
        let reference = |kind: &str, name| Reference {
            kind: kind.to_owned(),
            name,
        };
        for (of, kind, other) in [
            ("ComponentType", "Trait", "ClusterTrait"),
            ("ClusterComponentType", "ClusterTrait", "Trait"),
        ] {
            assert_eq!(
                spec.traits[0].reference(of),
                reference(kind, "budget".to_owned())
            );
            assert!(spec.allows(of, &reference(kind, "scaler".to_owned())));
            assert!(!spec.allows(of, &reference(other, "scaler".to_owned())));
        }
    }

    #[test]
    fn the_definition_of_a_cluster_type_names_only_cluster_kinds() {
        let text = crate::crd_documents()
            .into_iter()
            .find(|crd| crd["spec"]["names"]["kind"] == "ClusterComponentType")
            .unwrap()
            .to_string();
        assert!(
            !text.contains("\"Trait\"") && !text.contains("\"Workflow\""),
            "{text}"
        );
        assert_eq!(text.matches("[\"ClusterTrait\"]").count(), 2, "{text}");
    }
}
