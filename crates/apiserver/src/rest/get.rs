//! `get`: one object.

use axum::response::Response;
use quadrille_machinery::status::Status;

use super::{Request, Saved, object};
use crate::{revision, stored};

/// Answers with the named object.
pub(crate) fn get(request: &Request) -> Result<Response, Status> {
    if let Some(version) = request.query.text("resourceVersion") {
        let wanted = revision::parse(&version).map_err(|error| error.in_get())?;
        revision::check_not_too_large(&request.shared.store, wanted)?;
    }
    object::respond(request, 200, &current(request)?)
}

/// The named object as it is now.
pub(crate) fn current(request: &Request) -> Result<Saved, Status> {
    let key = stored::key(&request.resource, request.namespace(), request.name()?);
    let record = request.shared.store.get(&key).map_err(Status::internal)?;
    record.map(Saved::from).ok_or_else(|| request.not_found())
}
