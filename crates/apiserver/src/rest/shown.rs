//! The JSON of an object of a built-in kind as messages about a patch show it: what the patch touched has its fields
//! sorted, the rest has them in the order in which Kubernetes declares them.

use std::{collections::BTreeMap, fmt::Write};

use serde_json::Value;

use crate::protobuf::{Count, Field, Form, Message, Table, Type};

/// How much of a value a patch touched.
#[derive(Debug, PartialEq)]
pub(crate) enum Touched {
    /// All of it: it came with the patch.
    Whole,
    /// The value itself, and some of its parts by name or index.
    Parts(BTreeMap<String, Touched>),
}

impl Touched {
    /// What a merge patch touches.
    pub(crate) fn by_merge(patch: &Value) -> Self {
        match patch {
            Value::Object(fields) => Self::Parts(
                fields
                    .iter()
                    .map(|(name, part)| (name.clone(), Self::by_merge(part)))
                    .collect(),
            ),
            _ => Self::Whole,
        }
    }

    /// What a JSON patch touches: all that it walks through, and what it brings along.
    pub(crate) fn by_steps(patch: &Value) -> Self {
        let mut all = Self::Parts(BTreeMap::new());
        for step in patch.as_array().into_iter().flatten() {
            let brings = step["op"] == "add" || step["op"] == "replace";
            all.walk(step["path"].as_str().unwrap_or_default(), brings);
            all.walk(step["from"].as_str().unwrap_or_default(), false);
        }
        all
    }

    fn walk(&mut self, pointer: &str, brings: bool) {
        let mut at = self;
        let mut segments = pointer.split('/').skip(1).peekable();
        while let Some(segment) = segments.next() {
            let Self::Parts(parts) = at else {
                return;
            };
            let segment = segment.replace("~1", "/").replace("~0", "~");
            if segments.peek().is_none() {
                if brings {
                    parts.insert(segment, Self::Whole);
                }
                return;
            }
            at = parts
                .entry(segment)
                .or_insert_with(|| Self::Parts(BTreeMap::new()));
        }
    }

    fn part(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Whole => Some(&Self::Whole),
            Self::Parts(parts) => parts.get(name),
        }
    }
}

/// The JSON of an object.
pub(crate) fn object(object: &Value, api_version: &str, kind: &str, touched: &Touched) -> String {
    let mut out = String::new();
    let message = Table::load().kind(api_version, kind);
    write(&mut out, object, message, Some(touched));
    out
}

fn write(out: &mut String, value: &Value, message: Option<&Message>, touched: Option<&Touched>) {
    let message = message.filter(|message| message.form == Form::Object);
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            let known = message.map(declared).unwrap_or_default();
            if touched.is_none() {
                fields.sort_by_key(|(name, _)| {
                    let place = known.iter().position(|field| field.name == name.as_str());
                    place.unwrap_or(known.len())
                });
            }
            out.push('{');
            for (at, (name, part)) in fields.into_iter().enumerate() {
                separate(out, at);
                append(out, &Value::from(name.as_str()));
                out.push(':');
                let field = known.iter().find(|field| field.name == name.as_str());
                let touched = touched.and_then(|touched| touched.part(name));
                write_field(out, part, field.copied(), touched);
            }
            out.push('}');
        }
        Value::Array(entries) => write_list(out, entries, message, touched),
        scalar => append(out, scalar),
    }
}

fn write_field(out: &mut String, value: &Value, field: Option<&Field>, touched: Option<&Touched>) {
    let message = field.and_then(|field| match field.ty {
        Type::Message(at) => Some(Table::load().message(at)),
        _ => None,
    });
    match (value, field.map(|field| field.count)) {
        (Value::Object(entries), Some(Count::Map)) => {
            out.push('{');
            for (at, (name, entry)) in entries.iter().enumerate() {
                separate(out, at);
                append(out, &Value::from(name.as_str()));
                out.push(':');
                let touched = touched.and_then(|touched| touched.part(name));
                write(out, entry, message, touched);
            }
            out.push('}');
        }
        (Value::Array(entries), _) => write_list(out, entries, message, touched),
        _ => write(out, value, message, touched),
    }
}

fn write_list(
    out: &mut String,
    entries: &[Value],
    message: Option<&Message>,
    touched: Option<&Touched>,
) {
    out.push('[');
    for (at, entry) in entries.iter().enumerate() {
        separate(out, at);
        let is_last = at + 1 == entries.len();
        let touched = touched.and_then(|touched| {
            let by_index = touched.part(&at.to_string());
            by_index.or_else(|| touched.part("-").filter(|_| is_last))
        });
        write(out, entry, message, touched);
    }
    out.push(']');
}

fn separate(out: &mut String, at: usize) {
    if at > 0 {
        out.push(',');
    }
}

fn append(out: &mut String, value: &Value) {
    // Writing to memory can't fail.
    let _ = write!(out, "{value}");
}

/// The fields of a message, with those of the messages inside that JSON doesn't show.
fn declared(message: &Message) -> Vec<&Field> {
    let fields = message.declared().flat_map(|field| match field.ty {
        Type::Message(at) if field.name == "-" => declared(Table::load().message(at)),
        _ => vec![field],
    });
    fields.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_patch_leaves_alone_keeps_its_order() {
        let deployment = json!({"spec": {
            "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 2}, "type": "RollingUpdate"},
            "replicas": 1,
        }});
        let shown = |touched: &Touched| object(&deployment, "apps/v1", "Deployment", touched);
        let patch = json!({"spec": {"replicas": 1}});
        assert_eq!(
            shown(&Touched::by_merge(&patch)),
            r#"{"spec":{"replicas":1,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":2,"maxSurge":1}}}}"#
        );
        let patch = json!([{"op": "remove", "path": "/spec/strategy/rollingUpdate"}]);
        assert_eq!(
            shown(&Touched::by_steps(&patch)),
            r#"{"spec":{"replicas":1,"strategy":{"rollingUpdate":{"maxUnavailable":2,"maxSurge":1},"type":"RollingUpdate"}}}"#
        );
    }
}
