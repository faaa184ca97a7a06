//! Custom resource definitions: accepted, established, served, and taken away.

use std::{collections::HashMap, sync::Arc};

use futures::future::BoxFuture;
use jiff::Timestamp;
use quadrille_machinery::{
    crd,
    schema::Schema,
    status::Status,
    structural::{self, Rules},
};
use quadrille_store::{Record, Revision};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

use super::{Claim, drop_finalizer, edit, steady};
use crate::{
    clock,
    definition::Definition,
    resource::{Origin, Resource, Subresource, storage_version_hash},
    rest::{self, Propagation},
    server::Shared,
    stored,
};

/// The finalizer that keeps a definition until its objects are gone.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
/// The verbs of every custom resource.
const VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

/// What the first delete of a definition leaves on it: a finalizer and a condition.
pub(crate) fn mark_deleted(definition: &mut Value, now: Timestamp) {
    if !definition["metadata"]["deletionTimestamp"].is_null() {
        return;
    }
    let metadata = &mut definition["metadata"];
    if !metadata["finalizers"].is_array() {
        metadata["finalizers"] = json!([]);
    }
    if let Some(list) = metadata["finalizers"].as_array_mut()
        && !list.iter().any(|name| name == CLEANUP)
    {
        list.push(json!(CLEANUP));
    }
    set_terminating(
        definition,
        now,
        "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    );
}

fn set_terminating(definition: &mut Value, now: Timestamp, reason: &str, message: &str) {
    if !definition["status"]["conditions"].is_array() {
        definition["status"]["conditions"] = json!([]);
    }
    let Some(conditions) = definition["status"]["conditions"].as_array_mut() else {
        return;
    };
    let known = conditions
        .iter_mut()
        .find(|condition| condition["type"] == "Terminating" && condition["status"] == "True");
    if let Some(condition) = known {
        condition["reason"] = json!(reason);
        condition["message"] = json!(message);
        return;
    }
    conditions.retain(|condition| condition["type"] != "Terminating");
    conditions.push(json!({
        "type": "Terminating",
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": clock::seconds(now),
    }));
}

fn all(shared: &Shared) -> impl Iterator<Item = Result<Record, Status>> {
    stored::scan(
        &shared.store,
        "customresourcedefinitions.apiextensions.k8s.io/",
    )
}

pub(crate) fn heads(shared: &Shared) -> Result<Vec<Definition>, Status> {
    all(shared)
        .map(|record| Definition::read(&record?))
        .collect()
}

impl Shared {
    /// Reads all definitions and serves what they define. Those that are as before stay as they are.
    pub(crate) fn refresh_catalog(&self) {
        let _one_at_a_time = self.catalog.changing();
        let mut known: HashMap<u64, Vec<Arc<Resource>>> = HashMap::new();
        for resource in self.catalog.snapshot().resources() {
            if let Origin::Custom { definition, .. } = &resource.origin {
                let same = known.entry(definition.revision().0).or_default();
                same.push(resource.clone());
            }
        }
        let mut served = Vec::new();
        for record in all(self) {
            let found = record.and_then(|record| match known.get(&record.modified.0) {
                Some(resources) => Ok(resources.clone()),
                None => {
                    let definition = Definition::read(&record)?;
                    let settled = settled(&definition, known.values().flatten());
                    Ok(resources(definition, settled, |version| version.served))
                }
            });
            match found {
                Ok(resources) => served.extend(resources),
                Err(status) => {
                    tracing::error!(%status, "definitions can't be read; what was served stays served");
                    return;
                }
            }
        }
        self.catalog.set_custom(served);
    }

    /// Does [`Self::sync_definitions`] and, where that fails, goes on trying: nobody who writes the same definition again
    /// would bring it about.
    pub(crate) async fn sync_definitions_at_last(
        self: &Arc<Self>,
        names: &[&str],
    ) -> Result<(), Status> {
        let synced = self.sync_definitions(names).await;
        if synced.is_err() {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            self.tasks.spawn(sync_later(self.clone(), names));
        }
        synced
    }

    /// Brings the status of definitions up to date and serves them; begins the end of those that are being deleted.
    pub(super) async fn sync_definitions(self: &Arc<Self>, names: &[&str]) -> Result<(), Status> {
        if names.is_empty() {
            return Ok(());
        }
        let _one_at_a_time = self.definitions.lock().await;
        let resource = self.resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")?;
        let mut all: Vec<Value> = heads(self)?.iter().map(|head| Value::clone(head)).collect();
        let now = clock::seconds(self.clock.now());
        for name in names {
            let is_it = |definition: &Value| definition["metadata"]["name"] == **name;
            let current = edit(self, &resource, None, name, |definition| {
                let group = definition["spec"]["group"].as_str().unwrap_or_default();
                let mut used = crd::UsedNames::default();
                for other in all.iter().filter(|other| !is_it(other)) {
                    used.add(other, group);
                }
                definition["status"] = crd::status_for(definition, &used, &now);
                true
            })
            .await?;
            let Some(definition) = current else { continue };
            if !definition["metadata"]["deletionTimestamp"].is_null() {
                let uid = definition["metadata"]["uid"].as_str().unwrap_or_default();
                begin_end(self, name, uid);
            }
            // The next one must not take the names that this one got.
            if let Some(before) = all.iter_mut().find(|definition| is_it(definition)) {
                *before = definition;
            }
        }
        drop(all);
        self.refresh_catalog();
        Ok(())
    }
}

/// When the versions of a definition became what they are: at its newest revision, unless another reading
/// of it had the same.
fn settled<'a>(
    definition: &Definition,
    mut known: impl Iterator<Item = &'a Arc<Resource>>,
) -> Revision {
    let same = known.find_map(|resource| match &resource.origin {
        Origin::Custom {
            definition: before,
            settled,
            ..
        } if before["metadata"]["uid"] == definition["metadata"]["uid"]
            && before.digest() == definition.digest() =>
        {
            Some(*settled)
        }
        _ => None,
    });
    same.unwrap_or_else(|| definition.revision())
}

