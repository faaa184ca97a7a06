//! What of documents is reached from beyond its cell: Endpoints, and the APIs and pages of bindings.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quadrille_types::{
    ApiBinding, ApiClass, ApiClassSpec, DataPlaneSpec, Endpoint, Environment, Problem,
    PublishedApi, ServiceBinding, WebApplicationBinding, api::ServiceApi, labels::hierarchy,
    workload::WorkloadOwner,
};
use serde_json::Value;

use super::{DocumentError, Documents, cell::annotations, read};
use crate::{
    deployment_system::{
        self, Deployed, Ground, Plane, Whose,
        api::{self, ApiInputs},
        endpoint::{self, Claim, EndpointInputs},
        web::{self, WebInputs},
    },
    error::RenderError,
    routes::Exposure,
};

/// Documents of what is exposed.
#[derive(Clone, Debug, Default)]
pub(super) struct Exposing {
    endpoints: BTreeMap<String, Endpoint>,
    apis: BTreeMap<String, PublishedApi>,
    classes: BTreeMap<String, ApiClassSpec>,
    api_bindings: BTreeMap<String, ApiBinding>,
    services: BTreeMap<String, ServiceBinding>,
    web_applications: BTreeMap<String, WebApplicationBinding>,
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
    name: &'a str,
    environment: &'a Environment,
    plane: String,
    plane_metadata: &'a ObjectMeta,
    plane_spec: &'a DataPlaneSpec,
}

impl Stage<'_> {
    fn stage(&self) -> deployment_system::Stage<'_> {
        deployment_system::Stage {
            name: self.name,
            spec: &self.environment.spec,
        }
    }

    fn plane(&self) -> Plane<'_> {
        Plane {
            name: &self.plane,
            spec: self.plane_spec,
            annotations: annotations(Some(self.plane_metadata)),
        }
    }
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
                    environment: binding.spec.environment.as_str(),
                    organization: organization(&binding.metadata),
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

    fn stage<'a>(&'a self, name: &'a str, wanted_by: &str) -> Result<Stage<'a>, DocumentError> {
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
            name,
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
        let ground = Ground::of_deployment(
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
            place: ground.place(
                Whose {
                    organization,
                    project,
                    component,
                },
                stage.stage(),
                stage.plane(),
            ),
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
            service.spec.owner == *owner && service.spec.environment.as_str() == environment
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
            organization: organization(&binding.metadata),
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
        let whose = whose(offered.organization, offered.owner);
        let ground = Ground::of_binding(&whose, offered.environment, binding);
        let inputs = ApiInputs {
            whose: offered.whose,
            field: offered.field,
            binding: offered.binding,
            api: offered.called,
            spec: offered.api,
            class: offered.class,
            class_spec,
            place: ground.place(whose, stage.stage(), stage.plane()),
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
        binding: &WebApplicationBinding,
        who: &str,
    ) -> Result<Exposure, DocumentError> {
        let environment = binding.spec.environment.as_str();
        let stage = self.stage(environment, who)?;
        let workload = binding.spec.workload_spec.resolve("spec.workloadSpec");
        let workload = workload.map_err(|problem| RenderError::field(who, problem))?;
        let whose = whose(organization(&binding.metadata), &binding.spec.owner);
        let ground = Ground::of_binding(&whose, environment, name);
        let inputs = WebInputs {
            binding: name,
            endpoints: &workload.endpoints,
            place: ground.place(whose, stage.stage(), stage.plane()),
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
    organization: &'a str,
}

fn organization(metadata: &ObjectMeta) -> &str {
    metadata.namespace.as_deref().unwrap_or("default")
}

fn whose<'a>(organization: &'a str, owner: &'a WorkloadOwner) -> Whose<'a> {
    Whose {
        organization,
        project: owner.project_name.as_str(),
        component: owner.component_name.as_str(),
    }
}

fn missing(kind: &str, name: &str, wanted_by: &str) -> DocumentError {
    DocumentError::Missing {
        kind: kind.to_owned(),
        name: name.to_owned(),
        wanted_by: wanted_by.to_owned(),
    }
}
