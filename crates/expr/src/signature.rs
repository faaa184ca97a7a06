//! Signatures of functions, written as text: `id: string.(int, list(T)) -> bool`.

use crate::{
    env::{Body, Overload},
    ty::Type,
};

/// Reads a signature. They are written by programmers; what cannot be read becomes `dyn`.
pub(crate) fn parse(text: &str) -> Overload {
    let (id, rest) = text.split_once(": ").unwrap_or(("", text));
    let (call, result) = rest.rsplit_once(" -> ").unwrap_or((rest, "dyn"));
    let open = if call.starts_with('(') {
        0
    } else {
        call.rfind(".(").map_or(0, |at| at + 1)
    };
    let member = open > 0;
    let mut args = Vec::new();
    if member {
        args.push(parse_type(&call[..open - 1]));
    }
    let inner = call[open..].trim_start_matches('(');
    let inner = inner.strip_suffix(')').unwrap_or(inner);
    args.extend(split(inner).into_iter().map(parse_type));
    Overload {
        id: id.into(),
        member,
        args,
        result: parse_type(result),
        body: Body::Special,
    }
}

/// Reads a type as messages write it. A single capital letter is a parameter.
pub(crate) fn parse_type(text: &str) -> Type {
    let text = text.trim();
    if let Some((name, rest)) = text.split_once('(') {
        let mut params: Vec<Type> = split(rest.strip_suffix(')').unwrap_or(rest))
            .into_iter()
            .map(parse_type)
            .collect();
        let mut next = || {
            if params.is_empty() {
                Type::Dyn
            } else {
                params.remove(0)
            }
        };
        return match name {
            "list" => Type::list(next()),
            "map" => {
                let key = next();
                Type::map(key, next())
            }
            "type" => next().type_of(),
            name => Type::opaque(name, params),
        };
    }
    match text {
        "dyn" => Type::Dyn,
        "null" => Type::Null,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "timestamp" => Type::Timestamp,
        "duration" => Type::Duration,
        "type" => Type::Type(None),
        name if name.len() == 1 => Type::Param(name.into()),
        name if name.starts_with("net.") => Type::opaque(name, Vec::new()),
        name => Type::object(name, []),
    }
}

impl Type {
    /// Reads a type as messages write it: `map(string, list(int))`.
    pub fn parse(text: &str) -> Self {
        parse_type(text)
    }
}

/// Parts between commas outside parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_read_back() {
        let overload = parse("f: list(T).(map(string, T), int) -> optional_type(T)");
        assert!(overload.member);
        let args: Vec<String> = overload.args.iter().map(ToString::to_string).collect();
        assert_eq!(args, ["list(T)", "map(string, T)", "int"]);
        assert_eq!(overload.result.to_string(), "optional_type(T)");
        assert!(parse("none: () -> int").args.is_empty());
    }
}
