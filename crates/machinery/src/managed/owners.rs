//! Managers and what each of them owns.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::fieldset::Set;

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

impl Operation {
    /// The word in `managedFields`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// One manager of an object's fields. The same program is another manager when it applies, when it writes
/// in another version (appliers aside), and when it writes to a subresource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManagerId {
    /// All of the below in one text: managers are ordered by it.
    key: String,
    /// The program.
    pub manager: String,
    /// How it writes.
    pub operation: Operation,
    /// In which version it writes; empty for appliers.
    pub api_version: String,
    /// To which subresource it writes; empty for the object itself.
    pub subresource: String,
}

impl ManagerId {
    /// The manager that a write belongs to.
    pub fn new(manager: &str, operation: Operation, api_version: &str, subresource: &str) -> Self {
        let api_version = match operation {
            Operation::Apply => "",
            Operation::Update => api_version,
        };
        let fields = [
            ("manager", manager),
            ("operation", operation.word()),
            ("apiVersion", api_version),
            ("subresource", subresource),
        ];
        let texts = fields.iter().filter(|(_, text)| !text.is_empty());
        let texts: Vec<_> = texts
            .map(|(name, text)| format!("\"{name}\":{}", Value::from(*text)))
            .collect();
        Self {
            key: format!("{{{}}}", texts.join(",")),
            manager: manager.to_owned(),
            operation,
            api_version: api_version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }

    /// A placeholder for the write that is being tracked.
    pub(super) fn current() -> Self {
        Self {
            key: "current-operation".to_owned(),
            ..Self::new("current-operation", Operation::Update, "", "")
        }
    }
}

/// What a manager owns, in the version that it wrote last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The fields.
    pub set: Set,
    /// The version whose fields they are.
    pub api_version: String,
    /// Whether it owns them by apply.
    pub applied: bool,
}

/// Managers with what they own.
pub(super) type Owners = BTreeMap<ManagerId, Owner>;

/// All of `managedFields`, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Managed {
    /// Who owns what.
    pub owners: BTreeMap<ManagerId, Owner>,
    /// When each manager last changed something.
    pub times: BTreeMap<ManagerId, String>,
}

/// An object's `metadata`.
pub(super) fn metadata(object: &Value) -> Option<&Map<String, Value>> {
    object.get("metadata")?.as_object()
}

/// A text of an object's `metadata`; empty if it has none.
pub(super) fn metadata_text<'o>(object: &'o Value, name: &str) -> &'o str {
    metadata(object)
        .and_then(|metadata| metadata.get(name)?.as_str())
        .unwrap_or_default()
}

/// An object's `managedFields`, if it is a list.
pub(super) fn entries_of(object: &Value) -> Option<&Vec<Value>> {
    metadata(object)?.get("managedFields")?.as_array()
}

/// Takes `managedFields` out of an object.
pub(super) fn remove_entries(object: &mut Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
}

/// Puts `managedFields` into an object; an empty list is left out.
pub(super) fn set_entries(object: &mut Value, entries: Vec<Value>) {
    if entries.is_empty() {
        return remove_entries(object);
    }
    let Value::Object(fields) = object else {
        return;
    };
    let metadata = fields
        .entry("metadata")
        .or_insert_with(|| Value::Object(Map::new()));
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    if let Value::Object(metadata) = metadata {
        metadata.insert("managedFields".to_owned(), Value::Array(entries));
    }
}
