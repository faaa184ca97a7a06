//! `fieldPath` of a rule: where its errors are reported.

use crate::schema::{Additional, SchemaRef};

/// The path in the form of field errors, if it leads to a place of the schema: `.spec['a-b']` is `spec.a-b`.
pub(super) fn normalized(path: &str, schema: SchemaRef<'_>) -> Option<String> {
    let mut normal = String::new();
    let mut schema = schema;
    let mut rest = path;
    while !rest.is_empty() {
        let (name, after) = if let Some(quoted) = rest.strip_prefix('[') {
            let (name, after) = quoted_name(quoted)?;
            (name, after.strip_prefix(']')?)
        } else {
            let plain = rest.strip_prefix('.')?;
            let end = plain.find(['.', '[', ']']).unwrap_or(plain.len());
            if end == 0 {
                return None;
            }
            (plain[..end].to_owned(), &plain[end..])
        };
        rest = after;
        if schema.node().properties.is_empty() {
            let Additional::Of(id) = schema.node().additional else {
                return None;
            };
            schema = schema.schemas().at(id);
            normal.extend(["[", &name, "]"]);
        } else {
            schema = schema.property(&name)?;
            if !normal.is_empty() {
                normal.push('.');
            }
            normal.push_str(&name);
        }
    }
    Some(normal)
}

/// A name in single quotes, and what follows it.
fn quoted_name(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut letters = text.strip_prefix('\'')?.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\'' => return Some((name, &text[at + 2..])),
            '\\' => name.push(match letters.next()?.1 {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                same @ ('\'' | '\\') => same,
                _ => return None,
            }),
            letter => name.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::structural::schema;

    #[test]
    fn a_path_must_lead_somewhere() {
        let schema = schema(Some(&json!({
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {
                "a-b": {"type": "string"},
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
            }}},
        })));
        let normal = |path| normalized(path, schema.root());
        assert_eq!(normal(".spec['a-b']").as_deref(), Some("spec.a-b"));
        assert_eq!(normal(".spec.map.x").as_deref(), Some("spec.map[x]"));
        assert_eq!(
            normal(".spec.map['it\\'s']").as_deref(),
            Some("spec.map[it's]")
        );
        for wrong in [
            "spec",
            ".spec.none",
            ".spec['a-b'",
            ".spec[0]",
            ".",
            ".spec.a-b.c",
        ] {
            assert_eq!(normal(wrong), None, "{wrong}");
        }
    }
}
