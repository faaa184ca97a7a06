//! Resource versions that clients name.

use quadrille_machinery::status::Status;
use quadrille_store::{Revision, Store};
use serde_json::json;

/// Reads a resource version.
pub(crate) fn parse(text: &str) -> Result<Revision, Unreadable> {
    text.parse()
        .map(Revision)
        .map_err(|_| Unreadable(text.to_owned()))
}

/// A resource version that is no number. Real servers word it, and code it, by where they stumble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable(String);

impl Unreadable {
    fn cause(&self) -> String {
        format!("strconv.ParseUint: parsing {:?}: invalid syntax", self.0)
    }

    fn as_field(&self) -> String {
        format!(
            "resourceVersion: Invalid value: {:?}: {}",
            self.0,
            self.cause()
        )
    }

    /// In the query of a get.
    pub(crate) fn in_get(&self) -> Status {
        Status::failure(self.as_field())
    }

    /// In the query of a list or watch.
    pub(crate) fn in_list(&self) -> Status {
        Status::bad_request(format!("invalid resource version: {}", self.as_field()))
    }

    /// In an object.
    pub(crate) fn in_object(&self) -> Status {
        Status::failure(self.cause())
    }
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
