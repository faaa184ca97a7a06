//! The rules for `metadata`: what every object must obey, whatever its kind.

use serde_json::{Map, Value, json};

use super::{NameRule, label_value, name_is_label, qualified_name};
use crate::field_error::{FieldError, Kind};

/// All annotations of an object together, keys and values.
const ANNOTATIONS_MAX: usize = 256 * 1024;
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";
/// Longest subresource name in `managedFields`.
const SUBRESOURCE_MAX: usize = 256;
/// Longest name of a field manager.
const FIELD_MANAGER_MAX: usize = 128;
const IMMUTABLE: &str = "field is immutable";

fn text<'a>(meta: &'a Value, field: &str) -> &'a str {
    meta.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn entries<'a>(meta: &'a Value, field: &str) -> &'a [Value] {
    meta.get(field)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn map<'a>(meta: &'a Value, field: &str) -> Option<&'a Map<String, Value>> {
    meta.get(field).and_then(Value::as_object)
}

fn complaints(path: &str, value: &str, found: Vec<String>) -> impl Iterator<Item = FieldError> {
    found
        .into_iter()
        .map(move |detail| FieldError::invalid(path, json!(value), detail))
}

/// Checks `metadata` of a new object; the name has been generated already.
pub fn validate_object_meta(
    meta: &Value,
    namespaced: bool,
    name_rule: NameRule,
    path: &str,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let generate = text(meta, "generateName");
    if !generate.is_empty() {
        let found = name_rule(generate, true);
        errors.extend(complaints(&format!("{path}.generateName"), generate, found));
    }
    let name = text(meta, "name");
    let at = format!("{path}.name");
    if name.is_empty() {
        errors.push(FieldError::required(at, "name or generateName is required"));
    } else {
        errors.extend(complaints(&at, name, name_rule(name, false)));
    }
    let namespace = text(meta, "namespace");
    let at = format!("{path}.namespace");
    match (namespaced, namespace.is_empty()) {
        (true, true) => errors.push(FieldError::required(at, "")),
        (true, false) => {
            errors.extend(complaints(&at, namespace, name_is_label(namespace, false)));
        }
        (false, false) => errors.push(FieldError::forbidden(at, "not allowed on this type")),
        (false, true) => {}
    }
    if let Some(generation) = meta.get("generation").filter(|value| below_zero(value)) {
        errors.push(FieldError::invalid(
            format!("{path}.generation"),
            generation.clone(),
            "must be greater than or equal to 0",
        ));
    }
    errors.extend(validate_labels(
        meta.get("labels"),
        &format!("{path}.labels"),
    ));
    errors.extend(validate_annotations(meta, &format!("{path}.annotations")));
    errors.extend(owner_references(meta, &format!("{path}.ownerReferences")));
    errors.extend(finalizers(meta, &format!("{path}.finalizers")));
    errors.extend(managed_fields(meta, &format!("{path}.managedFields")));
    errors
}

/// Checks `metadata` of an update against what is stored.
pub fn validate_object_meta_update(new: &Value, old: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = validate_object_meta_change(new, old, path);
    errors.extend(validate_object_meta_shape(new, path));
    errors
}

/// The part of an update's checks that compares with what is stored.
pub fn validate_object_meta_change(new: &Value, old: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if old.get("deletionTimestamp").is_some_and(|at| !at.is_null()) {
        let before = entries(old, "finalizers");
        let mut added: Vec<_> = entries(new, "finalizers")
            .iter()
            .filter(|name| !before.contains(name))
            .filter_map(Value::as_str)
            .collect();
        if !added.is_empty() {
            added.sort_unstable();
            added.dedup();
            let list: Vec<_> = added.iter().map(|name| format!("{name:?}")).collect();
            errors.push(FieldError::forbidden(
                format!("{path}.finalizers"),
                format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                    list.join(", ")
                ),
            ));
        }
    }
    if text(new, "resourceVersion").is_empty() {
        errors.push(FieldError::invalid(
            format!("{path}.resourceVersion"),
            json!(""),
            "must be specified for an update",
        ));
    }
    let generation = |meta: &Value| meta.get("generation").and_then(Value::as_i64).unwrap_or(0);
    if generation(new) < generation(old) {
        errors.push(FieldError::invalid(
            format!("{path}.generation"),
            json!(generation(new)),
            "must not be decremented",
        ));
    }
    for (field, unset) in [
        ("name", json!("")),
        ("namespace", json!("")),
        ("uid", json!("")),
        ("creationTimestamp", Value::Null),
        ("deletionTimestamp", Value::Null),
        ("deletionGracePeriodSeconds", Value::Null),
    ] {
        let value = |meta: &Value| meta.get(field).cloned().unwrap_or_else(|| unset.clone());
        if value(new) != value(old) {
            let at = format!("{path}.{field}");
            errors.push(FieldError::invalid(at, value(new), IMMUTABLE));
        }
    }
    errors
}

