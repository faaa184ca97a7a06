//! What expressions may know of a value: its type, and how large it can get at most.

use quadrille_expr::{Decl, ListKind, Type as ExprType, spellings};
use serde_json::Value;

use crate::schema::{Additional, Constraints, ListType, SchemaRef, Type};

/// Nobody can send more than this, so nothing can be larger.
const MAX_REQUEST_BYTES: u64 = 3 * 1024 * 1024;
const MAX_TEXT: u64 = MAX_REQUEST_BYTES - 2;
/// The smallest JSON of values of a kind.
const EMPTY_TEXT: u64 = 2;
const SHORTEST_FLAG: u64 = 4;
const SHORTEST_NUMBER: u64 = 1;
const SHORTEST_DURATION: u64 = 3;
const DATE: u64 = 12;
const SHORTEST_TIME: u64 = 21;
/// The longest texts of a duration and of a time.
const LONGEST_DURATION: u64 = 32;
const LONGEST_TIME: u64 = 32;

/// The type of a place, or nothing where expressions may not look: arrays without items, values without a
/// type. `is_object` is true at the root of an object, also of an embedded one: name and type can be seen there
/// whatever the schema says.
pub(crate) fn declare(schema: SchemaRef<'_>, is_object: bool) -> Option<Decl> {
    let node = schema.node();
    let unlimited = Constraints::default();
    let limits = node.constraints.as_deref().unwrap_or(&unlimited);
    let bound = |limit: Option<i64>| limit.map(|limit| u64::try_from(limit).unwrap_or(0));
    if node.int_or_string {
        let most = bound(limits.max_length).map_or(MAX_TEXT, |most| most * 4);
        return Some(Decl::scalar(ExprType::Dyn, SHORTEST_NUMBER).at_most(most));
    }
    match node.ty? {
        Type::Array => {
            let items = schema.items()?;
            let items = declare(items, items.node().embedded_resource)?;
            let fitting = (MAX_REQUEST_BYTES - 2) / (items.smallest() + 1);
            let kind = match &node.list_type {
                ListType::Atomic => ListKind::Plain,
                ListType::Set => ListKind::Set,
                ListType::Map(keys) => {
                    ListKind::Keyed(keys.iter().map(ToString::to_string).collect())
                }
            };
            let most = bound(limits.max_items).unwrap_or(fitting);
            Some(Decl::list(items, kind).at_most(most))
        }
        Type::Object => {
            if let Additional::Of(id) = node.additional {
                let values = schema.schemas().at(id);
                let values = declare(values, values.node().embedded_resource)?;
                let fitting = (MAX_REQUEST_BYTES - 2) / (values.smallest() + 6);
                let most = bound(limits.max_properties).unwrap_or(fitting);
                return Some(Decl::map(values).at_most(most));
            }
            Some(object(schema, is_object))
        }
        Type::String => Some(text(limits)),
        Type::Boolean => Some(Decl::scalar(ExprType::Bool, SHORTEST_FLAG)),
        Type::Number => Some(Decl::scalar(ExprType::Double, SHORTEST_NUMBER)),
        Type::Integer => Some(Decl::scalar(ExprType::Int, SHORTEST_NUMBER)),
    }
}

fn plain_text() -> Decl {
    Decl::scalar(ExprType::String, EMPTY_TEXT).at_most(MAX_TEXT)
}

fn object(schema: SchemaRef<'_>, is_object: bool) -> Decl {
    let node = schema.node();
    let mut fields = Vec::new();
    let mut smallest = 2;
    for (name, id) in &node.properties {
        let field = schema.schemas().at(*id);
        let decl = match &**name {
            "metadata" if is_object => {
                let named = ["name", "generateName"]
                    .map(|name| (name.to_owned(), name.to_owned(), plain_text()));
                Some(Decl::object(named, 2))
            }
            "apiVersion" | "kind" if is_object => Some(plain_text()),
            _ => declare(field, field.node().embedded_resource),
        };
        let Some(decl) = decl else { continue };
        // What has a default is there without taking room in a request.
        if node.required.contains(name) && field.node().default.is_none() {
            smallest += name.len() as u64 + decl.smallest() + 4;
        }
        for key in spellings(name) {
            fields.push((key, name.to_string(), decl.clone()));
        }
    }
    Decl::object(fields, smallest)
}

fn text(limits: &Constraints) -> Decl {
    let length = limits
        .max_length
        .map(|most| u64::try_from(most).unwrap_or(0));
    match limits.format.as_deref() {
        Some("byte") => {
            Decl::scalar(ExprType::Bytes, EMPTY_TEXT).at_most(length.unwrap_or(MAX_TEXT))
        }
        Some("duration") => {
            Decl::scalar(ExprType::Duration, SHORTEST_DURATION).at_most(LONGEST_DURATION)
        }
        Some("date") => Decl::scalar(ExprType::Timestamp, DATE).at_most(DATE),
        Some("date-time") => Decl::scalar(ExprType::Timestamp, SHORTEST_TIME).at_most(LONGEST_TIME),
        _ => {
            let longest = limits.enum_values.iter().filter_map(Value::as_str);
            let longest = longest.map(|text| text.len() as u64).max();
            // A character takes up to four bytes.
            let most = length.map(|most| most * 4).or(longest).unwrap_or(MAX_TEXT);
            Decl::scalar(ExprType::String, EMPTY_TEXT).at_most(most)
        }
    }
}
