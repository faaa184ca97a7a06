//! The rules for a definition.

use serde_json::{Value, json};

use super::{
    go_dump, is_condition_true, list, parts,
    status::{Approval, approval, is_protected},
    text,
};
use crate::{
    field_error::{FieldError, Kind},
    names::{
        dns_1035_label, dns_1123_subdomain, name_is_subdomain, validate_object_meta,
        validate_object_meta_update,
    },
    structural::unrecognized_formats,
};

const DEPRECATION_WARNING_MAX: usize = 256;

/// Checks a new definition; defaults are filled in and the status is prepared.
pub fn validate(definition: &Value) -> Vec<FieldError> {
    let mut errors = validate_object_meta(
        &definition["metadata"],
        false,
        name_is_subdomain,
        "metadata",
    );
    let spec = &definition["spec"];
    let name = text(&definition["metadata"], "name");
    let wanted = format!("{}.{}", text(&spec["names"], "plural"), text(spec, "group"));
    if !name.is_empty() && name != wanted {
        let rule = "must be spec.names.plural+\".\"+spec.group";
        let error = FieldError::invalid("metadata.name", json!(name), rule);
        let after = errors
            .iter()
            .rposition(|error| error.field == "metadata.name");
        errors.insert(after.map_or(0, |at| at + 1), error);
    }
    errors.extend(spec_errors(spec));
    errors.extend(rest(definition, None));
    errors
}

/// Checks an update of a definition; the status is prepared.
pub fn validate_update(definition: &Value, old: &Value) -> Vec<FieldError> {
    let (meta, old_meta) = (&definition["metadata"], &old["metadata"]);
    let mut errors = validate_object_meta_update(meta, old_meta, "metadata");
    let (spec, before) = (&definition["spec"], &old["spec"]);
    errors.extend(spec_errors(spec));
    let mut fixed = |now: &str, before: &str, field: &str| {
        if now != before {
            errors.push(FieldError::invalid(field, json!(now), "field is immutable"));
        }
    };
    let (names, old_names) = (&spec["names"], &before["names"]);
    if is_condition_true(old, "Established") {
        fixed(text(spec, "scope"), text(before, "scope"), "spec.scope");
        fixed(
            text(names, "kind"),
            text(old_names, "kind"),
            "spec.names.kind",
        );
    }
    fixed(text(spec, "group"), text(before, "group"), "spec.group");
    fixed(
        text(names, "plural"),
        text(old_names, "plural"),
        "spec.names.plural",
    );
    errors.extend(rest(definition, Some(old)));
    errors
}

/// Warnings about a definition: formats that no server checks. On update only new ones count.
pub fn warnings(definition: &Value, old: Option<&Value>) -> Vec<String> {
    let formats = |definition: &Value| -> Vec<String> {
        let spec = &definition["spec"];
        let shared = same_everywhere(spec, "schema");
        let versions = list(spec, "versions");
        let counted = if shared {
            &versions[..versions.len().min(1)]
        } else {
            versions
        };
        counted
            .iter()
            .filter_map(|version| version.pointer("/schema/openAPIV3Schema"))
            .flat_map(unrecognized_formats)
            .collect()
    };
    let known = old.map(formats).unwrap_or_default();
    let mut found = formats(definition);
    found.sort();
    found.dedup();
    found
        .into_iter()
        .filter(|format| !known.contains(format))
        .map(|format| format!("unrecognized format {}", crate::go_text::quote(&format)))
        .collect()
}

fn rest(definition: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let status = &definition["status"];
    parts::name_errors(
        &status["acceptedNames"],
        "status.acceptedNames",
        &mut errors,
    );
    stored_versions(definition, &mut errors);
    approval_errors(definition, old, &mut errors);
    let preserves = |definition: &Value| definition["spec"]["preserveUnknownFields"] == true;
    if preserves(definition) && !old.is_some_and(preserves) {
        errors.push(FieldError::invalid(
            "spec.preserveUnknownFields",
            json!(true),
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        ));
    }
    errors
}

fn stored_versions(definition: &Value, errors: &mut Vec<FieldError>) {
    let path = "status.storedVersions";
    let stored = list(&definition["status"], "storedVersions");
    let versions = list(&definition["spec"], "versions");
    if stored.is_empty() {
        let detail = "must have at least one stored version";
        errors.push(FieldError::invalid(path, Value::Null, detail));
        return;
    }
    // Each version answers for one entry: of two by the same name, the second has none left.
    let mut unclaimed: Vec<&Value> = stored.iter().collect();
    for version in versions {
        let before = unclaimed.len();
        unclaimed.retain(|name| **name != version["name"]);
        if version["storage"] == true && unclaimed.len() == before {
            let detail = format!("must have the storage version {}", text(version, "name"));
            errors.push(FieldError::invalid(path, json!(stored), detail));
        }
    }
    for (at, gone) in stored.iter().enumerate() {
        if !versions.iter().any(|version| version["name"] == *gone) {
            let name = gone.as_str().unwrap_or_default();
            errors.push(FieldError::invalid(
                format!("{path}[{at}]"),
                gone.clone(),
                format!("missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"),
            ));
        }
    }
}

