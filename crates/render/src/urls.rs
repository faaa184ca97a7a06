//! Where endpoints can be reached, read off what was rendered.

use std::collections::BTreeMap;

use quadrille_types::{
    annotations::ENDPOINT_BASE_PATH,
    gateway::{GatewayEndpoint, GatewayListener},
    labels,
    release_binding::{EndpointStatus, EndpointUrl, EndpointUrls},
    workload::{EndpointPort, EndpointType},
};
use serde_json::Value;

use crate::gateway::Gateways;

const ROUTES: &str = "gateway.networking.k8s.io/";

/// Where each endpoint can be reached: those with a route first, then those with a Service only, each by name.
pub(crate) fn of<'a>(
    endpoints: &BTreeMap<String, EndpointPort>,
    objects: &(impl Iterator<Item = &'a Value> + Clone),
    gateways: &Gateways<'_>,
    namespace: &str,
) -> Vec<EndpointStatus> {
    let service = busiest_service(endpoints, objects.clone());
    let mut routed = Vec::new();
    let mut direct = Vec::new();
    for (name, endpoint) in endpoints {
        let mut status = EndpointStatus {
            name: name.clone(),
            protocol: Some(endpoint.protocol.as_str().to_owned()),
            target_port: (endpoint.target_port != endpoint.port).then_some(endpoint.target_port),
            service_url: service
                .filter(|service| has_port(service, endpoint))
                .and_then(|service| service_url(service, endpoint, namespace)),
            ..EndpointStatus::default()
        };
        let mut has_route = false;
        for route in objects
            .clone()
            .filter(|object| leads_to(object, name, endpoint.protocol))
        {
            has_route = true;
            let is_external =
                text(route, &["metadata", "labels", labels::endpoint::VISIBILITY]) == "external";
            let (gateway, urls) = if is_external {
                (&gateways.ingress.external, &mut status.external_urls)
            } else {
                (&gateways.ingress.internal, &mut status.internal_urls)
            };
            if let Some(found) = gateway
                .as_deref()
                .and_then(|gateway| route_urls(route, gateway, endpoint.protocol))
            {
                *urls = Some(found);
            }
        }
        match (has_route, status.service_url.is_some()) {
            (true, _) => routed.push(status),
            (false, true) => direct.push(status),
            (false, false) => {}
        }
    }
    routed.extend(direct);
    routed
}

fn text<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    let found = path.iter().try_fold(object, |at, key| at.get(*key));
    found.and_then(Value::as_str).unwrap_or_default()
}

/// Whether an object is a route to an endpoint that it can carry.
fn leads_to(object: &Value, endpoint: &str, protocol: EndpointType) -> bool {
    use EndpointType::{GraphQl, Grpc, Http, Rest, Tcp, Websocket};
    let carries = match text(object, &["kind"]) {
        "HTTPRoute" => matches!(protocol, Http | Rest | GraphQl | Websocket | Grpc),
        "GRPCRoute" => protocol == Grpc,
        "TLSRoute" => matches!(protocol, Http | Rest | GraphQl | Websocket | Grpc | Tcp),
        _ => false,
    };
    carries
        && text(object, &["apiVersion"]).starts_with(ROUTES)
        && text(object, &["metadata", "labels", labels::endpoint::NAME]) == endpoint
}

/// How addresses by way of a gateway start: without encryption, and with it.
pub(crate) fn schemes(protocol: EndpointType) -> (&'static str, &'static str) {
    match protocol {
        EndpointType::Websocket => ("ws", "wss"),
        EndpointType::Grpc => ("grpc", "grpcs"),
        EndpointType::Tcp => ("", "tls"),
        _ => ("http", "https"),
    }
}

fn route_urls(
    route: &Value,
    gateway: &GatewayEndpoint,
    protocol: EndpointType,
) -> Option<EndpointUrls> {
    let host = route.pointer("/spec/hostnames/0")?.as_str()?;
    let kind = text(route, &["kind"]);
    let own_path = text(route, &["metadata", "annotations", ENDPOINT_BASE_PATH]);
    let path = match (own_path, kind) {
        ("", "HTTPRoute") => route
            .pointer("/spec/rules/0/matches/0/path/value")
            .and_then(Value::as_str)
            .unwrap_or_default(),
        (path, _) => path,
    };
    let (plain, encrypted) = schemes(protocol);
    let url = |listener: &Option<GatewayListener>, scheme: &str| {
        listener.as_ref().map(|listener| EndpointUrl {
            scheme: Some(scheme.to_owned()),
            host: host.to_owned(),
            port: Some(listener.port),
            path: Some(path.to_owned()).filter(|path| !path.is_empty()),
        })
    };
    let urls = if kind == "TLSRoute" {
        EndpointUrls {
            tls: url(&gateway.tls, encrypted),
            ..EndpointUrls::default()
        }
    } else {
        EndpointUrls {
            http: url(&gateway.http, plain),
            https: url(&gateway.https, encrypted),
            tls: None,
        }
    };
    (urls != EndpointUrls::default()).then_some(urls)
}

/// The Service that most endpoints have a port on; the first of equals.
fn busiest_service<'a>(
    endpoints: &BTreeMap<String, EndpointPort>,
    objects: impl Iterator<Item = &'a Value>,
) -> Option<&'a Value> {
    let mut busiest: Option<(usize, &Value)> = None;
    for object in objects {
        if text(object, &["kind"]) != "Service" || text(object, &["apiVersion"]) != "v1" {
            continue;
        }
        let count = endpoints
            .values()
            .filter(|endpoint| has_port(object, endpoint))
            .count();
        if count > busiest.map_or(0, |(most, _)| most) {
            busiest = Some((count, object));
        }
    }
    busiest.map(|(_, service)| service)
}

fn has_port(service: &Value, endpoint: &EndpointPort) -> bool {
    let ports = service.get("spec").and_then(|spec| spec.get("ports"));
    let ports = ports.and_then(Value::as_array);
    ports.into_iter().flatten().any(|port| {
        let transport = port
            .get("protocol")
            .and_then(Value::as_str)
            .unwrap_or("TCP");
        port.get("port").and_then(Value::as_i64) == Some(endpoint.port.into())
            && transport == endpoint.protocol.transport()
    })
}

fn service_url(service: &Value, endpoint: &EndpointPort, cell: &str) -> Option<EndpointUrl> {
    let metadata = service.get("metadata")?;
    let name = metadata.get("name")?.as_str()?;
    let namespace = metadata
        .get("namespace")
        .and_then(Value::as_str)
        .unwrap_or(cell);
    Some(EndpointUrl {
        scheme: Some(endpoint.protocol.scheme().to_owned()),
        host: format!("{name}.{namespace}.svc.cluster.local"),
        port: Some(endpoint.port),
        path: endpoint.base_path.clone(),
    })
}
