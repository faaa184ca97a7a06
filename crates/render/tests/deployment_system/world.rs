//! Documents as an organization has them, and what is rendered from them.

use std::collections::BTreeMap;

use quadrille_render::{
    Named, Plan, Planned,
    cell::{self, Asked, CellInputs},
    deployment_system::{Plane, Stage, binding, deployment, endpoint_templates},
};
use quadrille_types::{
    ApiClass, ApiClassSpec, Build, Component, ConfigurationGroup, DataPlane, DeployableArtifact,
    Deployment, DeploymentTrack, Environment, Project, ScheduledTaskBinding, ScheduledTaskClass,
    SecretReference, SecretReferenceSpec, ServiceBinding, ServiceClass, WebApplicationBinding,
    WebApplicationClass,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// What to render, and what of it to show.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Task {
    /// The Deployment.
    deployment: Option<String>,
    /// The binding: `ServiceBinding/cart` …
    binding: Option<String>,
    show: Option<Vec<String>>,
    /// Other Deployments that were there first.
    #[serde(default)]
    rivals: Vec<String>,
    /// Whether the cell is shown too.
    #[serde(default)]
    cell: bool,
    /// Whether the Endpoints are shown too.
    #[serde(default)]
    endpoints: bool,
}

/// Documents by kind.
#[derive(Default)]
pub(crate) struct World {
    documents: Vec<Value>,
    secrets: BTreeMap<String, SecretReferenceSpec>,
    builds: Vec<Build>,
    groups: Vec<ConfigurationGroup>,
    services: Vec<ServiceBinding>,
    classes: BTreeMap<String, ApiClassSpec>,
}

impl World {
    pub(crate) fn read(documents: Vec<Value>) -> Self {
        let mut world = Self {
            documents,
            ..Self::default()
        };
        let secrets = world.all::<SecretReference>("SecretReference").into_iter();
        world.secrets = secrets
            .map(|secret| (secret.metadata.name.unwrap(), secret.spec))
            .collect();
        world.builds = world.all("Build");
        world.groups = world.all("ConfigurationGroup");
        world.services = world.all("ServiceBinding");
        let classes = world.all::<ApiClass>("APIClass").into_iter();
        world.classes = classes
            .map(|class| (class.metadata.name.unwrap(), class.spec))
            .collect();
        world
    }

    fn all<K: DeserializeOwned>(&self, kind: &str) -> Vec<K> {
        let of_kind = self
            .documents
            .iter()
            .filter(|document| document["kind"] == kind);
        of_kind
            .map(|document| {
                serde_json::from_value(document.clone())
                    .unwrap_or_else(|error| panic!("{kind} {}: {error}", document["metadata"]))
            })
            .collect()
    }

    /// The object of a kind and name; of several components' ones, that of the component.
    fn get<K: DeserializeOwned>(&self, kind: &str, name: &str, component: Option<&str>) -> K {
        let found = self.documents.iter().find(|document| {
            let metadata = &document["metadata"];
            document["kind"] == kind
                && metadata["name"] == name
                && component.is_none_or(|component| {
                    metadata["labels"]["openchoreo.dev/component"] == component
                })
        });
        let found = found.unwrap_or_else(|| panic!("there is no {kind} {name}"));
        serde_json::from_value(found.clone())
            .unwrap_or_else(|error| panic!("{kind} {name}: {error}"))
    }

    pub(crate) fn rendered(&self, task: &Task) -> Value {
        match (&task.deployment, &task.binding) {
            (Some(name), None) => self.deployment(name, task),
            (None, Some(name)) => self.binding(name, task),
            _ => panic!("a case renders a deployment or a binding"),
        }
    }

    fn deployment(&self, name: &str, task: &Task) -> Value {
        let given: Deployment = self.get("Deployment", name, None);
        let label = |word: &str| {
            let labels = given.metadata.labels.as_ref().unwrap();
            labels[&format!("openchoreo.dev/{word}")].clone()
        };
        let component = label("component");
        let reference = given.spec.deployment_artifact_ref.clone();
        let artifact: DeployableArtifact = self.get("DeployableArtifact", &reference, None);
        let project: Project = self.get("Project", &label("project"), None);
        let owner: Component = self.get("Component", &component, None);
        let track: DeploymentTrack = self.get(
            "DeploymentTrack",
            &label("deployment-track"),
            Some(&component),
        );
        let environment: Environment = self.get("Environment", &label("environment"), None);
        let plane: DataPlane = self.get("DataPlane", "default", None);
        let none = BTreeMap::new();
        let annotations = plane.metadata.annotations.as_ref().unwrap_or(&none);
        let plane = Plane {
            name: "default",
            spec: &plane.spec,
            annotations,
        };
        let stage = label("environment");
        let inputs = deployment::Inputs {
            deployment: &given,
            artifact: &artifact,
            builds: self.builds.iter().collect(),
            project: &project,
            component: &owner,
            track: &track,
            environment: Stage {
                name: &stage,
                spec: &environment.spec,
            },
            plane,
            groups: self.groups.iter().collect(),
            secrets: &self.secrets,
            rivals: task.rivals.iter().map(String::as_str).collect(),
        };
        let mut shown = match deployment::plan(&inputs) {
            Ok(plan) => shown(&plan, task.show.as_deref()),
            Err(mistakes) => return refused(&mistakes),
        };
        if task.endpoints {
            shown["endpoints"] = json!(endpoint_templates::of(&given, &artifact).unwrap());
        }
        if task.cell {
            shown["cell"] = cell("acme", &label("project"), &stage, plane);
        }
        shown
    }

