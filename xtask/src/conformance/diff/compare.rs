//! Two renumbered results side by side: every place where they differ.

use serde_json::Value;

/// How much of a value a difference shows.
const SHOWN: usize = 400;

/// One place where the servers differ.
pub(super) struct Difference {
    /// Where, as a path into the result.
    pub(super) place: String,
    /// What the real server says (`None`: nothing).
    pub(super) real: Option<String>,
    /// What ours says.
    pub(super) ours: Option<String>,
}

/// All differences between two results.
pub(super) fn differences(real: &Value, ours: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    if let (Some(real), Some(ours)) = (outline(real), outline(ours))
        && real.0 != ours.0
    {
        // Two answers of different kinds: their fields side by side would say nothing.
        found.push(Difference {
            place: ".status".to_owned(),
            real: Some(real.1),
            ours: Some(ours.1),
        });
        return found;
    }
    walk(real, ours, "", &mut found);
    found
}

/// Status and message of a whole answer, in one line.
fn outline(result: &Value) -> Option<(u64, String)> {
    let status = result.get("status")?.as_u64()?;
    let body = result.get("body")?;
    let said = body.get("message").or(body.get("kind")).unwrap_or(body);
    Some((status, format!("{status} {}", shown(said))))
}

fn walk(real: &Value, ours: &Value, place: &str, found: &mut Vec<Difference>) {
    match (real, ours) {
        (Value::Object(real_fields), Value::Object(our_fields)) => {
            for (key, value) in real_fields {
                let place = format!("{place}.{key}");
                match our_fields.get(key) {
                    Some(other) => walk(value, other, &place, found),
                    None => found.push(difference(place, Some(value), None)),
                }
            }
            for (key, value) in our_fields {
                if !real_fields.contains_key(key) {
                    found.push(difference(format!("{place}.{key}"), None, Some(value)));
                }
            }
        }
        (Value::Array(real_items), Value::Array(our_items)) => {
            for index in 0..real_items.len().max(our_items.len()) {
                let place = format!("{place}[{index}]");
                match (real_items.get(index), our_items.get(index)) {
                    (Some(real), Some(ours)) => walk(real, ours, &place, found),
                    (real, ours) => found.push(difference(place, real, ours)),
                }
            }
        }
        _ if real == ours => {}
        _ => found.push(difference(place.to_owned(), Some(real), Some(ours))),
    }
}

fn difference(place: String, real: Option<&Value>, ours: Option<&Value>) -> Difference {
    Difference {
        place,
        real: real.map(shown),
        ours: ours.map(shown),
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN {
        return text;
    }
    let start: String = text.chars().take(SHOWN).collect();
    format!("{start}… ({} bytes)", text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_name_their_place_and_both_sides() {
        let real = json!({"a": [1, {"b": 2}], "c": 3});
        let ours = json!({"a": [1, {"b": 4}, 5]});
        let found: Vec<_> = differences(&real, &ours)
            .into_iter()
            .map(|d| (d.place, d.real, d.ours))
            .collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            found,
            [
                (".a[1].b".to_owned(), text("2"), text("4")),
                (".a[2]".to_owned(), None, text("5")),
                (".c".to_owned(), text("3"), None),
            ]
        );
    }
}
