//! `update`: an object replaced.

use axum::response::Response;
use quadrille_machinery::status::Status;

use super::{
    Request, object,
    write::{self, Ownership, VersionRule},
};
use crate::{body, options::WriteOptions, quirks, stored};

/// Replaces the named object by the one in the body.
pub(crate) async fn update(request: &Request) -> Result<Response, Status> {
    let options = WriteOptions::read(&request.query, "UpdateOptions")?;
    let new = body::object(request, &request.resource, options.field_validation)?;
    body::check_name(request, &new)?;
    if request.target.subresource.is_none() && quirks::created_by_update(&request.resource) {
        let key = stored::key(&request.resource, request.namespace(), request.name()?);
        let missing = request
            .shared
            .store
            .get(&key)
            .map_err(Status::internal)?
            .is_none();
        if missing {
            let saved = write::create(request, &options, new, Ownership::Track).await?;
            return object::respond(request, 201, &saved);
        }
    }
    let rule = VersionRule::Demand;
    let updated = write::update(request, &options, Ownership::Track, rule, |_| {
        Ok(new.clone())
    })
    .await?;
    object::respond(
        request,
        if updated.created { 201 } else { 200 },
        &updated.saved,
    )
}