fn approval_errors(definition: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    if !is_protected(text(&definition["spec"], "group")) {
        return;
    }
    let state = approval(definition);
    let unchanged = old.is_some_and(|old| {
        std::mem::discriminant(&approval(old)) == std::mem::discriminant(&state)
    });
    let path = "metadata.annotations[api-approved.kubernetes.io]";
    match state {
        _ if unchanged => {}
        Approval::Missing(reason) => errors.push(FieldError::required(path, reason)),
        Approval::Invalid(given, reason) => {
            errors.push(FieldError::invalid(path, json!(given), reason));
        }
        Approval::Bypassed(_) | Approval::Approved(_) => {}
    }
}

/// Whether all versions say the same: real servers then report errors at the top of the spec.
fn same_everywhere(spec: &Value, field: &str) -> bool {
    let versions = list(spec, "versions");
    versions
        .windows(2)
        .all(|pair| pair[0].get(field) == pair[1].get(field))
}

fn spec_errors(spec: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let group = text(spec, "group");
    let complaints = dns_1123_subdomain(group);
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if !complaints.is_empty() {
        errors.push(FieldError::invalid(
            "spec.group",
            json!(group),
            complaints.join(","),
        ));
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        errors.push(FieldError::invalid("spec.group", json!(group), detail));
    }
    parts::one_of(
        "spec.scope",
        text(spec, "scope"),
        &["Cluster", "Namespaced"],
        &mut errors,
    );
    let versions = list(spec, "versions");
    for (at, version) in versions.iter().enumerate() {
        if version
            .pointer("/schema/openAPIV3Schema")
            .is_none_or(Value::is_null)
        {
            let path = format!("spec.versions[{at}].schema.openAPIV3Schema");
            errors.push(FieldError::required(path, ""));
        }
    }
    let shared: Vec<&str> = parts::PARTS
        .into_iter()
        .filter(|part| same_everywhere(spec, part))
        .collect();
    for (at, version) in versions.iter().enumerate() {
        version_errors(version, at, &shared, &mut errors);
    }
    versions_errors(spec, &shared, &mut errors);
    let names = &spec["names"];
    for field in ["plural", "singular", "kind", "listKind"] {
        if text(names, field).is_empty() {
            errors.push(FieldError::required(format!("spec.names.{field}"), ""));
        }
    }
    parts::name_errors(names, "spec.names", &mut errors);
    if let Some(first) = versions.first() {
        let status = first
            .pointer("/subresources/status")
            .is_some_and(Value::is_object);
        parts::check(
            first,
            "spec.",
            "spec.validation",
            &shared,
            status,
            &mut errors,
        );
    }
    parts::conversion_errors(&spec["conversion"], &mut errors);
    errors
}

fn version_errors(version: &Value, at: usize, shared: &[&str], errors: &mut Vec<FieldError>) {
    let path = format!("spec.versions[{at}]");
    let name = text(version, "name");
    let complaints = dns_1035_label(name);
    if !complaints.is_empty() {
        let field = format!("{path}.name");
        errors.push(FieldError::invalid(
            field,
            json!(name),
            complaints.join(","),
        ));
    }
    if let Some(warning) = version.get("deprecationWarning").and_then(Value::as_str) {
        let field = format!("{path}.deprecationWarning");
        for problem in warning_problems(warning, version["deprecated"] == true) {
            errors.push(FieldError::invalid(&field, json!(warning), problem));
        }
    }
    let status = version
        .pointer("/subresources/status")
        .is_some_and(Value::is_object);
    let schema_path = format!("{path}.schema");
    let own: Vec<&str> = parts::PARTS
        .into_iter()
        .filter(|part| !shared.contains(part))
        .collect();
    parts::check(
        version,
        &format!("{path}."),
        &schema_path,
        &own,
        status,
        errors,
    );
}

fn warning_problems(warning: &str, deprecated: bool) -> Vec<String> {
    if !deprecated {
        return vec!["can only be set for deprecated versions".to_owned()];
    }
    let mut problems = Vec::new();
    if warning.len() > DEPRECATION_WARNING_MAX {
        problems.push("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        problems.push("must not be an empty string".to_owned());
    }
    if let Some((at, _)) = warning
        .char_indices()
        .find(|(_, letter)| letter.is_control())
    {
        problems.push(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        ));
    }
    problems
}

fn versions_errors(spec: &Value, shared: &[&str], errors: &mut Vec<FieldError>) {
    let versions = list(spec, "versions");
    let mut shown = Vec::new();
    let repeated = versions.iter().enumerate().any(|(at, version)| {
        versions[..at]
            .iter()
            .any(|before| before["name"] == version["name"])
    });
    if repeated {
        shown.push("must contain unique version names");
    }
    let stored = versions
        .iter()
        .filter(|version| version["storage"] == true)
        .count();
    if stored != 1 {
        shown.push("must have exactly one version marked as storage version");
    }
    for detail in shown {
        let dump = if spec["versions"].is_array() {
            go_dump::versions_as_go(
                versions,
                shared.contains(&"schema"),
                shared.contains(&"subresources"),
            )
        } else {
            "null".to_owned()
        };
        errors.push(FieldError {
            kind: Kind::Invalid,
            field: "spec.versions".to_owned(),
            value: None,
            detail: format!("{dump}: {detail}"),
        });
    }
    // Real servers keep the first version's name in a field of its own.
    let first = versions.first().map_or("", |version| text(version, "name"));
    let complaints = dns_1035_label(first);
    if !first.is_empty() && !complaints.is_empty() {
        errors.push(FieldError::invalid(
            "spec.version",
            json!(first),
            complaints.join(","),
        ));
    }
}
