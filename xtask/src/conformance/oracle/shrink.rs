//! Makes a failing question smaller for as long as it still fails.

use serde_json::Value;

use super::{Family, process::Oracle};

/// How many smaller questions are tried.
const TRIES: usize = 600;

/// Takes parts out of a question, one by one, and leaves out what does not matter.
pub(super) fn shrink(
    family: Family,
    mut question: Value,
    oracle: &mut Oracle,
) -> anyhow::Result<Value> {
    let mut tries = 0;
    let mut at = 0;
    loop {
        let places = places(&question, "");
        let Some(place) = places.get(at) else {
            return Ok(question);
        };
        let mut smaller = question.clone();
        remove(&mut smaller, place);
        tries += 1;
        if tries > TRIES {
            return Ok(question);
        }
        let answer = oracle.ask(&smaller)?;
        let fatal = answer.get("fatal").is_some();
        if !fatal && family.difference(&smaller, &answer).is_some() {
            question = smaller;
        } else {
            at += 1;
        }
    }
}

/// Everything that could be left out, big parts first.
fn places(value: &Value, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut level = vec![(path.to_owned(), value)];
    while !level.is_empty() {
        let mut below = Vec::new();
        for (path, value) in level {
            match value {
                Value::Object(fields) => {
                    for (name, value) in fields {
                        let name = name.replace('~', "~0").replace('/', "~1");
                        below.push((format!("{path}/{name}"), value));
                    }
                }
                Value::Array(entries) => {
                    for (at, value) in entries.iter().enumerate() {
                        below.push((format!("{path}/{at}"), value));
                    }
                }
                _ => {}
            }
        }
        found.extend(
            below
                .iter()
                .map(|(path, _)| path.clone())
                .filter(|path| is_free(path)),
        );
        level = below;
    }
    found
}

/// What makes a question one can't be left out.
fn is_free(path: &str) -> bool {
    let needed = [
        "/ask",
        "/kind",
        "/apiVersion",
        "/verb",
        "/manager",
        "/phase",
        "/name",
        "/versions/0",
        "/versions/1",
        "/versions",
        "/writes",
        "/body",
        "/metadata",
        "/type",
        "/schema",
        "/object",
        "/patch",
        "/sequence",
        "/custom",
        "/strategic",
        "/items",
        "/x-kubernetes-list-type",
        "/x-kubernetes-list-map-keys",
        "/required",
    ];
    !needed.iter().any(|end| path.ends_with(end))
        && !path.contains("/x-kubernetes-list-map-keys/")
        && !path.contains("/required/")
        && !path.contains("/path")
        && !path.ends_with("/op")
}

fn remove(value: &mut Value, path: &str) {
    let Some((parent, last)) = path.rsplit_once('/') else {
        return;
    };
    let last = last.replace("~1", "/").replace("~0", "~");
    match value.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.remove(&last);
        }
        Some(Value::Array(entries)) => {
            if let Ok(at) = last.parse::<usize>()
                && at < entries.len()
            {
                entries.remove(at);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn big_parts_are_tried_first_and_what_is_needed_stays() {
        let question =
            json!({"ask": "x", "sequence": {"writes": [{"verb": "apply", "force": true}]}});
        let found = places(&question, "");
        assert_eq!(found, ["/sequence/writes/0", "/sequence/writes/0/force"]);
    }

    #[test]
    fn a_part_is_taken_out_by_its_path() {
        let mut value = json!({"a/b": {"c": [1, 2]}});
        remove(&mut value, "/a~1b/c/0");
        assert_eq!(value, json!({"a/b": {"c": [2]}}));
        remove(&mut value, "/a~1b");
        assert_eq!(value, json!({}));
    }
}
