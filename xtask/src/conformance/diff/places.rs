//! Places inside a JSON value (`.spec.ports[0].name`, `.conditions[?type=Ready].status`) and `${names}` in
//! texts: how scripts point at values and carry them from one step to the next.

use std::collections::BTreeMap;

use serde_json::Value;

/// One step of the way into a value.
#[derive(Debug, PartialEq, Eq)]
enum Segment {
    /// A field.
    Field(String),
    /// A list item by position.
    Index(usize),
    /// All items of a list, or all fields of an object.
    Every,
    /// The first list item whose field has this text.
    Match(String, String),
}

/// The value at `place`, if there is one.
pub(super) fn lookup<'a>(value: &'a Value, place: &str) -> Option<&'a Value> {
    parse(place)
        .iter()
        .try_fold(value, |value, segment| match segment {
            Segment::Field(name) => value.get(name),
            Segment::Index(index) => value.get(index),
            Segment::Every => None,
            Segment::Match(field, text) => value
                .as_array()?
                .iter()
                .find(|item| says(item, field, text)),
        })
}

/// Takes what is at `place` out of the value.
pub(super) fn remove(value: &mut Value, place: &str) {
    remove_segments(value, &parse(place));
}

fn remove_segments(value: &mut Value, segments: &[Segment]) {
    let Some((first, rest)) = segments.split_first() else {
        return;
    };
    match (value, first) {
        (Value::Object(fields), Segment::Field(name)) => {
            if rest.is_empty() {
                fields.remove(name);
            } else if let Some(next) = fields.get_mut(name) {
                remove_segments(next, rest);
            }
        }
        (Value::Object(fields), Segment::Every) => {
            fields
                .values_mut()
                .for_each(|next| remove_segments(next, rest));
        }
        (Value::Array(items), segment) => {
            for index in (0..items.len()).rev() {
                let meant = match segment {
                    Segment::Index(wanted) => index == *wanted,
                    Segment::Every => true,
                    Segment::Match(field, text) => says(&items[index], field, text),
                    Segment::Field(_) => false,
                };
                if meant && rest.is_empty() {
                    items.remove(index);
                } else if meant {
                    remove_segments(&mut items[index], rest);
                }
            }
        }
        _ => {}
    }
}

fn says(item: &Value, field: &str, text: &str) -> bool {
    match lookup(item, &format!(".{field}")) {
        Some(Value::String(found)) => found == text,
        Some(found) => serde_json::from_str::<Value>(text).is_ok_and(|text| *found == text),
        None => false,
    }
}

fn parse(place: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut rest = place;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (inside, after) = match inside.strip_prefix('"') {
                Some(quoted) => quoted.split_once("\"]").unwrap_or((quoted, "")),
                None => inside.split_once(']').unwrap_or((inside, "")),
            };
            segments.push(bracketed(inside));
            rest = after;
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            if end > 0 {
                segments.push(Segment::Field(name[..end].to_owned()));
            }
            rest = &name[end..];
        }
    }
    segments
}

fn bracketed(inside: &str) -> Segment {
    if inside == "*" {
        return Segment::Every;
    }
    if let Some((field, text)) = inside
        .strip_prefix('?')
        .and_then(|test| test.split_once('='))
    {
        return Segment::Match(field.to_owned(), text.to_owned());
    }
    inside
        .parse()
        .map_or_else(|_| Segment::Field(inside.to_owned()), Segment::Index)
}

/// Replaces every `${name}` that is known, also those inside replaced texts.
pub(crate) fn fill(text: &str, names: &BTreeMap<String, String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        filled.push_str(&rest[..start]);
        let after = &rest[start + 2..];
        let known = after
            .split_once('}')
            .and_then(|(name, rest)| Some((names.get(name)?, rest)));
        if let Some((value, remaining)) = known {
            filled.push_str(&fill(value, names));
            rest = remaining;
        } else {
            filled.push_str("${");
            rest = after;
        }
    }
    filled.push_str(rest);
    filled
}

/// Replaces every `${name}` in the keys and texts of a value.
pub(super) fn fill_value(value: &Value, names: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, names)),
        Value::Array(items) => items.iter().map(|item| fill_value(item, names)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (fill(key, names), fill_value(value, names)))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_reach_fields_items_and_matching_items() {
        let value = json!({"a": {"b.c": [{"type": "X", "n": 1}, {"type": "Y", "n": 2}]}});
        assert_eq!(lookup(&value, r#".a["b.c"][1].n"#), Some(&json!(2)));
        assert_eq!(lookup(&value, r#".a["b.c"][?type=X].n"#), Some(&json!(1)));
        assert_eq!(lookup(&value, ".a.nothing"), None);
    }

    #[test]
    fn removing_with_a_star_reaches_every_item() {
        let mut value = json!({"items": [{"n": 1, "m": 2}, {"n": 3}]});
        remove(&mut value, ".items[*].n");
        assert_eq!(value, json!({"items": [{"m": 2}, {}]}));
    }

    #[test]
    fn unknown_names_stay_and_known_ones_are_filled_inside_each_other() {
        let names = BTreeMap::from([
            ("ns".to_owned(), "n".to_owned()),
            ("core".to_owned(), "/api/${ns}".to_owned()),
        ]);
        assert_eq!(fill("${core}/x/${other}", &names), "/api/n/x/${other}");
    }
}
