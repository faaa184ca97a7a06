//! What the controller sees: all gateways and routes, and what they refer to.

use std::collections::{BTreeMap, BTreeSet};

use kube::{
    Client,
    core::{ApiResource, GroupVersionKind},
};
use quadrille_planes::feed::{News, Source, Told};
use serde_json::Value;

use super::GROUP;
use crate::read::Place;

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
}

impl Kind {
    pub(super) const ALL: [Self; 12] = [
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
    ];

    /// The kinds of routes.
    pub(super) const ROUTES: [Self; 5] = [Self::Http, Self::Grpc, Self::Tls, Self::Tcp, Self::Udp];

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
            Self::Backend => ("gateway.envoyproxy.io", "v1alpha1", "Backend", "backends"),
        }
    }

    /// Its name in objects.
    pub(super) fn name(self) -> &'static str {
        self.parts().2
    }

    /// Its group.
    pub(super) fn group(self) -> &'static str {
        self.parts().0
    }

    /// As the API client names it.
    pub(super) fn resource(self) -> ApiResource {
        let (group, version, kind, plural) = self.parts();
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural)
    }

    /// Where it is watched. Of some kinds it only matters that they are there.
    pub(super) fn source(self, client: Client) -> Source {
        let source = Source::all(client, &self.resource());
        match self {
            Self::Secret | Self::Namespace | Self::Backend => source.metadata_only(),
            _ => source,
        }
    }
}

type Objects = BTreeMap<Place, Value>;

/// Everything that is seen.
#[derive(Default)]
pub(super) struct World {
    objects: BTreeMap<Kind, Objects>,
    /// Lists that are under way.
    listing: BTreeMap<Kind, Objects>,
    /// Kinds that were listed, or can't be: a cluster need not have all.
    known: BTreeSet<Kind>,
}

impl World {
    /// Takes in what a watch tells; says whether that may change anything.
    pub(super) fn hear(&mut self, kind: Kind, news: News) -> bool {
        match news {
            News::Listing => {
                self.listing.insert(kind, Objects::new());
                return false;
            }
            News::Listed(objects) => {
                let listing = self.listing.entry(kind).or_default();
                listing.extend(
                    objects
                        .iter()
                        .map(Told::value)
                        .map(|object| (Place::of(&object), object)),
                );
                return false;
            }
            News::Complete(_) => {
                let listed = self.listing.remove(&kind).unwrap_or_default();
                self.objects.insert(kind, listed);
                self.known.insert(kind);
            }
            News::Changed(object) => {
                let objects = self.objects.entry(kind).or_default();
                let object = object.value();
                objects.insert(Place::of(&object), object);
            }
            News::Gone(object) => {
                let objects = self.objects.entry(kind).or_default();
                objects.remove(&Place::of(&object.value()));
            }
            News::Failed(_) => return self.known.insert(kind),
        }
        true
    }

    /// Whether everything was looked at once.
    pub(super) fn is_known(&self) -> bool {
        self.known.len() == Kind::ALL.len()
    }

    /// All objects of a kind.
    pub(super) fn all(&self, kind: Kind) -> impl Iterator<Item = (&Place, &Value)> {
        self.objects.get(&kind).into_iter().flatten()
    }

    /// An object.
    pub(super) fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Value> {
        self.objects.get(&kind)?.get(&Place::new(namespace, name))
    }

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
