//! Text beyond the standard functions.

use super::{Table, declare};
use crate::{
    call::Call,
    env::Env,
    error::EvalError,
    value::{Text, Value, number},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const FIRST: Table = &[
    (
        "charAt",
        char_at,
        &["string_char_at_int: string.(int) -> string"],
    ),
    (
        "indexOf",
        index_of,
        &[
            "string_index_of_string: string.(string) -> int",
            "string_index_of_string_int: string.(string, int) -> int",
        ],
    ),
    (
        "lastIndexOf",
        last_index_of,
        &[
            "string_last_index_of_string: string.(string) -> int",
            "string_last_index_of_string_int: string.(string, int) -> int",
        ],
    ),
    (
        "lowerAscii",
        lower,
        &["string_lower_ascii: string.() -> string"],
    ),
    (
        "replace",
        replace,
        &[
            "string_replace_string_string: string.(string, string) -> string",
            "string_replace_string_string_int: string.(string, string, int) -> string",
        ],
    ),
    (
        "split",
        split,
        &[
            "string_split_string: string.(string) -> list(string)",
            "string_split_string_int: string.(string, int) -> list(string)",
        ],
    ),
    (
        "substring",
        substring,
        &[
            "string_substring_int: string.(int) -> string",
            "string_substring_int_int: string.(int, int) -> string",
        ],
    ),
    ("trim", trim, &["string_trim: string.() -> string"]),
    (
        "upperAscii",
        upper,
        &["string_upper_ascii: string.() -> string"],
    ),
];

const JOIN: Table = &[(
    "join",
    join,
    &[
        "list_join: list(string).() -> string",
        "list_join_string: list(string).(string) -> string",
    ],
)];

const QUOTE: Table = &[(
    "strings.quote",
    quote,
    &["strings_quote: (string) -> string"],
)];

const REVERSE: Table = &[("reverse", reverse, &["string_reverse: string.() -> string"])];

/// Functions up to a version of the library; servers have version 2. From version 4 on, `format`
/// writes plainer text.
pub(super) fn install(env: &mut Env, version: u32) {
    declare(env, FIRST);
    if version >= 1 {
        super::formatting::install(env, version >= 4);
        declare(env, QUOTE);
    }
    if version >= 2 {
        declare(env, JOIN);
    }
    if version >= 3 {
        declare(env, REVERSE);
    }
}

fn out_of_range<'a>(index: i64) -> Outcome<'a> {
    Err(EvalError::new(format!("index out of range: {index}")))
}

/// The byte at which a character starts; the end of the text counts as one.
fn offset(text: &str, index: i64) -> Option<usize> {
    let index = usize::try_from(index).ok()?;
    text.char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .nth(index)
}

fn char_at<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::String(text), Value::Int(index)] = args else {
        return call.refuse(args);
    };
    match offset(text, *index) {
        Some(at) => Ok(Value::from(
            text[at..]
                .chars()
                .next()
                .map_or(String::new(), String::from),
        )),
        None => out_of_range(*index),
    }
}

fn index_of<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, part, start) = match args {
        [Value::String(text), Value::String(part)] => (text, part, 0),
        [Value::String(text), Value::String(part), Value::Int(start)] => (text, part, *start),
        _ => return call.refuse(args),
    };
    if part.is_empty() {
        return Ok(Value::Int(start));
    }
    if start < 0 {
        return out_of_range(start);
    }
    let found = offset(text, start)
        .and_then(|from| text[from..].find(&**part).map(|at| from + at))
        .map_or(-1, |at| characters(&text[..at]));
    Ok(Value::Int(found))
}

