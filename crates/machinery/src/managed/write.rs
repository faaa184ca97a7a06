//! What a write is: who, when, in which version, and which fields it cannot touch.

use serde_json::Value;

use super::{Resets, Versions};

/// One request that writes an object.
#[derive(Clone, Copy)]
pub struct Write<'a> {
    /// The field manager; empty is "unknown". Requests that name none are known by their user agent.
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
    /// What an object of this kind is before anybody has written to it: see
    /// [`blank_builtin`](super::blank_builtin) and [`blank_custom`](super::blank_custom).
    pub blank: &'a Value,
}
