//! What a binding is told about the services that it calls.

use quadrille_types::{
    ServiceBinding,
    exposed_endpoint::EndpointAccess,
    release_binding::PendingConnection,
    release_state::ReleaseState,
    workload::{Connection, ConnectionPart},
};
use serde_json::{Value, json};

use super::{
    error::{At, Found},
    exposed, runs,
};

/// An endpoint that a component offers to others in an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The project.
    pub project: String,
    /// The component.
    pub component: String,
    /// The endpoint.
    pub endpoint: String,
    /// How the same cell reaches it.
    pub near: EndpointAccess,
    /// How other cells reach it, if they do: by a gateway.
    pub far: Option<EndpointAccess>,
}

impl Offer {
    /// What the binding of a service offers; nothing where it was taken away. What is near is computed, so that nobody waits
    /// for a status; what is far is what its status tells.
    pub fn of(binding: &ServiceBinding) -> Vec<Self> {
        let spec = &binding.spec;
        if spec.release_state == ReleaseState::Undeploy {
            return Vec::new();
        }
        let service = runs::service_name(&[binding.metadata.name.as_deref().unwrap_or_default()]);
        let told = binding.status.as_ref().map(|status| &status.endpoints);
        let offers = spec.workload_spec.endpoints.iter().map(|(name, endpoint)| {
            let told = told.and_then(|told| told.iter().find(|one| one.name == *name));
            Self {
                project: spec.owner.project_name.to_string(),
                component: spec.owner.component_name.to_string(),
                endpoint: name.clone(),
                near: exposed::near(&service, &endpoint.into()),
                far: told.and_then(|told| told.organization.clone().or(told.public.clone())),
            }
        });
        offers.collect()
    }
}

/// Environment variables about connections, and those connections that nobody offers yet.
pub(super) fn inject(
    connections: &[Connection],
    organization: &str,
    project: &str,
    offers: &[Offer],
    at: &At,
    found: &mut Found,
) -> (Vec<Value>, Vec<PendingConnection>) {
    let (mut env, mut pending) = (Vec::new(), Vec::new());
    for needed in connections {
        let wanted = needed
            .project
            .as_ref()
            .map_or(project, |name| name.as_str());
        let offer = offers.iter().find(|offer| {
            offer.project == wanted
                && offer.component == needed.component.as_str()
                && offer.endpoint == needed.endpoint
        });
        let access = match offer {
            Some(offer) if wanted == project => Ok(&offer.near),
            Some(offer) => offer
                .far
                .as_ref()
                .ok_or("it is in another project, and not exposed beyond that"),
            None => Err("its address is not known"),
        };
        match access {
            Ok(access) => {
                for (name, parts) in &needed.env {
                    check(name, parts, at, found);
                    env.push(json!({ "name": name, "value": value_of(parts, access) }));
                }
            }
            Err(reason) => pending.push(PendingConnection {
                namespace: organization.to_owned(),
                project: wanted.to_owned(),
                component: needed.component.to_string(),
                endpoint: needed.endpoint.clone(),
                reason: reason.to_owned(),
            }),
        }
    }
    (env, pending)
}

/// Notes words that mean nothing: to hand them on as they are would only move the mistake.
fn check(name: &str, parts: &[ConnectionPart], at: &At, found: &mut Found) {
    for part in parts {
        if let ConnectionPart::Text(text) = part
            && text.contains("{{")
        {
            found.push(at.wrong(format!(
                "give {name} the value {text:?}, which means nothing: there are {{{{ .host }}}}, .port, .scheme, .basePath, \
                 .uri and .url"
            )));
        }
    }
}

fn value_of(parts: &[ConnectionPart], access: &EndpointAccess) -> String {
    let one = |part: &ConnectionPart| match part {
        ConnectionPart::Address => access.uri.clone().unwrap_or_default(),
        ConnectionPart::Scheme => access.scheme.clone().unwrap_or_default(),
        ConnectionPart::Host => access.host.clone(),
        ConnectionPart::Port => access.port.to_string(),
        ConnectionPart::BasePath => access.base_path.clone().unwrap_or_default(),
        ConnectionPart::Text(text) => text.clone(),
    };
    parts.iter().map(one).collect()
}