/// What a definition would bring with the versions that are not served.
pub(crate) fn not_served(definition: &Definition, settled: Revision) -> Vec<Arc<Resource>> {
    resources(definition.clone(), settled, |version| !version.served)
}

/// The resources that a definition brings, one per version that is wanted.
fn resources(
    definition: Definition,
    settled: Revision,
    is_wanted: impl Fn(&crd::CustomVersion) -> bool,
) -> Vec<Arc<Resource>> {
    let established = definition["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == "Established" && condition["status"] == "True");
    if !established {
        return Vec::new();
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(text).collect()
    };
    let definition = Arc::new(definition);
    let versions = crd::versions(&definition, |index| {
        let definition = definition.clone();
        Schema::later(move || structural::schema(definition.open_api(index).as_ref()))
    });
    let names = &definition["status"]["acceptedNames"];
    let group = text(&definition["spec"]["group"]);
    let plural = text(&names["plural"]);
    let kind = text(&names["kind"]);
    let Some((storage_version, stored_schema)) = versions
        .iter()
        .find(|version| version.storage)
        .map(|version| (version.name.clone(), version.schema.clone()))
    else {
        return Vec::new();
    };
    versions
        .into_iter()
        .enumerate()
        .filter(|(_, version)| is_wanted(version))
        .map(|(version_index, version)| Resource {
            group: group.clone(),
            version: version.name.clone(),
            kind: kind.clone(),
            list_kind: text(&names["listKind"]),
            plural: plural.clone(),
            singular: text(&names["singular"]),
            short_names: texts(&names["shortNames"]),
            categories: texts(&names["categories"]),
            namespaced: definition["spec"]["scope"] == "Namespaced",
            verbs: VERBS.map(str::to_owned).to_vec(),
            subresources: subresources(&group, &kind, &version),
            schema: version.schema.clone(),
            storage: format!("{plural}.{group}"),
            storage_version: format!("{group}/{storage_version}"),
            storage_version_hash: storage_version_hash(&group, &storage_version, &kind),
            origin: Origin::Custom {
                definition: definition.clone(),
                version_index,
                stored_schema: stored_schema.clone(),
                rules: Arc::new(Rules::new(version.schema)),
                settled,
            },
        })
        .map(Arc::new)
        .collect()
}

fn subresources(group: &str, kind: &str, version: &crd::CustomVersion) -> Vec<Subresource> {
    let verbs: Vec<String> = ["get", "patch", "update"].map(str::to_owned).to_vec();
    let mut subresources = Vec::new();
    if version.scale.is_some() {
        subresources.push(Subresource {
            name: "scale".to_owned(),
            group: "autoscaling".to_owned(),
            version: "v1".to_owned(),
            kind: "Scale".to_owned(),
            verbs: verbs.clone(),
        });
    }
    if version.status {
        subresources.push(Subresource {
            name: "status".to_owned(),
            group: group.to_owned(),
            version: version.name.clone(),
            kind: kind.to_owned(),
            verbs,
        });
    }
    subresources
}

/// Boxed as [`end`] is.
fn sync_later(shared: Arc<Shared>, names: Vec<String>) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let what = format!("definitions {} are served", names.join(", "));
        steady::insist(&shared, &what, || shared.sync_definitions(&names)).await;
    })
}

