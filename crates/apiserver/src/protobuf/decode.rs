//! From a message to the JSON that stands for it.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::{
    table::{Count, Field, Form, Message, Table, Type},
    wire::{Raw, Reader, WireError},
};

/// Why a body is no object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    /// It does not start as it should.
    #[error(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    )]
    Prefix,
    /// The wire format is broken.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A text that is not UTF-8.
    #[error("proto: string field contains invalid UTF-8")]
    Text,
    /// A field with a value of another type.
    #[error("proto: wrong wireType for field {0}")]
    Mismatch(&'static str),
    /// JSON inside that is none.
    #[error("invalid JSON in an embedded object: {0}")]
    Raw(String),
    /// A time that no calendar has.
    #[error("proto: a time is out of range")]
    Time,
    /// Messages inside messages inside messages.
    #[error("proto: exceeded max recursion depth")]
    Depth,
    /// Few bytes that mean very many values.
    #[error("proto: too many values")]
    Values,
}

/// Deeper than any honest object: definitions nest schemas, two messages a level.
const MAX_DEPTH: usize = 256;
/// More than any honest object of three mebibytes has; bounds the memory of the result.
const MAX_VALUES: usize = 500_000;

/// Reads messages by a table, within bounds.
pub(crate) struct Decoder<'t> {
    table: &'t Table,
    depth: usize,
    values: usize,
}

impl<'t> Decoder<'t> {
    pub(crate) fn new(table: &'t Table) -> Self {
        Self {
            table,
            depth: 0,
            values: 0,
        }
    }

    /// Reads a message.
    pub(crate) fn message(
        &mut self,
        message: &Message,
        bytes: &[u8],
    ) -> Result<Value, DecodeError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(DecodeError::Depth);
        }
        let value = match message.form {
            Form::Raw => raw(bytes),
            Form::Time { micro } => time(bytes, micro),
            Form::Duration => duration(bytes),
            Form::IntOrString => int_or_string(bytes),
            form => self
                .object(message, bytes)
                .map(|object| shaped(form, object)),
        };
        self.depth -= 1;
        value
    }

    fn object(
        &mut self,
        message: &Message,
        bytes: &[u8],
    ) -> Result<Map<String, Value>, DecodeError> {
        let mut object = Map::new();
        let mut reader = Reader(bytes);
        while let Some((number, raw)) = reader.next()? {
            let Some(field) = message.field(number) else {
                continue;
            };
            self.values += 1;
            if self.values > MAX_VALUES {
                return Err(DecodeError::Values);
            }
            match field.count {
                Count::Map => self.entry(field, raw, &mut object)?,
                Count::List => self.items(field, raw, &mut object)?,
                Count::One => match self.value(field, raw)? {
                    Value::Object(embedded) if field.name == "-" => object.extend(embedded),
                    value => {
                        object.insert(field.name.to_owned(), value);
                    }
                },
            }
        }
        Ok(object)
    }

    /// One entry of a map: a message of key and value, each absent when it is zero.
    fn entry(
        &mut self,
        field: &Field,
        raw: Raw<'_>,
        object: &mut Map<String, Value>,
    ) -> Result<(), DecodeError> {
        let Raw::Bytes(bytes) = raw else {
            return Err(DecodeError::Mismatch(field.name));
        };
        let (mut key, mut value) = (String::new(), None);
        let mut reader = Reader(bytes);
        while let Some((number, raw)) = reader.next()? {
            match (number, raw) {
                (1, Raw::Bytes(bytes)) => key = text(bytes)?,
                (2, raw) => value = Some(self.value(field, raw)?),
                _ => {}
            }
        }
        let value = match value {
            Some(value) => value,
            None => self.value(field, zero(field.ty))?,
        };
        let map = object.entry(field.name).or_insert_with(|| json!({}));
        map[&key] = value;
        Ok(())
    }

    fn items(
        &mut self,
        field: &Field,
        raw: Raw<'_>,
        object: &mut Map<String, Value>,
    ) -> Result<(), DecodeError> {
        let mut items = Vec::new();
        match (field.ty, raw) {
            // Numbers may come packed.
            (Type::Integer | Type::Bool, Raw::Bytes(bytes)) => {
                let mut reader = Reader(bytes);
                while !reader.0.is_empty() {
                    self.values += 1;
                    items.push(self.value(field, Raw::Varint(reader.varint()?))?);
                }
            }
            _ => items.push(self.value(field, raw)?),
        }
        let list = object.entry(field.name).or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.append(&mut items);
        }
        Ok(())
    }

    fn value(&mut self, field: &Field, raw: Raw<'_>) -> Result<Value, DecodeError> {
        Ok(match (field.ty, raw) {
            (Type::Text, Raw::Bytes(bytes)) => Value::String(text(bytes)?),
            (Type::Bytes, Raw::Bytes(bytes)) => Value::String(BASE64.encode(bytes)),
            (Type::Bool, Raw::Varint(number)) => Value::Bool(number != 0),
            (Type::Integer, Raw::Varint(number)) => json!(number.cast_signed()),
            (Type::Double, Raw::Fixed64(bits)) => json!(f64::from_bits(bits)),
            (Type::Message(at), Raw::Bytes(bytes)) => {
                let table = self.table;
                self.message(table.message(at), bytes)?
            }
            _ => return Err(DecodeError::Mismatch(field.name)),
        })
    }
}

