//! Namespaces: what each one has from birth, and how it ends.

use std::{collections::BTreeSet, sync::Arc};

use bytes::Bytes;
use quadrille_machinery::{builtin::termination::Remaining, status::Status};
use quadrille_store::{Change, Revision};
use serde_json::{Value, json};

use super::{Claim, bootstrap::create_missing, edit, steady};
use crate::{
    clock,
    resource::Resource,
    rest::{self, Propagation},
    server::Shared,
    stored,
};

/// The prefix of namespaces in the store.
const PREFIX: &[u8] = b"namespaces/";
/// Who furnishes namespaces on every cluster; clients know it by this name.
const MANAGER: &str = "kube-controller-manager";
/// How many records are read at a time.
const CHUNK: usize = 500;
/// What the root certificate's config map says of itself, as on every cluster.
const ROOT_CA: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/// Follows namespaces until the server stops.
pub(crate) async fn run(shared: Arc<Shared>) {
    steady::keep_following(&shared, "namespaces are followed", || follow(&shared)).await;
}

async fn follow(shared: &Arc<Shared>) -> Result<(), Status> {
    let at = shared.store.revision();
    let mut watch = shared.store.watch(PREFIX, at).map_err(Status::internal)?;
    for name in names(shared, at)? {
        look_at(shared, name).await;
    }
    while let Some(event) = steady::next(shared, &mut watch).await {
        if event.change == Change::Deleted {
            continue;
        }
        if let Some(name) = name_of(&event.key) {
            look_at(shared, name).await;
        }
    }
    Ok(())
}

fn name_of(key: &[u8]) -> Option<String> {
    std::str::from_utf8(key.get(PREFIX.len()..)?)
        .ok()
        .map(str::to_owned)
}

fn names(shared: &Shared, at: Revision) -> Result<Vec<String>, Status> {
    let mut names = Vec::new();
    let mut after = None;
    loop {
        let page = shared
            .store
            .list(PREFIX, after.as_deref(), CHUNK, Some(at))
            .map_err(Status::internal)?;
        names.extend(
            page.records
                .iter()
                .filter_map(|record| name_of(&record.key)),
        );
        match page.records.last() {
            Some(last) if page.more => after = Some(last.key.clone()),
            _ => return Ok(names),
        }
    }
}

/// Sees to a namespace; where that fails, until it succeeds, while all others go on.
async fn look_at(shared: &Arc<Shared>, name: String) {
    if let Err(status) = settle(shared, &name).await {
        tracing::warn!(%status, namespace = name, "the namespace could not be furnished yet");
        shared.tasks.spawn(furnish_at_last(shared.clone(), name));
    }
}

async fn furnish_at_last(shared: Arc<Shared>, name: String) {
    let what = format!("namespace {name} is furnished");
    steady::insist(&shared, &what, || settle(&shared, &name)).await;
}

/// Gives a namespace what it lacks, or goes on with its end.
async fn settle(shared: &Arc<Shared>, name: &str) -> Result<(), Status> {
    let Some(namespace) = load(shared, name)? else {
        return Ok(());
    };
    if namespace["metadata"]["deletionTimestamp"].is_null() {
        return furnish(shared, name).await;
    }
    let uid = namespace["metadata"]["uid"].as_str().unwrap_or_default();
    if let Some(claim) = Claim::on(shared, uid) {
        let (name, uid) = (name.to_owned(), uid.to_owned());
        shared.tasks.spawn(end(shared.clone(), name, uid, claim));
    }
    Ok(())
}

fn load(shared: &Shared, name: &str) -> Result<Option<Value>, Status> {
    let resource = shared.resource("", "v1", "namespaces")?;
    let key = stored::key(&resource, None, name);
    let record = shared.store.get(&key).map_err(Status::internal)?;
    record
        .map(|record| stored::decode_record(&resource, &record))
        .transpose()
}

/// The default service account, and the root certificate that its pods trust.
async fn furnish(shared: &Arc<Shared>, namespace: &str) -> Result<(), Status> {
    let account = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": { "name": "default", "namespace": namespace },
    });
    let root_ca = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "kube-root-ca.crt",
            "namespace": namespace,
            "annotations": { "kubernetes.io/description": ROOT_CA },
        },
        "data": { "ca.crt": shared.root_ca },
    });
    for object in [account, root_ca] {
        match create_missing(shared, &object, MANAGER).await {
            // The namespace began to end in between.
            Err(status) if status.code == 403 || status.code == 404 => return Ok(()),
            other => other?,
        }
    }
    Ok(())
}

