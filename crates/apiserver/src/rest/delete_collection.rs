//! `deletecollection`: every selected object deleted.

use axum::response::Response;
use quadrille_machinery::status::Status;
use serde_json::json;

use super::{
    Request, Saved,
    delete::{self, DeleteOptions},
    list::{Walk, read_error},
};
use crate::{options::ListOptions, reply, select::Selection, stored};

/// How many objects are taken at a time.
const CHUNK: usize = 500;

/// Deletes the selected objects and answers with what they were.
pub(crate) async fn delete_collection(request: &Request) -> Result<Response, Status> {
    let options = DeleteOptions::read(request)?;
    let list = ListOptions::read(&request.query)?;
    let selection = Selection::parse(&request.resource, &list)?;
    let at = request.shared.store.revision();
    let mut walk = Walk::new(request, &selection, at)?;
    let mut items = Vec::new();
    while let Some(records) = walk.next_chunk(CHUNK).map_err(|error| read_error(&error))? {
        for record in records {
            let (namespace, name) = stored::name_of(&request.resource, &record.key);
            let single = request.for_object(namespace, name);
            match delete::remove(&single, &options).await {
                Ok(_) => {}
                // Somebody else was faster: it is gone, as asked.
                Err(status) if status.code == 404 => continue,
                Err(status) => return Err(status),
            }
            // The answer tells what was there, not what became of it.
            let mut item = Saved::from(record).object(&request.resource)?;
            if request.resource.is_built_in()
                && let Some(fields) = item.as_object_mut()
            {
                fields.remove("kind");
                fields.remove("apiVersion");
            }
            items.push(item);
        }
    }
    let mut metadata = json!({ "resourceVersion": at.to_string() });
    if !request.resource.is_built_in() {
        metadata["continue"] = json!("");
    }
    Ok(reply::value(
        200,
        &json!({
            "kind": request.resource.list_kind,
            "apiVersion": request.resource.api_version(),
            "metadata": metadata,
            "items": items,
        }),
    ))
}
