//! What a server would refuse is told before anything is applied.

use quadrille_machinery::{
    builtin::{defaults, validation},
    kinds,
    typed::{Duplicates, Type, validate},
};
use quadrille_objects::identity::split_api_version;
use serde_json::Value;

use super::error::{At, Found};

/// A word in the path of a field, and what somebody wrote that it comes from.
pub(super) type Origin = (&'static str, At);

/// Notes what a server would say to an object of a built-in kind; where that is about something that somebody wrote
/// elsewhere, by the name that it has there.
pub(super) fn check(object: &Value, origins: &[Origin], found: &mut Found) {
    let text = |path: &str| {
        object
            .pointer(path)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (group, version) = split_api_version(text("/apiVersion"));
    let kind = text("/kind");
    let Some(schema) = kinds::load().schema(group, version, kind) else {
        return;
    };
    let whose = format!("{kind} {}", text("/metadata/name"));
    let at = |field: &str| {
        let origin = origins.iter().find_map(|(word, at)| {
            let (_, rest) = field.split_once(word)?;
            Some(At::new(&at.whose, format!("{}{rest}", at.field)))
        });
        origin.unwrap_or_else(|| At::new(&whose, field))
    };
    if let Err(errors) = validate(object, Type::of_object(schema.root()), Duplicates::Refused) {
        for error in errors.0 {
            let field = error.path.trim_start_matches('.');
            found.push(at(field).wrong(error.message));
        }
        // What is of a wrong type cannot be looked at any further.
        return;
    }
    let mut filled = object.clone();
    defaults::apply(schema.root(), &mut filled);
    for error in validation::validate_create(kind, true, &filled) {
        let message = error.to_string();
        let words = message.strip_prefix(&error.field).unwrap_or(&message);
        let words = words.trim_start_matches(": ").to_owned();
        found.push(at(&error.field).wrong(words));
    }
}