/// Empties a namespace, then removes it.
async fn end(shared: Arc<Shared>, name: String, uid: String, claim: Claim) {
    let what = format!("namespace {name} is removed");
    steady::insist(&shared, &what, || try_end(&shared, &name, &uid)).await;
    drop(claim);
}

/// Goes on for as long as it is this namespace: somebody may finish it by hand, and make another one of its name.
async fn try_end(shared: &Arc<Shared>, name: &str, uid: &str) -> Result<(), Status> {
    let namespaces = shared.resource("", "v1", "namespaces")?;
    let own_key = stored::key(&namespaces, None, name);
    let is_it = |namespace: &Value| namespace["metadata"]["uid"] == *uid;
    loop {
        let at = shared.store.revision();
        let mut watch = shared.store.watch(b"", at).map_err(Status::internal)?;
        if !load(shared, name)?.as_ref().is_some_and(is_it) {
            return Ok(());
        }
        let remaining = empty(shared, name).await?;
        let now = clock::seconds(shared.clock.now());
        edit(shared, &namespaces, None, name, |namespace| {
            is_it(namespace) && remaining.tell(&mut namespace["status"], &now)
        })
        .await?;
        if remaining.count() == 0 {
            break;
        }
        // Something waits for a finalizer or a grace period: look again when anything in here has changed since this look
        // began.
        while let Some(event) = steady::next(shared, &mut watch).await {
            let is_over = event.change == Change::Deleted && event.key == own_key;
            if is_over || is_inside(&event.key, name) {
                break;
            }
        }
        if shared.shutdown.is_cancelled() {
            return Ok(());
        }
    }
    edit(shared, &namespaces, None, name, |namespace| {
        let spec = if is_it(namespace) {
            namespace["spec"].as_object_mut()
        } else {
            None
        };
        spec.is_some_and(|spec| spec.remove("finalizers").is_some())
    })
    .await?;
    Ok(())
}

/// Whether a key is of an object in a namespace.
fn is_inside(key: &[u8], namespace: &str) -> bool {
    let mut parts = key.split(|byte| *byte == b'/');
    parts.next();
    parts.next() == Some(namespace.as_bytes()) && parts.next().is_some()
}

/// Deletes what is in a namespace, pods first; gives what is left.
async fn empty(shared: &Arc<Shared>, namespace: &str) -> Result<Remaining, Status> {
    let catalog = shared.catalog.snapshot();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut resources: Vec<&Arc<Resource>> = catalog
        .resources()
        .iter()
        .filter(|resource| resource.namespaced)
        .filter(|resource| resource.verbs.iter().any(|verb| verb == "delete"))
        .filter(|resource| seen.insert(resource.storage.as_str()))
        .collect();
    resources.sort_by_key(|resource| resource.storage != "pods");
    let mut remaining = Remaining::default();
    for resource in resources {
        let prefix = stored::prefix(resource, Some(namespace));
        if shared.store.count(&prefix).map_err(Status::internal)? == 0 {
            continue;
        }
        rest::remove_all(shared, resource, Some(namespace), Propagation::Background).await?;
        count(shared, resource, prefix, &mut remaining)?;
        if resource.storage == "pods" && remaining.count() > 0 {
            break;
        }
    }
    Ok(remaining)
}

/// Counts the objects below a prefix, and what holds them.
fn count(
    shared: &Shared,
    resource: &Resource,
    prefix: Bytes,
    remaining: &mut Remaining,
) -> Result<(), Status> {
    let mut objects = 0;
    for record in stored::scan(&shared.store, prefix) {
        objects += 1;
        let object = stored::decode_record(resource, &record?)?;
        let finalizers = object["metadata"]["finalizers"].as_array();
        for name in finalizers.into_iter().flatten().filter_map(Value::as_str) {
            *remaining.finalizers.entry(name.to_owned()).or_default() += 1;
        }
    }
    if objects > 0 {
        let name = format!("{}.{}", resource.plural, resource.group);
        remaining.resources.insert(name, objects);
    }
    Ok(())
}
