//! Reading objects as JSON: what is absent is empty, zero or false, as a Kubernetes client has it.

use std::sync::Arc;

use jiff::Timestamp;
use quadrille_machinery::selector::LabelSelector;
use serde_json::{Value, json};

use crate::{clock::shown, kinds::Kind};

/// Where an object is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
}

impl Place {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// Where an object is.
    pub(crate) fn of(object: &Value) -> Self {
        let metadata = &object["metadata"];
        Self::new(text(&metadata["namespace"]), text(&metadata["name"]))
    }
}

/// The object that controls another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) kind: Kind,
    pub(crate) name: Arc<str>,
    pub(crate) uid: Arc<str>,
}

/// A text, empty if there is none.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A number, zero if there is none.
pub(crate) fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

/// Whether it is true.
pub(crate) fn is_true(value: &Value) -> bool {
    value.as_bool() == Some(true)
}

/// A time, if there is one.
pub(crate) fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// A list's elements.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The uid.
pub(crate) fn uid(object: &Value) -> &str {
    text(&object["metadata"]["uid"])
}

/// The name.
pub(crate) fn name(object: &Value) -> &str {
    text(&object["metadata"]["name"])
}

/// The namespace.
pub(crate) fn namespace(object: &Value) -> &str {
    text(&object["metadata"]["namespace"])
}

/// The revision.
pub(crate) fn version(object: &Value) -> u64 {
    text(&object["metadata"]["resourceVersion"])
        .parse()
        .unwrap_or(0)
}

/// When it was made.
pub(crate) fn created(object: &Value) -> Timestamp {
    time(&object["metadata"]["creationTimestamp"]).unwrap_or_default()
}

/// Whether somebody has asked for its end.
pub(crate) fn is_deleting(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

/// The replicas that are asked for; one if nobody says.
pub(crate) fn replicas(object: &Value) -> i64 {
    object["spec"]["replicas"].as_i64().unwrap_or(1)
}

/// What controls it.
pub(crate) fn controller(object: &Value) -> Option<Owner> {
    let reference = list(&object["metadata"]["ownerReferences"])
        .iter()
        .find(|reference| is_true(&reference["controller"]))?;
    Some(Owner {
        kind: Kind::named(text(&reference["kind"]))?,
        name: text(&reference["name"]).into(),
        uid: text(&reference["uid"]).into(),
    })
}

/// Whether anything controls it, known here or not.
pub(crate) fn is_controlled(object: &Value) -> bool {
    list(&object["metadata"]["ownerReferences"])
        .iter()
        .any(|reference| is_true(&reference["controller"]))
}

/// The reference by which an object controls others.
pub(crate) fn owner_reference(kind: Kind, owner: &Value) -> Value {
    json!({
        "apiVersion": kind.api_version(),
        "kind": kind.name(),
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// The selector of a workload; one that cannot be read selects nothing.
pub(crate) fn selector(kind: Kind, object: &Value) -> LabelSelector {
    let selector = &object["spec"]["selector"];
    let read = if kind == Kind::ReplicationController {
        LabelSelector::from_value(&json!({ "matchLabels": selector }))
    } else {
        LabelSelector::from_value(selector)
    };
    match read {
        // A workload that selects everything is a mistake that would eat the namespace.
        Ok(selector) if !selector.is_empty() => selector,
        _ => LabelSelector::nothing(),
    }
}

/// Whether an object's labels are selected.
pub(crate) fn is_selected(selector: &LabelSelector, object: &Value) -> bool {
    selector.matches(object["metadata"]["labels"].as_object())
}

/// A count or a percentage of a total, rounded up or down.
pub(crate) fn share(value: &Value, total: i64, up: bool) -> i64 {
    if let Some(number) = value.as_i64() {
        return number;
    }
    let percent: i64 = text(value).trim_end_matches('%').parse().unwrap_or(0);
    let product = percent * total;
    if up {
        (product + 99) / 100
    } else {
        product / 100
    }
}

/// The condition of a type.
pub(crate) fn condition<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    list(&status["conditions"])
        .iter()
        .find(|condition| condition["type"] == kind)
}

/// Replaces a condition as most controllers do: one that says the same stays as it is, a new one goes to the end,
/// and its time of transition is kept while its status is the same.
pub(crate) fn set_condition(
    conditions: &mut Vec<Value>,
    (kind, status, reason, message): (&str, &str, &str, &str),
    now: Timestamp,
    has_update_time: bool,
) {
    let mut since = shown(now);
    if let Some(known) = conditions
        .iter()
        .find(|condition| condition["type"] == kind)
    {
        if known["status"] == status && known["reason"] == reason {
            return;
        }
        if known["status"] == status {
            text(&known["lastTransitionTime"]).clone_into(&mut since);
        }
    }
    conditions.retain(|condition| condition["type"] != kind);
    let mut condition = json!({
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
    });
    if has_update_time {
        condition["lastUpdateTime"] = json!(shown(now));
    }
    conditions.push(condition);
}

/// The conditions as a list of one's own.
pub(crate) fn conditions(status: &Value) -> Vec<Value> {
    list(&status["conditions"]).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_number_or_a_part_rounded_as_asked() {
        assert_eq!(share(&json!(3), 10, true), 3);
        assert_eq!(share(&json!("25%"), 10, true), 3);
        assert_eq!(share(&json!("25%"), 10, false), 2);
        assert_eq!(share(&Value::Null, 10, true), 0);
    }

    #[test]
    fn a_condition_keeps_its_time_while_its_status_stays() {
        let now: Timestamp = "2030-01-01T00:00:00Z".parse().unwrap();
        let later: Timestamp = "2030-01-02T00:00:00Z".parse().unwrap();
        let mut conditions = Vec::new();
        set_condition(&mut conditions, ("A", "True", "One", ""), now, true);
        set_condition(&mut conditions, ("A", "True", "Two", ""), later, true);
        assert_eq!(conditions[0]["lastTransitionTime"], "2030-01-01T00:00:00Z");
        assert_eq!(conditions[0]["lastUpdateTime"], "2030-01-02T00:00:00Z");
        set_condition(&mut conditions, ("A", "False", "Two", ""), later, true);
        assert_eq!(conditions[0]["lastTransitionTime"], "2030-01-02T00:00:00Z");
    }
}
