//! What a cluster does by itself: definitions become served, namespaces get their furniture and end in
//! order, dependents follow their owners.
//!
//! Everything here is driven by events of the store; nothing polls.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use quadrille_machinery::status::Status;
use quadrille_store::{Expect, Op, Revision};
use serde_json::Value;

use crate::{
    accept::Form,
    auth::User,
    convert, lifecycle,
    options::Query,
    path::Target,
    resource::Resource,
    rest::{
        self, Request,
        write::{self, Failure},
    },
    server::Shared,
    stored,
};

pub(crate) mod aggregation;
pub(crate) mod bootstrap;
pub(crate) mod definitions;
pub(crate) mod garbage;
pub(crate) mod namespaces;
pub(crate) mod policies;
pub(crate) mod protection;
mod steady;

/// Somebody sees to the end of a namespace or definition, and nobody else need: until this is dropped.
struct Claim {
    shared: Arc<Shared>,
    uid: String,
}

impl Claim {
    /// Nothing if somebody does already.
    fn on(shared: &Arc<Shared>, uid: &str) -> Option<Self> {
        let is_first = shared.ending.lock().insert(uid.to_owned());
        is_first.then(|| Self {
            shared: shared.clone(),
            uid: uid.to_owned(),
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.shared.ending.lock().remove(&self.uid);
    }
}

/// Starts the housekeeping.
pub(crate) fn start(shared: &Arc<Shared>) {
    shared.tasks.spawn(namespaces::run(shared.clone()));
    shared.tasks.spawn(garbage::run(shared.clone()));
    shared.tasks.spawn(protection::run(shared.clone()));
    shared.tasks.spawn(policies::run(shared.clone()));
    shared.tasks.spawn(aggregation::run(shared.clone()));
}

impl Shared {
    /// A built-in resource that this server needs for itself.
    pub(crate) fn resource(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Result<Arc<Resource>, Status> {
        self.catalog
            .snapshot()
            .find(group, version, plural)
            .cloned()
            .ok_or_else(|| Status::internal(format!("{plural}.{group} is not served")))
    }

    /// A request of the server to itself.
    pub(crate) fn request(
        self: &Arc<Self>,
        resource: &Arc<Resource>,
        namespace: Option<&str>,
        name: &str,
    ) -> Request {
        Request {
            shared: self.clone(),
            user: User::admin(),
            resource: resource.clone(),
            target: Target {
                group: resource.group.clone(),
                version: resource.version.clone(),
                plural: resource.plural.clone(),
                namespace: namespace.map(str::to_owned),
                name: Some(name.to_owned()),
                ..Target::default()
            },
            query: Query::default(),
            headers: http::HeaderMap::new(),
            form: Form::Object,
            body: bytes::Bytes::new(),
            warnings: Arc::default(),
            notes: Arc::default(),
            one_of_many: false,
            own: true,
        }
    }
}

/// Applies an object, or its part in a subresource, as a controller of the cluster: what others own is taken over.
pub(crate) async fn apply(
    shared: &Arc<Shared>,
    resource: &Arc<Resource>,
    subresource: Option<&str>,
    manager: &str,
    object: &Value,
) -> StatusCode {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let mut request = shared.request(resource, None, name);
    request.target.subresource = subresource.map(str::to_owned);
    request.query = Query::parse(Some(&format!("fieldManager={manager}&force=true")));
    request.headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/apply-patch+yaml"),
    );
    request.body = Bytes::from(object.to_string());
    rest::handle(&request, "patch").await.status()
}

/// Changes a stored object past the rules for users: `change` edits it in place and says whether it did.
/// `None` if the object is gone.
pub(crate) async fn edit(
    shared: &Arc<Shared>,
    resource: &Arc<Resource>,
    namespace: Option<&str>,
    name: &str,
    mut change: impl FnMut(&mut Value) -> bool + Send,
) -> Result<Option<Value>, Status> {
    let key = stored::key(resource, namespace, name);
    loop {
        let record = shared.store.get(&key).map_err(Status::internal)?;
        let Some(record) = record else {
            return Ok(None);
        };
        let mut object = stored::decode_record(resource, &record)?;
        let before = object.clone();
        if !change(&mut object) || object == before {
            return Ok(Some(object));
        }
        let ends = lifecycle::after_update(&object, &before) == lifecycle::Deleting::Now;
        let expect = Expect::At(record.modified);
        let op = if ends {
            Op::Delete {
                key: key.clone(),
                expect,
                last: None,
            }
        } else {
            let value = stored::encode(&convert::to_storage(resource, object.clone())?)?;
            Op::Put {
                key: key.clone(),
                value,
                expect,
            }
        };
        match write::commit_to(&shared.store, op).await {
            Ok(_) if ends => {
                lifecycle::removed(shared, resource, &before);
                return Ok(None);
            }
            Ok(Revision(revision)) => {
                object["metadata"]["resourceVersion"] = Value::String(revision.to_string());
                return Ok(Some(object));
            }
            Err(Failure::Mismatch(_)) => {}
            Err(Failure::Refused(status)) => return Err(status),
        }
    }
}

/// Removes a finalizer from an object.
pub(crate) fn drop_finalizer(object: &mut Value, name: &str) -> bool {
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return false;
    };
    let Some(list) = metadata.get_mut("finalizers").and_then(Value::as_array_mut) else {
        return false;
    };
    let before = list.len();
    list.retain(|finalizer| finalizer != name);
    let changed = list.len() != before;
    if list.is_empty() {
        metadata.remove("finalizers");
    }
    changed
}
