//! `Component`: what a developer wants to run: a type and its parameters.
//!
//! The newer generation names a component type and traits and is deployed by the component chain; the older
//! one has a bare `type` word and is deployed by objects of other kinds.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{names::ProjectName, problem::Problem, reference::Reference, schema};

/// What is asked of a component.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "Component",
    plural = "components",
    namespaced,
    shortname = "comp",
    shortname = "comps",
    category = "openchoreo",
    status = "ComponentStatus",
    derive = "PartialEq",
    doc = "What a developer wants to run: a type and its parameters.",
    selectable = ".spec.owner.projectName",
    printcolumn(
        name = "Project",
        type_ = "string",
        json_path = ".spec.owner.projectName"
    ),
    printcolumn(
        name = "ComponentType",
        type_ = "string",
        json_path = ".spec.componentType.name"
    ),
    printcolumn(
        name = "Release",
        type_ = "string",
        json_path = ".status.latestRelease.name"
    ),
    printcolumn(
        name = "Type",
        type_ = "string",
        json_path = ".spec.type",
        priority = 1
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message",
        priority = 1
    ),
    validation = Rule::new("size(self.metadata.name) <= 63")
        .message("labels hold this name: it has at most 63 characters")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[
    (
        "has(self.componentType) || has(self.type)",
        "a component has a componentType, or the older type",
    ),
    (
        "!has(oldSelf.componentType) || has(self.componentType)",
        "componentType cannot be taken away again",
    ),
])))]
pub struct ComponentSpec {
    /// Whose component it is; cannot change.
    pub owner: ComponentOwner,
    /// The component type that it is rendered by; cannot change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component_type: Option<ComponentTypeRef>,
    /// The older word for what it is, such as `Service` or `WebApplication`. A component with nothing but this is
    /// deployed by an object of that kind.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub older_type: Option<String>,
    /// Parameters of the component type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub parameters: Option<Value>,
    /// What it has beyond its type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 100),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["instanceName"])
    )]
    pub traits: Vec<TraitInstance>,
    /// How it is built from source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<WorkflowRef>,
    /// Whether every change is deployed at once to the first environment of the pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_deploy: Option<bool>,
    /// Whether every change of its source is built at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_build: Option<bool>,
    /// How it is built from source, in the older form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<OlderBuild>,
}

/// Whose component it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[("self == oldSelf", "owner is immutable; make another object")])))]
pub struct ComponentOwner {
    /// The project.
    pub project_name: ProjectName,
}

/// A component type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[(
    "self.name == oldSelf.name && (has(self.kind) ? self.kind : 'ComponentType') == \
     (has(oldSelf.kind) ? oldSelf.kind : 'ComponentType')",
    "componentType is immutable; make another object"
)])))]
pub struct ComponentTypeRef {
    /// Where the type lives: `ComponentType` in the same namespace (meant where nothing is said), or
    /// `ClusterComponentType`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["ComponentType", "ClusterComponentType"]))]
    pub kind: Option<String>,
    /// What runs, and the name of the type: `deployment/service`.
    #[schemars(
        length(max = 317),
        regex(
            pattern = r"^(deployment|statefulset|cronjob|job|proxy)/[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
        )
    )]
    pub name: String,
}

/// A trait, with its parameters, under a name of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraitInstance {
    /// Where the trait lives: `Trait` in the same namespace (meant where nothing is said), or `ClusterTrait`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Trait", "ClusterTrait"]))]
    pub kind: Option<String>,
    /// The name of the trait.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Which use of the trait this is: one trait may be used several times.
    #[schemars(length(min = 1, max = 253))]
    pub instance_name: String,
    /// Parameters of the trait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub parameters: Option<Value>,
}

impl TraitInstance {
    /// The trait that is meant.
    pub fn reference(&self) -> Reference {
        Reference::given(self.kind.as_deref(), "Trait", &self.name)
    }
}

/// A workflow that builds a component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowRef {
    /// Where the workflow lives: `ClusterWorkflow` (meant where nothing is said), or `Workflow` in the same namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Workflow", "ClusterWorkflow"]))]
    pub kind: Option<String>,
    /// The name of the workflow.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Parameters of the workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub parameters: Option<Value>,
}

/// How a component is built from source, in the older form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OlderBuild {
    /// Where the source is.
    pub repository: Repository,
    /// What builds it.
    pub template_ref: BuildTemplateRef,
}

/// Where source is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repository {
    /// The address of the repository.
    pub url: String,
    /// What of it.
    pub revision: RepositoryRevision,
    /// The folder of the component.
    pub app_path: String,
}

/// A revision of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepositoryRevision {
    /// The branch.
    pub branch: String,
}

/// What builds a component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BuildTemplateRef {
    /// The engine that runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The name of the template.
    pub name: String,
    /// Its parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<BuildParameter>,
}

