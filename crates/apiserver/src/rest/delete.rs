//! `delete`: the end of an object, at once or when its finalizers let go.

use std::sync::Arc;

use axum::response::Response;
use jiff::{SignedDuration, Timestamp};
use quadrille_machinery::{field_error::FieldError, status::Status};
use quadrille_store::{Expect, Op};
use serde_json::{Value, json};

use super::{
    Request, Saved, get,
    list::{Walk, read_error},
    object,
    write::{self, Failure},
};
use crate::{
    accept::{self, BodyFormat},
    clock, convert, lifecycle,
    options::{Query, dry_run, options_invalid},
    quirks, reply,
    resource::Resource,
    select::Selection,
    server::Shared,
    stored, strategy,
};

/// How many objects are taken at a time.
const CHUNK: usize = 500;
/// The finalizer that makes the garbage collector orphan dependents.
pub(crate) const ORPHAN: &str = "orphan";
/// The finalizer that makes the garbage collector delete dependents first.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// How long a pod may take to end when nobody says.
const POD_GRACE_SECONDS: i64 = 30;

/// What becomes of dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    Orphan,
    Background,
    Foreground,
}

/// `DeleteOptions`.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    grace_seconds: Option<i64>,
    propagation: Option<Propagation>,
    orphan_dependents: Option<bool>,
    uid: Option<String>,
    resource_version: Option<String>,
    pub(crate) dry_run: bool,
}

impl DeleteOptions {
    /// Reads them from the body, or else from the query.
    pub(crate) fn read(request: &Request) -> Result<Self, Status> {
        if request.body.is_empty() {
            return Self::from_query(&request.query);
        }
        Self::from_value(&parse_body(request)?)
    }

    /// Reads them from an object; null means none.
    pub(crate) fn from_value(options: &Value) -> Result<Self, Status> {
        let dry: Vec<&str> = options["dryRun"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let preconditions = &options["preconditions"];
        Self {
            grace_seconds: options["gracePeriodSeconds"].as_i64(),
            propagation: propagation(options["propagationPolicy"].as_str())?,
            orphan_dependents: options["orphanDependents"].as_bool(),
            uid: text(&preconditions["uid"]),
            resource_version: text(&preconditions["resourceVersion"]),
            dry_run: dry_run("DeleteOptions", &dry)?,
        }
        .checked()
    }

    fn from_query(query: &Query) -> Result<Self, Status> {
        Self {
            grace_seconds: query.number("gracePeriodSeconds")?,
            propagation: propagation(query.text("propagationPolicy").as_deref())?,
            orphan_dependents: query.switch("orphanDependents"),
            dry_run: dry_run("DeleteOptions", &query.all("dryRun"))?,
            ..Self::default()
        }
        .checked()
    }

    fn checked(self) -> Result<Self, Status> {
        if self.propagation.is_some() && self.orphan_dependents.is_some() {
            let error = FieldError::invalid(
                "propagationPolicy",
                json!(self.propagation.map(Propagation::name)),
                "orphanDependents and deletionPropagation cannot be both set",
            );
            return Err(options_invalid("DeleteOptions", error));
        }
        Ok(self)
    }

    /// What becomes of dependents, by request or by the kind's default.
    fn propagation(&self, request: &Request, object: &Value) -> Propagation {
        if let Some(chosen) = self.propagation {
            return chosen;
        }
        match self.orphan_dependents {
            Some(true) => return Propagation::Orphan,
            Some(false) => return Propagation::Background,
            None => {}
        }
        let finalizers = finalizers(object);
        if finalizers.iter().any(|name| name == ORPHAN) {
            return Propagation::Orphan;
        }
        if finalizers.iter().any(|name| name == FOREGROUND) {
            return Propagation::Foreground;
        }
        if quirks::orphans_by_default(&request.resource) {
            return Propagation::Orphan;
        }
        Propagation::Background
    }
}

impl Propagation {
    fn name(self) -> &'static str {
        match self {
            Self::Orphan => "Orphan",
            Self::Background => "Background",
            Self::Foreground => "Foreground",
        }
    }
}

fn propagation(text: Option<&str>) -> Result<Option<Propagation>, Status> {
    Ok(Some(match text {
        None | Some("") => return Ok(None),
        Some("Orphan") => Propagation::Orphan,
        Some("Background") => Propagation::Background,
        Some("Foreground") => Propagation::Foreground,
        Some(other) => {
            let error = FieldError::not_supported(
                "propagationPolicy",
                other.into(),
                &["Foreground", "Background", "Orphan", "nil"],
            );
            return Err(options_invalid("DeleteOptions", error));
        }
    }))
}

fn parse_body(request: &Request) -> Result<Value, Status> {
    use quadrille_machinery::decode;
    let decoded = match accept::body_format(&request.headers)? {
        BodyFormat::Json => decode::json(&request.body),
        BodyFormat::Yaml => decode::yaml(&request.body),
    };
    let value = decoded
        .map_err(|error| {
            Status::bad_request(decode::unrecognized("DeleteOptions", &error, &request.body))
        })?
        .value;
    if !value.is_object() {
        return Err(Status::bad_request(
            "the body of a delete must be a DeleteOptions object",
        ));
    }
    Ok(value)
}