fn characters(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

fn last_index_of<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, part, start) = match args {
        [Value::String(text), Value::String(part)] => {
            if part.is_empty() {
                return Ok(Value::Int(characters(text)));
            }
            if text.len() < part.len() {
                return Ok(Value::Int(-1));
            }
            (text, part, characters(text) - 1)
        }
        [Value::String(text), Value::String(part), Value::Int(start)] => (text, part, *start),
        _ => return call.refuse(args),
    };
    if part.is_empty() {
        return Ok(Value::Int(start));
    }
    if start < 0 {
        return out_of_range(start);
    }
    let Some(from) = offset(text, start).filter(|from| *from < text.len()) else {
        return Ok(Value::Int(-1));
    };
    let mut end = (from + part.len()).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1; // a match that starts here would have to end inside a letter
    }
    let found = text[..end]
        .rfind(&**part)
        .map_or(-1, |at| characters(&text[..at]));
    Ok(Value::Int(found))
}

fn lower<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text)] => call.made(text.to_ascii_lowercase()),
        _ => call.refuse(args),
    }
}

fn upper<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text)] => call.made(text.to_ascii_uppercase()),
        _ => call.refuse(args),
    }
}

fn trim<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(Text::Borrowed(text))] => Ok(Value::from(text.trim())),
        [Value::String(text)] => call.made(text.trim().to_owned()),
        _ => call.refuse(args),
    }
}

fn replace<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, old, new, limit) = match args {
        [Value::String(text), Value::String(old), Value::String(new)] => (text, old, new, -1),
        [
            Value::String(text),
            Value::String(old),
            Value::String(new),
            Value::Int(limit),
        ] => (text, old, new, *limit),
        _ => return call.refuse(args),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let count = text.matches(&**old).take(limit).count();
    // What it will take, asked for before it is taken.
    call.reserve(text.len().saturating_add(count.saturating_mul(new.len())))?;
    Ok(Value::from(text.replacen(&**old, new, limit)))
}

fn split<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, separator, limit) = match args {
        [Value::String(text), Value::String(separator)] => (text, separator, -1),
        [
            Value::String(text),
            Value::String(separator),
            Value::Int(limit),
        ] => (text, separator, *limit),
        _ => return call.refuse(args),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let parts: Vec<&str> = if limit == 0 {
        Vec::new()
    } else if separator.is_empty() {
        letters(text, limit)
    } else {
        text.splitn(limit, &**separator).collect()
    };
    call.reserve(text.len() + parts.len() * size_of::<Value<'_>>())?;
    Ok(Value::list(parts.into_iter().map(Value::text).collect()))
}

/// One part per letter; the last has what is left.
fn letters(text: &str, limit: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if parts.len() + 1 == limit {
            parts.push(rest);
            return parts;
        }
        let (first, tail) = rest.split_at(letter.len_utf8());
        parts.push(first);
        rest = tail;
    }
    parts
}

fn substring<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, start, end) = match args {
        [Value::String(text), Value::Int(start)] => (text, *start, None),
        [Value::String(text), Value::Int(start), Value::Int(end)] => (text, *start, Some(*end)),
        _ => return call.refuse(args),
    };
    if let Some(end) = end.filter(|end| start > *end) {
        let message = format!("invalid substring range. start: {start}, end: {end}");
        return Err(EvalError::new(message));
    }
    let Some(from) = offset(text, start) else {
        return out_of_range(start);
    };
    let to = match end {
        None => text.len(),
        Some(end) => match offset(text, end) {
            Some(to) => to,
            None => return out_of_range(end),
        },
    };
    call.made(text[from..to].to_owned())
}

fn join<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (list, separator) = match args {
        [Value::List(list)] => (list, ""),
        [Value::List(list), Value::String(separator)] => (list, &**separator),
        _ => return call.refuse(args),
    };
    let mut out = String::new();
    for (place, item) in list.iter().enumerate() {
        let Value::String(text) = &item else {
            return Err(EvalError::new(format!(
                "join: invalid input: {}",
                item.show()
            )));
        };
        call.reserve(text.len() + separator.len())?;
        if place > 0 {
            out.push_str(separator);
        }
        out.push_str(text);
    }
    Ok(Value::from(out))
}

fn quote<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text)] => call.made(number::quote_escapes(text)),
        _ => call.refuse(args),
    }
}

fn reverse<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text)] => call.made(text.chars().rev().collect()),
        _ => call.refuse(args),
    }
}
