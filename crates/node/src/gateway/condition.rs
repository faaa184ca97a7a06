//! Conditions: a type, a yes or no, a reason for programs and words for people.

use serde_json::{Value, json};

/// A condition before it has a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) name: &'static str,
    pub(super) is_true: bool,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl Condition {
    /// It is so.
    pub(super) fn yes(
        name: &'static str,
        reason: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            name,
            is_true: true,
            reason,
            message: message.into(),
        }
    }

    /// It is not.
    pub(super) fn no(name: &'static str, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            is_true: false,
            ..Self::yes(name, reason, message)
        }
    }
}

/// Conditions as an object shows them. One that did not turn keeps its time.
pub(super) fn list(wanted: &[Condition], before: &Value, generation: &Value, now: &str) -> Value {
    let conditions = wanted.iter().map(|condition| {
        let status = if condition.is_true { "True" } else { "False" };
        let old = before.as_array().into_iter().flatten();
        let old = old
            .filter(|old| old["type"] == condition.name && old["status"] == status)
            .find_map(|old| old["lastTransitionTime"].as_str());
        json!({
            "type": condition.name,
            "status": status,
            "reason": condition.reason,
            "message": condition.message,
            "observedGeneration": generation,
            "lastTransitionTime": old.unwrap_or(now),
        })
    });
    conditions.collect()
}
