//! `delete`: the end of an object, at once or when its finalizers let go.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use quadrille_machinery::status::Status;
use quadrille_store::{Expect, Op};
use serde_json::{Value, json};

mod mark;
mod options;

use self::mark::{is_graceful, mark, may_go};
pub(crate) use self::options::{DeleteOptions, Propagation};
use super::{
    Request, Saved, get,
    list::{Walk, read_error},
    object,
    write::{self, Failure},
};
use crate::{
    convert, lifecycle, policies, quirks, reply, resource::Resource, select::Selection,
    server::Shared, stored,
};

/// How many objects are taken at a time.
const CHUNK: usize = 500;
/// What is told to those who delete a job and say nothing of its pods.
const JOBS_KEEP_PODS: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";
/// The finalizer that makes the garbage collector orphan dependents.
pub(crate) const ORPHAN: &str = "orphan";
/// The finalizer that makes the garbage collector delete dependents first.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";

/// Deletes the named object.
pub(crate) async fn delete(request: &Request) -> Result<Response, Status> {
    let options = DeleteOptions::read(request)?;
    let outcome = remove(request, &options).await?;
    let is_job = request.resource.is_built_in() && request.resource.kind == "Job";
    if is_job && options.propagation.is_none() && options.orphan_dependents.is_none() {
        request.warn(JOBS_KEEP_PODS);
    }
    respond(request, &options, &outcome)
}

/// How a delete went.
pub(crate) enum Outcome {
    /// The object is gone; this is what it was.
    Gone { saved: Saved, object: Value },
    /// It stays until its finalizers or its grace period end.
    Waiting { saved: Saved },
}

/// Answers as the kind does: with a Status, or with the object.
fn respond(
    request: &Request,
    options: &DeleteOptions,
    outcome: &Outcome,
) -> Result<Response, Status> {
    match outcome {
        Outcome::Gone { saved, object } => {
            if quirks::returns_deleted(&request.resource) {
                return object::respond(request, 200, saved);
            }
            let resource = &request.resource;
            let mut details = json!({
                "name": object["metadata"]["name"],
                "kind": resource.plural,
                "uid": object["metadata"]["uid"],
            });
            if !resource.group.is_empty() {
                details["group"] = json!(resource.group);
            }
            Ok(reply::value(
                200,
                &json!({
                    "kind": "Status",
                    "apiVersion": "v1",
                    "metadata": {},
                    "status": "Success",
                    "details": details,
                }),
            ))
        }
        Outcome::Waiting { saved } => {
            let accepted = options.orphan_dependents == Some(false);
            object::respond(request, if accepted { 202 } else { 200 }, saved)
        }
    }
}

/// Deletes the named object, or marks it for deletion.
pub(crate) async fn remove(request: &Request, options: &DeleteOptions) -> Result<Outcome, Status> {
    let key = stored::key(&request.resource, request.namespace(), request.name()?);
    loop {
        let saved = get::current(request)?;
        let object = saved.object(&request.resource)?;
        check_preconditions(request, options, &object)?;
        refuse_protected(request)?;
        // An eviction was asked about as such.
        if request.subresource().is_empty() {
            policies::admit(request, &options.change(&object))?;
        }
        let marked = mark(request, options, &object);
        if may_go(&marked) {
            let Some(gone) = take_away(request, options, &key, saved, object, marked).await? else {
                continue;
            };
            return Ok(gone);
        }
        let value = stored::encode(&convert::to_storage(&request.resource, marked)?)?;
        if options.dry_run || value == saved.value {
            return Ok(Outcome::Waiting {
                saved: Saved {
                    value,
                    revision: saved.revision,
                },
            });
        }
        let op = Op::Put {
            key: key.clone(),
            value: value.clone(),
            expect: Expect::At(saved.revision),
        };
        match write::commit(request, op).await {
            Ok(revision) => {
                lifecycle::written(request, request.name()?).await?;
                return Ok(Outcome::Waiting {
                    saved: Saved { value, revision },
                });
            }
            Err(Failure::Mismatch(_)) => {}
            Err(Failure::Refused(status)) => return Err(status),
        }
    }
}

