//! What the controller sees: all gateways, routes and policies, and what they refer to.

use serde_json::Value;

use super::GROUP;
use crate::world::{self, Kinds, retain};

/// The group of Envoy Gateway's own kinds.
const ENVOY: &str = "gateway.envoyproxy.io";

/// A kind that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Class,
    Gateway,
    Http,
    Grpc,
    Tls,
    Tcp,
    Udp,
    Grant,
    Service,
    Secret,
    Namespace,
    Backend,
    Security,
    BackendTraffic,
    ClientTraffic,
    Extension,
}

/// Everything that is seen.
pub(super) type World = world::World<Kind>;

impl Kind {
    /// The kinds of routes.
    pub(super) const ROUTES: [Self; 5] = [Self::Http, Self::Grpc, Self::Tls, Self::Tcp, Self::Udp];

    /// The kinds of policies.
    pub(super) const POLICIES: [Self; 4] = [
        Self::Security,
        Self::BackendTraffic,
        Self::ClientTraffic,
        Self::Extension,
    ];
}

impl Kinds for Kind {
    const ALL: &'static [Self] = &[
        Self::Class,
        Self::Gateway,
        Self::Http,
        Self::Grpc,
        Self::Tls,
        Self::Tcp,
        Self::Udp,
        Self::Grant,
        Self::Service,
        Self::Secret,
        Self::Namespace,
        Self::Backend,
        Self::Security,
        Self::BackendTraffic,
        Self::ClientTraffic,
        Self::Extension,
    ];

    fn parts(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::Class => (GROUP, "v1", "GatewayClass", "gatewayclasses"),
            Self::Gateway => (GROUP, "v1", "Gateway", "gateways"),
            Self::Http => (GROUP, "v1", "HTTPRoute", "httproutes"),
            Self::Grpc => (GROUP, "v1", "GRPCRoute", "grpcroutes"),
            Self::Tls => (GROUP, "v1", "TLSRoute", "tlsroutes"),
            Self::Tcp => (GROUP, "v1", "TCPRoute", "tcproutes"),
            Self::Udp => (GROUP, "v1", "UDPRoute", "udproutes"),
            Self::Grant => (GROUP, "v1beta1", "ReferenceGrant", "referencegrants"),
            Self::Service => ("", "v1", "Service", "services"),
            Self::Secret => ("", "v1", "Secret", "secrets"),
            Self::Namespace => ("", "v1", "Namespace", "namespaces"),
            Self::Backend => (ENVOY, "v1alpha1", "Backend", "backends"),
            Self::Security => (ENVOY, "v1alpha1", "SecurityPolicy", "securitypolicies"),
            Self::BackendTraffic => (
                ENVOY,
                "v1alpha1",
                "BackendTrafficPolicy",
                "backendtrafficpolicies",
            ),
            Self::ClientTraffic => (
                ENVOY,
                "v1alpha1",
                "ClientTrafficPolicy",
                "clienttrafficpolicies",
            ),
            Self::Extension => (
                ENVOY,
                "v1alpha1",
                "EnvoyExtensionPolicy",
                "envoyextensionpolicies",
            ),
        }
    }

    fn is_known_by_metadata(self) -> bool {
        matches!(self, Self::Secret | Self::Namespace)
    }

    fn trim(self, object: &mut Value) {
        let (parts, metadata): (&[&str], &[&str]) = match self {
            Self::Secret => (&["metadata"], &["namespace", "name"]),
            Self::Service => (&["metadata", "spec"], &["namespace", "name"]),
            Self::Namespace => (&["metadata"], &["name", "labels"]),
            Self::Backend => (
                &["metadata", "status"],
                &["namespace", "name", "generation"],
            ),
            _ => (
                &["metadata", "spec", "status"],
                &[
                    "namespace",
                    "name",
                    "labels",
                    "generation",
                    "creationTimestamp",
                ],
            ),
        };
        retain(object, "", parts);
        retain(object, "/metadata", metadata);
        match self {
            Self::Service => retain(object, "/spec", &["ports"]),
            // How requests are matched is most of a route, and nobody asks for it here.
            Self::Http | Self::Grpc => {
                if let Some(Value::Array(rules)) = object.pointer_mut("/spec/rules") {
                    for rule in rules {
                        retain(rule, "", &["name", "backendRefs", "filters"]);
                    }
                }
            }
            policy if Self::POLICIES.contains(&policy) => {
                let targets = ["targetRef", "targetRefs", "targetSelectors"];
                retain(object, "/spec", &targets);
            }
            _ => {}
        }
    }
}

impl World {
    /// Whether an object of one namespace may refer to one of another: `to` allows it there.
    pub(super) fn is_granted(&self, from: (Kind, &str), to: (&str, &str, &str, &str)) -> bool {
        let (group, kind, namespace, name) = to;
        let matches = |value: &Value, wanted: &str| value.as_str().unwrap_or_default() == wanted;
        from.1 == namespace
            || self
                .all(Kind::Grant)
                .filter(|(place, _)| &*place.namespace == namespace)
                .any(|(_, grant)| {
                    let list = |field: &str| grant["spec"][field].as_array().into_iter().flatten();
                    let is_from = |entry: &Value| {
                        matches(&entry["group"], from.0.group())
                            && matches(&entry["kind"], from.0.name())
                            && matches(&entry["namespace"], from.1)
                    };
                    let is_to = |entry: &Value| {
                        matches(&entry["group"], group)
                            && matches(&entry["kind"], kind)
                            && entry["name"].as_str().is_none_or(|only| only == name)
                    };
                    list("from").any(is_from) && list("to").any(is_to)
                })
    }
}
