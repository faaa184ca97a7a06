//! The status of a definition: which names it got, and whether it is served.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::conditions;

use super::{is_condition_true, list, storage_version, text};

const APPROVED: &str = "api-approved.kubernetes.io";
const POLICY: &str = "KubernetesAPIApprovalPolicyConformant";
const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

/// The names that other definitions of the same group hold.
#[derive(Clone, Debug, Default)]
pub struct UsedNames {
    /// Plural, singular and short names.
    pub resources: BTreeSet<String>,
    /// Kinds and list kinds.
    pub kinds: BTreeSet<String>,
}

impl UsedNames {
    /// Adds the accepted names of a definition, if it belongs to the group.
    pub fn add(&mut self, definition: &Value, group: &str) {
        if text(&definition["spec"], "group") != group {
            return;
        }
        let names = &definition["status"]["acceptedNames"];
        let insert = |set: &mut BTreeSet<String>, name: &str| {
            if !name.is_empty() {
                set.insert(name.to_owned());
            }
        };
        for field in ["plural", "singular"] {
            insert(&mut self.resources, text(names, field));
        }
        for short in list(names, "shortNames").iter().filter_map(Value::as_str) {
            insert(&mut self.resources, short);
        }
        for field in ["kind", "listKind"] {
            insert(&mut self.kinds, text(names, field));
        }
    }
}

/// The status of a definition that nobody has looked at yet.
pub fn initial_status(definition: &Value) -> Value {
    let stored = match storage_version(definition) {
        Some(version) => json!([version]),
        None => Value::Null,
    };
    json!({
        "conditions": null,
        "acceptedNames": { "plural": "", "kind": "" },
        "storedVersions": stored,
    })
}

/// The status after all controllers have run: names accepted, established if all names were free.
/// `now` is the time of conditions that change.
pub fn status_for(definition: &Value, used: &UsedNames, now: &str) -> Value {
    let mut settled = definition.clone();
    settled["status"] = name(&settled, used, now);
    settled["status"] = establish(&settled, now);
    if let Some(condition) = approval_condition(&settled) {
        conditions::set(&mut settled["status"], condition, now);
    }
    settled["status"].take()
}

/// What the naming controller makes of a definition.
pub fn name(definition: &Value, used: &UsedNames, now: &str) -> Value {
    let wanted = &definition["spec"]["names"];
    let accepted = &definition["status"]["acceptedNames"];
    let mut names: Map<String, Value> = accepted.as_object().cloned().unwrap_or_default();
    let mut conflict: Option<(&str, String)> = None;
    let taken = |name: &str| format!("{} is already in use", crate::go_text::quote(name));
    let mut settle = |field: &str, reason: &'static str, set: &BTreeSet<String>| {
        let name = text(wanted, field);
        if name == text(accepted, field) || !set.contains(name) {
            names.insert(field.to_owned(), json!(name));
            None
        } else {
            Some((reason, taken(name)))
        }
    };
    conflict = settle("plural", "PluralConflict", &used.resources).or(conflict);
    conflict = settle("singular", "SingularConflict", &used.resources).or(conflict);
    let kinds = [
        settle("kind", "KindConflict", &used.kinds),
        settle("listKind", "ListKindConflict", &used.kinds),
    ];
    let held = list(accepted, "shortNames");
    let clashes: Vec<String> = list(wanted, "shortNames")
        .iter()
        .filter(|short| !held.contains(short))
        .filter_map(Value::as_str)
        .filter(|short| used.resources.contains(*short))
        .map(taken)
        .collect();
    match clashes.len() {
        0 => copy(&mut names, wanted, "shortNames"),
        1 => conflict = Some(("ShortNamesConflict", clashes[0].clone())),
        _ => conflict = Some(("ShortNamesConflict", format!("[{}]", clashes.join(", ")))),
    }
    // The last conflict found is the one that is told.
    for found in kinds.into_iter().flatten() {
        conflict = Some(found);
    }
    copy(&mut names, wanted, "categories");
    names.retain(|field, value| value != "" || matches!(field.as_str(), "plural" | "kind"));
    for field in ["plural", "kind"] {
        names.entry(field).or_insert_with(|| json!(""));
    }
    let mut status = definition["status"].clone();
    status["acceptedNames"] = Value::Object(names);
    let free = conflict.is_none();
    let (reason, message) = conflict.unwrap_or(("NoConflicts", "no conflicts found".to_owned()));
    conditions::set(
        &mut status,
        condition("NamesAccepted", free, reason, &message),
        now,
    );
    if !is_condition_true(definition, "Established") {
        let (reason, message) = if free {
            ("Installing", "the initial names have been accepted")
        } else {
            ("NotAccepted", "not all names are accepted")
        };
        let known = list(&definition["status"], "conditions")
            .iter()
            .any(|entry| text(entry, "type") == "Established");
        if free || !known {
            conditions::set(
                &mut status,
                condition("Established", false, reason, message),
                now,
            );
        }
    }
    status
}