/// Deletes the named object.
pub(crate) async fn delete(request: &Request) -> Result<Response, Status> {
    let options = DeleteOptions::read(request)?;
    let outcome = remove(request, &options).await?;
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
        let marked = mark(request, options, &object);
        if may_go(&marked) {
            if options.dry_run {
                return Ok(Outcome::Gone { saved, object });
            }
            let expect = Expect::At(saved.revision);
            let op = Op::Delete {
                key: key.clone(),
                expect,
                last: None,
            };
            match write::commit(request, op).await {
                Ok(revision) => {
                    lifecycle::removed(request, &object);
                    let saved = Saved {
                        value: saved.value,
                        revision,
                    };
                    return Ok(Outcome::Gone { saved, object });
                }
                Err(Failure::Mismatch(_)) => continue,
                Err(Failure::Refused(status)) => return Err(status),
            }
        }
        let value = stored::encode(&convert::to_storage(&request.resource, marked))?;
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

fn check_preconditions(
    request: &Request,
    options: &DeleteOptions,
    object: &Value,
) -> Result<(), Status> {
    let metadata = &object["metadata"];
    for (what, wanted, live) in [
        ("UID", &options.uid, &metadata["uid"]),
        (
            "ResourceVersion",
            &options.resource_version,
            &metadata["resourceVersion"],
        ),
    ] {
        if let Some(wanted) = wanted
            && Some(wanted.as_str()) != live.as_str()
        {
            return Err(request.conflict(&format!(
                "Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {}",
                live.as_str().unwrap_or_default()
            )));
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

/// Whether nothing holds the object.
fn may_go(object: &Value) -> bool {
    let held_namespace = object["kind"] == "Namespace"
        && object["apiVersion"] == "v1"
        && object["spec"]["finalizers"]
            .as_array()
            .is_some_and(|list| !list.is_empty());
    finalizers(object).is_empty()
        && !held_namespace
        && object["metadata"]["deletionGracePeriodSeconds"]
            .as_i64()
            .unwrap_or(0)
            == 0
}

fn finalizers(object: &Value) -> Vec<String> {
    let list = object["metadata"]["finalizers"].as_array();
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// The object with everything on it that this delete asks for.
fn mark(request: &Request, options: &DeleteOptions, object: &Value) -> Value {
    let mut marked = object.clone();
    if !quirks::without_garbage_collection(&request.resource) {
        let wanted = options.propagation(request, object);
        let mut names = finalizers(object);
        names.retain(|name| name != ORPHAN && name != FOREGROUND);
        match wanted {
            Propagation::Orphan => names.push(ORPHAN.to_owned()),
            Propagation::Foreground => names.push(FOREGROUND.to_owned()),
            Propagation::Background => {}
        }
        if names != finalizers(object)
            && let Some(metadata) = marked["metadata"].as_object_mut()
        {
            if names.is_empty() {
                metadata.remove("finalizers");
            } else {
                metadata.insert("finalizers".to_owned(), json!(names));
            }
        }
    }
    if strategy::is_definition(&request.resource) {
        crate::life::definitions::mark_deleted(&mut marked, request.shared.clock.now());
    }
    let grace = grace_seconds(request, options, object);
    let now = request.shared.clock.now();
    let already = object["metadata"]["deletionTimestamp"]
        .as_str()
        .map(str::to_owned);
    let held = !finalizers(&marked).is_empty() || grace > 0 || marked["kind"] == "Namespace";
    match already {
        None if held => {
            set_deletion(&mut marked, now, grace);
            let namespace = marked["kind"] == "Namespace" && marked["apiVersion"] == "v1";
            if namespace {
                marked["status"]["phase"] = json!("Terminating");
            }
            // Two kinds end in a way of their own, and know no grace.
            if namespace || strategy::is_definition(&request.resource) {
                if let Some(metadata) = marked["metadata"].as_object_mut() {
                    metadata.remove("deletionGracePeriodSeconds");
                }
            } else {
                bump_generation(&mut marked);
            }
        }
        None => {}
        Some(_) => {
            let before = marked["metadata"]["deletionGracePeriodSeconds"]
                .as_i64()
                .unwrap_or(0);
            if grace < before {
                set_deletion(&mut marked, now, grace);
            }
        }
    }
    marked
}

fn set_deletion(object: &mut Value, now: Timestamp, grace: i64) {
    let at = now
        .saturating_add(SignedDuration::from_secs(grace))
        .unwrap_or(now);
    object["metadata"]["deletionTimestamp"] = json!(clock::seconds(at));
    object["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
}

fn bump_generation(object: &mut Value) {
    if let Some(generation) = object["metadata"]["generation"]
        .as_i64()
        .filter(|value| *value > 0)
    {
        object["metadata"]["generation"] = json!(generation + 1);
    }
}

/// Only pods end gracefully: those that run somewhere.
fn grace_seconds(request: &Request, options: &DeleteOptions, object: &Value) -> i64 {
    if !(request.resource.group.is_empty() && request.resource.plural == "pods") {
        return 0;
    }
    let scheduled = object["spec"]["nodeName"]
        .as_str()
        .is_some_and(|node| !node.is_empty());
    let over = matches!(
        object["status"]["phase"].as_str(),
        Some("Succeeded" | "Failed")
    );
    if !scheduled || over {
        return 0;
    }
    let grace = options.grace_seconds.unwrap_or_else(|| {
        object["spec"]["terminationGracePeriodSeconds"]
            .as_i64()
            .unwrap_or(POD_GRACE_SECONDS)
    });
    if grace < 0 { 1 } else { grace }
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
    let mut walk = Walk::new(&whole, &Selection::default(), shared.store.revision());
    while let Some(records) = walk.next_chunk(CHUNK).map_err(|error| read_error(&error))? {
        for record in records {
            let (namespace, name) = stored::name_of(resource, &record.key);
            let request = shared.request(resource, namespace, name);
            remove_one(&request, None, propagation).await?;
        }
    }
    Ok(())
}