/// The part of an update's checks that looks at the new state alone.
pub fn validate_object_meta_shape(meta: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = validate_labels(meta.get("labels"), &format!("{path}.labels"));
    errors.extend(validate_annotations(meta, &format!("{path}.annotations")));
    errors.extend(owner_references(meta, &format!("{path}.ownerReferences")));
    errors.extend(managed_fields(meta, &format!("{path}.managedFields")));
    errors
}

fn below_zero(value: &Value) -> bool {
    value.as_i64().is_some_and(|number| number < 0)
}

/// Checks a map of labels.
pub fn validate_labels(labels: Option<&Value>, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in labels.and_then(Value::as_object).into_iter().flatten() {
        errors.extend(complaints(path, key, qualified_name(key)));
        let value = value.as_str().unwrap_or_default();
        errors.extend(complaints(path, value, label_value(value)));
    }
    errors
}

/// What is wrong with the annotations of an object.
pub fn validate_annotations(meta: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut size = 0;
    for (key, value) in map(meta, "annotations").into_iter().flatten() {
        errors.extend(complaints(path, key, qualified_name(&key.to_lowercase())));
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size > ANNOTATIONS_MAX {
        errors.push(too_long(path.to_owned(), ANNOTATIONS_MAX));
    }
    errors
}

fn too_long(field: String, limit: usize) -> FieldError {
    FieldError {
        kind: Kind::TooLong,
        field,
        value: None,
        detail: format!("may not be more than {limit} bytes"),
    }
}

fn owner_references(meta: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let references = entries(meta, "ownerReferences");
    let mut controller: Option<String> = None;
    for reference in references {
        let api_version = text(reference, "apiVersion");
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let mut demand = |field: &str, given: &str, detail: &str, fine: bool| {
            if !fine {
                let at = format!("{path}.{field}");
                errors.push(FieldError::invalid(at, json!(given), detail));
            }
        };
        let kind = text(reference, "kind");
        demand(
            "apiVersion",
            api_version,
            "version must not be empty",
            !version.is_empty() && api_version.matches('/').count() < 2,
        );
        demand("kind", kind, "must not be empty", !kind.is_empty());
        for field in ["name", "uid"] {
            let given = text(reference, field);
            demand(field, given, "must not be empty", !given.is_empty());
        }
        if api_version == "v1" && kind == "Event" {
            errors.push(invalid_shown(
                path,
                &reference_text(reference),
                "/v1, Kind=Event is disallowed from being an owner",
            ));
        }
        if reference.get("controller") == Some(&Value::Bool(true)) {
            let this = format!("{kind}/{}", text(reference, "name"));
            if let Some(first) = &controller {
                let shown: Vec<_> = references.iter().map(reference_text).collect();
                errors.push(invalid_shown(
                    path,
                    &format!("[{}]", shown.join(",")),
                    &format!("Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"),
                ));
            } else {
                controller = Some(this);
            }
        }
    }
    errors
}

/// An error that shows a value in a wording of its own.
fn invalid_shown(field: &str, shown: &str, detail: &str) -> FieldError {
    FieldError {
        kind: Kind::Invalid,
        field: field.to_owned(),
        value: None,
        detail: format!("{shown}: {detail}"),
    }
}

/// A reference with its fields in the order in which servers write them.
fn reference_text(reference: &Value) -> String {
    let order = [
        "apiVersion",
        "kind",
        "name",
        "uid",
        "controller",
        "blockOwnerDeletion",
    ];
    let fields: Vec<_> = order
        .iter()
        .filter_map(|name| Some(format!("{name:?}:{}", reference.get(name)?)))
        .collect();
    format!("{{{}}}", fields.join(","))
}

fn finalizers(meta: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let list = entries(meta, "finalizers");
    for name in list.iter().filter_map(Value::as_str) {
        errors.extend(complaints(path, name, qualified_name(name)));
    }
    if list.iter().any(|name| name == ORPHAN) && list.iter().any(|name| name == FOREGROUND) {
        errors.push(FieldError::invalid(
            path,
            json!(list),
            format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set"),
        ));
    }
    errors
}

/// The extra rule of built-in kinds: a finalizer without a path must be a well-known one.
pub fn validate_kube_finalizers(meta: &Value, path: &str) -> Vec<FieldError> {
    let known = ["kubernetes", ORPHAN, FOREGROUND];
    entries(meta, "finalizers")
        .iter()
        .enumerate()
        .filter_map(|(at, name)| Some((at, name.as_str()?)))
        .filter(|(_, name)| !name.contains('/') && !known.contains(name))
        .map(|(at, name)| {
            FieldError::invalid(
                format!("{path}.finalizers[{at}]"),
                json!(name),
                "name is neither a standard finalizer name nor is it fully qualified",
            )
        })
        .collect()
}

/// Warnings about finalizers of custom resources that may clash with somebody else's; `old` is what was
/// stored before, since only new ones are worth a warning.
pub fn finalizer_warnings(meta: &Value, old: Option<&Value>) -> Vec<String> {
    let before = old.map_or(&[][..], |old| entries(old, "finalizers"));
    let known = ["kubernetes", ORPHAN, FOREGROUND];
    let mut warnings = Vec::new();
    let added = entries(meta, "finalizers")
        .iter()
        .filter(|name| !before.contains(name));
    for name in added.filter_map(Value::as_str) {
        let found = qualified_name(name).into_iter();
        warnings.extend(found.map(|text| format!("metadata.finalizers: {name:?}: {text}")));
        if name.contains('/') || known.contains(&name) {
            continue;
        }
        let path = if name.contains('.') {
            " including a path (/)"
        } else {
            ""
        };
        warnings.push(format!("metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"));
    }
    warnings
}

/// Checks the name of a field manager.
pub fn validate_field_manager(manager: &str, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if manager.len() > FIELD_MANAGER_MAX {
        errors.push(too_long(path.to_owned(), FIELD_MANAGER_MAX));
    }
    for (at, letter) in manager.char_indices() {
        if letter.is_control() {
            let code = u32::from(letter);
            errors.push(FieldError::invalid(
                path,
                json!(manager),
                format!("invalid character U+{code:04X} (at position {at})"),
            ));
        }
    }
    errors
}

fn managed_fields(meta: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (at, entry) in entries(meta, "managedFields").iter().enumerate() {
        let path = format!("{path}[{at}]");
        let operation = text(entry, "operation");
        if !matches!(operation, "Apply" | "Update") {
            errors.push(FieldError::invalid(
                format!("{path}.operation"),
                json!(operation),
                "must be `Apply` or `Update`",
            ));
        }
        let fields_type = text(entry, "fieldsType");
        if !matches!(fields_type, "" | "FieldsV1") {
            errors.push(FieldError::invalid(
                format!("{path}.fieldsType"),
                json!(fields_type),
                "must be `FieldsV1`",
            ));
        }
        errors.extend(validate_field_manager(
            text(entry, "manager"),
            &format!("{path}.manager"),
        ));
        if text(entry, "subresource").len() > SUBRESOURCE_MAX {
            errors.push(too_long(format!("{path}.subresource"), SUBRESOURCE_MAX));
        }
    }
    errors
}
