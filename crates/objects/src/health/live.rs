//! Reading a live object whose shape nobody vouches for: what is missing or of another type is empty.

use std::borrow::Cow;

use serde_json::Value;

use super::verdict::{Health, Verdict};

/// The group and the kind that an object says it is of.
pub(super) fn group_kind(object: &Value) -> (&str, &str) {
    let version = text(&object["apiVersion"]);
    let group = version.split_once('/').map_or("", |(group, _)| group);
    (group, text(&object["kind"]))
}

/// A text; empty if it is none.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A whole number; zero if it is none.
pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// The entries of a list; none if it is no list.
pub(super) fn entries(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The generation of an object; zero if it has none.
pub(super) fn generation(object: &Value) -> i64 {
    number(&object["metadata"]["generation"])
}

/// The verdict of an object whose controller has not seen its spec yet.
pub(super) fn unobserved(object: &Value) -> Option<Verdict> {
    (number(&object["status"]["observedGeneration"]) < generation(object)).then(not_observed)
}

/// The same for kinds of which some controllers never write what they have seen.
pub(super) fn lagging(object: &Value) -> Option<Verdict> {
    let seen = object["status"]["observedGeneration"].as_i64()?;
    (seen < generation(object)).then(not_observed)
}

/// What is said while a controller has not looked.
pub(super) fn not_observed() -> Verdict {
    Verdict::progressing("NotObserved", "its controller has not seen the latest spec")
}

/// Conditions, as they stand in a status or in a part of one.
#[derive(Clone, Copy)]
pub(super) struct Conditions<'a> {
    list: &'a [Value],
    generation: i64,
}

/// One condition.
#[derive(Clone, Copy)]
pub(super) struct Condition<'a> {
    truth: &'a str,
    /// Why, in a word; may be empty.
    pub(super) reason: &'a str,
    /// Why, for people; may be empty.
    pub(super) message: &'a str,
    stale: bool,
}

impl<'a> Conditions<'a> {
    /// Those of the object's own status.
    pub(super) fn of(object: &'a Value) -> Self {
        Self::within(&object["status"], object)
    }

    /// Those of the object's own status, whatever spec they are about: what befalls a pod is told when
    /// it happens, and not again for a new spec.
    pub(super) fn of_any_age(object: &'a Value) -> Self {
        Self {
            list: entries(&object["status"]["conditions"]),
            generation: 0,
        }
    }

    /// Those of a part of the object's status.
    pub(super) fn within(part: &'a Value, object: &Value) -> Self {
        Self {
            list: entries(&part["conditions"]),
            generation: generation(object),
        }
    }

    /// Whether there are none at all.
    pub(super) fn is_empty(self) -> bool {
        self.list.is_empty()
    }

    /// The condition of that type, unless it is about a former spec.
    pub(super) fn get(self, kind: &str) -> Option<Condition<'a>> {
        self.read(kind).filter(|condition| !condition.stale)
    }

    /// The condition of that type if it is true, and of the present spec.
    pub(super) fn holds(self, kind: &str) -> Option<Condition<'a>> {
        self.get(kind).filter(|condition| condition.is_true())
    }

    /// The condition of that type if it is false, and of the present spec.
    pub(super) fn denies(self, kind: &str) -> Option<Condition<'a>> {
        self.get(kind).filter(|condition| condition.is_false())
    }

    /// Whether there is such a condition, but about a former spec.
    pub(super) fn is_stale(self, kind: &str) -> bool {
        self.read(kind).is_some_and(|condition| condition.stale)
    }

    fn read(self, kind: &str) -> Option<Condition<'a>> {
        let found = self.list.iter().find(|entry| entry["type"] == kind)?;
        let seen = found["observedGeneration"].as_i64();
        Some(Condition {
            truth: text(&found["status"]),
            reason: text(&found["reason"]),
            message: text(&found["message"]),
            // Controllers that do not fill the field leave a zero.
            stale: seen.is_some_and(|seen| seen != 0 && seen < self.generation),
        })
    }
}

impl Condition<'_> {
    /// Whether it is `True`.
    pub(super) fn is_true(self) -> bool {
        self.truth == "True"
    }

    /// Whether it is `False`, and not merely unknown.
    pub(super) fn is_false(self) -> bool {
        self.truth == "False"
    }

    /// A degraded verdict in the condition's own words.
    pub(super) fn degraded(self, fallback: &'static str) -> Verdict {
        self.verdict(Health::Degraded, fallback)
    }

    /// A progressing verdict in the condition's own words.
    pub(super) fn progressing(self, fallback: &'static str) -> Verdict {
        self.verdict(Health::Progressing, fallback)
    }

    fn verdict(self, health: Health, fallback: &'static str) -> Verdict {
        let reason = match self.reason {
            "" => Cow::Borrowed(fallback),
            word => Cow::Owned(word.to_owned()),
        };
        if health == Health::Degraded {
            Verdict::degraded(reason, self.message)
        } else {
            Verdict::progressing(reason, self.message)
        }
    }
}
