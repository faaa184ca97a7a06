//! Schemas and values in the form that expressions count on: nulls are absent, numbers have their type.

use quadrille_machinery::schema::{SchemaRef, Type};
use serde_json::{Number, Value as Json, json};

/// A schema in which what is said to be an object, or a list, and no more, may hold anything.
pub(super) fn opened(schema: &Json) -> Json {
    let mut opened = schema.clone();
    open(&mut opened);
    opened
}

fn open(schema: &mut Json) {
    let Json::Object(fields) = schema else {
        return;
    };
    let anything = || json!({"x-kubernetes-preserve-unknown-fields": true});
    let ty = fields.get("type").and_then(Json::as_str);
    let bare = !["properties", "additionalProperties"]
        .iter()
        .any(|keyword| fields.contains_key(*keyword));
    match ty {
        Some("object") if bare => {
            let key = "x-kubernetes-preserve-unknown-fields";
            fields.insert(key.to_owned(), Json::Bool(true));
        }
        Some("array") if !fields.contains_key("items") => {
            fields.insert("items".to_owned(), anything());
        }
        _ => {}
    }
    for keyword in ["items", "additionalProperties"] {
        fields.get_mut(keyword).into_iter().for_each(open);
    }
    let named = fields.get_mut("properties").and_then(Json::as_object_mut);
    named
        .into_iter()
        .flat_map(|named| named.values_mut())
        .for_each(open);
}

/// Brings a value into its normal form.
pub(super) fn normalize(schema: SchemaRef<'_>, value: &mut Json) {
    match value {
        Json::Number(number) => match schema.node().ty {
            Some(Type::Integer) => whole(number),
            Some(Type::Number) => fractional(number),
            _ => {}
        },
        Json::Array(items) => {
            if let Some(schema) = schema.items() {
                for item in items {
                    normalize(schema, item);
                }
            }
        }
        Json::Object(fields) => fields.retain(|name, value| match schema.field(name) {
            Some(_) if value.is_null() => false,
            Some(schema) => {
                normalize(schema, value);
                true
            }
            None => true,
        }),
        Json::Null | Json::Bool(_) | Json::String(_) => {}
    }
}

/// `3.0` where an integer is wanted is 3.
fn whole(number: &mut Number) {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = |float: &f64| float.fract() == 0.0 && float.abs() <= EXACT;
    if let (None, Some(float)) = (number.as_i64(), number.as_f64().filter(whole)) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is whole and small enough"
        )]
        let whole = float as i64;
        *number = Number::from(whole);
    }
}

/// 3 where any number is wanted is `3.0`, so that arithmetic with it has one type.
fn fractional(number: &mut Number) {
    if let Some(float) = number.as_f64().and_then(Number::from_f64) {
        *number = float;
    }
}
