//! What an Endpoint becomes: a way in for each audience that it is visible to, with what is asked of callers.
//!
//! ```text
//!   EndpointSpec ─► who may come ─► for each: policies::read ─► requests | stream ─► objects, addresses
//!                                              └─► an error that names the field: nothing is half open
//! ```
//! Where nothing is said, nobody is let in; only a web application is for the world unless it says otherwise.

mod policies;
mod requests;
mod stream;

use quadrille_types::{
    EndpointSpec, Problem,
    endpoint::{BackendKind, EndpointPolicy},
    labels::{self, data_plane::GATEWAY_VISIBILITY},
    names::generate,
    workload::EndpointType,
};
use serde_json::Value;

use self::policies::{Asked, Reader};
use crate::{
    error::RenderError,
    finish::planned,
    policy,
    routes::{Address, Audience, Backend, Exposure, Place, Url, Way, paths},
};

/// What an Endpoint is rendered from.
#[derive(Clone, Copy, Debug)]
pub struct EndpointInputs<'a> {
    /// The name of the object.
    pub name: &'a str,
    /// The name that its deployment's artifact gives it.
    pub called: &'a str,
    /// What is asked of it.
    pub spec: &'a EndpointSpec,
    /// Whether its component is a web application: that has hosts of its own instead of paths.
    pub is_web_application: bool,
    /// Where it is.
    pub place: Place<'a>,
    /// What others have claimed before it.
    pub taken: &'a [Claim],
}

/// An address that only one can have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    /// The gateway, the host and the path; or the gateway and the port.
    pub address: String,
    /// Whose it is, such as `Endpoint cart-api`.
    pub by: String,
}

/// What an Endpoint becomes.
pub fn plan(inputs: &EndpointInputs<'_>) -> Result<Exposure, RenderError> {
    let backend = inputs.backend()?;
    let mut exposure = Exposure::default();
    let mut ways = Vec::new();
    for (audience, policies) in inputs.audiences() {
        let way = inputs.place.way(audience)?;
        let opening = Opening::new(inputs, &backend, &way);
        opening.check_claim()?;
        let objects = match inputs.spec.protocol {
            EndpointType::Tcp | EndpointType::Udp => stream::objects(&opening, policies)?,
            _ => requests::objects(&opening, &opening.asked(policies, &mut exposure.notes)?),
        };
        exposure.objects.extend(objects.into_iter().map(planned));
        exposure.addresses.push(opening.address());
        ways.push(way);
    }
    if ways.is_empty() {
        return Ok(exposure);
    }
    let identity = inputs.identity();
    let own = [(labels::endpoint::NAME, identity.as_str())];
    let metadata = |name: &str| inputs.place.metadata(name, &own);
    match &backend {
        Backend::Service { port, .. } => {
            let port = policy::listening(*port, inputs.spec.protocol);
            let name = generate::name(&["ingress", inputs.name]);
            let doors = inputs.place.doors(metadata(&name), &ways, port);
            exposure.objects.push(planned(doors));
        }
        Backend::Elsewhere { name, .. } => {
            let object = backend.object(&metadata(name), inputs.spec.protocol);
            exposure.objects.extend(object.map(planned));
        }
    }
    Ok(exposure)
}

/// The addresses that an Endpoint claims. Whoever has several endpoints asks all of them, and tells each what those before
/// it have taken.
pub fn claims(inputs: &EndpointInputs<'_>) -> Result<Vec<Claim>, RenderError> {
    let backend = inputs.backend()?;
    let mut claims = Vec::new();
    for (audience, _) in inputs.audiences() {
        let way = inputs.place.way(audience)?;
        claims.push(Claim {
            address: Opening::new(inputs, &backend, &way).claimed(),
            by: inputs.whose(),
        });
    }
    Ok(claims)
}

impl<'a> EndpointInputs<'a> {
    fn whose(&self) -> String {
        format!("Endpoint {}", self.name)
    }

    fn wrong(&self, field: impl Into<String>, words: impl Into<String>) -> RenderError {
        RenderError::field(self.whose(), Problem::new(field, words))
    }

    /// The label's value by which the objects of one endpoint are told from those of another.
    fn identity(&self) -> String {
        if self.name.len() <= generate::LABEL_LIMIT {
            self.name.to_owned()
        } else {
            generate::name_within(generate::LABEL_LIMIT, &[self.name])
        }
    }

    /// Who may come, and under which rules.
    fn audiences(&self) -> Vec<(Audience, &'a [EndpointPolicy])> {
        let Some(said) = &self.spec.network_visibilities else {
            let is_for_the_world = self.is_web_application;
            return Vec::from_iter(is_for_the_world.then_some((Audience::Public, &[][..])));
        };
        let both = [
            (Audience::Public, &said.public),
            (Audience::Organization, &said.organization),
        ];
        let both = both.into_iter();
        both.filter_map(|(audience, side)| {
            let side = side.as_ref().filter(|side| side.enable)?;
            Some((audience, side.policies.as_slice()))
        })
        .collect()
    }

