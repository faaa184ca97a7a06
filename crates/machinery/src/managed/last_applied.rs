//! The annotation of client-side apply, for those who move from it to server-side apply.

use serde_json::Value;

use super::owners::metadata;
use super::tracking::Tracking;
use super::write::Write;
use crate::fieldset::{Set, go_json};
use crate::typed::{Duplicates, compare, to_field_set, validate};

/// Where client-side apply keeps what it applied last.
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// How large all annotations of an object may be together.
const MAX_ANNOTATIONS: usize = 256 * 1024;

fn last_applied(object: &Value) -> Option<&str> {
    let annotations = metadata(object)?.get("annotations")?;
    let text = annotations.get(ANNOTATION)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

/// The fields that client-side apply owned: those of the annotation that are still as it left them. `None`
/// where there is no usable annotation.
pub(super) fn allowed_conflicts(live: &Value, write: &Write<'_>) -> Option<Set> {
    let last: Value = serde_json::from_str(last_applied(live)?).ok()?;
    if last.get("apiVersion")?.as_str()? != write.api_version {
        return None;
    }
    let tracking = Tracking {
        versions: write.versions,
        reset: write.reset,
    };
    let ty = tracking.type_in(write.api_version);
    validate(live, ty, Duplicates::Refused).ok()?;
    validate(&last, ty, Duplicates::Refused).ok()?;
    let changes = compare(&last, live, ty).ok()?;
    Some(
        to_field_set(&last, ty)
            .difference(&changes.modified)
            .difference(&changes.added)
            .difference(&changes.removed),
    )
}

/// Brings the annotation, where there is one, up to date with the applied configuration.
pub(super) fn renew(object: &mut Value, config: &Value) {
    if last_applied(object).is_none() {
        return;
    }
    let mut config = config.clone();
    if let Some(Value::Object(annotations)) = config.pointer_mut("/metadata/annotations") {
        annotations.remove(ANNOTATION);
    }
    let text = go_json(&config) + "\n";
    let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") else {
        return;
    };
    annotations.insert(ANNOTATION.to_owned(), Value::String(text));
    let size: usize = annotations
        .iter()
        .map(|(name, value)| name.len() + value.as_str().map_or(0, str::len))
        .sum();
    if size > MAX_ANNOTATIONS {
        annotations.remove(ANNOTATION);
    }
}
