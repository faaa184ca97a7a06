//! Documents instead of a cluster: what `quad render` and tests render from.
//!
//! Whatever a component needs is looked for among the documents: its workload, type, traits, bindings, environment and
//! plane, and the components that it connects to, which are rendered too to know their addresses.

mod cell;
mod error;
mod exposed;

use std::collections::BTreeMap;

pub use error::DocumentError;
pub use exposed::Exposed;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quadrille_types::{
    ClusterComponentType, ClusterDataPlane, ClusterTrait, Component, ComponentRelease,
    ComponentReleaseSpec, ComponentType, ComponentTypeSpec, DataPlane, DataPlaneSpec, Environment,
    EnvironmentSpec, Problem, Project, ReleaseBinding, ReleaseBindingSpec, SecretReference,
    SecretReferenceSpec, Trait, TraitSpec, Workload,
    component::DeployedBy,
    reference::Reference,
    release_binding::{EndpointUrl, ResolvedConnection},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    cell::Asked,
    dependencies,
    error::RenderError,
    inputs::{Inputs, Named, ResolvedResource},
    plan::Plan,
    renderer::Renderer,
    snapshot::{self, Snapshot},
};

/// Documents that can be rendered.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    components: BTreeMap<String, Component>,
    workloads: Vec<Workload>,
    types: BTreeMap<Reference, ComponentTypeSpec>,
    traits: BTreeMap<Reference, TraitSpec>,
    releases: BTreeMap<String, ComponentReleaseSpec>,
    bindings: Vec<ReleaseBinding>,
    environments: BTreeMap<String, Environment>,
    planes: BTreeMap<Reference, (ObjectMeta, DataPlaneSpec)>,
    projects: BTreeMap<String, Project>,
    secrets: BTreeMap<String, SecretReferenceSpec>,
    resources: Vec<ResolvedResource>,
    exposing: exposed::Exposing,
}

impl Documents {
    /// Reads documents of our kinds; others are none of our business.
    pub fn read(documents: Vec<Value>) -> Result<Self, DocumentError> {
        let mut read = Self::default();
        for document in documents {
            read.take(document)?;
        }
        Ok(read)
    }

    fn take(&mut self, document: Value) -> Result<(), DocumentError> {
        let kind = document["kind"].as_str().unwrap_or_default().to_owned();
        let name = document["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let is_ours = document["apiVersion"]
            == format!("{}/{}", quadrille_types::GROUP, quadrille_types::VERSION);
        if !is_ours {
            return Ok(());
        }
        let reference = Reference {
            kind: kind.clone(),
            name: name.clone(),
        };
        match kind.as_str() {
            "Component" => {
                self.components.insert(name, read(document)?);
            }
            "Workload" => self.workloads.push(read(document)?),
            "ComponentType" => {
                self.types
                    .insert(reference, read::<ComponentType>(document)?.spec);
            }
            "ClusterComponentType" => {
                self.types
                    .insert(reference, read::<ClusterComponentType>(document)?.spec.0);
            }
            "Trait" => {
                self.traits.insert(reference, read::<Trait>(document)?.spec);
            }
            "ClusterTrait" => {
                self.traits
                    .insert(reference, read::<ClusterTrait>(document)?.spec.0);
            }
            "ComponentRelease" => {
                self.releases
                    .insert(name, read::<ComponentRelease>(document)?.spec);
            }
            "ReleaseBinding" => self.bindings.push(read(document)?),
            "Environment" => {
                self.environments.insert(name, read(document)?);
            }
            "DataPlane" => {
                let plane: DataPlane = read(document)?;
                self.planes.insert(reference, (plane.metadata, plane.spec));
            }
            "ClusterDataPlane" => {
                let plane: ClusterDataPlane = read(document)?;
                self.planes
                    .insert(reference, (plane.metadata, plane.spec.0));
            }
            "Project" => {
                self.projects.insert(name, read(document)?);
            }
            "SecretReference" => {
                self.secrets
                    .insert(name, read::<SecretReference>(document)?.spec);
            }
            _ => self.exposing.take(name, document)?,
        }
        Ok(())
    }

    /// With resources that were found.
    #[must_use]
    pub fn with_resources(mut self, resources: Vec<ResolvedResource>) -> Self {
        self.resources = resources;
        self
    }

    /// The components that the component chain deploys, by name.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        let deployed = self
            .components
            .iter()
            .filter(|(_, component)| component.spec.component_type.is_some());
        deployed.map(|(name, _)| name.as_str())
    }

    /// The environments, by name.
    pub fn environments(&self) -> impl Iterator<Item = &str> {
        self.environments.keys().map(String::as_str)
    }

    /// The component types, by kind and name.
    pub fn component_types(&self) -> impl Iterator<Item = (&Reference, &ComponentTypeSpec)> {
        self.types.iter()
    }

