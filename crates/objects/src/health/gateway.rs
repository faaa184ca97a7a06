//! The Gateway API: classes, gateways, routes, and policies that attach to them.

use serde_json::Value;

use super::{
    live::{Condition, Conditions, entries, not_observed, text},
    verdict::{Health, Verdict, gravest},
};

/// A `GatewayClass`, or whatever else is only accepted or not.
pub(super) fn accepted(object: &Value) -> Verdict {
    settle(Conditions::of(object), &["Accepted"])
}

/// A Gateway, or a set of listeners for one: accepted, in force, and each of its listeners valid.
pub(super) fn gateway(object: &Value) -> Verdict {
    let whole = settle(Conditions::of(object), &["Accepted", "Programmed"]);
    if whole.health == Health::Degraded {
        return whole;
    }
    let listeners = entries(&object["status"]["listeners"]).iter();
    let troubled = listeners.filter_map(|listener| {
        let conditions = Conditions::within(listener, object);
        let mut kinds = ["Accepted", "ResolvedRefs"].iter();
        let refused = kinds.find_map(|kind| conditions.denies(kind));
        let trouble = refused.or_else(|| conditions.holds("Conflicted"))?;
        Some((listener, trouble))
    });
    for (listener, trouble) in troubled {
        if !is_on_its_way(trouble) {
            return named(
                "listener",
                text(&listener["name"]),
                trouble.degraded("Invalid"),
            );
        }
    }
    whole
}

/// A route: accepted by each of the parents it names, with all that it refers to found.
pub(super) fn route(object: &Value) -> Verdict {
    let wanted = entries(&object["spec"]["parentRefs"]);
    if wanted.is_empty() {
        return Verdict::unknown("NoParents", "it is attached to nothing");
    }
    let told = entries(&object["status"]["parents"]);
    let verdicts = wanted.iter().map(|parent| {
        let name = text(&parent["name"]);
        let entries = told
            .iter()
            .filter(|entry| same_parent(&entry["parentRef"], parent, object));
        let verdicts = entries.map(|entry| part_of_route(entry, object));
        let verdict = gravest(verdicts).unwrap_or_else(unheard);
        named("parent", name, verdict)
    });
    gravest(verdicts).unwrap_or_else(unheard)
}

/// A policy that reports for each ancestor of what it is attached to.
pub(super) fn policy(object: &Value) -> Verdict {
    let told = entries(&object["status"]["ancestors"]).iter();
    let verdicts = told.map(|entry| {
        let conditions = Conditions::within(entry, object);
        let name = text(&entry["ancestorRef"]["name"]);
        let refused = conditions
            .denies("Programmed")
            .or_else(|| conditions.denies("ResolvedRefs"));
        let verdict = match refused {
            Some(refused) if conditions.denies("Accepted").is_none() => judge(refused),
            _ => settle(conditions, &["Accepted"]),
        };
        named("ancestor", name, verdict)
    });
    gravest(verdicts).unwrap_or_else(unheard)
}

/// What is said while no controller has answered.
fn unheard() -> Verdict {
    Verdict::progressing("NotAccepted", "its controller has said nothing yet")
}

fn part_of_route(entry: &Value, object: &Value) -> Verdict {
    let conditions = Conditions::within(entry, object);
    match conditions.holds("PartiallyInvalid") {
        Some(partly) => partly.degraded("PartiallyInvalid"),
        None => settle(conditions, &["Accepted", "ResolvedRefs"]),
    }
}

/// Healthy if all these conditions hold for the present spec; otherwise what the first one says that
/// does not.
fn settle(conditions: Conditions<'_>, kinds: &[&str]) -> Verdict {
    for kind in kinds {
        match conditions.get(kind) {
            Some(condition) if condition.is_true() => {}
            Some(condition) => return judge(condition),
            None => return not_observed(),
        }
    }
    Verdict::healthy()
}

fn judge(refused: Condition<'_>) -> Verdict {
    if refused.is_false() && !is_on_its_way(refused) {
        refused.degraded("NotAccepted")
    } else {
        refused.progressing("NotAccepted")
    }
}

/// Whether a condition is not true merely because somebody is still at work.
fn is_on_its_way(condition: Condition<'_>) -> bool {
    matches!(
        condition.reason,
        "Pending" | "Waiting" | "AddressNotAssigned" | "NoResources"
    )
}

/// The same verdict with a message that says of which part it is.
fn named(part: &str, name: &str, verdict: Verdict) -> Verdict {
    let Some(message) = &verdict.message else {
        return verdict;
    };
    let message = format!("{part} {name}: {message}");
    verdict.saying(&message)
}

/// Whether two references mean the same parent, with what the API fills in for what is left out.
fn same_parent(told: &Value, wanted: &Value, route: &Value) -> bool {
    let home = text(&route["metadata"]["namespace"]);
    let or = |value: &Value, default: &str| match text(value) {
        "" => default.to_owned(),
        given => given.to_owned(),
    };
    let key = |parent: &Value| {
        (
            or(&parent["group"], "gateway.networking.k8s.io"),
            or(&parent["kind"], "Gateway"),
            or(&parent["namespace"], home),
            or(&parent["name"], ""),
            or(&parent["sectionName"], ""),
            parent["port"].as_i64(),
        )
    };
    key(told) == key(wanted)
}

#[cfg(test)]
mod tests;
