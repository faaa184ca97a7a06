//! Who owns which fields: reading `managedFields`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::digest::Digest;

/// What `managedFields` says about one manager that applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ownership {
    /// The digest of the set of fields that the manager applied and still owns; nothing if it owns none.
    /// `spec.replicas` is left out: scaling has rules of its own.
    pub digest: Option<Digest>,
    /// Who owns `spec.replicas`.
    pub replicas: Option<ReplicasOwner>,
}

/// Who owns `spec.replicas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicasOwner {
    /// The manager that was asked about.
    Ours,
    /// Somebody who scales by the `scale` subresource: an autoscaler, or a person.
    Scaler(String),
    /// Somebody who writes the object itself.
    Other(String),
}

/// Reads the `managedFields` of an object for one manager.
pub fn read(object: &Value, manager: &str) -> Ownership {
    let mut ownership = Ownership::default();
    for entry in entries(object) {
        let name = text(entry, "manager");
        let fields = &entry["fieldsV1"];
        let ours = is_applied_by(entry, manager);
        let scaling = &fields["f:spec"]["f:replicas"];
        if !scaling.is_null() {
            let owner = match text(entry, "subresource") {
                _ if ours => ReplicasOwner::Ours,
                "scale" => ReplicasOwner::Scaler(name.to_owned()),
                _ => ReplicasOwner::Other(name.to_owned()),
            };
            // One's own claim weighs most, then that of who scales.
            let outranks = !matches!(
                (&ownership.replicas, &owner),
                (Some(ReplicasOwner::Ours), _)
                    | (Some(ReplicasOwner::Scaler(_)), ReplicasOwner::Other(_))
            );
            if outranks {
                ownership.replicas = Some(owner);
            }
        }
        if ours {
            let text = if scaling.is_null() {
                fields.to_string()
            } else {
                let mut fields = fields.clone();
                if let Some(spec) = fields["f:spec"].as_object_mut() {
                    spec.remove("f:replicas");
                }
                fields.to_string()
            };
            ownership.digest = Some(Digest::of([text.as_str()]));
        }
    }
    ownership
}

/// Whether a manager ever applied the object: a label can be copied, this can't.
pub fn was_applied_by(object: &Value, manager: &str) -> bool {
    entries(object).any(|entry| is_applied_by(entry, manager))
}

/// The paths that a manager owns in `after` and did not own in `before`, for people to read.
pub fn regained(before: &Value, after: &Value, manager: &str) -> Vec<String> {
    let before = paths_of(before, manager);
    let after = paths_of(after, manager);
    after.difference(&before).cloned().collect()
}

/// Who else wrote to the object last.
pub fn last_other_writer<'a>(object: &'a Value, manager: &str) -> Option<&'a str> {
    entries(object)
        .filter(|entry| !is_applied_by(entry, manager) && text(entry, "subresource") != "status")
        .max_by_key(|entry| text(entry, "time"))
        .map(|entry| text(entry, "manager"))
        .filter(|name| !name.is_empty())
}

fn entries(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["managedFields"]
        .as_array()
        .into_iter()
        .flatten()
}

fn is_applied_by(entry: &Value, manager: &str) -> bool {
    text(entry, "manager") == manager
        && text(entry, "operation") == "Apply"
        && text(entry, "subresource").is_empty()
}

fn text<'a>(entry: &'a Value, key: &str) -> &'a str {
    entry[key].as_str().unwrap_or_default()
}

fn paths_of(object: &Value, manager: &str) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for entry in entries(object).filter(|entry| is_applied_by(entry, manager)) {
        collect(&entry["fieldsV1"], "", &mut paths);
    }
    paths
}

/// Leaves of a field set as paths such as `spec.ports[name=http].port`.
fn collect(fields: &Value, path: &str, paths: &mut BTreeSet<String>) {
    let inner: Vec<_> = fields
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| *key != ".")
        .collect();
    if inner.is_empty() && !path.is_empty() {
        paths.insert(path.to_owned());
    }
    for (key, fields) in inner {
        let path = match key.split_once(':') {
            Some(("f", name)) if path.is_empty() => name.to_owned(),
            Some(("f", name)) => format!("{path}.{name}"),
            Some(("k", keys)) => format!("{path}[{}]", keys_for_people(keys)),
            Some((_, value)) => format!("{path}[{value}]"),
            None => continue,
        };
        collect(fields, &path, paths);
    }
}

fn keys_for_people(keys: &str) -> String {
    let parsed: Value = serde_json::from_str(keys).unwrap_or_default();
    let said: Vec<String> = parsed
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| match value {
            Value::String(text) => format!("{key}={text}"),
            other => format!("{key}={other}"),
        })
        .collect();
    said.join(",")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(manager: &str, operation: &str, subresource: &str, fields: &Value) -> Value {
        json!({
            "manager": manager, "operation": operation, "subresource": subresource,
            "time": "2026-01-01T00:00:00Z", "fieldsV1": fields,
        })
    }

    fn object(entries: &[Value]) -> Value {
        json!({"metadata": {"managedFields": entries}})
    }

    #[test]
    fn a_foreign_edit_changes_the_digest_of_what_is_ours() {
        let whole = json!({"f:data": {"f:a": {}, "f:b": {}}});
        let less = json!({"f:data": {"f:a": {}}});
        let before = object(&[entry("us", "Apply", "", &whole)]);
        let after = object(&[
            entry("us", "Apply", "", &less),
            entry(
                "kubectl-edit",
                "Update",
                "",
                &json!({"f:data": {"f:b": {}}}),
            ),
        ]);
        assert_ne!(read(&before, "us").digest, read(&after, "us").digest);
        assert_eq!(regained(&after, &before, "us"), ["data.b"]);
        assert_eq!(last_other_writer(&after, "us"), Some("kubectl-edit"));
        assert!(was_applied_by(&after, "us"));
        assert_eq!(read(&json!({}), "us"), Ownership::default());
    }

    #[test]
    fn only_what_was_applied_counts_as_ours() {
        let fields = json!({"f:data": {}});
        for foreign in [
            entry("us", "Update", "", &fields),
            entry("us", "Apply", "status", &fields),
            entry("them", "Apply", "", &fields),
        ] {
            assert!(!was_applied_by(&object(&[foreign]), "us"));
        }
    }

    #[test]
    fn the_owner_of_replicas_is_told_and_does_not_change_the_digest() {
        let replicas = json!({"f:spec": {"f:replicas": {}}});
        let with = json!({"f:spec": {"f:replicas": {}, "f:paused": {}}});
        let without = json!({"f:spec": {"f:paused": {}}});
        let ours = read(&object(&[entry("us", "Apply", "", &with)]), "us");
        let theirs = object(&[
            entry("kube-controller-manager", "Update", "scale", &replicas),
            entry("us", "Apply", "", &without),
        ]);
        let scaled = read(&theirs, "us");
        assert_eq!(ours.digest, scaled.digest);
        assert_eq!(ours.replicas, Some(ReplicasOwner::Ours));
        assert_eq!(
            scaled.replicas,
            Some(ReplicasOwner::Scaler("kube-controller-manager".to_owned()))
        );
    }

    #[test]
    fn paths_are_written_as_people_write_them() {
        let fields = json!({"f:spec": {"f:ports": {
            ".": {},
            "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}},
        }, "f:finalizers": {"v:\"a/b\"": {}}}});
        let after = object(&[entry("us", "Apply", "", &fields)]);
        assert_eq!(
            regained(&object(&[]), &after, "us"),
            [
                "spec.finalizers[\"a/b\"]",
                "spec.ports[port=80,protocol=TCP].name"
            ]
        );
    }
}
