//! `create`: a new object.

use axum::response::Response;
use quadrille_machinery::status::Status;

use super::{
    Request, object,
    write::{self, Ownership},
};
use crate::{body, options::WriteOptions};

/// Creates the object in the body.
pub(crate) async fn create(request: &Request) -> Result<Response, Status> {
    if request.target.name.is_some() {
        return Err(crate::server::not_allowed());
    }
    let options = WriteOptions::read(&request.query, "CreateOptions")?;
    let object = body::object(request, &request.resource, options.field_validation)?;
    let saved = write::create(request, &options, object, Ownership::Track).await?;
    object::respond(request, 201, &saved)
}
