//! What a write means for the life of an object and of its surroundings.

use quadrille_machinery::status::Status;
use serde_json::{Value, json};

use crate::{
    resource::{Origin, Resource},
    rest::Request,
    server::Shared,
    stored, strategy,
};

/// Whether an update ends an object's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deleting {
    /// It lives on.
    No,
    /// It was waiting for its last finalizer, and that is gone now.
    Now,
}

/// Whether nothing holds an object back that is being deleted.
pub(crate) fn after_update(new: &Value, old: &Value) -> Deleting {
    let metadata = &new["metadata"];
    let had = |object: &Value| {
        object["metadata"]["finalizers"]
            .as_array()
            .is_some_and(|list| !list.is_empty())
    };
    let grace = metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
    let namespace_held = new["kind"] == "Namespace"
        && new["apiVersion"] == "v1"
        && new["spec"]["finalizers"]
            .as_array()
            .is_some_and(|list| !list.is_empty());
    let waiting =
        !old["metadata"]["deletionTimestamp"].is_null() && !metadata["deletionTimestamp"].is_null();
    if waiting && !had(new) && !namespace_held && grace == 0 {
        return Deleting::Now;
    }
    Deleting::No
}

/// New objects need a namespace that exists and stays.
pub(crate) fn check_namespace(
    request: &Request,
    namespace: &str,
    new: &Value,
) -> Result<(), Status> {
    let shared = &request.shared;
    let key = format!("namespaces/{namespace}");
    let record = shared.store.get(key.as_bytes()).map_err(Status::internal)?;
    let Some(record) = record else {
        return Err(Status::not_found("", "namespaces", namespace));
    };
    if record
        .value
        .windows(21)
        .any(|window| window == br#""deletionTimestamp":""#)
    {
        let object: Value = serde_json::from_slice(&record.value).map_err(Status::internal)?;
        if !object["metadata"]["deletionTimestamp"].is_null() {
            let name = new["metadata"]["name"].as_str().unwrap_or_default();
            return Err(terminating(request, namespace, name));
        }
    }
    Ok(())
}

/// A definition that is going lets nothing new in.
pub(crate) fn check_definition(request: &Request, object: &Value) -> Result<(), Status> {
    let resource = &request.resource;
    let Origin::Custom { definition, .. } = &resource.origin else {
        return Ok(());
    };
    if definition["metadata"]["deletionTimestamp"].is_null() {
        return Ok(());
    }
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let why = "create not allowed while custom resource definition is terminating";
    Err(Status::forbidden(
        &resource.group,
        &resource.plural,
        name,
        why,
    ))
}

fn terminating(request: &Request, namespace: &str, name: &str) -> Status {
    let resource = &request.resource;
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    let mut status = Status::forbidden(&resource.group, &resource.plural, name, &why);
    status.details["causes"] = json!([{
        "reason": "NamespaceTerminating",
        "message": format!("namespace {namespace} is being terminated"),
        "field": "metadata.namespace",
    }]);
    status
}

/// What must have happened before the client hears that its write succeeded: a definition is served.
pub(crate) async fn written(request: &Request, name: &str) -> Result<(), Status> {
    // The many definitions that the server brings itself are served together, by whoever installs them.
    let is_installed = request.own && request.one_of_many;
    if strategy::is_definition(&request.resource) && !is_installed {
        request.shared.sync_definitions_at_last(&[name]).await?;
    }
    Ok(())
}

/// What a deleted object leaves behind here: addresses to free, definitions to stop serving.
pub(crate) fn removed(shared: &Shared, resource: &Resource, object: &Value) {
    shared.services.release(resource, object);
    if strategy::is_definition(resource) {
        shared.refresh_catalog();
    }
}

/// The object behind a key, in the resource's version.
pub(crate) fn fetch(
    request: &Request,
    namespace: Option<&str>,
    name: &str,
) -> Result<Option<Value>, Status> {
    let key = stored::key(&request.resource, namespace, name);
    let record = request.shared.store.get(&key).map_err(Status::internal)?;
    record
        .map(|record| stored::decode_record(&request.resource, &record))
        .transpose()
}