    /// The traits, by kind and name.
    pub fn traits(&self) -> impl Iterator<Item = (&Reference, &TraitSpec)> {
        self.traits.iter()
    }

    /// The snapshot of a component as it is now.
    pub fn snapshot(&self, component: &str) -> Result<Snapshot, DocumentError> {
        let named = format!("Component {component}");
        let missing = |kind: &str, name: &str, wanted_by: &str| DocumentError::Missing {
            kind: kind.to_owned(),
            name: name.to_owned(),
            wanted_by: wanted_by.to_owned(),
        };
        let found = self
            .components
            .get(component)
            .ok_or_else(|| missing("Component", component, "the command"))?;
        let invalid = |problems| DocumentError::Component {
            component: component.to_owned(),
            problems,
        };
        let resolved = found
            .spec
            .resolve()
            .map_err(|problem| invalid(vec![problem]))?;
        let DeployedBy::ComponentType { reference, .. } = &resolved.deployed_by else {
            let words = "is missing: the older type is deployed by other kinds";
            return Err(invalid(vec![Problem::new("spec.componentType", words)]));
        };
        let component_type = self
            .types
            .get(reference)
            .ok_or_else(|| missing(&reference.kind, &reference.name, &named))?;
        let owned = self.workloads.iter().filter(|workload| {
            let owner = &workload.spec.owner;
            owner.component_name.as_str() == component && owner.project_name == resolved.project
        });
        let owned: Vec<&Workload> = owned.collect();
        let [workload] = owned.as_slice() else {
            return Err(DocumentError::Workloads {
                component: component.to_owned(),
                count: owned.len(),
            });
        };
        snapshot::take(
            component,
            &found.spec,
            &workload.spec.template,
            component_type,
            &self.traits,
        )
        .map_err(invalid)
    }

    /// What a component becomes in an environment.
    pub fn plan(
        &self,
        renderer: &Renderer,
        component: &str,
        environment: &str,
    ) -> Result<Plan, DocumentError> {
        let spec = self.release(component, environment)?;
        let connections = self.connections(renderer, &spec, component, environment)?;
        self.plan_of(renderer, &spec, component, environment, &connections)
    }

    /// The snapshot that a binding names, or the component as it is now.
    fn release(
        &self,
        component: &str,
        environment: &str,
    ) -> Result<ComponentReleaseSpec, DocumentError> {
        let bound = self
            .binding(component, environment)
            .and_then(|binding| binding.spec.release_name.as_deref());
        match bound.and_then(|name| self.releases.get(name)) {
            Some(release) => Ok(release.clone()),
            None => Ok(self.snapshot(component)?.spec),
        }
    }

    fn binding(&self, component: &str, environment: &str) -> Option<&ReleaseBinding> {
        self.bindings.iter().find(|binding| {
            binding.spec.owner.component_name.as_str() == component
                && binding.spec.environment.as_str() == environment
        })
    }

    /// The addresses that a component needs, of those that are among the documents.
    fn connections(
        &self,
        renderer: &Renderer,
        release: &ComponentReleaseSpec,
        component: &str,
        environment: &str,
    ) -> Result<Vec<ResolvedConnection>, DocumentError> {
        let Ok(workload) = release.workload.resolve("spec.workload") else {
            return Ok(Vec::new()); // rendering says it
        };
        let project = release.owner.project_name.as_str();
        let organization = self.organization(component);
        let mut found = Vec::new();
        for target in
            dependencies::connection_targets(&workload, &organization, project, environment)
        {
            let known = self.components.get(&target.component);
            if known.is_none_or(|known| known.spec.owner.project_name.as_str() != target.project) {
                continue;
            }
            let other = self.release(&target.component, environment)?;
            let plan = self.plan_of(renderer, &other, &target.component, environment, &[])?;
            let endpoint = plan
                .endpoints
                .into_iter()
                .find(|endpoint| endpoint.name == target.endpoint);
            let target_port = endpoint.as_ref().and_then(|found| found.target_port);
            let Some(url): Option<EndpointUrl> = endpoint.and_then(|endpoint| endpoint.service_url)
            else {
                continue;
            };
            found.push(ResolvedConnection {
                namespace: target.namespace,
                project: target.project,
                component: target.component,
                endpoint: target.endpoint,
                visibility: target.visibility,
                url,
                target_port,
            });
        }
        Ok(found)
    }

    fn organization(&self, component: &str) -> String {
        let found = self
            .components
            .get(component)
            .and_then(|component| component.metadata.namespace.clone());
        found.unwrap_or_else(|| "default".to_owned())
    }

