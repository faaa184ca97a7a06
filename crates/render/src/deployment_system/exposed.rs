//! Where the endpoints of a binding are reached: from its cell, and by what routes lead to it.

use std::collections::BTreeMap;

use quadrille_types::{
    annotations::ENDPOINT_BASE_PATH,
    exposed_endpoint::{EndpointAccess, ExposedEndpoint},
    gateway::GatewayEndpoint,
    workload::{Endpoint, EndpointPort, EndpointType},
};
use serde_json::Value;

use crate::{gateway::Gateways, urls};

/// Where each endpoint is reached, by name. What lies beyond the cell is read off the routes that were rendered, so that
/// no address is told that nothing leads to.
pub(super) fn of<'a>(
    endpoints: &BTreeMap<String, Endpoint>,
    service: &str,
    routes: &(impl Iterator<Item = &'a Value> + Clone),
    gateways: &Gateways<'_>,
) -> Vec<ExposedEndpoint> {
    let exposed = endpoints.iter().map(|(name, endpoint)| {
        let by = |gateway: Option<&GatewayEndpoint>| {
            let gateway = gateway?;
            routes
                .clone()
                .filter(|route| leads_to(route, gateway, service, endpoint.port))
                .find_map(|route| by_route(route, gateway, endpoint.protocol))
        };
        ExposedEndpoint {
            name: name.clone(),
            protocol: endpoint.protocol,
            project: Some(near(service, &endpoint.into())),
            organization: by(gateways.ingress.internal.as_deref()),
            public: by(gateways.ingress.external.as_deref()),
        }
    });
    exposed.collect()
}

/// From within the cell.
pub(super) fn near(service: &str, endpoint: &EndpointPort) -> EndpointAccess {
    use EndpointType::{GraphQl, Grpc, Http, Rest, Tcp, Udp, Websocket};
    let scheme = match endpoint.protocol {
        Grpc => Some("grpc"),
        Websocket => Some("ws"),
        Http | Rest | GraphQl if matches!(endpoint.port, 443 | 8443) => Some("https"),
        Http | Rest | GraphQl => Some("http"),
        Tcp | Udp => None,
    };
    access(service, endpoint.port, scheme, None)
}

/// An access with its address.
fn access(host: &str, port: i32, scheme: Option<&str>, path: Option<&str>) -> EndpointAccess {
    let is_usual = matches!(
        (scheme, port),
        (Some("http" | "ws"), 80) | (Some("https" | "wss"), 443)
    );
    let mut uri = scheme
        .map(|scheme| format!("{scheme}://"))
        .unwrap_or_default();
    uri.push_str(host);
    if !is_usual {
        uri.push(':');
        uri.push_str(&port.to_string());
    }
    if let Some(path) = path {
        uri.push_str(path);
    }
    EndpointAccess {
        host: host.to_owned(),
        port,
        scheme: scheme.map(str::to_owned),
        base_path: path.map(str::to_owned),
        uri: Some(uri),
    }
}

/// Whether a route leads from a gateway to a port of a Service.
fn leads_to(route: &Value, gateway: &GatewayEndpoint, service: &str, port: i32) -> bool {
    let entries = |path: &str| {
        route
            .pointer(path)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let hangs_on = entries("/spec/parentRefs").any(|parent| parent["name"] == gateway.name);
    let leads = |rule: &Value| {
        let backends = rule.get("backendRefs").and_then(Value::as_array);
        let mut backends = backends.into_iter().flatten();
        backends.any(|backend| backend["name"] == service && backend["port"] == port)
    };
    hangs_on && entries("/spec/rules").any(leads)
}

fn by_route(
    route: &Value,
    gateway: &GatewayEndpoint,
    protocol: EndpointType,
) -> Option<EndpointAccess> {
    let host = route.pointer("/spec/hostnames/0")?.as_str()?;
    let (plain, encrypted) = urls::schemes(protocol);
    let (port, scheme) = match (&gateway.https, &gateway.http) {
        (Some(listener), _) => (listener.port, encrypted),
        (None, Some(listener)) => (listener.port, plain),
        (None, None) => return None,
    };
    let annotations = route.pointer("/metadata/annotations");
    let own = annotations.and_then(|annotations| annotations.get(ENDPOINT_BASE_PATH));
    let matched = || route.pointer("/spec/rules/0/matches/0/path/value");
    let path = own.or_else(matched).and_then(Value::as_str);
    Some(access(host, port, Some(scheme), path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leaves_out_the_usual_port() {
        let uri = |scheme, port, path| access("h", port, scheme, path).uri.unwrap();
        assert_eq!(uri(Some("http"), 80, None), "http://h");
        assert_eq!(uri(Some("https"), 443, Some("/a")), "https://h/a");
        assert_eq!(uri(Some("https"), 8443, Some("/")), "https://h:8443/");
        assert_eq!(uri(Some("grpc"), 443, None), "grpc://h:443");
        assert_eq!(uri(None, 53, None), "h:53");
    }
}
