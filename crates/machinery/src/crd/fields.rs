//! Paths to fields of a schema, as selectable fields and rules name them: `.spec.color`, `['a.b'].c`.

use serde_json::Value;

/// The schema of the field that a path leads to, or why it leads nowhere.
pub(super) fn follow<'a>(
    path: &str,
    root: &'a Value,
    brackets_allowed: bool,
) -> Result<&'a Value, String> {
    let mut tokens = tokens(path).into_iter();
    let mut schema = root;
    let ended = || "unexpected end of JSON path".to_owned();
    while let Some(token) = tokens.next() {
        let name = match token.as_str() {
            "." => tokens.next().ok_or_else(ended)?,
            "[" if !brackets_allowed => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let quoted = tokens.next().ok_or_else(ended)?;
                let inner = quoted
                    .strip_prefix('\'')
                    .and_then(|rest| rest.strip_suffix('\''))
                    .ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
                let close = tokens.next().ok_or_else(ended)?;
                if close != "]" {
                    return Err(format!("expected ] but got {close}"));
                }
                inner.replace("\\'", "'").replace("\\\\", "\\")
            }
            other => return Err(format!("expected [ or . but got: {other}")),
        };
        schema = step(schema, &name).ok_or("does not refer to a valid field")?;
    }
    Ok(schema)
}

fn step<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    match schema.get("properties").and_then(Value::as_object) {
        Some(fields) => fields.get(name),
        None => schema
            .get("additionalProperties")
            .filter(|values| values.is_object()),
    }
}

/// Splits at dots and brackets that are not inside single quotes.
fn tokens(path: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut current = String::new();
    let mut quoted = false;
    let mut escaped = false;
    for letter in path.chars() {
        if quoted {
            current.push(letter);
            if letter == '\'' && !escaped {
                quoted = false;
                tokens.push(std::mem::take(&mut current));
            }
            escaped = letter == '\\' && !escaped;
            continue;
        }
        match letter {
            '.' | '[' | ']' => {
                if !current.is_empty() {
                    tokens.push(std::mem::take(&mut current));
                }
                tokens.push(letter.to_string());
            }
            '\'' if current.is_empty() => {
                quoted = true;
                current.push(letter);
            }
            other => current.push(other),
        }
    }
    if !current.is_empty() {
        tokens.push(current);
    }
    tokens
}
