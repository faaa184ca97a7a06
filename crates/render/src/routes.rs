//! Routes through gateways, and what gateways ask of callers: the one home of whatever is reached from beyond its cell.
//!
//! ```text
//!   Place + Audience ──► Way: the gateway and the host ─┐
//!   paths: prefixes, operations as patterns ────────────┼──► route, SecurityPolicy, BackendTrafficPolicy
//!   Security, Traffic: what is asked of callers ────────┘    and the network policy that lets the gateway in
//! ```
//! Who asks for what (an Endpoint with its policies, an API with its class) is read elsewhere; here it has one form.

mod backend;
mod callers;
mod objects;
pub(crate) mod paths;
mod readiness;
mod security;
mod traffic;
mod way;

use std::collections::BTreeMap;

pub(crate) use backend::{Backend, Url};
pub(crate) use callers::{Pages, api_keys};
pub(crate) use objects::{Match, Route, RouteKind, Rule, extended, pattern_filter, rewritten};
use quadrille_types::{
    DataPlaneSpec, EnvironmentSpec, api::ExposeLevel, endpoint::EndpointAddresses,
};
pub use readiness::{Readiness, readiness};
pub(crate) use security::{JwtProvider, Principal, Security, USER_HEADER, range};
use serde_json::{Map, Value};
pub(crate) use traffic::{Limit, Traffic, unit};
pub use way::Address;
pub(crate) use way::Way;

use crate::plan::Planned;

/// Who something is exposed to, beyond its own project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Audience {
    /// The world, by the external gateway.
    Public,
    /// The organization, by the internal gateway.
    Organization,
}

impl Audience {
    /// What names and labels call the gateway of this side, whatever the plane calls it.
    pub(crate) const fn gateway(self) -> &'static str {
        match self {
            Self::Public => "gateway-external",
            Self::Organization => "gateway-internal",
        }
    }

    /// The audience of an API's level; the project needs no gateway.
    pub const fn of_level(level: ExposeLevel) -> Option<Self> {
        match level {
            ExposeLevel::Project => None,
            ExposeLevel::Organization => Some(Self::Organization),
            ExposeLevel::Public => Some(Self::Public),
        }
    }

    /// The word that documents have for it, in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Organization => "organization",
        }
    }
}

/// Where something that is exposed runs, and whose it is.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The organization.
    pub organization: &'a str,
    /// The project.
    pub project: &'a str,
    /// The component.
    pub component: &'a str,
    /// The environment.
    pub environment: &'a str,
    /// What is asked of it.
    pub environment_spec: &'a EnvironmentSpec,
    /// The data plane of the environment.
    pub plane: &'a str,
    /// What is asked of it.
    pub plane_spec: &'a DataPlaneSpec,
    /// The annotations of the data plane.
    pub plane_annotations: &'a BTreeMap<String, String>,
    /// The cell: the namespace of every object.
    pub namespace: &'a str,
    /// On every object.
    pub labels: &'a Map<String, Value>,
    /// What the pods that answer are selected by.
    pub pods: &'a Map<String, Value>,
    /// The Service before them.
    pub service: &'a str,
}

/// What makes something reachable, and where it is reached.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exposure {
    /// The objects, always in the same order.
    pub objects: Vec<Planned>,
    /// Where it is reached once they exist.
    pub addresses: Vec<Address>,
    /// What is not wrong, but probably not meant either.
    pub notes: Vec<String>,
}

impl Exposure {
    /// Where an audience reaches it.
    pub fn address(&self, audience: Audience) -> Option<String> {
        let found = self.addresses.iter().find(|one| one.audience == audience);
        found.map(Address::url)
    }

    /// Where it is reached, by whom, as the status of an Endpoint tells; nothing where nobody reaches it.
    pub fn urls(&self) -> Option<EndpointAddresses> {
        let urls = EndpointAddresses {
            organization: self.address(Audience::Organization),
            public: self.address(Audience::Public),
        };
        (urls != EndpointAddresses::default()).then_some(urls)
    }
}

#[cfg(test)]
mod tests;