    fn plan_of(
        &self,
        renderer: &Renderer,
        release: &ComponentReleaseSpec,
        component: &str,
        environment: &str,
        connections: &[ResolvedConnection],
    ) -> Result<Plan, DocumentError> {
        let failed = |error| DocumentError::Render {
            component: component.to_owned(),
            error,
        };
        let uid = |metadata: Option<&ObjectMeta>| {
            metadata
                .and_then(|metadata| metadata.uid.clone())
                .unwrap_or_default()
        };
        let nothing = unsaid(release, environment);
        let binding = self.binding(component, environment);
        let stage = self.environments.get(environment);
        let no_stage = EnvironmentSpec::default();
        let environment_spec = stage.map_or(&no_stage, |stage| &stage.spec);
        let wanted = environment_spec
            .resolve()
            .map_err(|problem| {
                failed(RenderError::field(
                    format!("Environment {environment}"),
                    problem,
                ))
            })?
            .data_plane;
        let no_plane = (ObjectMeta::default(), DataPlaneSpec::default());
        let (plane, (plane_metadata, plane_spec)) =
            self.plane(wanted.as_ref(), environment, &no_plane)?;
        let annotations = plane_metadata.annotations.clone().unwrap_or_default();
        let project = release.owner.project_name.as_str();
        let asked = Asked::read(
            cell::annotations(self.projects.get(project).map(|found| &found.metadata)),
            cell::annotations(stage.map(|found| &found.metadata)),
            &annotations,
        )
        .map_err(failed)?;
        let component_uid = uid(self.components.get(component).map(|found| &found.metadata));
        let project_uid = uid(self.projects.get(project).map(|found| &found.metadata));
        let environment_uid = uid(stage.map(|found| &found.metadata));
        let plane_uid = uid(Some(plane_metadata));
        let restarted = binding.and_then(|binding| binding.metadata.annotations.as_ref());
        let restarted =
            restarted.and_then(|notes| notes.get(quadrille_types::annotations::RESTARTED_AT));
        let organization = self.organization(component);
        let inputs = Inputs {
            organization: &organization,
            project: Named {
                name: project,
                uid: &project_uid,
            },
            component: Named {
                name: component,
                uid: &component_uid,
            },
            binding: binding.map_or(&nothing, |binding| &binding.spec),
            environment: Named {
                name: environment,
                uid: &environment_uid,
            },
            environment_spec,
            plane: Named {
                name: &plane,
                uid: &plane_uid,
            },
            plane_spec,
            plane_annotations: &annotations,
            enforces_egress: asked.enforces_egress,
            secrets: &self.secrets,
            connections,
            resources: &self.resources,
            notification_channel: None,
            restarted_at: restarted.map(String::as_str),
        };
        renderer.plan(release, &inputs).map_err(failed)
    }

    /// The plane of an environment. One that is named must be there; the default one need not.
    fn plane<'a>(
        &'a self,
        wanted: Option<&Reference>,
        environment: &str,
        otherwise: &'a (ObjectMeta, DataPlaneSpec),
    ) -> Result<NamedPlane<'a>, DocumentError> {
        let found = self.plane_if_any(wanted, environment)?;
        Ok(found.unwrap_or_else(|| ("default".to_owned(), otherwise)))
    }

    /// The same, or nothing where it is the default one and not there.
    fn plane_if_any(
        &self,
        wanted: Option<&Reference>,
        environment: &str,
    ) -> Result<Option<NamedPlane<'_>>, DocumentError> {
        let usual = ["DataPlane", "ClusterDataPlane"]
            .map(|kind| Reference::given(Some(kind), kind, "default"));
        if let Some(wanted) = wanted {
            let found = self
                .planes
                .get(wanted)
                .ok_or_else(|| DocumentError::Missing {
                    kind: wanted.kind.clone(),
                    name: wanted.name.clone(),
                    wanted_by: format!("Environment {environment}"),
                })?;
            return Ok(Some((wanted.name.clone(), found)));
        }
        let found = usual
            .iter()
            .find_map(|reference| self.planes.get(reference));
        Ok(found.map(|found| ("default".to_owned(), found)))
    }
}

/// A plane with its name.
type NamedPlane<'a> = (String, &'a (ObjectMeta, DataPlaneSpec));

/// A binding that says nothing.
fn unsaid(release: &ComponentReleaseSpec, environment: &str) -> ReleaseBindingSpec {
    let spec = json!({ "owner": release.owner, "environment": environment });
    serde_json::from_value(spec).expect("an owner and an environment are enough")
}

fn read<T: DeserializeOwned>(document: Value) -> Result<T, DocumentError> {
    let text = |pointer: &str| {
        document
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let (kind, name) = (text("/kind"), text("/metadata/name"));
    serde_json::from_value(document).map_err(|error| DocumentError::Unreadable {
        kind,
        name,
        cause: error.to_string(),
    })
}