/// What the establishing controller makes of a definition.
pub fn establish(definition: &Value, now: &str) -> Value {
    let mut status = definition["status"].clone();
    if is_condition_true(definition, "NamesAccepted")
        && !is_condition_true(definition, "Established")
    {
        let established = condition(
            "Established",
            true,
            "InitialNamesAccepted",
            "the initial names have been accepted",
        );
        conditions::set(&mut status, established, now);
    }
    status
}

fn copy(names: &mut Map<String, Value>, from: &Value, field: &str) {
    match from.get(field) {
        Some(value) => names.insert(field.to_owned(), value.clone()),
        None => names.remove(field),
    };
}

fn condition(kind: &str, holds: bool, reason: &str, message: &str) -> Value {
    let status = if holds { "True" } else { "False" };
    json!({ "type": kind, "status": status, "reason": reason, "message": message })
}

/// Whether a group belongs to Kubernetes itself.
pub(super) fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|owner| group == *owner || group.ends_with(&format!(".{owner}")))
}

/// How the approval annotation of a protected group reads.
pub(super) enum Approval<'a> {
    Missing(String),
    Invalid(&'a str, String),
    Bypassed(&'a str),
    Approved(&'a str),
}

pub(super) fn approval(definition: &Value) -> Approval<'_> {
    let annotation = definition
        .pointer("/metadata/annotations")
        .and_then(|annotations| annotations.get(APPROVED))
        .and_then(Value::as_str)
        .unwrap_or_default();
    if annotation.is_empty() {
        return Approval::Missing(format!(
            "protected groups must have approval annotation {APPROVED:?}, {SEE}"
        ));
    }
    if annotation.starts_with("unapproved") {
        return Approval::Bypassed(annotation);
    }
    let host = annotation.split_once("://").map(|(_, rest)| rest);
    if host.is_some_and(|host| !host.is_empty() && !host.starts_with('/')) {
        return Approval::Approved(annotation);
    }
    Approval::Invalid(
        annotation,
        format!(
            "protected groups must have approval annotation {APPROVED:?} with either a URL or a reason starting with \"unapproved\", {SEE}"
        ),
    )
}

/// The condition that definitions in protected groups carry.
pub fn approval_condition(definition: &Value) -> Option<Value> {
    if !is_protected(text(&definition["spec"], "group")) {
        return None;
    }
    Some(match approval(definition) {
        Approval::Missing(reason) => condition(POLICY, false, "MissingAnnotation", &reason),
        Approval::Invalid(_, reason) => condition(POLICY, false, "InvalidAnnotation", &reason),
        Approval::Bypassed(why) => {
            let message = format!("not approved: {}", crate::go_text::quote(why));
            condition(POLICY, false, "UnapprovedAnnotation", &message)
        }
        Approval::Approved(url) => condition(
            POLICY,
            true,
            "ApprovedAnnotation",
            &format!("approved in {url}"),
        ),
    })
}
