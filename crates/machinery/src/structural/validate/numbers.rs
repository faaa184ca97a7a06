//! Limits of numbers.

use serde_json::{Number, Value};

use super::{NO_FIELD, Outcome, blame};
use crate::{
    field_error::{FieldError, Kind},
    go_text,
    schema::{Constraints, Type},
};

/// Checks a number: its range by format, `multipleOf`, `minimum` and `maximum`.
pub(super) fn check(
    ty: Option<Type>,
    format: Option<&str>,
    limits: &Constraints,
    number: &Number,
    path: &str,
) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.matched += 1;
    let value = number.as_f64().unwrap_or(0.0);
    if !in_range(ty, format, number) {
        let format = match format {
            Some(format) => format!("with format {format}"),
            None => "(default format)".to_owned(),
        };
        let word = if ty == Some(Type::Integer) {
            "integer"
        } else {
            "number"
        };
        outcome.add(FieldError::invalid(
            NO_FIELD,
            Value::from(""),
            format!("Checked value must be of type {word} {format} in {path}"),
        ));
    }
    let whole = number.is_i64();
    let shown = || Value::Number(number.clone());
    // A whole number is compared with whole limits: 5 against `maximum: 4.5` is 5 against 4.
    let limit = |limit: f64| if whole { limit.trunc() } else { limit };
    if let Some(factor) = limits.multiple_of {
        let bound = limit(factor);
        if bound <= 0.0 {
            let text = format!("factor MultipleOf declared for {path} must be positive: {bound}");
            outcome.add(FieldError::invalid(path, Value::from(bound), text));
        } else if !is_multiple(number, bound) {
            let rest = format!("should be a multiple of {}", go_text::float(bound));
            outcome.add(blame(Kind::Invalid, path, shown(), &rest));
        }
    }
    if let Some(minimum) = limits.minimum.map(limit) {
        let exclusive = limits.exclusive_minimum;
        if value < minimum || (exclusive && value <= minimum) {
            let or_equal = if exclusive { "" } else { " or equal to" };
            let rest = format!(
                "should be greater than{or_equal} {}",
                go_text::float(minimum)
            );
            outcome.add(blame(Kind::Invalid, path, shown(), &rest));
        }
    }
    if let Some(maximum) = limits.maximum.map(limit) {
        let exclusive = limits.exclusive_maximum;
        if value > maximum || (exclusive && value >= maximum) {
            let or_equal = if exclusive { "" } else { " or equal to" };
            let rest = format!("should be less than{or_equal} {}", go_text::float(maximum));
            outcome.add(blame(Kind::Invalid, path, shown(), &rest));
        }
    }
    outcome
}

fn in_range(ty: Option<Type>, format: Option<&str>, number: &Number) -> bool {
    match (ty, format) {
        (Some(Type::Integer), Some("int32")) => number
            .as_i64()
            .is_some_and(|value| i32::try_from(value).is_ok()),
        (Some(Type::Integer), _) => number.is_i64(),
        (Some(Type::Number), Some("float")) => number
            .as_f64()
            .is_some_and(|value| value.abs() <= f64::from(f32::MAX)),
        _ => true,
    }
}

fn is_multiple(number: &Number, factor: f64) -> bool {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the factor of a whole number is whole"
    )]
    if let Some(whole) = number.as_i64() {
        return whole % (factor as i64).max(1) == 0;
    }
    let value = number.as_f64().unwrap_or(0.0);
    let ratio = if factor < 1.0 {
        1.0 / factor * value
    } else {
        value / factor
    };
    let nearest = ratio.round();
    (ratio - nearest).abs() <= f64::EPSILON * nearest.abs().max(1.0)
}
