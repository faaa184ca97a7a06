//! `ComponentRelease`: a component as it was at one moment, with everything that it is rendered from.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    component::TraitInstance,
    component_trait::TraitSpec,
    component_type::ComponentTypeSpec,
    problem::Problem,
    reference::Reference,
    schema,
    workload::{WorkloadOwner, WorkloadTemplate},
};

/// A component as it was at one moment. Nothing of it can change.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "ComponentRelease",
    plural = "componentreleases",
    namespaced,
    category = "openchoreo",
    status = "ComponentReleaseStatus",
    derive = "PartialEq",
    doc = "A component as it was at one moment, with everything that it is rendered from. Never changes.",
    selectable = ".spec.owner.projectName",
    selectable = ".spec.owner.componentName",
    printcolumn(
        name = "Project",
        type_ = "string",
        json_path = ".spec.owner.projectName"
    ),
    printcolumn(
        name = "Component",
        type_ = "string",
        json_path = ".spec.owner.componentName"
    ),
    printcolumn(
        name = "Type",
        type_ = "string",
        json_path = ".spec.componentType.name",
        priority = 1
    ),
    printcolumn(
        name = "Image",
        type_ = "string",
        json_path = ".spec.workload.container.image",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[
    ("self == oldSelf", "a ComponentRelease is immutable: make a new one"),
])))]
pub struct ComponentReleaseSpec {
    /// Whose snapshot it is.
    pub owner: WorkloadOwner,
    /// The component type as it was.
    pub component_type: FrozenComponentType,
    /// The traits as they were, those of the type and those of the component.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub traits: Vec<FrozenTrait>,
    /// What the component said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component_profile: Option<ComponentProfile>,
    /// The workload as it was.
    pub workload: WorkloadTemplate,
}

/// A component type as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FrozenComponentType {
    /// `ComponentType` or `ClusterComponentType`.
    #[schemars(extend("enum" = ["ComponentType", "ClusterComponentType"]))]
    pub kind: String,
    /// What runs, and the name of the type: `deployment/service`.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What it asked for.
    pub spec: ComponentTypeSpec,
}

/// A trait as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FrozenTrait {
    /// `Trait` or `ClusterTrait`.
    #[schemars(extend("enum" = ["Trait", "ClusterTrait"]))]
    pub kind: String,
    /// The name of the trait.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What it asked for.
    pub spec: TraitSpec,
}

/// What a component said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentProfile {
    /// Parameters of the component type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub parameters: Option<Value>,
    /// The traits that it has beyond those of its type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 100),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["instanceName"])
    )]
    pub traits: Vec<TraitInstance>,
}

/// What was seen of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentReleaseStatus {
    /// Whether the snapshot can be deployed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
}

impl FrozenComponentType {
    /// The name of the type without what runs.
    pub fn short_name(&self) -> &str {
        self.name
            .split_once('/')
            .map_or(self.name.as_str(), |(_, name)| name)
    }
}

impl FrozenTrait {
    /// What it is a snapshot of.
    pub fn reference(&self) -> Reference {
        Reference::given(Some(&self.kind), "Trait", &self.name)
    }
}

impl ComponentReleaseSpec {
    /// The snapshot of a trait.
    pub fn frozen_trait(&self, wanted: &Reference) -> Result<&TraitSpec, Problem> {
        let mut meant = self
            .traits
            .iter()
            .filter(|frozen| frozen.reference() == *wanted);
        let found = meant.next().ok_or_else(|| {
            Problem::new(
                "spec.traits",
                format!("has no {} {}", wanted.kind, wanted.name),
            )
        })?;
        if meant.next().is_some() {
            return Err(Problem::new(
                "spec.traits",
                format!("has {} {} twice", wanted.kind, wanted.name),
            ));
        }
        Ok(&found.spec)
    }
}