/// A parameter of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BuildParameter {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What was seen of a component.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the component is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The newest snapshot of the component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_release: Option<LatestComponentRelease>,
}

/// The newest snapshot of a component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LatestComponentRelease {
    /// The name of the snapshot.
    pub name: String,
    /// The hash over what it holds.
    pub release_hash: String,
    /// A digest over what the component and its workload say: if it changed, a developer did something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_hash: Option<String>,
    /// A digest over which versions of its type and traits it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definitions: Option<String>,
}

/// Who deploys a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeployedBy {
    /// The component chain, by a component type.
    ComponentType {
        /// The type.
        reference: Reference,
        /// What the component says that it runs: `deployment`, `cronjob` …
        workload_type: String,
    },
    /// An object of the older generation of this kind.
    OlderKind(String),
}

/// A component as everybody else sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// Whose component it is.
    pub project: ProjectName,
    /// Who deploys it.
    pub deployed_by: DeployedBy,
    /// Parameters of the type; null where there are none.
    pub parameters: Value,
    /// Its traits.
    pub traits: Vec<TraitInstance>,
    /// Whether every change is deployed at once.
    pub auto_deploy: bool,
}

/// The older words, and what the component types of that name run.
const OLDER_TYPES: [(&str, &str); 4] = [
    ("Service", "deployment"),
    ("WebApplication", "deployment"),
    ("ScheduledTask", "cronjob"),
    ("ManualTask", "job"),
];

impl ComponentSpec {
    /// Reads the variants of all generations into one form.
    pub fn resolve(&self) -> Result<Resolved, Problem> {
        Ok(Resolved {
            project: self.owner.project_name.clone(),
            deployed_by: self.deployed_by()?,
            parameters: self.parameters.clone().unwrap_or(Value::Null),
            traits: self.traits.clone(),
            auto_deploy: self.auto_deploy.unwrap_or_default(),
        })
    }

    fn deployed_by(&self) -> Result<DeployedBy, Problem> {
        let Some(written) = &self.component_type else {
            return match &self.older_type {
                Some(word) => Ok(DeployedBy::OlderKind(word.clone())),
                None => Err(Problem::new("spec.componentType", "is missing")),
            };
        };
        let (workload_type, name) = written.name.split_once('/').ok_or_else(|| {
            Problem::new(
                "spec.componentType.name",
                format!(
                    "is {:?}, must be what runs and the type's name, such as deployment/service",
                    written.name
                ),
            )
        })?;
        if let Some(older) = &self.older_type {
            let runs = OLDER_TYPES.iter().find(|(word, _)| word == older);
            if runs.is_some_and(|(_, runs)| *runs != workload_type) {
                return Err(Problem::new(
                    "spec.type",
                    format!(
                        "is {older}, which is no {workload_type} as componentType says: take type out"
                    ),
                ));
            }
        }
        Ok(DeployedBy::ComponentType {
            reference: Reference::given(written.kind.as_deref(), "ComponentType", name),
            workload_type: workload_type.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resolved(fields: &Value) -> Result<Resolved, String> {
        let mut spec = json!({ "owner": { "projectName": "shop" } });
        spec.as_object_mut()
            .unwrap()
            .append(&mut fields.as_object().unwrap().clone());
        let spec: ComponentSpec = serde_json::from_value(spec).unwrap();
        spec.resolve().map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_component_type_means_the_chain_and_a_bare_word_another_kind() {
        let newer =
            resolved(&json!({ "componentType": { "name": "deployment/service" } })).unwrap();
        let expected = DeployedBy::ComponentType {
            reference: Reference {
                kind: "ComponentType".into(),
                name: "service".into(),
            },
            workload_type: "deployment".into(),
        };
        assert_eq!((newer.deployed_by, newer.auto_deploy), (expected, false));
        let older = resolved(&json!({ "type": "Service" })).unwrap();
        assert_eq!(older.deployed_by, DeployedBy::OlderKind("Service".into()));
    }

    #[test]
    fn type_and_component_type_may_agree_but_not_contradict() {
        let of = |word: &str| {
            resolved(&json!({ "type": word, "componentType": { "name": "deployment/x" } })).err()
        };
        assert_eq!(of("WebApplication"), None);
        assert_eq!(
            of("Webhook"),
            None,
            "a word that says nothing about what runs"
        );
        let words = of("ScheduledTask").unwrap();
        assert!(words.starts_with("spec.type: is ScheduledTask"), "{words}");
    }

    #[test]
    fn what_names_no_type_is_a_problem_with_its_field() {
        assert_eq!(
            resolved(&json!({})).unwrap_err(),
            "spec.componentType: is missing"
        );
        let words = resolved(&json!({ "componentType": { "name": "service" } })).unwrap_err();
        assert!(
            words.starts_with("spec.componentType.name: is \"service\""),
            "{words}"
        );
    }
}
