//! The way in: which gateway, under which host, and the policy that lets it through.

use std::{borrow::Cow, collections::BTreeSet};

use quadrille_types::{Problem, gateway::GatewayEndpoint, names::generate, workload::EndpointType};
use serde_json::{Value, json};

use super::{Audience, Place};
use crate::{
    error::RenderError,
    gateway::Gateways,
    policy::{Peer, Policy, Port, Reach},
    provider::PolicyProvider,
    urls,
};

/// The gateway by which an audience comes, and the domain that it serves.
#[derive(Clone, Debug)]
pub(crate) struct Way<'a> {
    pub(crate) audience: Audience,
    pub(crate) gateway: Cow<'a, GatewayEndpoint>,
    domain: String,
}

/// Where something is reached by an audience.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// By whom.
    pub audience: Audience,
    /// How the address starts, such as `https`.
    pub scheme: &'static str,
    /// The host.
    pub host: String,
    /// The port.
    pub port: i32,
    /// The path; empty where there is none.
    pub path: String,
}

impl Address {
    /// The whole address. A port that the scheme implies is left out.
    pub fn url(&self) -> String {
        let implied = match self.scheme {
            "http" | "ws" | "grpc" => 80,
            "https" | "wss" | "grpcs" => 443,
            _ => 0,
        };
        let (scheme, host, path) = (self.scheme, &self.host, &self.path);
        if self.port == implied {
            format!("{scheme}://{host}{path}")
        } else {
            format!("{scheme}://{host}:{}{path}", self.port)
        }
    }
}

impl<'a> Place<'a> {
    /// The way in for an audience; an error names what is missing.
    pub(crate) fn way(&self, audience: Audience) -> Result<Way<'a>, RenderError> {
        let ingress = Gateways::by_domain(self.environment_spec, self.plane_spec).ingress;
        let (gateway, side, older) = match audience {
            Audience::Public => (ingress.external, "external", "publicVirtualHost"),
            Audience::Organization => (ingress.internal, "internal", "organizationVirtualHost"),
        };
        let missing = |what: &str| {
            let words = format!(
                "{what}: give data plane {} spec.gateway.ingress.{side} with a listener, or spec.gateway.{older}",
                self.plane
            );
            let field = format!("spec.gateway.ingress.{side}");
            RenderError::field(
                format!("Environment {}", self.environment),
                Problem::new(field, words),
            )
        };
        let gateway = gateway.ok_or_else(|| {
            missing("is not there, and its data plane has no such gateway either")
        })?;
        let listeners = [&gateway.https, &gateway.http, &gateway.tls];
        let domain = listeners
            .into_iter()
            .flatten()
            .map(|listener| listener.host.clone())
            .find(|host| !host.is_empty())
            .ok_or_else(|| missing("has no host that it listens for"))?;
        Ok(Way {
            audience,
            gateway,
            domain,
        })
    }

    /// The host that everything of an environment shares.
    pub(crate) fn shared_host(&self, way: &Way<'_>) -> String {
        let own = self.environment_spec.gateway.as_ref();
        let prefix = own.and_then(|own| own.dns_prefix.as_deref());
        let label = match prefix.filter(|prefix| !prefix.is_empty()) {
            Some(prefix) => prefix.to_owned(),
            None => short_label(&[self.environment, self.organization]),
        };
        format!("{label}.{}", way.domain)
    }

    /// A host that nothing else has.
    pub(crate) fn own_host(&self, endpoint: &str, way: &Way<'_>) -> String {
        let parts = [
            endpoint,
            self.component,
            self.environment,
            self.organization,
        ];
        let label = generate::name_within(generate::LABEL_LIMIT, &parts);
        format!("{label}.{}", way.domain)
    }

    /// `metadata` of an object here, with labels of its own.
    pub(crate) fn metadata(&self, name: &str, own: &[(&str, &str)]) -> Value {
        let mut labels = self.labels.clone();
        let own = own.iter();
        labels.extend(own.map(|(key, value)| ((*key).to_owned(), Value::from(*value))));
        json!({ "name": name, "namespace": self.namespace, "labels": labels })
    }

    /// The policy that lets gateways, and only these, reach a port of the pods that answer.
    pub(crate) fn doors(&self, metadata: Value, ways: &[Way<'_>], port: Port) -> Value {
        let mut ingress = Reach::new();
        for way in ways {
            let peer = Peer::Gateway {
                name: &way.gateway.name,
                namespace: &way.gateway.namespace,
            };
            ingress.insert(peer, BTreeSet::from([port]));
        }
        let policy = Policy {
            metadata,
            pods: json!({ "matchLabels": self.pods }),
            ingress,
            egress: None,
        };
        policy.object(PolicyProvider::of(self.plane_spec, self.plane_annotations))
    }
}

impl Way<'_> {
    /// Where something behind this gateway is reached, encrypted if that is possible.
    pub(crate) fn address(&self, protocol: EndpointType, host: &str, path: &str) -> Address {
        let (plain, encrypted) = urls::schemes(protocol);
        let (scheme, port) = match (&self.gateway.https, &self.gateway.http) {
            (Some(listener), _) => (encrypted, listener.port),
            (None, Some(listener)) => (plain, listener.port),
            (None, None) => (encrypted, 443),
        };
        Address {
            audience: self.audience,
            scheme,
            host: host.to_owned(),
            port,
            path: path.to_owned(),
        }
    }

    /// Where a bare port behind this gateway is reached.
    pub(crate) fn port_address(&self, scheme: &'static str, port: i32) -> Address {
        Address {
            audience: self.audience,
            scheme,
            host: self.domain.clone(),
            port,
            path: String::new(),
        }
    }

    /// The parent of a route; one listener of it where a port is given.
    pub(crate) fn parent(&self, port: Option<i32>) -> Value {
        let mut parent = json!({ "name": self.gateway.name, "namespace": self.gateway.namespace });
        if let Some(port) = port {
            parent["port"] = port.into();
        }
        parent
    }
}

/// A label of a host out of parts, with a hash only where they don't fit.
fn short_label(parts: &[&str]) -> String {
    let plain = parts.join("-");
    if plain.len() <= generate::LABEL_LIMIT {
        plain
    } else {
        generate::name_within(generate::LABEL_LIMIT, parts)
    }
}
