//! What to say of classes and gateways.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    ADDRESS, CONTROLLERS, Wanted,
    condition::{self, Condition},
    listeners,
    world::{Kind, World},
};
use crate::read::{Place, list, text};

/// How many routes each listener of each gateway has.
pub(super) type Attached = BTreeMap<(Place, String), usize>;

/// The controller of a class, if this one stands in for it.
pub(super) fn controller<'a>(world: &'a World, class: &str) -> Option<&'a str> {
    let class = world.get(Kind::Class, "", class)?;
    let name = text(&class["spec"]["controllerName"]);
    CONTROLLERS.contains(&name).then_some(name)
}

/// The controller that it stands in for here, if any: that of the first class that is its own.
pub(super) fn any_controller(world: &World) -> Option<&str> {
    let mut classes = world.all(Kind::Class);
    classes.find_map(|(place, _)| controller(world, &place.name))
}

/// The statuses of classes and gateways that are not as they should be.
pub(super) fn decide(world: &World, attached: &Attached, now: &str) -> Vec<Wanted> {
    let classes = world.all(Kind::Class).filter_map(|(place, class)| {
        controller(world, &place.name)?;
        let accepted = Condition::yes(
            "Accepted",
            "Accepted",
            "the class is served on this machine",
        );
        let status = &class["status"];
        let generation = &class["metadata"]["generation"];
        let conditions = condition::list(&[accepted], &status["conditions"], generation, now);
        let is_new = status["conditions"] != conditions;
        is_new.then(|| Wanted {
            kind: Kind::Class,
            place: place.clone(),
            status: json!({ "conditions": conditions }),
        })
    });
    let gateways = world.all(Kind::Gateway).filter_map(|(place, gateway)| {
        controller(world, text(&gateway["spec"]["gatewayClassName"]))?;
        let status = status(world, place, gateway, attached, now);
        let before = &gateway["status"];
        let is_new = ["addresses", "conditions", "listeners"]
            .iter()
            .any(|field| before[field] != status[field]);
        is_new.then(|| Wanted {
            kind: Kind::Gateway,
            place: place.clone(),
            status,
        })
    });
    classes.chain(gateways).collect()
}

fn status(world: &World, place: &Place, gateway: &Value, attached: &Attached, now: &str) -> Value {
    let before = &gateway["status"];
    let generation = &gateway["metadata"]["generation"];
    let listeners = listeners::of(world, place, gateway);
    let shown: Vec<Value> = listeners
        .iter()
        .map(|listener| {
            let old = list(&before["listeners"]);
            let old = old.iter().find(|old| old["name"] == listener.name);
            let old = old.map_or(&Value::Null, |old| &old["conditions"]);
            let key = (place.clone(), listener.name.to_owned());
            json!({
                "name": listener.name,
                "supportedKinds": listener.supported_kinds(),
                "attachedRoutes": attached.get(&key).copied().unwrap_or(0),
                "conditions": condition::list(&listener.conditions(), old, generation, now),
            })
        })
        .collect();
    let broken: Vec<&str> = listeners
        .iter()
        .filter(|listener| !listener.is_sound())
        .map(|listener| listener.name)
        .collect();
    let none_works = broken.len() == listeners.len();
    let not_valid = || format!("not as they should be: {}", broken.join(", "));
    let accepted = match (broken.is_empty(), none_works) {
        (true, _) => Condition::yes(
            "Accepted",
            "Accepted",
            "the gateway is served on this machine",
        ),
        (false, false) => Condition::yes("Accepted", "ListenersNotValid", not_valid()),
        (false, true) => Condition::no("Accepted", "ListenersNotValid", not_valid()),
    };
    let programmed = if none_works {
        Condition::no("Programmed", "Invalid", "no listener works")
    } else {
        Condition::yes(
            "Programmed",
            "Programmed",
            format!("served at {ADDRESS}, simulated"),
        )
    };
    json!({
        "addresses": [{ "type": "IPAddress", "value": ADDRESS }],
        "conditions": condition::list(&[accepted, programmed], &before["conditions"], generation, now),
        "listeners": shown,
    })
}
