//! Label selectors: their model, matching and printing.

use std::fmt;

use serde_json::{Map, Value, json};

use super::{SelectorError, parse};
use crate::{
    field_error::FieldError,
    names::{label_value, qualified_name},
};

/// How a requirement compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `a=b`
    Equals,
    /// `a==b`
    DoubleEquals,
    /// `a!=b`
    NotEquals,
    /// `a in (b,c)`
    In,
    /// `a notin (b,c)`
    NotIn,
    /// `a`
    Exists,
    /// `!a`
    DoesNotExist,
    /// `a>5`
    GreaterThan,
    /// `a<5`
    LessThan,
}

/// One demand on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

impl Requirement {
    /// A requirement whose key and values are checked.
    pub fn new(key: &str, operator: Operator, values: Vec<String>) -> Result<Self, SelectorError> {
        let mut errors = Vec::new();
        let complaints = qualified_name(key);
        if !complaints.is_empty() {
            errors.push(FieldError::invalid(
                "key",
                json!(key),
                complaints.join("; "),
            ));
        }
        let count = values.len();
        let (fine, detail) = match operator {
            Operator::In | Operator::NotIn => (
                count > 0,
                "for 'in', 'notin' operators, values set can't be empty",
            ),
            Operator::Equals | Operator::DoubleEquals | Operator::NotEquals => (
                count == 1,
                "exact-match compatibility requires one single value",
            ),
            Operator::Exists | Operator::DoesNotExist => (
                count == 0,
                "values set must be empty for exists and does not exist",
            ),
            Operator::GreaterThan | Operator::LessThan => (
                count == 1,
                "for 'Gt', 'Lt' operators, exactly one value is required",
            ),
        };
        if !fine {
            // Without values a real server shows the empty Go slice.
            let shown = if values.is_empty() {
                json!([])
            } else {
                json!(values)
            };
            errors.push(FieldError::invalid("values", shown, detail));
        }
        if matches!(operator, Operator::GreaterThan | Operator::LessThan) {
            for (at, value) in values.iter().enumerate() {
                if value.parse::<i64>().is_err() {
                    errors.push(FieldError::invalid(
                        format!("values[{at}]"),
                        json!(value),
                        "for 'Gt', 'Lt' operators, the value must be an integer",
                    ));
                }
            }
        }
        for (at, value) in values.iter().enumerate() {
            let complaints = label_value(value);
            if !complaints.is_empty() {
                errors.push(FieldError::invalid(
                    format!("values[{at}][{key}]"),
                    json!(value),
                    complaints.join("; "),
                ));
            }
        }
        if errors.is_empty() {
            return Ok(Self {
                key: key.to_owned(),
                operator,
                values,
            });
        }
        Err(SelectorError(crate::field_error::join(&errors)))
    }

    /// The label's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// How it compares.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// What it compares with.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether a label's value, or its absence, satisfies this.
    pub fn accepts(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| self.values.iter().any(|wanted| wanted == value);
        let compare = |holds: fn(i64, i64) -> bool| {
            let given = value.and_then(|text| text.parse().ok());
            let bound = self.values.first().and_then(|text| text.parse().ok());
            given.zip(bound).is_some_and(|(a, b)| holds(a, b))
        };
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => value.is_some_and(listed),
            Operator::NotIn | Operator::NotEquals => !value.is_some_and(listed),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan => compare(|a, b| a > b),
            Operator::LessThan => compare(|a, b| a < b),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        let mut sorted: Vec<_> = self.values.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        let values = sorted.join(",");
        match self.operator {
            Operator::Equals => write!(out, "{key}={values}"),
            Operator::DoubleEquals => write!(out, "{key}=={values}"),
            Operator::NotEquals => write!(out, "{key}!={values}"),
            Operator::In => write!(out, "{key} in ({values})"),
            Operator::NotIn => write!(out, "{key} notin ({values})"),
            Operator::Exists => write!(out, "{key}"),
            Operator::DoesNotExist => write!(out, "!{key}"),
            Operator::GreaterThan => write!(out, "{key}>{values}"),
            Operator::LessThan => write!(out, "{key}<{values}"),
        }
    }
}

/// All requirements must hold; none selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
    nothing: bool,
}

impl LabelSelector {
    /// Selects everything.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Selects nothing: what an absent `selector` field of a controller means.
    pub fn nothing() -> Self {
        Self {
            requirements: Vec::new(),
            nothing: true,
        }
    }

    /// A selector of these requirements, sorted by key.
    pub fn of(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Self {
            requirements,
            nothing: false,
        }
    }

    /// Reads the string form, as `labelSelector=` and `kubectl -l` have it.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        parse::requirements(text).map(Self::of)
    }

    /// Reads a `LabelSelector` object (`matchLabels`, `matchExpressions`); null selects nothing.
    pub fn from_value(selector: &Value) -> Result<Self, SelectorError> {
        if selector.is_null() {
            return Ok(Self::nothing());
        }
        let mut requirements = Vec::new();
        let labels = selector.get("matchLabels").and_then(Value::as_object);
        for (key, value) in labels.into_iter().flatten() {
            let value = value.as_str().unwrap_or_default().to_owned();
            requirements.push(Requirement::new(key, Operator::Equals, vec![value])?);
        }
        let expressions = selector.get("matchExpressions").and_then(Value::as_array);
        for expression in expressions.into_iter().flatten() {
            requirements.push(expression_requirement(expression)?);
        }
        Ok(Self::of(requirements))
    }

    /// The requirements, sorted by key.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Whether everything is selected.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty() && !self.nothing
    }

    /// Whether a map of labels (`metadata.labels`) is selected.
    pub fn matches(&self, labels: Option<&Map<String, Value>>) -> bool {
        self.matches_with(|key| labels.and_then(|labels| labels.get(key)?.as_str()))
    }

    /// Whether labels behind a lookup are selected.
    pub fn matches_with<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        !self.nothing
            && self
                .requirements
                .iter()
                .all(|wanted| wanted.accepts(lookup(&wanted.key)))
    }
}

fn expression_requirement(expression: &Value) -> Result<Requirement, SelectorError> {
    let text = |field: &str| {
        expression
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let operator = match text("operator") {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        other => {
            return Err(SelectorError(format!(
                "{other:?} is not a valid label selector operator"
            )));
        }
    };
    let values = expression.get("values").and_then(Value::as_array);
    let values = values
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    Requirement::new(text("key"), operator, values)
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, requirement) in self.requirements.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(out, "{comma}{requirement}")?;
        }
        Ok(())
    }
}
