//! Who may reach whom, as network policies.
//!
//! ```text
//!   Reach: peers, each with ports ──► standard::spec ──► NetworkPolicy
//!                                └──► cilium::spec ───► CiliumNetworkPolicy
//! ```
//! What is allowed is decided here, once, for both. The ports are those that pods listen on, since that is what a policy
//! sees; a Service's own port may differ.

mod cilium;
mod standard;

use std::collections::{BTreeMap, BTreeSet};

use quadrille_types::{
    Problem,
    annotations::NETWORK_POLICY_PROVIDER,
    release_binding::ResolvedConnection,
    workload::{Connection, EndpointPort, EndpointType, Place, Resolved as Workload, Visibility},
};
use serde_json::{Value, json};

use crate::{
    dependencies, error::RenderError, inputs::Inputs, metadata::Metadata, provider::PolicyProvider,
};

/// A port that something listens on: number, transport, whether HTTP is spoken there.
pub(crate) type Port = (i32, &'static str, bool);

/// What Envoy Gateway writes on the pods of a gateway: the name of its Gateway object, and the namespace of that.
const OWNING_GATEWAY: [&str; 2] = [
    "gateway.envoyproxy.io/owning-gateway-name",
    "gateway.envoyproxy.io/owning-gateway-namespace",
];

/// Peers, each with the ports that are open between them and the pods of a policy. Without ports: all of them.
pub(crate) type Reach<'a> = BTreeMap<Peer<'a>, BTreeSet<Port>>;

/// Somebody whom pods may talk to, or hear from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer<'a> {
    /// The pods of the same cell.
    OwnCell,
    /// The pods of all cells of an organization in an environment.
    Organization {
        organization: &'a str,
        environment: &'a str,
    },
    /// The platform's gateways, wherever they are.
    Gateways,
    /// One gateway, by the name and namespace of its Gateway object. Its pods may be anywhere but in a cell.
    Gateway { name: &'a str, namespace: &'a str },
    /// The name service of the cluster.
    NameService,
    /// The pods of one component, in a cell of its own.
    Component {
        organization: &'a str,
        project: &'a str,
        component: &'a str,
        environment: &'a str,
    },
    /// Whatever has a name outside of the cluster.
    Host(&'a str),
    /// Addresses outside of the cluster.
    Range(&'a str),
}

/// What a policy says, whoever enforces it.
#[derive(Clone, Debug)]
pub(crate) struct Policy<'a> {
    /// `metadata`, with its namespace: the cell.
    pub(crate) metadata: Value,
    /// A selector of the pods that it is about.
    pub(crate) pods: Value,
    /// Who gets in.
    pub(crate) ingress: Reach<'a>,
    /// Whom they get out to; anybody where nothing is said.
    pub(crate) egress: Option<Reach<'a>>,
}

impl Policy<'_> {
    /// The policy as an object.
    pub(crate) fn object(self, provider: PolicyProvider) -> Value {
        let (version, kind) = match provider {
            PolicyProvider::Standard => ("networking.k8s.io/v1", "NetworkPolicy"),
            PolicyProvider::Cilium => ("cilium.io/v2", "CiliumNetworkPolicy"),
        };
        let spec = match provider {
            PolicyProvider::Standard => {
                standard::spec(self.pods, &self.ingress, self.egress.as_ref())
            }
            PolicyProvider::Cilium => cilium::spec(self.pods, &self.ingress, self.egress.as_ref()),
        };
        Value::from_iter([
            ("apiVersion", Value::from(version)),
            ("kind", Value::from(kind)),
            ("metadata", self.metadata),
            ("spec", spec),
        ])
    }
}

/// The policy of a component: its own cell reaches every endpoint, other cells of the organization and gateways what is
/// visible to them. Without endpoints nobody reaches it. Where egress is enforced, it reaches what it declared.
pub(crate) fn of(
    workload: &Workload,
    metadata: &Metadata,
    inputs: &Inputs<'_>,
    provider: PolicyProvider,
) -> Result<Value, RenderError> {
    let egress = if inputs.enforces_egress {
        Some(egress(workload, inputs, provider)?)
    } else {
        None
    };
    let policy = Policy {
        metadata: json!({
            "name": format!("openchoreo-{}", inputs.component.name),
            "namespace": metadata.namespace,
            "labels": metadata.labels,
        }),
        pods: json!({ "matchLabels": metadata.labels }),
        ingress: ingress(&workload.endpoints, inputs),
        egress,
    };
    Ok(policy.object(provider))
}

