//! What of documents is reached from beyond its cell: Endpoints, and the APIs and pages of bindings.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quadrille_types::{
    ApiBinding, ApiClass, ApiClassSpec, DataPlaneSpec, Endpoint, Environment, Problem,
    PublishedApi,
    api::ServiceApi,
    labels::{data_plane, hierarchy},
    names::generate,
    workload::{WorkloadOwner, WorkloadTemplate},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{DocumentError, Documents, cell::annotations, read};
use crate::{
    deployment_system::{
        Deployed, Ground,
        api::{self, ApiInputs},
        endpoint::{self, Claim, EndpointInputs},
        web::{self, WebInputs},
    },
    error::RenderError,
    routes::{Exposure, Place},
};

/// Documents of what is exposed.
#[derive(Clone, Debug, Default)]
pub(super) struct Exposing {
    endpoints: BTreeMap<String, Endpoint>,
    apis: BTreeMap<String, PublishedApi>,
    classes: BTreeMap<String, ApiClassSpec>,
    api_bindings: BTreeMap<String, ApiBinding>,
    services: BTreeMap<String, Binding>,
    web_applications: BTreeMap<String, Binding>,
}

/// The binding of a service or web application, as far as it is exposed.
#[derive(Clone, Debug, Deserialize)]
struct Binding {
    metadata: ObjectMeta,
    spec: BindingSpec,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BindingSpec {
    owner: WorkloadOwner,
    environment: String,
    #[serde(default)]
    apis: BTreeMap<String, ServiceApi>,
    #[serde(default)]
    workload_spec: WorkloadTemplate,
}

impl Exposing {
    /// Takes a document of one of these kinds; others are none of its business.
    pub(super) fn take(&mut self, name: String, document: Value) -> Result<(), DocumentError> {
        match document["kind"].as_str().unwrap_or_default() {
            "Endpoint" => drop(self.endpoints.insert(name, read(document)?)),
            "API" => drop(self.apis.insert(name, read(document)?)),
            "APIClass" => drop(self.classes.insert(name, read::<ApiClass>(document)?.spec)),
            "APIBinding" => drop(self.api_bindings.insert(name, read(document)?)),
            "ServiceBinding" => drop(self.services.insert(name, read(document)?)),
            "WebApplicationBinding" => drop(self.web_applications.insert(name, read(document)?)),
            _ => {}
        }
        Ok(())
    }
}

/// An environment with its plane.
struct Stage<'a> {
    environment: &'a Environment,
    plane: String,
    plane_metadata: &'a ObjectMeta,
    plane_spec: &'a DataPlaneSpec,
}

/// What is exposed by whom, such as `Endpoint cart`, or why it cannot be.
pub type Exposed = (String, Result<Exposure, DocumentError>);

impl Documents {
    /// Everything that is reached from beyond its cell, by kind and name. Who comes later finds taken what others have.
    pub fn exposures(&self) -> Vec<Exposed> {
        let mut taken = Vec::new();
        let mut found = Vec::new();
        for (name, endpoint) in &self.exposing.endpoints {
            let exposure = self.endpoint(name, endpoint, &mut taken);
            found.push((format!("Endpoint {name}"), exposure));
        }
        for (name, binding) in &self.exposing.services {
            for (called, api) in &binding.spec.apis {
                let whose = format!("ServiceBinding {name}");
                let offered = Offered {
                    whose: &whose,
                    field: &format!("spec.apis.{called}"),
                    binding: name,
                    called,
                    api,
                    class: &api.class_name,
                    owner: &binding.spec.owner,
                    environment: &binding.spec.environment,
                    organization: binding.metadata.namespace.as_deref(),
                };
                let exposure = self.api(&offered, name, &mut taken);
                found.push((format!("{whose} {called}"), exposure));
            }
        }
        for (name, binding) in &self.exposing.api_bindings {
            let exposure = self.api_binding(name, binding, &mut taken);
            found.push((format!("APIBinding {name}"), exposure));
        }
        for (name, binding) in &self.exposing.web_applications {
            let whose = format!("WebApplicationBinding {name}");
            let exposure = self.web_application(name, binding, &whose);
            found.push((whose, exposure));
        }
        found
    }

