//! Where a cell meets the world: the gateways of a data plane or an environment.
//!
//! The older shape names virtual hosts only; the newer one names gateways with their listeners. Both
//! end in [`Sides`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The gateways for one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatewayNetwork {
    /// Traffic with the outside world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<GatewayEndpoint>,
    /// Traffic within the organization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal: Option<GatewayEndpoint>,
}

/// One gateway and the listeners that routes may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatewayEndpoint {
    /// The name of the Gateway object.
    pub name: String,
    /// The namespace of the Gateway object.
    pub namespace: String,
    /// The listener for plain HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<GatewayListener>,
    /// The listener for HTTPS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub https: Option<GatewayListener>,
    /// The listener for TLS that is passed through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<GatewayListener>,
}

/// A listener of a gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatewayListener {
    /// The domain that the listener serves.
    pub host: String,
    /// The port that clients connect to.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
    /// The listener's name within the Gateway object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listener_name: Option<String>,
}

/// The four sides of a cell. A side that is not there has no gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// Ingress from the outside world.
    pub north: Option<Side>,
    /// Ingress from the organization.
    pub west: Option<Side>,
    /// Egress to the outside world.
    pub south: Option<Side>,
    /// Egress to other cells.
    pub east: Option<Side>,
}

/// One side of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The domain by which the side is known.
    pub host: Option<String>,
    /// The Gateway object, where the document names one.
    pub gateway: Option<GatewayEndpoint>,
}

impl Sides {
    /// From the newer shape, with virtual hosts of the older one filling what it leaves open.
    pub(crate) fn read(
        ingress: Option<&GatewayNetwork>,
        egress: Option<&GatewayNetwork>,
        public_host: Option<&str>,
        organization_host: Option<&str>,
    ) -> Self {
        let external = |network: Option<&GatewayNetwork>| network.and_then(|n| n.external.clone());
        let internal = |network: Option<&GatewayNetwork>| network.and_then(|n| n.internal.clone());
        Self {
            north: Side::read(external(ingress), public_host),
            west: Side::read(internal(ingress), organization_host),
            south: Side::read(external(egress), None),
            east: Side::read(internal(egress), None),
        }
    }

    /// These sides, and those of `base` where there are none here: an environment over its data plane.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        Self {
            north: self.north.or(base.north),
            west: self.west.or(base.west),
            south: self.south.or(base.south),
            east: self.east.or(base.east),
        }
    }
}

impl Side {
    fn read(gateway: Option<GatewayEndpoint>, virtual_host: Option<&str>) -> Option<Self> {
        let listened = gateway.as_ref().and_then(|gateway| {
            let listeners = [&gateway.https, &gateway.http, &gateway.tls];
            let mut hosts = listeners
                .into_iter()
                .flatten()
                .map(|listener| &listener.host);
            hosts.next().cloned()
        });
        let host = listened.or_else(|| virtual_host.map(str::to_owned));
        (host.is_some() || gateway.is_some()).then_some(Self { host, gateway })
    }
}
