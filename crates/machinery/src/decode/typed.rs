//! Decoding against the schema of a built-in kind, as Go decodes JSON into its structs.
//!
//! Unknown fields are dropped and reported. Nulls mean "unset". The first value of a wrong type is
//! reported at the end; a value that has its own reader (times, quantities) and fails there ends the
//! reading at once.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{
    DecodeError, StrictError,
    document::{Node, Path, Strict, untyped},
    go_types, scalars,
};
use crate::{
    quantity::Quantity,
    schema::{Additional, Node as Shape, Presence, SchemaRef, Type},
};

/// Reads a whole document.
pub(super) fn decode(
    root: Node<'_>,
    schema: SchemaRef<'_>,
    strict: &mut Strict,
) -> Result<Value, DecodeError> {
    let mut reader = Reader {
        strict,
        path: Path::default(),
        owner: String::new(),
        fields: Vec::new(),
        saved: None,
    };
    let value = reader.read(root, schema)?;
    match reader.saved {
        Some(error) => Err(error),
        None => Ok(value.unwrap_or_else(|| Value::Object(Map::new()))),
    }
}

struct Reader<'s> {
    strict: &'s mut Strict,
    /// Where we are, as strict errors say it.
    path: Path,
    /// The struct that holds the current field.
    owner: String,
    /// Where we are, as type errors say it: field names only.
    fields: Vec<String>,
    /// The first type error.
    saved: Option<DecodeError>,
}

/// `Ok(None)` is "unset": a null, or a value whose type error is on record.
type Read = Result<Option<Value>, DecodeError>;

