//! Where a cell meets the world, as templates and addresses see it: the environment's gateways over the plane's.

use quadrille_types::{
    DataPlaneSpec, EnvironmentSpec,
    gateway::{GatewayEndpoint, GatewayListener, GatewayNetwork},
};
use serde_json::{Map, Value, json};

/// The gateways of the older generation, which names hosts only.
const OLDER_NAMESPACE: &str = "openchoreo-data-plane";

/// The gateways that are used, by direction and side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gateways {
    pub(crate) ingress: GatewayNetwork,
    egress: GatewayNetwork,
}

impl Gateways {
    /// Those of a plane. Hosts of the older form stand for its gateways of fixed names.
    pub(crate) fn of_plane(plane: &DataPlaneSpec, dns_prefix: Option<&str>) -> Self {
        let gateway = plane.gateway.clone().unwrap_or_default();
        let mut ingress = gateway.ingress.unwrap_or_default();
        let older = |name: &str, host: Option<&String>| {
            host.filter(|host| !host.is_empty())
                .map(|host| older_gateway(name, host, dns_prefix))
        };
        ingress.external = ingress
            .external
            .or_else(|| older("gateway-external", gateway.public_virtual_host.as_ref()));
        ingress.internal = ingress.internal.or_else(|| {
            older(
                "gateway-internal",
                gateway.organization_virtual_host.as_ref(),
            )
        });
        Self {
            ingress,
            egress: gateway.egress.unwrap_or_default(),
        }
    }

    /// Those of an environment where it has them, else those of its plane.
    pub(crate) fn of(environment: &EnvironmentSpec, plane: &DataPlaneSpec) -> Self {
        let own = environment.gateway.clone().unwrap_or_default();
        let base = Self::of_plane(plane, own.dns_prefix.as_deref());
        Self {
            ingress: over(own.ingress, base.ingress),
            egress: over(own.egress, base.egress),
        }
    }

    /// As templates see them; nothing is there that isn't.
    pub(crate) fn variable(&self) -> Value {
        let mut shown = Map::new();
        for (name, network) in [("ingress", &self.ingress), ("egress", &self.egress)] {
            if *network != GatewayNetwork::default() {
                shown.insert(name.to_owned(), json!(network));
            }
        }
        Value::Object(shown)
    }
}

fn over(own: Option<GatewayNetwork>, base: GatewayNetwork) -> GatewayNetwork {
    let own = own.unwrap_or_default();
    GatewayNetwork {
        external: own.external.or(base.external),
        internal: own.internal.or(base.internal),
    }
}

fn older_gateway(name: &str, host: &str, dns_prefix: Option<&str>) -> GatewayEndpoint {
    let host = match dns_prefix.filter(|prefix| !prefix.is_empty()) {
        Some(prefix) => format!("{prefix}.{host}"),
        None => host.to_owned(),
    };
    GatewayEndpoint {
        name: name.to_owned(),
        namespace: OLDER_NAMESPACE.to_owned(),
        http: None,
        https: Some(GatewayListener {
            host,
            port: 443,
            listener_name: None,
        }),
        tls: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn named(name: &str) -> Value {
        json!({ "name": name, "namespace": "g" })
    }

    #[test]
    fn an_environment_replaces_single_sides_of_its_plane() {
        let plane = spec(json!({ "gateway": {
            "ingress": { "external": named("a"), "internal": named("b") }, "egress": { "external": named("c") },
        }}));
        let environment = spec(json!({ "gateway": { "ingress": { "external": named("mine") } } }));
        let gateways = Gateways::of(&environment, &plane);
        assert_eq!(
            gateways.variable(),
            json!({
                "ingress": { "external": named("mine"), "internal": named("b") },
                "egress": { "external": named("c") },
            })
        );
    }

    #[test]
    fn hosts_of_the_older_form_are_gateways_too() {
        let plane = spec(json!({ "gateway": {
            "publicVirtualHost": "apps.test", "organizationVirtualHost": "internal.test",
        }}));
        let environment = spec(json!({ "gateway": { "dnsPrefix": "dev" } }));
        let external = Gateways::of(&environment, &plane).ingress.external.unwrap();
        assert_eq!(external.name, "gateway-external");
        assert_eq!(external.https.unwrap().host, "dev.apps.test");
    }

    #[test]
    fn no_gateway_is_an_empty_object_and_not_a_missing_one() {
        assert_eq!(
            Gateways::of(&spec(json!({})), &spec(json!({}))).variable(),
            json!({})
        );
    }
}
