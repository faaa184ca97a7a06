//! Conversion between the served versions of one stored kind: events of two groups, autoscalers of two
//! versions. All other built-in kinds have one version.

mod autoscaler;
mod event;
mod metrics;

use serde_json::{Value, json};

use super::defaults;
use crate::schema::SchemaRef;

/// Turns an object into the API version `target`, whose schema is given, and applies that version's defaults.
pub fn convert(schema: SchemaRef<'_>, target: &str, value: &mut Value) {
    let current = value["apiVersion"].as_str().unwrap_or_default();
    if current == target {
        return;
    }
    let kind = value["kind"].as_str().unwrap_or_default().to_owned();
    if let Some(object) = value.as_object_mut() {
        match (kind.as_str(), target) {
            ("Event", "v1") => event::to_core(object),
            ("Event", _) => event::from_core(object),
            ("HorizontalPodAutoscaler", "autoscaling/v1") => autoscaler::to_v1(object),
            ("HorizontalPodAutoscaler", _) => autoscaler::from_v1(object),
            _ => {}
        }
        object.insert("apiVersion".into(), json!(target));
    }
    defaults::apply(schema, value);
}

/// An autoscaler of version 1 in the fields of version 2, for readers that know only those.
pub(crate) fn as_version_two(autoscaler: &mut Value) {
    if let Some(object) = autoscaler.as_object_mut() {
        autoscaler::from_v1(object);
    }
}
