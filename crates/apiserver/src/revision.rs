//! Resource versions that clients name.

use quadrille_machinery::status::Status;
use quadrille_store::{Revision, Store};
use serde_json::json;

/// Reads a resource version.
pub(crate) fn parse(text: &str) -> Result<Revision, Status> {
    text.parse().map(Revision).map_err(|_| {
        Status::bad_request(format!(
            "Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
        ))
    })
}

/// Refuses a resource version that this server has not reached.
pub(crate) fn check_not_too_large(store: &Store, wanted: Revision) -> Result<(), Status> {
    let current = store.revision();
    if wanted <= current {
        return Ok(());
    }
    let message = format!("Too large resource version: {wanted}, current: {current}");
    Err(Status {
        details: json!({
            "causes": [{ "reason": "ResourceVersionTooLarge", "message": "Too large resource version" }],
            "retryAfterSeconds": 1,
        }),
        ..Status::timeout(format!("Timeout: {message}"))
    })
}
