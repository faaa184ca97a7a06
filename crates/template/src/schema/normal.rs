//! Valid values in the form that expressions count on: nulls are absent, numbers have their type.

use quadrille_machinery::schema::{SchemaRef, Type};
use serde_json::{Number, Value as Json};

/// Brings a valid value into its normal form.
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
    if let (None, Some(float)) = (number.as_i64(), number.as_f64()) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the validator took it as whole"
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
