//! Whether what a route sends requests to is there, and may be used.

use serde_json::{Value, json};

use super::{
    Wanted,
    condition::{self, Condition},
    gateways::any_controller,
    world::{Kind, World},
};
use crate::{
    read::{Place, list, text},
    world::Kinds as _,
};

/// The statuses of Backends that are not as they should be. A Backend has no class: whoever looks after gateways here
/// looks after it too.
pub(super) fn decide(world: &World, now: &str) -> Vec<Wanted> {
    if any_controller(world).is_none() {
        return Vec::new();
    }
    let wanted = world.all(Kind::Backend).filter_map(|(place, backend)| {
        let accepted = Condition::yes("Accepted", "Accepted", "the backend is accepted");
        let before = &backend["status"]["conditions"];
        let generation = &backend["metadata"]["generation"];
        let conditions = condition::list(&[accepted], before, generation, now);
        (*before != conditions).then(|| Wanted {
            kind: Kind::Backend,
            place: place.clone(),
            status: json!({ "conditions": conditions }),
        })
    });
    wanted.collect()
}

/// Whether all references of a route lead somewhere.
pub(super) fn resolved(world: &World, kind: Kind, place: &Place, route: &Value) -> Condition {
    let references = list(&route["spec"]["rules"]).iter().flat_map(|rule| {
        let mirrors = list(&rule["filters"])
            .iter()
            .map(|filter| &filter["requestMirror"]["backendRef"])
            .filter(|reference| reference.is_object());
        list(&rule["backendRefs"]).iter().chain(mirrors)
    });
    let wrong = references.filter_map(|reference| wrong(world, kind, place, reference));
    wrong.into_iter().next().unwrap_or_else(|| {
        Condition::yes(
            "ResolvedRefs",
            "ResolvedRefs",
            "everything that it refers to is there",
        )
    })
}

fn wrong(world: &World, from: Kind, place: &Place, reference: &Value) -> Option<Condition> {
    let no = |reason, why: String| Some(Condition::no("ResolvedRefs", reason, why));
    let group = text(&reference["group"]);
    let kind = reference["kind"].as_str().unwrap_or("Service");
    let name = text(&reference["name"]);
    let namespace = reference["namespace"].as_str().unwrap_or(&place.namespace);
    let known = [Kind::Service, Kind::Backend]
        .into_iter()
        .find(|known| known.group() == group && known.name() == kind);
    let Some(known) = known else {
        return no(
            "InvalidKind",
            format!("a route can't send requests to a {kind}"),
        );
    };
    let granted = world.is_granted((from, &place.namespace), (group, kind, namespace, name));
    if !granted {
        return no(
            "RefNotPermitted",
            format!("no ReferenceGrant in {namespace} allows to use the {kind} {name}"),
        );
    }
    let Some(found) = world.get(known, namespace, name) else {
        return no(
            "BackendNotFound",
            format!("there is no {kind} {namespace}/{name}"),
        );
    };
    if known == Kind::Backend {
        return None;
    }
    let Some(port) = reference["port"].as_i64() else {
        return no(
            "UnsupportedValue",
            format!("the Service {name} is named without a port"),
        );
    };
    let mut ports = list(&found["spec"]["ports"]).iter();
    if ports.any(|known| known["port"] == port) {
        return None;
    }
    no(
        "BackendNotFound",
        format!("the Service {namespace}/{name} has no port {port}"),
    )
}
