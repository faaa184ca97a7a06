//! Routes, so that the chain tells where they lead from: it reads addresses off routes that name their endpoint.

use std::collections::{BTreeMap, BTreeSet};

use quadrille_types::{
    labels::endpoint::{NAME, VISIBILITY},
    workload::Visibility,
};
use serde_json::Value;

use super::{own_parts::Cut, running::Running};
use crate::gateway::Gateways;

/// Writes on each route of an environment which endpoint it leads to, and for whom. Gives who reaches which.
pub(super) fn name_endpoints(
    running: &Running,
    cut: &mut Cut,
) -> BTreeMap<String, BTreeSet<Visibility>> {
    let mut seen: BTreeMap<String, BTreeSet<Visibility>> = BTreeMap::new();
    let gateways = Gateways::of(running.site.stage().spec, running.site.plane().spec);
    let external = gateways.ingress.external.as_deref();
    for object in &mut cut.objects {
        let Some(port) = whole_port(object) else {
            continue;
        };
        let Some(name) = endpoint(running, object, port) else {
            continue;
        };
        let parent = &object["spec"]["parentRefs"][0]["name"];
        let is_external = external.is_some_and(|gateway| *parent == *gateway.name);
        let (word, visibility) = if is_external {
            ("external", Visibility::External)
        } else {
            ("internal", Visibility::Internal)
        };
        object["metadata"]["labels"][NAME] = name.as_str().into();
        object["metadata"]["labels"][VISIBILITY] = word.into();
        seen.entry(name).or_default().insert(visibility);
    }
    seen
}

/// The endpoint of a port. Of several, the one that the route is called after: routes of Endpoints have its name in a label,
/// others in their own.
fn endpoint(running: &Running, route: &Value, port: i64) -> Option<String> {
    let metadata = &route["metadata"];
    let called = metadata["labels"][NAME].as_str();
    let called = called.or(metadata["name"].as_str()).unwrap_or_default();
    let endpoints = running.endpoints.iter();
    let of_port = endpoints.filter(|(_, endpoint)| i64::from(endpoint.port) == port);
    let names = of_port.map(|(name, _)| name);
    let rank = |name: &&String| (called.contains(name.as_str()), name.len());
    names.max_by_key(rank).cloned()
}

/// The port that a route leads to with everything below a path, or without asking for one. Routes of single operations
/// have no address of their own.
fn whole_port(object: &Value) -> Option<i64> {
    let kind = object["kind"].as_str()?;
    let api_version = object["apiVersion"].as_str()?;
    if !api_version.starts_with("gateway.networking.k8s.io/") || !kind.ends_with("Route") {
        return None;
    }
    let rule = object.pointer("/spec/rules/0")?;
    let path = rule.pointer("/matches/0/path/type").and_then(Value::as_str);
    if path.is_some_and(|kind| kind != "PathPrefix") {
        return None;
    }
    rule.pointer("/backendRefs/0/port")?.as_i64()
}
