//! Writes that change nothing.

use serde_json::Value;

use super::owners::{entries_of, metadata, set_entries};
use crate::fieldset::equal;

/// Puts the old times back where nothing but times has changed, so that the write can be seen to change
/// nothing. To be called last, on the object that would be stored.
pub fn keep_times(old: &Value, new: &mut Value) {
    let (Some(before), Some(after)) = (entries_of(old), entries_of(new)) else {
        return;
    };
    let same_owners = before.len() == after.len()
        && before
            .iter()
            .zip(after)
            .all(|(before, after)| equal_but(before, after, "time"));
    if !same_owners || before == after {
        return;
    }
    let (Some(old_fields), Some(new_fields)) = (old.as_object(), new.as_object()) else {
        return;
    };
    let same_rest = old_fields.len() == new_fields.len()
        && old_fields
            .iter()
            .zip(new_fields)
            .all(|(old, new)| old.0 == new.0 && (old.0 == "metadata" || equal(old.1, new.1)));
    let same_metadata = match (metadata(old), metadata(new)) {
        (Some(old), Some(new)) => {
            old.len() == new.len()
                && old.iter().zip(new).all(|(old, new)| {
                    old.0 == new.0 && (old.0 == "managedFields" || equal(old.1, new.1))
                })
        }
        _ => false,
    };
    if same_rest && same_metadata {
        let before = before.clone();
        set_entries(new, before);
    }
}

/// Whether two entries are equal, one field aside.
fn equal_but(left: &Value, right: &Value, except: &str) -> bool {
    let (Some(left), Some(right)) = (left.as_object(), right.as_object()) else {
        return false;
    };
    let mut of_left = left.iter().filter(|field| field.0 != except);
    let mut of_right = right.iter().filter(|field| field.0 != except);
    loop {
        match (of_left.next(), of_right.next()) {
            (None, None) => return true,
            (Some(left), Some(right)) if left == right => {}
            _ => return false,
        }
    }
}