/// Removes an object that nothing holds. `None` if somebody was faster: then it is to be looked at again.
async fn take_away(
    request: &Request,
    options: &DeleteOptions,
    key: &Bytes,
    saved: Saved,
    object: Value,
    marked: Value,
) -> Result<Option<Outcome>, Status> {
    let expect = Expect::At(saved.revision);
    let delete = |expect| Op::Delete {
        key: key.clone(),
        expect,
        last: None,
    };
    let (value, ops) = if is_graceful(request) {
        // Watchers see first that a pod is going, then that it is gone.
        let value = stored::encode(&convert::to_storage(&request.resource, marked)?)?;
        let put = Op::Put {
            key: key.clone(),
            value: value.clone(),
            expect,
        };
        (value, vec![put, delete(Expect::Present)])
    } else {
        (saved.value, vec![delete(expect)])
    };
    let revision = if options.dry_run {
        saved.revision
    } else {
        match write::commit_all(&request.shared.store, ops).await {
            Ok(revision) => revision,
            Err(Failure::Mismatch(_)) => return Ok(None),
            Err(Failure::Refused(status)) => return Err(status),
        }
    };
    if !options.dry_run {
        lifecycle::removed(&request.shared, &request.resource, &object);
    }
    let saved = Saved { value, revision };
    Ok(Some(Outcome::Gone { saved, object }))
}

/// Refuses what was to meet another object than the one that is there.
pub(super) fn check_preconditions(
    request: &Request,
    options: &DeleteOptions,
    object: &Value,
) -> Result<(), Status> {
    let metadata = &object["metadata"];
    for (what, since, wanted, live) in [
        (
            "UID",
            "deleted and then recreated",
            &options.uid,
            &metadata["uid"],
        ),
        (
            "ResourceVersion",
            "modified",
            &options.resource_version,
            &metadata["resourceVersion"],
        ),
    ] {
        let live = live.as_str().unwrap_or_default();
        if let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != live) {
            let why = format!(
                "the {what} in the precondition ({wanted}) does not match the {what} in record ({live}). \
                 The object might have been {since}"
            );
            let resource = &request.resource;
            // Servers name the kind here where they name the resource everywhere else.
            return Err(Status::conflict(
                &resource.group,
                &resource.kind,
                request.name()?,
                &why,
            ));
        }
    }
    Ok(())
}

/// Namespaces that every cluster has can't be deleted.
fn refuse_protected(request: &Request) -> Result<(), Status> {
    let protected = ["default", "kube-system", "kube-public"];
    let name = request.name()?;
    if request.resource.group.is_empty()
        && request.resource.plural == "namespaces"
        && protected.contains(&name)
    {
        return Err(Status::forbidden(
            "",
            "namespaces",
            name,
            "this namespace may not be deleted",
        ));
    }
    Ok(())
}

/// Deletes one object on behalf of the server.
pub(crate) async fn remove_one(
    request: &Request,
    uid: Option<String>,
    propagation: Propagation,
) -> Result<(), Status> {
    let options = DeleteOptions {
        uid,
        propagation: Some(propagation),
        ..DeleteOptions::default()
    };
    match remove(request, &options).await {
        Ok(_) => Ok(()),
        // Gone, or another one by now: nothing to do.
        Err(status) if status.code == 404 || status.code == 409 => Ok(()),
        Err(status) => Err(status),
    }
}

/// Deletes every object of a resource, in one namespace or all.
pub(crate) async fn remove_all(
    shared: &Arc<Shared>,
    resource: &Arc<Resource>,
    namespace: Option<&str>,
    propagation: Propagation,
) -> Result<(), Status> {
    let whole = shared.request(resource, namespace, "");
    let mut walk = Walk::new(&whole, &Selection::default(), shared.store.revision())?;
    while let Some(records) = walk.next_chunk(CHUNK).map_err(|error| read_error(&error))? {
        for record in records {
            let (namespace, name) = stored::name_of(resource, &record.key);
            let request = shared.request(resource, namespace, name);
            remove_one(&request, None, propagation).await?;
        }
    }
    Ok(())
}
