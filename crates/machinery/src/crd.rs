//! `CustomResourceDefinition`: defaults, rules, status and the versions that a definition serves.

mod defaults;
mod expressions;
mod fields;
mod go_dump;
mod keywords;
mod parts;
mod schema_rules;
mod status;
mod validate;
mod versions;

pub use defaults::{completed, default, prepare_create, prepare_update};
pub use status::{UsedNames, approval_condition, establish, initial_status, name, status_for};
pub use validate::{validate, validate_update, warnings};
pub use versions::{CustomVersion, PrinterColumn, Scale, columns, versions};

use serde_json::Value;

/// The text of a field, or nothing.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The entries of a list, or none.
fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value
        .get(field)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Whether a condition of a definition is true.
pub fn is_condition_true(definition: &Value, condition: &str) -> bool {
    list(&definition["status"], "conditions")
        .iter()
        .any(|entry| text(entry, "type") == condition && text(entry, "status") == "True")
}

/// The version that objects are stored in.
pub fn storage_version(definition: &Value) -> Option<&str> {
    list(&definition["spec"], "versions")
        .iter()
        .find(|version| version["storage"] == true)
        .map(|version| text(version, "name"))
}

#[cfg(test)]
mod tests;