/// What an absent value of a map stands for.
fn zero(ty: Type) -> Raw<'static> {
    match ty {
        Type::Text | Type::Bytes | Type::Message(_) => Raw::Bytes(&[]),
        Type::Bool | Type::Integer => Raw::Varint(0),
        Type::Double => Raw::Fixed64(0),
    }
}

/// A message that JSON does not write as an object of its fields.
fn shaped(form: Form, mut object: Map<String, Value>) -> Value {
    let mut take = |name: &str| object.remove(name);
    match form {
        Form::Text => take("string").unwrap_or_else(|| json!("0")),
        Form::Items => take("items").unwrap_or_else(|| json!([])),
        Form::SchemaOrBool => take("schema")
            .or_else(|| take("allows"))
            .unwrap_or(Value::Bool(false)),
        Form::SchemaOrList => take("schema")
            .or_else(|| take("jSONSchemas"))
            .or_else(|| take("property"))
            .unwrap_or_else(|| json!([])),
        _ => Value::Object(object),
    }
}

/// UTF-8.
pub(super) fn text(bytes: &[u8]) -> Result<String, DecodeError> {
    let text = std::str::from_utf8(bytes).map_err(|_| DecodeError::Text)?;
    Ok(text.to_owned())
}

/// JSON in a message of one field of bytes.
fn raw(bytes: &[u8]) -> Result<Value, DecodeError> {
    let mut found = Value::Null;
    let mut reader = Reader(bytes);
    while let Some((number, raw)) = reader.next()? {
        if let (1, Raw::Bytes(bytes)) = (number, raw)
            && !bytes.is_empty()
        {
            found = serde_json::from_slice(bytes)
                .map_err(|error| DecodeError::Raw(error.to_string()))?;
        }
    }
    Ok(found)
}

/// The first two integers of a message; absent ones are zero.
fn integers(bytes: &[u8]) -> Result<(i64, i64), DecodeError> {
    let (mut first, mut second) = (0, 0);
    let mut reader = Reader(bytes);
    while let Some((number, raw)) = reader.next()? {
        match (number, raw) {
            (1, Raw::Varint(value)) => first = value.cast_signed(),
            (2, Raw::Varint(value)) => second = value.cast_signed(),
            _ => {}
        }
    }
    Ok((first, second))
}

/// A time; an empty message is none.
fn time(bytes: &[u8], micro: bool) -> Result<Value, DecodeError> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let (seconds, nanoseconds) = integers(bytes)?;
    let nanoseconds = i32::try_from(nanoseconds).map_err(|_| DecodeError::Time)?;
    let time = Timestamp::new(seconds, nanoseconds).map_err(|_| DecodeError::Time)?;
    let text = if micro {
        crate::clock::microseconds(time)
    } else {
        crate::clock::seconds(time)
    };
    Ok(Value::String(text))
}

/// A duration in words that every reader of Go durations knows.
fn duration(bytes: &[u8]) -> Result<Value, DecodeError> {
    let (nanoseconds, _) = integers(bytes)?;
    let duration = SignedDuration::from_nanos(nanoseconds);
    let text = if duration.subsec_nanos() == 0 {
        format!("{}s", duration.as_secs())
    } else {
        format!("{nanoseconds}ns")
    };
    Ok(Value::String(text))
}

fn int_or_string(bytes: &[u8]) -> Result<Value, DecodeError> {
    let (kind, number) = integers(bytes)?;
    if kind == 0 {
        return Ok(json!(number));
    }
    let mut found = String::new();
    let mut reader = Reader(bytes);
    while let Some((number, raw)) = reader.next()? {
        if let (3, Raw::Bytes(bytes)) = (number, raw) {
            found = text(bytes)?;
        }
    }
    Ok(Value::String(found))
}