    fn stage(&self, name: &str, wanted_by: &str) -> Result<Stage<'_>, DocumentError> {
        let environment = self.environments.get(name);
        let environment = environment.ok_or_else(|| missing("Environment", name, wanted_by))?;
        let wanted = environment
            .spec
            .resolve()
            .map_err(|problem| RenderError::field(format!("Environment {name}"), problem))?;
        let usual = missing("DataPlane", "default", &format!("Environment {name}"));
        let (plane, (metadata, spec)) = self
            .plane_if_any(wanted.data_plane.as_ref(), name)?
            .ok_or(usual)?;
        Ok(Stage {
            environment,
            plane,
            plane_metadata: metadata,
            plane_spec: spec,
        })
    }

    fn endpoint(
        &self,
        name: &str,
        endpoint: &Endpoint,
        taken: &mut Vec<Claim>,
    ) -> Result<Exposure, DocumentError> {
        let whose = format!("Endpoint {name}");
        let labels = endpoint.metadata.labels.as_ref();
        let label = |key: &str| {
            let found = labels.and_then(|labels| labels.get(key));
            found.map(String::as_str).ok_or_else(|| {
                let words = "is not there: an endpoint is found by it";
                RenderError::field(
                    whose.as_str(),
                    Problem::new(format!("metadata.labels[{key}]"), words),
                )
            })
        };
        let (project, component) = (label(hierarchy::PROJECT)?, label(hierarchy::COMPONENT)?);
        let environment = label(hierarchy::ENVIRONMENT)?;
        let organization = label(hierarchy::ORGANIZATION)?;
        let (track, deployment) = (
            label(hierarchy::DEPLOYMENT_TRACK)?,
            label(hierarchy::DEPLOYMENT)?,
        );
        let stage = self.stage(environment, &whose)?;
        let found = self.components.get(component);
        let found = found.ok_or_else(|| missing("Component", component, &whose))?;
        let kind = found.spec.older_type.as_deref().unwrap_or("Service");
        let ground = Ground::of(
            &Deployed {
                organization,
                project,
                environment,
                component,
                component_type: kind,
                track,
                deployment,
            },
            component,
            track,
        );
        let inputs = EndpointInputs {
            name,
            called: label(hierarchy::NAME)?,
            spec: &endpoint.spec,
            is_web_application: kind == "WebApplication",
            place: Place {
                organization,
                project,
                component,
                environment,
                environment_spec: &stage.environment.spec,
                plane: &stage.plane,
                plane_spec: stage.plane_spec,
                plane_annotations: annotations(Some(stage.plane_metadata)),
                namespace: &ground.namespace,
                labels: &ground.labels,
                pods: &ground.labels,
                service: &ground.service,
            },
            taken: taken.as_slice(),
        };
        let exposure = endpoint::plan(&inputs)?;
        let claims = endpoint::claims(&inputs)?;
        taken.extend(claims);
        Ok(exposure)
    }

    fn api_binding(
        &self,
        name: &str,
        binding: &ApiBinding,
        taken: &mut Vec<Claim>,
    ) -> Result<Exposure, DocumentError> {
        let whose = format!("APIBinding {name}");
        let wanted = &binding.spec.api_name;
        let api = self.exposing.apis.get(wanted);
        let api = api.ok_or_else(|| missing("API", wanted, &whose))?;
        let environment = binding.spec.environment_name.as_str();
        let owner = &api.spec.owner;
        let mut services = self.exposing.services.iter();
        let behind = services.find(|(_, service)| {
            service.spec.owner == *owner && service.spec.environment == environment
        });
        let (service, _) = behind.ok_or_else(|| {
            let wanted = format!("{} in {environment}", owner.component_name);
            missing(
                "ServiceBinding",
                &wanted,
                &format!("API {}", binding.spec.api_name),
            )
        })?;
        let offered = Offered {
            whose: &format!("API {wanted}"),
            field: "spec",
            binding: name,
            called: wanted,
            api: &api.spec.offered,
            class: &binding.spec.api_class_name,
            owner,
            environment,
            organization: binding.metadata.namespace.as_deref(),
        };
        self.api(&offered, service, taken)
    }

    fn api(
        &self,
        offered: &Offered<'_>,
        binding: &str,
        taken: &mut Vec<Claim>,
    ) -> Result<Exposure, DocumentError> {
        let class_spec = self.exposing.classes.get(offered.class);
        let class_spec =
            class_spec.ok_or_else(|| missing("APIClass", offered.class, offered.whose))?;
        let stage = self.stage(offered.environment, offered.whose)?;
        let bound = Bound::new(offered.owner, offered.environment, offered.organization);
        let service = generate::name_within(generate::SERVICE_LIMIT, &[binding]);
        let inputs = ApiInputs {
            whose: offered.whose,
            field: offered.field,
            binding: offered.binding,
            api: offered.called,
            spec: offered.api,
            class: offered.class,
            class_spec,
            place: bound.place(&stage, offered.environment, &service),
            taken: taken.as_slice(),
        };
        let exposure = api::plan(&inputs)?;
        let claims = api::claims(&inputs)?;
        taken.extend(claims);
        Ok(exposure)
    }

    fn web_application(
        &self,
        name: &str,
        binding: &Binding,
        whose: &str,
    ) -> Result<Exposure, DocumentError> {
        let environment = &binding.spec.environment;
        let stage = self.stage(environment, whose)?;
        let workload = binding.spec.workload_spec.resolve("spec.workloadSpec");
        let workload = workload.map_err(|problem| RenderError::field(whose, problem))?;
        let organization = binding.metadata.namespace.as_deref();
        let bound = Bound::new(&binding.spec.owner, environment, organization);
        let service = generate::name_within(generate::SERVICE_LIMIT, &[name]);
        let inputs = WebInputs {
            binding: name,
            endpoints: &workload.endpoints,
            place: bound.place(&stage, environment, &service),
        };
        Ok(web::plan(&inputs)?)
    }
}

