//! Where a cell meets the world, as templates and addresses see it: the environment's gateways over the plane's.

use std::borrow::Cow;

use quadrille_types::{
    DataPlaneSpec, EnvironmentSpec,
    gateway::{GatewayEndpoint, GatewayListener, GatewayNetwork},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The gateways of the older generation, which names hosts only.
const OLDER_NAMESPACE: &str = "openchoreo-data-plane";

/// The gateways that are used, by direction and side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gateways<'a> {
    pub(crate) ingress: Network<'a>,
    egress: Network<'a>,
}

/// The gateways for one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Network<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) external: Option<Cow<'a, GatewayEndpoint>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) internal: Option<Cow<'a, GatewayEndpoint>>,
}

impl<'a> Network<'a> {
    fn of(given: Option<&'a GatewayNetwork>) -> Self {
        let side = |side: Option<&'a GatewayEndpoint>| side.map(Cow::Borrowed);
        Self {
            external: side(given.and_then(|network| network.external.as_ref())),
            internal: side(given.and_then(|network| network.internal.as_ref())),
        }
    }

    /// Each side of this one, where it has it, over another's.
    fn over(self, base: Self) -> Self {
        Self {
            external: self.external.or(base.external),
            internal: self.internal.or(base.internal),
        }
    }
}

impl<'a> Gateways<'a> {
    /// Those of a plane. Hosts of the older form stand for its gateways of fixed names.
    pub(crate) fn of_plane(plane: &'a DataPlaneSpec, dns_prefix: Option<&str>) -> Self {
        let Some(gateway) = &plane.gateway else {
            return Self::default();
        };
        let older = |name: &str, host: Option<&String>| {
            host.filter(|host| !host.is_empty())
                .map(|host| Cow::Owned(older_gateway(name, host, dns_prefix)))
        };
        let hosts = Network {
            external: older("gateway-external", gateway.public_virtual_host.as_ref()),
            internal: older(
                "gateway-internal",
                gateway.organization_virtual_host.as_ref(),
            ),
        };
        Self {
            ingress: Network::of(gateway.ingress.as_ref()).over(hosts),
            egress: Network::of(gateway.egress.as_ref()),
        }
    }

    /// Those of an environment where it has them, else those of its plane.
    pub(crate) fn of(environment: &'a EnvironmentSpec, plane: &'a DataPlaneSpec) -> Self {
        let own = environment.gateway.as_ref();
        let prefix = own.and_then(|own| own.dns_prefix.as_deref());
        Self::over_plane(environment, Self::of_plane(plane, prefix))
    }

    /// The same with their domains as they are: whoever routes puts a name of its own before them.
    pub(crate) fn by_domain(environment: &'a EnvironmentSpec, plane: &'a DataPlaneSpec) -> Self {
        Self::over_plane(environment, Self::of_plane(plane, None))
    }

    fn over_plane(environment: &'a EnvironmentSpec, base: Self) -> Self {
        let Some(own) = &environment.gateway else {
            return base;
        };
        Self {
            ingress: Network::of(own.ingress.as_ref()).over(base.ingress),
            egress: Network::of(own.egress.as_ref()).over(base.egress),
        }
    }

    /// As templates see them; nothing is there that isn't.
    pub(crate) fn variable(&self) -> Value {
        let mut shown = Map::new();
        for (name, network) in [("ingress", &self.ingress), ("egress", &self.egress)] {
            if *network != Network::default() {
                shown.insert(name.to_owned(), json!(network));
            }
        }
        Value::Object(shown)
    }

    /// The same, if there is one.
    pub(crate) fn any(&self) -> Option<Value> {
        (*self != Self::default()).then(|| self.variable())
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
        assert_eq!(external.https.as_ref().unwrap().host, "dev.apps.test");
    }

    #[test]
    fn no_gateway_is_an_empty_object_and_not_a_missing_one() {
        assert_eq!(
            Gateways::of(&spec(json!({})), &spec(json!({}))).variable(),
            json!({})
        );
    }
}
