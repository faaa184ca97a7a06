//! What a write is: who, when, in which version, and which fields it cannot touch.

use std::collections::BTreeMap;

use super::Versions;
use crate::fieldset::Set;
use serde_json::Value;

/// One request that writes an object.
#[derive(Clone, Copy)]
pub struct Write<'a> {
    /// The field manager; empty is "unknown". See also the request's user agent.
    pub manager: &'a str,
    /// The version of the request, such as `apps/v1`.
    pub api_version: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The subresource, or nothing.
    pub subresource: &'a str,
    /// The time of the request: RFC 3339, UTC, whole seconds.
    pub now: &'a str,
    /// Schemas and conversions.
    pub versions: &'a dyn Versions,
    /// Fields that this endpoint puts back to what they were.
    pub reset: &'a Resets,
    /// What an object of this kind is before anybody has written to it. For custom resources `apiVersion` and
    /// `kind`; for built-in kinds also the parts that are never left out (`spec: {}`, `status: {}` …).
    pub blank: &'a Value,
}

/// Fields that an endpoint puts back to what they were, so that nobody comes to own them there: `status` at
/// the object's own endpoint, `spec` at the status endpoint. By version.
#[derive(Clone, Debug, Default)]
pub struct Resets {
    by_version: BTreeMap<String, Set>,
}

impl Resets {
    /// Nothing is put back.
    pub fn none() -> Self {
        Self::default()
    }

    /// The same top-level fields, or paths of field names, in these versions.
    pub fn new<'v>(versions: impl IntoIterator<Item = &'v str>, paths: &[&[&str]]) -> Self {
        let set = Set::of_fields(paths);
        let versions = versions.into_iter();
        Self {
            by_version: versions
                .map(|version| (version.to_owned(), set.clone()))
                .collect(),
        }
    }

    /// With more paths put back in a version.
    #[must_use]
    pub fn with(mut self, api_version: &str, paths: &[&[&str]]) -> Self {
        let set = self.by_version.entry(api_version.to_owned()).or_default();
        *set = set.union(&Set::of_fields(paths));
        self
    }

    /// The fields that are put back in a version.
    pub fn of(&self, api_version: &str) -> Option<&Set> {
        self.by_version.get(api_version)
    }
}
