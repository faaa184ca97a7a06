//! Events of the core group and of `events.k8s.io`: the same facts under other names.

use serde_json::{Map, Value};

/// Name in the core group, name in `events.k8s.io`.
const NAMES: [(&str, &str); 7] = [
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

/// From `events.k8s.io` to the core group.
pub(super) fn to_core(event: &mut Map<String, Value>) {
    for (core, modern) in NAMES {
        rename(event, modern, core);
    }
}

/// From the core group to `events.k8s.io`.
pub(super) fn from_core(event: &mut Map<String, Value>) {
    for (core, modern) in NAMES {
        rename(event, core, modern);
    }
}

fn rename(event: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = event.remove(from) {
        event.insert(to.to_owned(), value);
    }
}