/// North and west: who gets in.
fn ingress<'a>(endpoints: &BTreeMap<String, EndpointPort>, inputs: &Inputs<'a>) -> Reach<'a> {
    let mut reach = Reach::new();
    for endpoint in endpoints.values() {
        reach
            .entry(Peer::OwnCell)
            .or_default()
            .insert(port(endpoint));
        for visibility in &endpoint.visibility {
            let peer = match visibility {
                Visibility::Project => continue,
                Visibility::Namespace => Peer::Organization {
                    organization: inputs.organization,
                    environment: inputs.environment.name,
                },
                Visibility::Internal | Visibility::External => Peer::Gateways,
            };
            reach.entry(peer).or_default().insert(port(endpoint));
        }
    }
    reach
}

fn port(endpoint: &EndpointPort) -> Port {
    listening(endpoint.target_port, endpoint.protocol)
}

/// A port where a protocol is spoken.
pub(crate) fn listening(number: i32, protocol: EndpointType) -> Port {
    use EndpointType::{GraphQl, Grpc, Http, Rest, Websocket};
    let speaks_http = matches!(protocol, Http | Rest | GraphQl | Websocket | Grpc);
    (number, protocol.transport(), speaks_http)
}

/// East and south: whom a component gets out to, beyond what its cell allows to all.
fn egress<'a>(
    workload: &'a Workload,
    inputs: &Inputs<'a>,
    provider: PolicyProvider,
) -> Result<Reach<'a>, RenderError> {
    let mut reach = Reach::new();
    for needed in &workload.connections {
        if by_gateway(needed) {
            // Where a gateway listens is its own business.
            reach.insert(Peer::Gateways, BTreeSet::new());
            continue;
        }
        // What was not found has no pods yet; it is rendered again with their port once it is.
        let Some(found) = dependencies::found(needed, inputs) else {
            continue;
        };
        let is_own_cell =
            found.namespace == inputs.organization && found.project == inputs.project.name;
        if let Some(port) = port_of(found).filter(|_| !is_own_cell) {
            let peer = Peer::Component {
                organization: &found.namespace,
                project: &found.project,
                component: &found.component,
                environment: inputs.environment.name,
            };
            reach.entry(peer).or_default().insert(port);
        }
    }
    for (index, outside) in workload.outside.iter().enumerate() {
        let peer = match &outside.place {
            Place::Range(range) => Peer::Range(range),
            Place::Host(host) if provider == PolicyProvider::Cilium => Peer::Host(host),
            Place::Host(host) => return Err(no_names(host, index)),
        };
        let ports = outside.ports.iter();
        let ports = ports.map(|(port, transport)| (*port, *transport, false));
        reach.entry(peer).or_default().extend(ports);
    }
    Ok(reach)
}

fn by_gateway(needed: &Connection) -> bool {
    matches!(
        needed.visibility,
        Visibility::Internal | Visibility::External
    )
}

/// Where the pods of a found endpoint listen.
fn port_of(found: &ResolvedConnection) -> Option<Port> {
    let transport = match found.url.scheme.as_deref() {
        Some("udp") => EndpointType::Udp.transport(),
        _ => EndpointType::Tcp.transport(),
    };
    let number = found.target_port.or(found.url.port)?;
    Some((number, transport, false))
}

/// Addresses behind a name change; to open a port to everybody instead would not be what was declared.
fn no_names(host: &str, index: usize) -> RenderError {
    let problem = Problem::new(
        format!("spec.workload.dependencies.external[{index}].host"),
        format!(
            "is {host:?}, but egress is enforced by standard network policies, which know addresses only: give cidr \
             instead, or use a data plane with Cilium (annotation {NETWORK_POLICY_PROVIDER}: cilium)"
        ),
    );
    RenderError::field("component release", problem)
}

#[cfg(test)]
mod tests;