/// Sees to the end of a definition, unless somebody does.
fn begin_end(shared: &Arc<Shared>, name: &str, uid: &str) {
    if let Some(claim) = Claim::on(shared, uid) {
        let (name, uid) = (name.to_owned(), uid.to_owned());
        shared.tasks.spawn(end(shared.clone(), name, uid, claim));
    }
}

/// Deletes the objects of a definition, then the definition.
///
/// Boxed, since deleting an object may again touch a definition: the types would be endless otherwise.
fn end(shared: Arc<Shared>, name: String, uid: String, claim: Claim) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let what = format!("definition {name} is removed");
        steady::insist(&shared, &what, || try_end(&shared, &name, &uid)).await;
        drop(claim);
    })
}

/// Goes on for as long as it is this definition, and it waits for its objects: somebody may finish it by hand, and make
/// another one of its name.
async fn try_end(shared: &Arc<Shared>, name: &str, uid: &str) -> Result<(), Status> {
    let resource = shared.resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")?;
    let Some((definition, revision)) = waiting(shared, &resource, name, uid)? else {
        return Ok(());
    };
    let is_it = |definition: &Value| definition["metadata"]["uid"] == *uid;
    // Objects are in the version in which they are stored: it may be that none is served.
    let stored = resources(definition, revision, |version| version.storage);
    if let Some(instances) = stored.first() {
        let now = shared.clock.now();
        edit(shared, &resource, None, name, |definition| {
            let message = "CustomResource deletion is in progress";
            if is_it(definition) {
                set_terminating(definition, now, "InstanceDeletionInProgress", message);
            }
            is_it(definition)
        })
        .await?;
        let prefix = stored::prefix(instances, None);
        loop {
            let at = shared.store.revision();
            let mut watch = shared.store.watch(&prefix, at).map_err(Status::internal)?;
            if waiting(shared, &resource, name, uid)?.is_none() {
                return Ok(());
            }
            rest::remove_all(shared, instances, None, Propagation::Background).await?;
            if shared.store.count(&prefix).map_err(Status::internal)? == 0 {
                break;
            }
            // Some wait for a finalizer: look again when any of them has changed since this look began.
            steady::next(shared, &mut watch).await;
            if shared.shutdown.is_cancelled() {
                return Ok(());
            }
        }
    }
    edit(shared, &resource, None, name, |definition| {
        is_it(definition) && drop_finalizer(definition, CLEANUP)
    })
    .await?;
    shared.refresh_catalog();
    Ok(())
}

/// A definition, if it is this one and still waits for its objects.
fn waiting(
    shared: &Shared,
    definitions: &Resource,
    name: &str,
    uid: &str,
) -> Result<Option<(Definition, Revision)>, Status> {
    let key = stored::key(definitions, None, name);
    let Some(record) = shared.store.get(&key).map_err(Status::internal)? else {
        return Ok(None);
    };
    let definition = Definition::read(&record)?;
    let metadata = &definition["metadata"];
    let mut finalizers = metadata["finalizers"].as_array().into_iter().flatten();
    let is_waiting = metadata["uid"] == *uid && finalizers.any(|name| name == CLEANUP);
    Ok(is_waiting.then_some((definition, record.modified)))
}

/// Goes on with what an earlier run of the server left half done: definitions that are being deleted, and those that it did
/// not live to serve.
pub(crate) async fn resume(shared: &Arc<Shared>) -> Result<(), Status> {
    /// As much of a definition as tells how far it is.
    #[derive(Deserialize)]
    struct Written {
        metadata: Metadata,
        spec: Spec,
        #[serde(default)]
        status: Told,
    }
    #[derive(Deserialize)]
    struct Spec {
        names: Value,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase")]
    struct Told {
        #[serde(default)]
        accepted_names: Value,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        name: String,
        uid: String,
        deletion_timestamp: Option<IgnoredAny>,
    }
    let mut unsettled = Vec::new();
    for record in all(shared) {
        let written: Written = serde_json::from_slice(&record?.value).map_err(Status::internal)?;
        let name = written.metadata.name;
        if written.metadata.deletion_timestamp.is_some() {
            begin_end(shared, &name, &written.metadata.uid);
        } else if written.status.accepted_names != written.spec.names {
            unsettled.push(name);
        }
    }
    let unsettled: Vec<&str> = unsettled.iter().map(String::as_str).collect();
    // A server that cannot write now, for want of disk space maybe, is still one to read from and to delete with.
    if let Err(status) = shared.sync_definitions_at_last(&unsettled).await {
        tracing::warn!(%status, "not all definitions are served yet");
    }
    Ok(())
}
