//! The one way objects get into the store: prepare, validate, record who owns what, compare-and-swap.

use bytes::Bytes;
use quadrille_machinery::{managed, names, status::Status};
use quadrille_store::{Expect, Op, Record, Revision, WriteError};
use rand::Rng;
use serde_json::{Value, json};

use super::{Request, Saved, subresource::scale};
use crate::{
    auth::{Attributes, Authorizer},
    clock, convert, escalation,
    lifecycle::{self, Deleting},
    options::WriteOptions,
    ownership,
    policies::{self, Operation},
    quirks, revision, stored, strategy,
    upload::MAX_BODY_BYTES,
};

/// How often a write without a resource version of its own tries again when somebody was faster.
const TRIES: usize = 5;
/// The largest object that is stored. A body is no larger, but patches could make an object grow without end.
const MAX_OBJECT_BYTES: usize = MAX_BODY_BYTES;
/// How often another name is tried when a generated one is taken.
const NAME_TRIES: usize = 8;

/// What a write does to ownership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// The writer owns what it changed.
    Track,
    /// Server-side apply already recorded it.
    Recorded,
}

/// What the resource version in a new object means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionRule {
    /// The client named it: if it isn't current, somebody was faster, and the client must know.
    Demand,
    /// It came from the current object: if somebody is faster, the change is made again.
    Retry,
}

