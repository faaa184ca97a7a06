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
    schema::{Additional, Node as Shape, SchemaRef, Type},
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
    let value = reader.read(root, schema, None)?;
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

    fn read(&mut self, node: Node<'_>, schema: SchemaRef<'_>, named: Option<&str>) -> Read {
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
            Some(Type::String) => self.string(node, schema, named),
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
            let named = go_types::named_string(&struct_name, &name);
            let value = self.inside(&name, |reader| reader.read(node, inner, named))?;
            self.owner = outer;
            self.fields.truncate(depth);
            match value {
                Some(value) if !is_unset(&value, inner.node(), schema.node(), &name) => {
                    fields.insert(name.into_owned(), value);
                }
                _ => {}
            }
        }
        Ok(Some(Value::Object(fields)))
    }

    fn map(&mut self, nodes: Vec<(Cow<'_, str>, Node<'_>)>, values: SchemaRef<'_>) -> Read {
        let mut fields = Map::new();
        for (name, node) in nodes {
            if fields.contains_key(name.as_ref()) {
                let at = self.path.child(&name);
                self.strict.add(StrictError::Duplicate(at));
            }
            let value = self.inside(&name, |reader| reader.read(node, values, None))?;
            let value = value.unwrap_or_else(|| zero(values.node()));
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
                let value = self.read(node, items, None);
                std::mem::swap(&mut self.path, path);
                value
            });
            self.path = path;
            entries.push(value?.unwrap_or_else(|| zero(items.node())));
        }
        Ok(Some(Value::Array(entries)))
    }

    fn string(&mut self, node: Node<'_>, schema: SchemaRef<'_>, named: Option<&str>) -> Read {
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
            (_, other) => Ok(self.mistyped(other.word(), named.unwrap_or("string"))),
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

/// Empty lists and maps of optional fields are left out when a server writes the object.
fn is_unset(value: &Value, shape: &Shape, owner: &Shape, name: &str) -> bool {
    let empty = match value {
        Value::Array(entries) => entries.is_empty(),
        Value::Object(fields) => fields.is_empty() && matches!(shape.additional, Additional::Of(_)),
        _ => false,
    };
    empty && !owner.required.iter().any(|required| **required == *name)
}

/// What a null becomes inside a list or a map.
fn zero(shape: &Shape) -> Value {
    match shape.ty {
        Some(Type::String) => Value::String(String::new()),
        Some(Type::Integer | Type::Number) => Value::from(0),
        Some(Type::Boolean) => Value::Bool(false),
        Some(Type::Object) if !shape.properties.is_empty() => Value::Object(Map::new()),
        _ => Value::Null,
    }
}