impl Reader<'_> {
    fn type_error(&self, word: &str, target: &str) -> DecodeError {
        DecodeError(if self.fields.is_empty() {
            format!("json: cannot unmarshal {word} into Go value of type {target}")
        } else {
            format!(
                "json: cannot unmarshal {word} into Go struct field {}.{} of type {target}",
                self.owner,
                self.fields.join(".")
            )
        })
    }

    /// Records a type error and goes on, as Go does.
    fn mistyped(&mut self, word: &str, target: &str) -> Option<Value> {
        if self.saved.is_none() {
            self.saved = Some(self.type_error(word, target));
        }
        None
    }

    fn read(&mut self, node: Node<'_>, schema: SchemaRef<'_>) -> Read {
        if node == Node::Null {
            return Ok(None);
        }
        let shape = schema.node();
        if go_types::struct_name(shape) == "Quantity" {
            return quantity(&node).map(Some);
        }
        if shape.int_or_string {
            return self.int_or_string(node);
        }
        if shape.preserve_unknown && shape.properties.is_empty() {
            return untyped(node, &mut self.path, self.strict, false).map(Some);
        }
        match shape.ty {
            Some(Type::Object) => self.object(node, schema),
            Some(Type::Array) => self.array(node, schema),
            Some(Type::String) => self.string(node, schema),
            Some(Type::Integer) => Ok(self.integer(&node, schema)),
            Some(Type::Number) => self.number(node),
            Some(Type::Boolean) => match node {
                Node::Bool(value) => Ok(Some(Value::Bool(value))),
                other => Ok(self.mistyped(other.word(), "bool")),
            },
            None => untyped(node, &mut self.path, self.strict, false).map(Some),
        }
    }

    fn object(&mut self, node: Node<'_>, schema: SchemaRef<'_>) -> Read {
        let Node::Object(nodes) = node else {
            return Ok(self.mistyped(node.word(), &go_types::name(schema)));
        };
        let shape = schema.node();
        if !shape.properties.is_empty() {
            return self.fields(nodes, schema);
        }
        match shape.additional {
            Additional::Of(id) => self.map(nodes, schema.schemas().at(id)),
            // A struct without fields, such as an empty marker type.
            Additional::None if shape.type_name.is_some() => self.fields(nodes, schema),
            Additional::Any | Additional::None => {
                untyped(Node::Object(nodes), &mut self.path, self.strict, false).map(Some)
            }
        }
    }

    /// A struct.
    fn fields(&mut self, nodes: Vec<(Cow<'_, str>, Node<'_>)>, schema: SchemaRef<'_>) -> Read {
        let struct_name = go_types::struct_name(schema.node()).to_owned();
        let mut seen: Vec<Box<str>> = Vec::new();
        let mut fields = Map::new();
        for (name, node) in nodes {
            let Some(inner) = schema.property(&name) else {
                let at = self.path.child(&name);
                self.strict.add(StrictError::Unknown(at));
                continue;
            };
            if seen.iter().any(|before| **before == *name) {
                let at = self.path.child(&name);
                self.strict.add(StrictError::Duplicate(at));
            } else {
                seen.push(name.as_ref().into());
            }
            let depth = self.fields.len();
            if let Some(embedded) = go_types::embedded(&struct_name, &name) {
                self.fields.push(embedded.to_owned());
            }
            self.fields.push(name.to_string());
            let outer = std::mem::replace(&mut self.owner, struct_name.clone());
            let value = self.inside(&name, |reader| reader.read(node, inner))?;
            self.owner = outer;
            self.fields.truncate(depth);
            // A null leaves a struct's field as it is: unset, or what a duplicate set before.
            if let Some(value) = value {
                fields.insert(name.into_owned(), value);
            }
        }
        encode_empty(schema, &mut fields);
        Ok(Some(Value::Object(fields)))
    }

    fn map(&mut self, nodes: Vec<(Cow<'_, str>, Node<'_>)>, values: SchemaRef<'_>) -> Read {
        let mut fields = Map::new();
        for (name, node) in nodes {
            if fields.contains_key(name.as_ref()) {
                let at = self.path.child(&name);
                self.strict.add(StrictError::Duplicate(at));
            }
            let value = self.inside(&name, |reader| reader.read(node, values))?;
            let value = value.unwrap_or_else(|| zero(values));
            fields.insert(name.into_owned(), value);
        }
        Ok(Some(Value::Object(fields)))
    }

    fn array(&mut self, node: Node<'_>, schema: SchemaRef<'_>) -> Read {
        let Node::Array(nodes) = node else {
            return Ok(self.mistyped(node.word(), &go_types::name(schema)));
        };
        let Some(items) = schema.items() else {
            return untyped(Node::Array(nodes), &mut self.path, self.strict, false).map(Some);
        };
        let mut entries = Vec::with_capacity(nodes.len());
        for (at, node) in nodes.into_iter().enumerate() {
            let mut path = std::mem::take(&mut self.path);
            let value = path.index(at, |path| {
                std::mem::swap(&mut self.path, path);
                let value = self.read(node, items);
                std::mem::swap(&mut self.path, path);
                value
            });
            self.path = path;
            entries.push(value?.unwrap_or_else(|| zero(items)));
        }
        Ok(Some(Value::Array(entries)))
    }

    fn string(&mut self, node: Node<'_>, schema: SchemaRef<'_>) -> Read {
        let constraints = schema.node().constraints.as_ref();
        let format = constraints.and_then(|constraints| constraints.format.as_deref());
        match (format, node) {
            (Some("date-time"), Node::String(text)) => {
                let micro = go_types::struct_name(schema.node()) == "MicroTime";
                scalars::time(&text, micro).map(|text| Some(Value::String(text)))
            }
            (Some("date-time"), other) => Err(self.type_error(other.word(), "string")),
            (Some("byte"), Node::String(text)) => match scalars::bytes(&text) {
                Ok(text) => Ok(Some(Value::String(text))),
                Err(error) => {
                    self.saved.get_or_insert(error);
                    Ok(None)
                }
            },
            (Some("byte"), other) => Ok(self.mistyped(other.word(), "[]uint8")),
            (_, Node::String(text)) => Ok(Some(Value::String(text.into_owned()))),
            (_, other) => Ok(self.mistyped(other.word(), &go_types::name(schema))),
        }
    }

    fn integer(&mut self, node: &Node<'_>, schema: SchemaRef<'_>) -> Option<Value> {
        let target = go_types::name(schema);
        let Node::Number(text) = node else {
            return self.mistyped(node.word(), &target);
        };
        let fits = |number: &i64| target != "int32" || i32::try_from(*number).is_ok();
        match text.parse::<i64>().ok().filter(fits) {
            Some(number) => Some(Value::from(number)),
            None => self.mistyped(&format!("number {text}"), &target),
        }
    }

    fn number(&mut self, node: Node<'_>) -> Read {
        match node {
            Node::Number(text) => scalars::number(&text).map(Some),
            other => Ok(self.mistyped(other.word(), "float64")),
        }
    }

    fn int_or_string(&mut self, node: Node<'_>) -> Read {
        match node {
            Node::String(text) => Ok(Some(Value::String(text.into_owned()))),
            Node::Number(text) => match text.parse::<i32>() {
                Ok(number) => Ok(Some(Value::from(number))),
                Err(_) => Err(self.type_error(&format!("number {text}"), "int32")),
            },
            other => Err(self.type_error(other.word(), "int32")),
        }
    }

    /// Runs a read with a field added to the path of strict errors.
    fn inside(&mut self, name: &str, read: impl FnOnce(&mut Self) -> Read) -> Read {
        let mut path = std::mem::take(&mut self.path);
        let value = path.field(name, |path| {
            std::mem::swap(&mut self.path, path);
            let value = read(self);
            std::mem::swap(&mut self.path, path);
            value
        });
        self.path = path;
        value
    }
}