/// Creates an object.
pub(crate) async fn create(
    request: &Request,
    options: &WriteOptions,
    object: Value,
    ownership: Ownership,
) -> Result<Saved, Status> {
    let resource = &request.resource;
    let mut object = object;
    check_new_metadata(&object)?;
    strategy::wipe_system_fields(&mut object);
    let namespace = request.namespace().map(str::to_owned);
    if let Some(namespace) = &namespace {
        lifecycle::check_namespace(request, namespace, &object)?;
    }
    lifecycle::check_definition(request, &object)?;
    let generated = generate_name(&mut object);
    for attempt in 1.. {
        let mut candidate = object.clone();
        let now = clock::seconds(request.shared.clock.now());
        strategy::default(resource, &mut candidate);
        if ownership == Ownership::Track {
            candidate = track(request, options, None, candidate, &now);
        }
        strategy::admit_create(request, &mut candidate).await?;
        escalation::check(request, &candidate, None)?;
        if let Some(base) = &generated {
            candidate["metadata"]["name"] = json!(names::generate(base, &suffix()));
        }
        strategy::before_create(request, &mut candidate, &now)?;
        let name = candidate["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let reservation = request
            .shared
            .services
            .reserve(request, None, &mut candidate)?;
        may_create(request)?;
        policies::admit(
            request,
            &options.change(Operation::Create, &candidate, &Value::Null),
        )?;
        let value = within_limit(stored::encode(&convert::to_storage(resource, candidate)?)?)?;
        if options.dry_run {
            drop(reservation);
            let key = stored::key(resource, namespace.as_deref(), &name);
            if request
                .shared
                .store
                .get(&key)
                .map_err(Status::internal)?
                .is_some()
            {
                return Err(Status::already_exists(
                    &resource.group,
                    &resource.plural,
                    &name,
                ));
            }
            return Ok(Saved {
                value,
                revision: Revision(0),
            });
        }
        let key = stored::key(resource, namespace.as_deref(), &name);
        let op = Op::Put {
            key,
            value: value.clone(),
            expect: Expect::Absent,
        };
        match commit(request, op).await {
            Ok(revision) => {
                reservation.keep();
                lifecycle::written(request, &name).await?;
                return Ok(Saved { value, revision });
            }
            Err(Failure::Mismatch(_)) if generated.is_some() && attempt < NAME_TRIES => {}
            Err(Failure::Mismatch(there)) => return Err(taken(request, &name, there.as_ref())),
            Err(Failure::Refused(status)) => return Err(status),
        }
    }
    Err(Status::internal("ran out of names"))
}

/// Who applies or replaces what is not there creates it, and must be allowed to.
fn may_create(request: &Request) -> Result<(), Status> {
    let Some(name) = request.target.name.as_deref().filter(|_| !request.own) else {
        return Ok(());
    };
    let resource = &request.resource;
    request.shared.authorizer.require(&Attributes {
        group: &resource.group,
        version: &resource.version,
        resource: &resource.plural,
        namespace: request.namespace().unwrap_or_default(),
        name,
        ..Attributes::of_path(&request.user, "create", "")
    })
}

/// 409: the name is taken, maybe by an object that is on its way out.
fn taken(request: &Request, name: &str, there: Option<&Record>) -> Status {
    let resource = &request.resource;
    let mut status = Status::already_exists(&resource.group, &resource.plural, name);
    let object = there.and_then(|record| stored::decode_record(resource, record).ok());
    if object.is_some_and(|object| !object["metadata"]["deletionTimestamp"].is_null()) {
        status.message = format!("object is being deleted: {}", status.message);
    }
    status
}

/// What an update starts from.
pub(crate) struct Current {
    /// The object in the request's version.
    pub(crate) object: Value,
    /// Its record.
    pub(crate) saved: Saved,
}

/// Whether an update created the object, and what is stored now.
pub(crate) struct Updated {
    pub(crate) saved: Saved,
    pub(crate) created: bool,
}

/// Changes an object: `change` makes the new one from the current one, again if somebody was faster.
///
/// `change` may look at the resource version in what it returns: if it names one, it must be the current.
pub(crate) async fn update(
    request: &Request,
    options: &WriteOptions,
    ownership: Ownership,
    rule: VersionRule,
    mut change: impl FnMut(&Current) -> Result<Value, Status> + Send,
) -> Result<Updated, Status> {
    let resource = &request.resource;
    let key = stored::key(resource, request.namespace(), request.name()?);
    let mut record = request.shared.store.get(&key).map_err(Status::internal)?;
    for attempt in 1.. {
        let found = record.take().ok_or_else(|| request.not_found())?;
        let saved = Saved::from(found);
        let current = Current {
            object: saved.object(resource)?,
            saved,
        };
        let mut new = change(&current)?;
        let named = check_preconditions(request, &current, &new, rule)?;
        let conditional = named && rule == VersionRule::Demand;
        let now = clock::seconds(request.shared.clock.now());
        strategy::default(resource, &mut new);
        if ownership == Ownership::Track {
            new = track(request, options, Some(&current.object), new, &now);
        }
        strategy::admit_update(request, &mut new, &current.object)?;
        escalation::check(request, &new, Some(&current.object))?;
        strategy::before_update(request, &mut new, &current.object)?;
        let reservation =
            request
                .shared
                .services
                .reserve(request, Some(&current.object), &mut new)?;
        admit_update(request, options, &new, &current.object)?;
        let deleting = lifecycle::after_update(&new, &current.object);
        let value = within_limit(stored::encode(&convert::to_storage(resource, new)?)?)?;
        let unchanged = value == current.saved.value;
        if options.dry_run || (unchanged && deleting == Deleting::No) {
            let saved = Saved {
                value,
                revision: current.saved.revision,
            };
            return Ok(Updated {
                saved,
                created: false,
            });
        }
        let expect = Expect::At(current.saved.revision);
        let op = match deleting {
            Deleting::No => Op::Put {
                key: key.clone(),
                value: value.clone(),
                expect,
            },
            Deleting::Now => Op::Delete {
                key: key.clone(),
                expect,
                last: None,
            },
        };
        match commit(request, op).await {
            Ok(revision) => {
                reservation.keep();
                if deleting == Deleting::Now {
                    lifecycle::removed(&request.shared, resource, &current.object);
                    let saved = Saved {
                        value,
                        revision: current.saved.revision,
                    };
                    return Ok(Updated {
                        saved,
                        created: false,
                    });
                }
                lifecycle::written(request, request.name()?).await?;
                return Ok(Updated {
                    saved: Saved { value, revision },
                    created: false,
                });
            }
            Err(Failure::Mismatch(now)) => {
                if now.is_none() {
                    return Err(request.not_found());
                }
                if conditional || attempt >= TRIES {
                    return Err(modified(request));
                }
                record = now;
            }
            Err(Failure::Refused(status)) => return Err(status),
        }
    }
    Err(modified(request))
}

/// Asks the policies about an update, in the words of the subresource.
fn admit_update(
    request: &Request,
    options: &WriteOptions,
    new: &Value,
    old: &Value,
) -> Result<(), Status> {
    match request.subresource() {
        // Whoever binds a pod was asked about the binding.
        "binding" => Ok(()),
        "scale" => {
            let new = scale::scale_of(request, new)?;
            let old = scale::scale_of(request, old)?;
            policies::admit(request, &options.change(Operation::Update, &new, &old))
        }
        _ => policies::admit(request, &options.change(Operation::Update, new, old)),
    }
}

/// What is to be stored, unless it is too large for that.
fn within_limit(value: Bytes) -> Result<Bytes, Status> {
    if value.len() <= MAX_OBJECT_BYTES {
        return Ok(value);
    }
    Err(Status::too_large(format!(
        "Request entity too large: the object would take {} bytes, limit is {MAX_OBJECT_BYTES}",
        value.len()
    )))
}

/// Why a commit did not happen.
pub(crate) enum Failure {
    /// The record is not what was expected; here it is.
    Mismatch(Option<Record>),
    /// The store can't.
    Refused(Status),
}

/// Sends one operation to the store.
pub(crate) async fn commit(request: &Request, op: Op) -> Result<Revision, Failure> {
    commit_to(&request.shared.store, op).await
}

/// Sends one operation to a store.
pub(crate) async fn commit_to(store: &quadrille_store::Store, op: Op) -> Result<Revision, Failure> {
    commit_all(store, vec![op]).await
}

/// Sends operations to a store that all happen or none; gives the revision of the last.
pub(crate) async fn commit_all(
    store: &quadrille_store::Store,
    ops: Vec<Op>,
) -> Result<Revision, Failure> {
    match store.commit(ops).await {
        Ok(revisions) => Ok(revisions.last().copied().unwrap_or(Revision(0))),
        Err(WriteError::Mismatch { current, .. }) => Err(Failure::Mismatch(current)),
        Err(WriteError::Full) => Err(Failure::Refused(Status::unavailable(
            "the disk that holds this server's data is full; nothing was written",
        ))),
        Err(error) => Err(Failure::Refused(Status::internal(error))),
    }
}

/// 409: somebody was faster.
pub(crate) fn modified(request: &Request) -> Status {
    request.conflict(
        "the object has been modified; please apply your changes to the latest version and try again",
    )
}

/// Records who owns the fields of a write.
pub(crate) fn track(
    request: &Request,
    options: &WriteOptions,
    live: Option<&Value>,
    new: Value,
    now: &str,
) -> Value {
    let manager = request.manager(options.field_manager.as_deref());
    let ownership = ownership::Ownership::of(request, manager, now.to_owned());
    managed::update(live, new, &ownership.write(request))
}

/// Checks the uid and resource version that a new object names. True if it names a resource version.
fn check_preconditions(
    request: &Request,
    current: &Current,
    new: &Value,
    rule: VersionRule,
) -> Result<bool, Status> {
    let metadata = &new["metadata"];
    let live = &current.object["metadata"];
    // A patch that changes the uid is refused by validation.
    if rule == VersionRule::Demand
        && let Some(uid) = metadata["uid"].as_str().filter(|uid| !uid.is_empty())
        && Some(uid) != live["uid"].as_str()
    {
        // Real servers show how their database names the object.
        let key: Vec<&str> = [Some(request.resource.plural.as_str()), request.namespace()]
            .into_iter()
            .flatten()
            .chain([request.name()?])
            .collect();
        return Err(request.conflict(&format!(
            "StorageError: invalid object, Code: 4, Key: /registry/{}, ResourceVersion: 0, \
             AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            key.join("/"),
            live["uid"].as_str().unwrap_or_default()
        )));
    }
    match metadata["resourceVersion"]
        .as_str()
        .filter(|version| !version.is_empty())
    {
        Some(version) => {
            if version == "0" {
                return Ok(false);
            }
            let named = revision::parse(version).map_err(|error| error.in_object())?;
            if named != current.saved.revision {
                return Err(modified(request));
            }
            Ok(true)
        }
        None if quirks::conditional_update(&request.resource) => {
            Err(strategy::must_name_version(request, new))
        }
        None => Ok(false),
    }
}

/// What a new object may not say about itself.
fn check_new_metadata(object: &Value) -> Result<(), Status> {
    let version = object["metadata"]["resourceVersion"].as_str().unwrap_or("");
    if matches!(version, "" | "0") {
        return Ok(());
    }
    revision::parse(version).map_err(|error| error.in_object())?;
    Err(Status::failure(
        "resourceVersion should not be set on objects to be created",
    ))
}

/// The base of a name to generate, if the object has no name but asks for one.
fn generate_name(object: &mut Value) -> Option<String> {
    let metadata = &object["metadata"];
    if !metadata["name"].as_str().unwrap_or("").is_empty() {
        return None;
    }
    metadata["generateName"]
        .as_str()
        .filter(|base| !base.is_empty())
        .map(str::to_owned)
}

/// Five characters that can't spell a word.
pub(crate) fn suffix() -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut random = rand::rng();
    (0..5)
        .map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())]))
        .collect()
}
