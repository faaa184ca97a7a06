//! JSON patch (RFC 6902) as Kubernetes applies it.
//!
//! Its library is laxer than the RFC, and clients depend on it: a missing field equals null, `replace` adds
//! what is not there, `copy` of nothing gives null, indices may count from the end.

mod operations;
mod pointer;

use serde_json::Value;

use self::{
    operations::Operation,
    pointer::{Place, add, get, place, remove, replace},
};
use super::{Patched, does_not_apply};
use crate::{decode, status::Status};

/// Most operations that one patch may have.
pub const MAX_OPERATIONS: usize = 10_000;
/// Most bytes that the `copy` operations of one patch may add together.
pub const MAX_COPIED_BYTES: usize = 3 * 1024 * 1024;

/// An operation does not apply. Servers do not tell which, or why.
struct DoesNotApply;

/// Applies a JSON patch. `checked` says whether unknown and repeated members of operations are looked for; a
/// server then also words decode errors differently.
pub fn apply(current: &Value, patch: &[u8], checked: bool) -> Result<Patched, Status> {
    let (operations, strict) = operations::read(patch, checked)?;
    if operations.len() > MAX_OPERATIONS {
        return Err(Status::too_large(format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
            operations.len()
        )));
    }
    let mut value = current.clone();
    let mut copied = 0;
    for operation in &operations {
        perform(&mut value, operation, &mut copied).map_err(|DoesNotApply| does_not_apply())?;
    }
    Ok(Patched { value, strict })
}

fn perform(
    document: &mut Value,
    operation: &Operation,
    copied: &mut usize,
) -> Result<(), DoesNotApply> {
    match operation.kind() {
        "add" => put(document, operation.path()?, operation.value()),
        "remove" => remove(place(document, operation.path()?)?).map(drop),
        "replace" => match operation.path()? {
            "" => replace_all(document, operation.value()),
            path => {
                let value = operation.value();
                check_depth(path, &value)?;
                replace(place(document, path)?, value)
            }
        },
        "move" => {
            let taken = remove(place(document, operation.from()?)?)?;
            put(document, operation.path()?, taken)
        }
        "copy" => {
            let found = get(&place(document, operation.from()?)?)?.cloned();
            let found = found.unwrap_or(Value::Null);
            *copied += size(&found);
            if *copied > MAX_COPIED_BYTES {
                return Err(DoesNotApply);
            }
            put(document, operation.path()?, found)
        }
        "test" => test(document, operation),
        _ => Err(DoesNotApply),
    }
}

fn put(document: &mut Value, path: &str, value: Value) -> Result<(), DoesNotApply> {
    check_depth(path, &value)?;
    add(place(document, path)?, value)
}

/// Operations could nest a document without end, and everything that walks a value recurses: no deeper than
/// what could have been read in the first place.
fn check_depth(path: &str, value: &Value) -> Result<(), DoesNotApply> {
    let above = path.bytes().filter(|byte| *byte == b'/').count();
    if above + depth(value) > decode::MAX_DEPTH {
        return Err(DoesNotApply);
    }
    Ok(())
}

/// How many levels a value has.
pub fn depth(value: &Value) -> usize {
    match value {
        Value::Array(entries) => 1 + entries.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn replace_all(document: &mut Value, value: Value) -> Result<(), DoesNotApply> {
    if !value.is_object() && !value.is_array() {
        return Err(DoesNotApply);
    }
    *document = value;
    Ok(())
}

/// What is not there equals null; what is there never equals an absent value.
fn test(document: &mut Value, operation: &Operation) -> Result<(), DoesNotApply> {
    let wanted = operation.literal();
    let equal = match operation.path()? {
        "" => document == wanted,
        path => {
            let place: Place<'_> = place(document, path)?;
            get(&place)?.unwrap_or(&Value::Null) == wanted
        }
    };
    if equal { Ok(()) } else { Err(DoesNotApply) }
}

/// Bytes of a value as JSON.
fn size(value: &Value) -> usize {
    value.to_string().len()
}

#[cfg(test)]
mod tests;
