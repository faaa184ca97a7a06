//! What the endpoints of a web application's binding become: a route to the world for each, at a host of its own.

use std::collections::BTreeMap;

use quadrille_types::{
    names::generate,
    workload::{EndpointPort, EndpointType},
};
use serde_json::Value;

use crate::{
    error::RenderError,
    finish::planned,
    policy,
    routes::{Audience, Backend, Exposure, Match, Place, Route, RouteKind, Rule},
};

/// What the routes of a web application are rendered from.
#[derive(Clone, Copy, Debug)]
pub struct WebInputs<'a> {
    /// The name of the binding.
    pub binding: &'a str,
    /// What it listens on, by name.
    pub endpoints: &'a BTreeMap<String, EndpointPort>,
    /// Where it is.
    pub place: Place<'a>,
}

/// The routes of a web application. What speaks no HTTP has none.
pub fn plan(inputs: &WebInputs<'_>) -> Result<Exposure, RenderError> {
    use EndpointType::{GraphQl, Http, Rest, Websocket};
    let mut exposure = Exposure::default();
    let place = &inputs.place;
    for (name, endpoint) in inputs.endpoints {
        if !matches!(endpoint.protocol, Http | Rest | GraphQl | Websocket) {
            exposure.notes.push(format!(
                "spec.workloadSpec.endpoints.{name}: is not reached from outside, since {} is no HTTP",
                endpoint.protocol.as_str()
            ));
            continue;
        }
        let way = place.way(Audience::Public)?;
        let host = place.own_host(name, &way);
        let backend = Backend::Service {
            name: place.service.to_owned(),
            port: endpoint.port,
        };
        let route = Route {
            kind: RouteKind::Http,
            metadata: metadata(place, &[inputs.binding, name, "httproute"]),
            parent: way.parent(None),
            host: Some(&host),
            rule: Rule {
                matched: Match::Prefix("/".to_owned()),
                filters: Vec::new(),
                backend: &backend,
            },
        };
        exposure.objects.push(planned(route.object()));
        exposure
            .addresses
            .push(way.address(endpoint.protocol, &host, ""));
        let port = policy::listening(endpoint.target_port, endpoint.protocol);
        let own = metadata(place, &[inputs.binding, name, "ingress"]);
        exposure
            .objects
            .push(planned(place.doors(own, &[way], port)));
    }
    Ok(exposure)
}

fn metadata(place: &Place<'_>, parts: &[&str]) -> Value {
    place.metadata(&generate::name(parts), &[])
}
