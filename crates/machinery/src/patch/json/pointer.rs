//! Where in a document an operation points to.

use serde_json::{Map, Value};

use super::DoesNotApply;

/// A field of an object or an entry of a list, which need not exist.
pub(super) enum Place<'a> {
    Field(&'a mut Map<String, Value>, String),
    Entry(&'a mut Vec<Value>, String),
}

/// Follows a path. The text before the first slash is not looked at, as in the library of real servers.
pub(super) fn place<'a>(document: &'a mut Value, path: &str) -> Result<Place<'a>, DoesNotApply> {
    let mut names = path.split('/').skip(1).map(unescape);
    let mut name = names.next().ok_or(DoesNotApply)?;
    let mut inside = document;
    for next in names {
        inside = match inside {
            Value::Object(fields) => fields.get_mut(&name).ok_or(DoesNotApply)?,
            Value::Array(entries) => {
                let at = index(&name, entries.len())?;
                entries.get_mut(at).ok_or(DoesNotApply)?
            }
            _ => return Err(DoesNotApply),
        };
        name = next;
    }
    match inside {
        Value::Object(fields) => Ok(Place::Field(fields, name)),
        Value::Array(entries) => Ok(Place::Entry(entries, name)),
        _ => Err(DoesNotApply),
    }
}

/// What is there. A missing field is `None`, a missing entry an error.
pub(super) fn get<'a>(place: &'a Place<'_>) -> Result<Option<&'a Value>, DoesNotApply> {
    match place {
        Place::Field(fields, name) => Ok(fields.get(name)),
        Place::Entry(entries, name) => {
            let at = index(name, entries.len())?;
            entries.get(at).map(Some).ok_or(DoesNotApply)
        }
    }
}

/// Sets a field, or inserts an entry; `-` is the end of a list.
pub(super) fn add(place: Place<'_>, value: Value) -> Result<(), DoesNotApply> {
    match place {
        Place::Field(fields, name) => {
            fields.insert(name, value);
        }
        Place::Entry(entries, name) if name == "-" => entries.push(value),
        Place::Entry(entries, name) => {
            let at = index(&name, entries.len() + 1)?;
            if at > entries.len() {
                return Err(DoesNotApply);
            }
            entries.insert(at, value);
        }
    }
    Ok(())
}

/// Sets a field, be it there or not, or an entry that is there.
pub(super) fn replace(place: Place<'_>, value: Value) -> Result<(), DoesNotApply> {
    match place {
        Place::Field(fields, name) => {
            fields.insert(name, value);
        }
        Place::Entry(entries, name) => {
            let at = index(&name, entries.len())?;
            *entries.get_mut(at).ok_or(DoesNotApply)? = value;
        }
    }
    Ok(())
}

/// Takes away what is there.
pub(super) fn remove(place: Place<'_>) -> Result<Value, DoesNotApply> {
    match place {
        Place::Field(fields, name) => fields.remove(&name).ok_or(DoesNotApply),
        Place::Entry(entries, name) => {
            let at = index(&name, entries.len())?;
            if at >= entries.len() {
                return Err(DoesNotApply);
            }
            Ok(entries.remove(at))
        }
    }
}

/// An index; a negative one counts from the end of a list of this length.
fn index(name: &str, length: usize) -> Result<usize, DoesNotApply> {
    let number: i64 = name.parse().map_err(|_| DoesNotApply)?;
    let length = i64::try_from(length).map_err(|_| DoesNotApply)?;
    let number = if number < 0 { number + length } else { number };
    usize::try_from(number).map_err(|_| DoesNotApply)
}

/// `~1` is a slash, `~0` a tilde; from left to right, each once.
fn unescape(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('~') {
        plain.push_str(&rest[..at]);
        let (letter, length) = match rest.as_bytes().get(at + 1) {
            Some(b'1') => ('/', 2),
            Some(b'0') => ('~', 2),
            _ => ('~', 1),
        };
        plain.push(letter);
        rest = &rest[at + length..];
    }
    plain.push_str(rest);
    plain
}