    /// What answers.
    fn backend(&self) -> Result<Backend, RenderError> {
        let written = &self.spec.backend_ref;
        match written.kind {
            BackendKind::Component => {
                let Some(component) = &written.component_ref else {
                    let words = "is not there: give the port that the component listens on";
                    return Err(self.wrong("spec.backendRef.componentRef", words));
                };
                if !(1..=65535).contains(&component.port) {
                    let words = format!("is {}, must be from 1 to 65535", component.port);
                    return Err(self.wrong("spec.backendRef.componentRef.port", words));
                }
                Ok(Backend::Service {
                    name: self.place.service.to_owned(),
                    port: component.port,
                })
            }
            BackendKind::Target => {
                let Some(target) = &written.target else {
                    let words = "is not there: give the url that the endpoint leads to";
                    return Err(self.wrong("spec.backendRef.target", words));
                };
                let at = Url::read(&target.url)
                    .map_err(|words| self.wrong("spec.backendRef.target.url", words))?;
                Ok(Backend::Elsewhere {
                    name: generate::name(&["target", self.name]),
                    at,
                })
            }
        }
    }
}

/// An endpoint, opened to one audience.
struct Opening<'a> {
    inputs: &'a EndpointInputs<'a>,
    backend: &'a Backend,
    way: &'a Way<'a>,
    host: String,
    /// The path before the endpoint's own, and its own.
    prefix: String,
    base: String,
}

impl<'a> Opening<'a> {
    fn new(inputs: &'a EndpointInputs<'a>, backend: &'a Backend, way: &'a Way<'a>) -> Self {
        let place = &inputs.place;
        let has_own_host = inputs.is_web_application || inputs.spec.protocol == EndpointType::Grpc;
        let base = inputs.spec.backend_ref.base_path.as_deref();
        let (host, prefix) = if has_own_host {
            (place.own_host(inputs.called, way), "/".to_owned())
        } else {
            let prefix = paths::joined(&[place.project, place.component]);
            (place.shared_host(way), prefix)
        };
        Self {
            inputs,
            backend,
            way,
            host,
            prefix,
            base: paths::joined(&[base.unwrap_or_default()]),
        }
    }

    /// The path that callers write.
    fn path(&self) -> String {
        paths::joined(&[&self.prefix, &self.base])
    }

    /// The name of an object for this audience; of one that is about a part of the endpoint with what tells it apart.
    fn name(&self, part: &[&str]) -> String {
        let mut parts = vec![self.way.audience.gateway(), self.inputs.name];
        parts.extend(part);
        generate::name(&parts)
    }

    fn metadata(&self, name: &str) -> Value {
        let identity = self.inputs.identity();
        let own = [
            (labels::endpoint::NAME, identity.as_str()),
            (GATEWAY_VISIBILITY, self.way.audience.gateway()),
        ];
        self.inputs.place.metadata(name, &own)
    }

    fn port(&self) -> i32 {
        self.backend.port()
    }

    fn address(&self) -> Address {
        match self.inputs.spec.protocol {
            EndpointType::Tcp => self.way.port_address("tcp", self.port()),
            EndpointType::Udp => self.way.port_address("udp", self.port()),
            protocol => {
                let path = Some(self.path()).filter(|path| path != "/");
                self.way
                    .address(protocol, &self.host, &path.unwrap_or_default())
            }
        }
    }

    fn claimed(&self) -> String {
        let gateway = self.way.audience.gateway();
        match self.inputs.spec.protocol {
            EndpointType::Tcp | EndpointType::Udp => {
                let transport = self.inputs.spec.protocol.transport();
                format!("{gateway} {transport} port {}", self.port())
            }
            _ => format!("{gateway} {}{}", self.host, self.path()),
        }
    }

    fn check_claim(&self) -> Result<(), RenderError> {
        let claimed = self.claimed();
        let mut taken = self.inputs.taken.iter();
        let Some(other) = taken.find(|claim| claim.address == claimed) else {
            return Ok(());
        };
        let (field, fix) = match self.inputs.spec.protocol {
            EndpointType::Tcp | EndpointType::Udp => ("spec.backendRef", "take another port"),
            _ => ("spec.backendRef.basePath", "give another basePath"),
        };
        let words = format!("leads to {claimed}, which {} has already: {fix}", other.by);
        Err(self.inputs.wrong(field, words))
    }

    fn asked(
        &self,
        policies: &[EndpointPolicy],
        notes: &mut Vec<String>,
    ) -> Result<Asked, RenderError> {
        if let Some(words) = paths::trouble(&self.path()) {
            return Err(self.inputs.wrong("spec.backendRef.basePath", words));
        }
        let gateway = self.inputs.place.environment_spec.gateway.as_ref();
        let security = gateway.and_then(|gateway| gateway.security.as_ref());
        let jwks = security.and_then(|security| security.remote_jwks.as_ref());
        let reader = Reader {
            field: format!(
                "spec.networkVisibilities.{}.policies",
                self.way.audience.as_str()
            ),
            protocol: self.inputs.spec.protocol,
            prefix: &self.prefix,
            base: &self.base,
            jwks: jwks.map(|jwks| jwks.uri.as_str()),
            environment: self.inputs.place.environment,
        };
        reader
            .read(policies, notes)
            .map_err(|problem| RenderError::field(self.inputs.whose(), problem))
    }
}

#[cfg(test)]
mod tests;