/// An API that a binding offers.
struct Offered<'a> {
    whose: &'a str,
    field: &'a str,
    binding: &'a str,
    called: &'a str,
    api: &'a ServiceApi,
    class: &'a str,
    owner: &'a WorkloadOwner,
    environment: &'a str,
    organization: Option<&'a str>,
}

/// Whose something bound is, and its labels.
struct Bound<'a> {
    organization: &'a str,
    owner: &'a WorkloadOwner,
    namespace: String,
    labels: Map<String, Value>,
}

impl<'a> Bound<'a> {
    fn new(owner: &'a WorkloadOwner, environment: &str, organization: Option<&'a str>) -> Self {
        let organization = organization.unwrap_or("default");
        let (project, component) = (owner.project_name.as_str(), owner.component_name.as_str());
        Self {
            organization,
            owner,
            namespace: cell(organization, project, environment),
            labels: words(&[
                (data_plane::ORGANIZATION_NAME, organization),
                (data_plane::PROJECT_NAME, project),
                (data_plane::ENVIRONMENT_NAME, environment),
                (data_plane::COMPONENT_NAME, component),
            ]),
        }
    }

    fn place<'p>(
        &'p self,
        stage: &'p Stage<'p>,
        environment: &'p str,
        service: &'p str,
    ) -> Place<'p> {
        Place {
            organization: self.organization,
            project: self.owner.project_name.as_str(),
            component: self.owner.component_name.as_str(),
            environment,
            environment_spec: &stage.environment.spec,
            plane: &stage.plane,
            plane_spec: stage.plane_spec,
            plane_annotations: annotations(Some(stage.plane_metadata)),
            namespace: &self.namespace,
            labels: &self.labels,
            pods: &self.labels,
            service,
        }
    }
}

fn cell(organization: &str, project: &str, environment: &str) -> String {
    generate::cell_namespace(&organization.into(), &project.into(), &environment.into())
}

fn words(labels: &[(&str, &str)]) -> Map<String, Value> {
    let labels = labels.iter();
    labels
        .map(|(key, value)| ((*key).to_owned(), Value::from(*value)))
        .collect()
}

fn missing(kind: &str, name: &str, wanted_by: &str) -> DocumentError {
    DocumentError::Missing {
        kind: kind.to_owned(),
        name: name.to_owned(),
        wanted_by: wanted_by.to_owned(),
    }
}