fn quantity(node: &Node<'_>) -> Result<Value, DecodeError> {
    let text = match node {
        Node::String(text) | Node::Number(text) => text.trim(),
        _ => "",
    };
    let parsed = Quantity::parse(text).map_err(|error| DecodeError(error.to_string()))?;
    Ok(Value::String(
        parsed.map_or_else(|| text.to_owned(), Quantity::canonical),
    ))
}

/// Brings empty fields into the form in which Go writes them: left out, or shown though unset.
fn encode_empty(schema: SchemaRef<'_>, fields: &mut Map<String, Value>) {
    let node = schema.node();
    for (at, (name, id)) in node.properties.iter().enumerate() {
        let inner = schema.schemas().at(*id);
        match node.presence.get(at) {
            // Without knowledge of Go only lists and maps are known to be left out.
            None => {
                let required = node.required.contains(name);
                if !required
                    && fields
                        .get(&**name)
                        .is_some_and(|value| is_empty_collection(value, inner.node()))
                {
                    fields.remove(&**name);
                }
            }
            Some(Presence::OmitZero) => {
                let zero = |value: &Value| is_zero(value, inner.node());
                if fields.get(&**name).is_some_and(zero) && !node.keeps_empty(name) {
                    fields.remove(&**name);
                }
            }
            Some(Presence::Keep) => {}
            Some(Presence::Null) => {
                fields.entry(&**name).or_insert(Value::Null);
            }
            Some(Presence::Struct | Presence::Zero) => {
                fields.entry(&**name).or_insert_with(|| zero(inner));
            }
        }
    }
}

fn is_empty_collection(value: &Value, shape: &Shape) -> bool {
    match value {
        Value::Array(entries) => entries.is_empty(),
        Value::Object(fields) => fields.is_empty() && matches!(shape.additional, Additional::Of(_)),
        _ => false,
    }
}

fn is_zero(value: &Value, shape: &Shape) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Null => true,
        Value::Array(_) | Value::Object(_) => is_empty_collection(value, shape),
    }
}

/// What an unset value of a type looks like where it must be shown: in a list, in a map, and in fields that
/// are never left out.
fn zero(schema: SchemaRef<'_>) -> Value {
    let shape = schema.node();
    let format = shape
        .constraints
        .as_ref()
        .and_then(|limits| limits.format.as_deref());
    match shape.ty {
        _ if go_types::struct_name(shape) == "Quantity" => Value::from("0"),
        _ if shape.int_or_string => Value::from(0),
        Some(Type::String) if matches!(format, Some("date-time" | "byte")) => Value::Null,
        Some(Type::String) => Value::from(""),
        Some(Type::Integer | Type::Number) => Value::from(0),
        Some(Type::Boolean) => Value::from(false),
        Some(Type::Object) if !shape.properties.is_empty() || shape.type_name.is_some() => {
            let mut fields = Map::new();
            encode_empty(schema, &mut fields);
            Value::Object(fields)
        }
        _ => Value::Null,
    }
}
