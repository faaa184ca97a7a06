//! Random validation rules.

use rand::{Rng, rngs::StdRng};
use serde_json::{Value, json};

use super::shape::NAMES;

/// Gives some places of a schema rules.
pub(super) fn add(schema: &mut Value, random: &mut StdRng) {
    if random.random_bool(0.3) {
        let count = random.random_range(1..3);
        let rules: Vec<Value> = (0..count).filter_map(|_| rule(schema, random)).collect();
        if !rules.is_empty() {
            schema["x-kubernetes-validations"] = json!(rules);
        }
    }
    let names: Vec<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.keys().cloned())
        .collect();
    for name in names {
        add(&mut schema["properties"][name], random);
    }
    for inner in ["items", "additionalProperties"] {
        if schema[inner].is_object() {
            add(&mut schema[inner], random);
        }
    }
}

/// Whether rules can be compared on a schema. A real server takes no set of numbers for equal to itself when it
/// holds a whole one, which is nothing to follow; and it stumbles over nulls where nothing says what may be.
pub(super) fn are_comparable(schema: &Value) -> bool {
    let untyped = schema["x-kubernetes-preserve-unknown-fields"] == true;
    let numbers = schema["x-kubernetes-list-type"] == "set" && schema["items"]["type"] == "number";
    let fields = schema["properties"].as_object();
    !untyped
        && !numbers
        && fields
            .into_iter()
            .flatten()
            .all(|(_, field)| are_comparable(field))
        && are_comparable_in(schema, "items")
        && are_comparable_in(schema, "additionalProperties")
}

fn are_comparable_in(schema: &Value, part: &str) -> bool {
    schema.get(part).is_none_or(are_comparable)
}

fn pick(random: &mut StdRng, from: &[&str]) -> String {
    from[random.random_range(0..from.len())].to_owned()
}

fn rule(schema: &Value, random: &mut StdRng) -> Option<Value> {
    let name = pick(random, &NAMES);
    let other = pick(random, &NAMES);
    let rule = if schema["x-kubernetes-int-or-string"] == true {
        pick(
            random,
            &[
                "type(self) == int || self.endsWith('%')",
                "self != 1",
                "type(self) == string ? self.size() > 1 : self > 0",
                "self > 0",
            ],
        )
    } else {
        match schema["type"].as_str()? {
            "integer" => pick(
                random,
                &[
                    "self > 1",
                    "self <= 1 || self % 2 == 0",
                    "self == oldSelf",
                    "self >= oldSelf",
                    "10 / self > 4",
                    "self in [0, 2]",
                ],
            ),
            "number" => pick(
                random,
                &[
                    "self > 1.0",
                    "self < 2.0",
                    "self == oldSelf",
                    "int(self) == 1",
                ],
            ),
            "boolean" => pick(random, &["self", "!self", "self == oldSelf"]),
            "string" if schema["format"] == "date-time" => pick(
                random,
                &[
                    "self > timestamp('2020-06-01T00:00:00Z')",
                    "self.getFullYear() == 2020",
                    "self >= oldSelf",
                ],
            ),
            "string" => pick(
                random,
                &[
                    "self.size() < 1",
                    "self != 'x'",
                    "self.startsWith('x') || self == 'z'",
                    "self.matches('^[xy]$')",
                    "self == oldSelf",
                    "self.upperAscii() == 'X'",
                    "self.charAt(0) == 'x'",
                    "quantity(self).isInteger()",
                ],
            ),
            "array" => pick(
                random,
                &[
                    "self.size() < 2",
                    "self == oldSelf",
                    "self.all(e, e == e)",
                    "oldSelf.all(e, e in self)",
                    "self.exists_one(e, true)",
                    "self[0] == self[1]",
                    "self + self != self",
                ],
            ),
            _ if schema["additionalProperties"].is_object() => pick(
                random,
                &[
                    "self.size() < 2",
                    "self.all(k, k != 'a')",
                    "'a' in self",
                    "self == oldSelf",
                    "self.exists(k, self[k] == self[k] && k == 'b')",
                ],
            ),
            "object" => match random.random_range(0..7) {
                0 => format!("has(self.{name})"),
                1 => format!("!has(self.{name}) || has(self.{other})"),
                2 => format!("self.{name} == self.{other}"),
                3 => format!("self.{name} == oldSelf.{name}"),
                4 => "self == oldSelf".to_owned(),
                5 => format!("has(self.{name}) == has(oldSelf.{name})"),
                _ => format!("has(self.{name}) && has(self.{other})"),
            },
            _ => return None,
        }
    };
    let mut rule = json!({"rule": rule});
    match random.random_range(0..8) {
        0 => rule["message"] = json!(" it is not so "),
        1 => rule["messageExpression"] = json!("'it is ' + string(1 + 1)"),
        2 => rule["messageExpression"] = json!("'bad' + string(1 / 0)"),
        _ => {}
    }
    match random.random_range(0..12) {
        0 => rule["reason"] = json!("FieldValueForbidden"),
        1 => rule["reason"] = json!("FieldValueRequired"),
        2 => rule["reason"] = json!("FieldValueDuplicate"),
        _ => {}
    }
    if schema["properties"].get(&name).is_some() && random.random_bool(0.2) {
        rule["fieldPath"] = json!(format!(".{name}"));
    }
    Some(rule)
}