    fn binding(&self, written: &str, task: &Task) -> Value {
        let (kind, name) = written.split_once('/').unwrap();
        match kind {
            "ServiceBinding" => {
                let bound: ServiceBinding = self.get(kind, name, None);
                let class: ServiceClass = self.get("ServiceClass", &bound.spec.class_name, None);
                let instance = binding::Instance::Service(&bound.spec, &class.spec);
                self.bound(name, instance, bound.spec.environment.as_str(), task)
            }
            "WebApplicationBinding" => {
                let bound: WebApplicationBinding = self.get(kind, name, None);
                let class: WebApplicationClass =
                    self.get("WebApplicationClass", &bound.spec.class_name, None);
                let instance = binding::Instance::WebApplication(&bound.spec, &class.spec);
                self.bound(name, instance, bound.spec.environment.as_str(), task)
            }
            "ScheduledTaskBinding" => {
                let bound: ScheduledTaskBinding = self.get(kind, name, None);
                let class: ScheduledTaskClass =
                    self.get("ScheduledTaskClass", &bound.spec.class_name, None);
                let instance = binding::Instance::ScheduledTask(&bound.spec, &class.spec);
                self.bound(name, instance, bound.spec.environment.as_str(), task)
            }
            other => panic!("{other} is no binding"),
        }
    }

    fn bound(
        &self,
        name: &str,
        instance: binding::Instance<'_>,
        stage: &str,
        task: &Task,
    ) -> Value {
        let environment: Environment = self.get("Environment", stage, None);
        let plane: DataPlane = self.get("DataPlane", "default", None);
        let none = BTreeMap::new();
        let annotations = plane.metadata.annotations.as_ref().unwrap_or(&none);
        let plane = Plane {
            name: "default",
            spec: &plane.spec,
            annotations,
        };
        let mut services: Vec<&ServiceBinding> = self.services.iter().collect();
        services.sort_by_key(|service| service.metadata.name.clone());
        let here = services
            .iter()
            .filter(|one| one.spec.environment.as_str() == stage);
        let inputs = binding::Inputs {
            organization: "acme",
            name,
            instance,
            environment: Stage {
                name: stage,
                spec: &environment.spec,
            },
            plane,
            groups: self.groups.iter().collect(),
            secrets: &self.secrets,
            offers: here
                .flat_map(|service| binding::Offer::of(service))
                .collect(),
        };
        match binding::plan(&inputs, |base| {
            binding::routes(&inputs, base, &self.classes, &[])
        }) {
            Ok(outcome) => {
                let mut shown = shown(&outcome.plan, task.show.as_deref());
                if !outcome.endpoints.is_empty() {
                    shown["status"] = json!({ "endpoints": outcome.endpoints });
                }
                if task.cell {
                    shown["cell"] = cell("acme", "shop", stage, plane);
                }
                shown
            }
            Err(mistakes) => refused(&mistakes),
        }
    }
}

fn refused(mistakes: &quadrille_render::deployment_system::Mistakes) -> Value {
    let words: Vec<String> = mistakes.0.iter().map(ToString::to_string).collect();
    json!({ "mistakes": words })
}

fn cell(organization: &str, project: &str, environment: &str, plane: Plane<'_>) -> Value {
    let none = BTreeMap::new();
    let named = |name| Named { name, uid: "u" };
    let objects = cell::plan(&CellInputs {
        organization,
        project: named(project),
        environment: named(environment),
        asked: &Asked::read(&none, &none, plane.annotations).unwrap(),
        plane_spec: plane.spec,
        plane_annotations: plane.annotations,
        runs_older: true,
    });
    let object = |planned: Planned| (planned.id, planned.object);
    objects.into_iter().map(object).collect()
}

fn shown(plan: &Plan, wanted: Option<&[String]>) -> Value {
    let ids: Vec<&str> = plan
        .objects
        .iter()
        .map(|planned| planned.id.as_str())
        .collect();
    let full = plan.objects.iter().filter(|planned| {
        let kind = planned.object["kind"].as_str().unwrap_or_default();
        wanted.is_none_or(|wanted| wanted.iter().any(|wanted| wanted == kind))
    });
    let objects: Map<String, Value> = full
        .map(|planned| (planned.id.clone(), planned.object.clone()))
        .collect();
    let mut shown = json!({ "namespace": plan.namespace, "ids": ids });
    let parts = [
        ("objects", json!(objects)),
        ("secretReferences", json!(plan.secret_references)),
        ("pendingConnections", json!(plan.pending_connections)),
        ("notes", json!(plan.notes)),
    ];
    for (name, part) in parts {
        let is_empty = part.as_array().is_some_and(Vec::is_empty)
            || part.as_object().is_some_and(Map::is_empty);
        if !is_empty {
            shown[name] = part;
        }
    }
    shown
}
