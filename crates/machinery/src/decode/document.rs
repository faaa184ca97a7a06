//! A document as it was written: fields in order, duplicates kept, numbers as text.

use std::{borrow::Cow, collections::HashSet, fmt::Write};

use serde_json::{Map, Value, json};

use super::{
    DecodeError, Decoded, STRICT_ERRORS_MAX, StrictError, Typed, scalars, scan, typed, yaml,
};
use crate::schema::SchemaRef;

/// One node of a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node<'a> {
    Null,
    Bool(bool),
    /// The number's text.
    Number(Cow<'a, str>),
    String(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl Node<'_> {
    /// What Go's JSON reader calls this kind of value.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

/// A parsed body, not yet typed.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    root: Node<'a>,
    yaml_duplicates: Vec<String>,
}

impl<'a> Document<'a> {
    /// Parses JSON.
    pub fn json(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Ok(Self {
            root: scan::parse(bytes)?,
            yaml_duplicates: Vec::new(),
        })
    }

    /// Parses the first document of YAML.
    pub fn yaml(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let (root, yaml_duplicates) = yaml::parse(bytes)?;
        Ok(Self {
            root,
            yaml_duplicates,
        })
    }

    /// A value that somebody else parsed.
    pub fn of(value: &'a Value) -> Self {
        Self {
            root: borrow(value),
            yaml_duplicates: Vec::new(),
        }
    }

    pub(super) fn root(&self) -> &Node<'a> {
        &self.root
    }

    /// The value, whatever its type.
    pub fn untyped(self) -> Result<Decoded, DecodeError> {
        let mut strict = Strict::new(self.yaml_duplicates);
        let mut path = Path::default();
        let value = untyped(self.root, &mut path, &mut strict, true)?;
        Ok(Decoded {
            value,
            duplicates: strict.found,
        })
    }

    /// The value as the schema of a built-in kind wants it.
    pub fn typed(self, schema: SchemaRef<'_>) -> Result<Typed, DecodeError> {
        let forgets_managers = self.forgets_managers();
        let mut strict = Strict::new(self.yaml_duplicates);
        let mut value = typed::decode(self.root, schema, &mut strict)?;
        if forgets_managers && value["metadata"].is_object() {
            value["metadata"]["managedFields"] = json!([{}]);
        }
        Ok(Typed {
            value,
            strict: strict.found,
        })
    }
}

impl Document<'_> {
    /// Whether the document has an empty list of managers: for built-in kinds that means to forget them all,
    /// as one empty entry does for every kind.
    fn forgets_managers(&self) -> bool {
        let Node::Object(fields) = &self.root else {
            return false;
        };
        let metadata = fields.iter().rev().find(|(name, _)| name == "metadata");
        let Some((_, Node::Object(metadata))) = metadata else {
            return false;
        };
        let managers = metadata
            .iter()
            .rev()
            .find(|(name, _)| name == "managedFields");
        matches!(managers, Some((_, Node::Array(entries))) if entries.is_empty())
    }
}

fn borrow(value: &Value) -> Node<'_> {
    match value {
        Value::Null => Node::Null,
        Value::Bool(value) => Node::Bool(*value),
        Value::Number(number) => Node::Number(number.to_string().into()),
        Value::String(text) => Node::String(text.as_str().into()),
        Value::Array(entries) => Node::Array(entries.iter().map(borrow).collect()),
        Value::Object(fields) => Node::Object(
            fields
                .iter()
                .map(|(name, value)| (name.as_str().into(), borrow(value)))
                .collect(),
        ),
    }
}

/// Where in the document we are, as strict errors name it: `spec.ports[0].name`.
#[derive(Default)]
pub(super) struct Path {
    text: String,
}

impl Path {
    /// Runs `inside` with a field added.
    pub(super) fn field<T>(&mut self, name: &str, inside: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.text.len();
        if before > 0 {
            self.text.push('.');
        }
        self.text.push_str(name);
        let result = inside(self);
        self.text.truncate(before);
        result
    }

    /// Runs `inside` with an index added.
    pub(super) fn index<T>(&mut self, at: usize, inside: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.text.len();
        write!(self.text, "[{at}]").expect("strings take text");
        let result = inside(self);
        self.text.truncate(before);
        result
    }

    /// The path of a field of this place.
    pub(super) fn child(&self, name: &str) -> String {
        if self.text.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.text)
        }
    }
}

/// Collects strict errors: each once, and not without end.
pub(super) struct Strict {
    found: Vec<StrictError>,
    seen: HashSet<StrictError>,
}

impl Strict {
    fn new(yaml_duplicates: Vec<String>) -> Self {
        let found = match yaml_duplicates.len() {
            0 => Vec::new(),
            _ => vec![StrictError::Yaml(yaml_duplicates)],
        };
        Self {
            found,
            seen: HashSet::new(),
        }
    }

    pub(super) fn add(&mut self, error: StrictError) {
        if self.found.len() < STRICT_ERRORS_MAX && self.seen.insert(error.clone()) {
            self.found.push(error);
        }
    }
}

/// A value without a type; `report` says whether duplicates count.
pub(super) fn untyped(
    node: Node<'_>,
    path: &mut Path,
    strict: &mut Strict,
    report: bool,
) -> Result<Value, DecodeError> {
    Ok(match node {
        Node::Null => Value::Null,
        Node::Bool(value) => Value::Bool(value),
        Node::Number(text) => scalars::number(&text)?,
        Node::String(text) => Value::String(text.into_owned()),
        Node::Array(nodes) => {
            let mut entries = Vec::with_capacity(nodes.len());
            for (at, node) in nodes.into_iter().enumerate() {
                entries.push(path.index(at, |path| untyped(node, path, strict, report))?);
            }
            Value::Array(entries)
        }
        Node::Object(nodes) => {
            let mut fields = Map::new();
            for (name, node) in nodes {
                if report && fields.contains_key(name.as_ref()) {
                    strict.add(StrictError::Duplicate(path.child(&name)));
                }
                let value = path.field(&name, |path| untyped(node, path, strict, report))?;
                fields.insert(name.into_owned(), value);
            }
            Value::Object(fields)
        }
    })
}
