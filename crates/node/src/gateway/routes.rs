//! What to say of routes: which parents take them, and whether their backends are there.

use serde_json::{Value, json};

use super::{
    CONTROLLERS, GROUP, Wanted, backends,
    condition::{self, Condition},
    gateways::{Attached, controller},
    hostname,
    listeners::{self, Listener},
    world::{Kind, World},
};
use crate::{
    read::{Place, list, text},
    world::Kinds as _,
};

/// The statuses of routes that are not as they should be, and how many each listener has.
pub(super) fn decide(world: &World, now: &str) -> (Attached, Vec<Wanted>) {
    let mut attached = Attached::new();
    let mut wanted = Vec::new();
    for kind in Kind::ROUTES {
        for (place, route) in world.all(kind) {
            let parents = parents(world, kind, place, route, now, &mut attached);
            if list(&route["status"]["parents"]) != parents {
                wanted.push(Wanted {
                    kind,
                    place: place.clone(),
                    status: json!({ "parents": parents }),
                });
            }
        }
    }
    (attached, wanted)
}

/// What is said about each parent. What other controllers say about theirs stays.
fn parents(
    world: &World,
    kind: Kind,
    place: &Place,
    route: &Value,
    now: &str,
    attached: &mut Attached,
) -> Vec<Value> {
    let before = list(&route["status"]["parents"]);
    let is_ours = |entry: &&Value| CONTROLLERS.contains(&text(&entry["controllerName"]));
    let mut entries: Vec<Value> = before
        .iter()
        .filter(|entry| !is_ours(entry))
        .cloned()
        .collect();
    let resolved = backends::resolved(world, kind, place, route);
    for reference in list(&route["spec"]["parentRefs"]) {
        let Some(parent) = Parent::of(world, place, reference) else {
            continue;
        };
        let accepted = parent.accept(world, kind, place, route, attached);
        let old = before
            .iter()
            .filter(is_ours)
            .find(|entry| entry["parentRef"] == *reference);
        let old = old.map_or(&Value::Null, |entry| &entry["conditions"]);
        let generation = &route["metadata"]["generation"];
        let conditions = [accepted, resolved.clone()];
        entries.push(json!({
            "parentRef": reference,
            "controllerName": parent.controller,
            "conditions": condition::list(&conditions, old, generation, now),
        }));
    }
    entries
}

/// A parent that a route names.
pub(super) struct Parent<'a> {
    pub(super) place: Place,
    pub(super) gateway: Option<&'a Value>,
    pub(super) controller: &'a str,
    pub(super) section: Option<&'a str>,
    port: Option<i64>,
}

impl<'a> Parent<'a> {
    /// Nothing for parents that are others' business.
    pub(super) fn of(world: &'a World, route: &Place, reference: &'a Value) -> Option<Self> {
        let is_gateway = reference["group"].as_str().unwrap_or(GROUP) == GROUP
            && reference["kind"].as_str().unwrap_or("Gateway") == "Gateway";
        if !is_gateway {
            return None;
        }
        let namespace = reference["namespace"].as_str().unwrap_or(&route.namespace);
        let place = Place::new(namespace, text(&reference["name"]));
        let gateway = world.get(Kind::Gateway, &place.namespace, &place.name);
        let controller = match gateway {
            Some(gateway) => controller(world, text(&gateway["spec"]["gatewayClassName"]))?,
            // Nobody else would tell them.
            None => CONTROLLERS[0],
        };
        Some(Self {
            place,
            gateway,
            controller,
            section: reference["sectionName"].as_str(),
            port: reference["port"].as_i64(),
        })
    }

    /// Whether it takes the route, which is counted then.
    fn accept(
        &self,
        world: &World,
        kind: Kind,
        route_place: &Place,
        route: &Value,
        attached: &mut Attached,
    ) -> Condition {
        let no = |reason, why: String| Condition::no("Accepted", reason, why);
        let Place { namespace, name } = &self.place;
        let Some(gateway) = self.gateway else {
            return no(
                "NoMatchingParent",
                format!("there is no Gateway {namespace}/{name}"),
            );
        };
        let all = listeners::of(world, &self.place, gateway);
        let named: Vec<&Listener<'_>> = all
            .iter()
            .filter(|listener| self.section.is_none_or(|section| section == listener.name))
            .filter(|listener| self.port.is_none_or(|port| port == listener.port))
            .collect();
        if named.is_empty() {
            let which = self
                .section
                .map_or_else(String::new, |section| format!(" {section}"));
            let port = self
                .port
                .map_or_else(String::new, |port| format!(" on port {port}"));
            return no(
                "NoMatchingParent",
                format!("the Gateway {namespace}/{name} has no listener{which}{port}"),
            );
        }
        let open: Vec<&Listener<'_>> = named
            .into_iter()
            .filter(|listener| listener.kinds.contains(&kind))
            .filter(|listener| listener.admits(world, namespace, &route_place.namespace))
            .collect();
        if open.is_empty() {
            return no(
                "NotAllowedByListeners",
                format!(
                    "no listener of the Gateway {namespace}/{name} takes a {} from the namespace {}",
                    kind.name(),
                    route_place.namespace
                ),
            );
        }
        let hosts = list(&route["spec"]["hostnames"]);
        let fits = |listener: &&&Listener<'_>| {
            hosts.is_empty()
                || hosts
                    .iter()
                    .any(|host| hostname::overlap(listener.hostname, text(host)))
        };
        let fitting: Vec<&&Listener<'_>> = open.iter().filter(fits).collect();
        if fitting.is_empty() {
            let hosts: Vec<&str> = hosts.iter().map(text).collect();
            return no(
                "NoMatchingListenerHostname",
                format!(
                    "no listener of the Gateway {namespace}/{name} is for {}",
                    hosts.join(", ")
                ),
            );
        }
        for listener in fitting {
            let key = (self.place.clone(), listener.name.to_owned());
            *attached.entry(key).or_default() += 1;
        }
        Condition::yes("Accepted", "Accepted", "the route is accepted")
    }
}
