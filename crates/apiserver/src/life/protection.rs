//! Volumes and claims in use are not deleted under their users: the finalizers that admission puts on them
//! go when nobody uses them.

use std::sync::Arc;

use quadrille_machinery::status::Status;
use quadrille_store::Change;
use serde_json::Value;

use super::{drop_finalizer, edit, steady};
use crate::{server::Shared, stored};

/// Resources that are protected, their finalizers, and the prefix of whatever may use them.
const PROTECTED: [(&str, &str); 2] = [
    ("persistentvolumeclaims", "kubernetes.io/pvc-protection"),
    ("persistentvolumes", "kubernetes.io/pv-protection"),
];

/// Lets go of what nobody uses, until the server stops.
pub(crate) async fn run(shared: Arc<Shared>) {
    steady::keep_following(&shared, "volumes are protected", || follow(&shared)).await;
}

async fn follow(shared: &Arc<Shared>) -> Result<(), Status> {
    let mut watch = shared
        .store
        .watch(b"p", shared.store.revision())
        .map_err(Status::internal)?;
    sweep(shared).await?;
    while let Some(event) = steady::next(shared, &mut watch).await {
        if matters(&event.key, event.change, &event.value) {
            sweep(shared).await?;
        }
    }
    Ok(())
}

/// A user that went or ended, or a protected object that is being deleted.
fn matters(key: &[u8], change: Change, value: &[u8]) -> bool {
    let says = |words: &[u8]| value.windows(words.len()).any(|window| window == words);
    if key.starts_with(b"pods/") {
        let is_over = || says(br#""phase":"Succeeded""#) || says(br#""phase":"Failed""#);
        return change == Change::Deleted || is_over();
    }
    key.starts_with(b"persistentvolume")
        && change == Change::Updated
        && says(br#""deletionTimestamp":""#)
}

async fn sweep(shared: &Arc<Shared>) -> Result<(), Status> {
    for (plural, finalizer) in PROTECTED {
        let resource = shared.resource("", "v1", plural)?;
        for record in stored::scan(&shared.store, stored::prefix(&resource, None)) {
            let record = record?;
            let object = stored::decode_record(&resource, &record)?;
            if object["metadata"]["deletionTimestamp"].is_null() || is_used(shared, &object)? {
                continue;
            }
            let (namespace, name) = stored::name_of(&resource, &record.key);
            edit(shared, &resource, namespace, name, |object| {
                drop_finalizer(object, finalizer)
            })
            .await?;
        }
    }
    Ok(())
}

/// A claim is used by pods, a volume by the claim that it is bound to.
fn is_used(shared: &Shared, object: &Value) -> Result<bool, Status> {
    if object["kind"] == "PersistentVolume" {
        return Ok(object["status"]["phase"] == "Bound");
    }
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let name = &object["metadata"]["name"];
    for record in stored::scan(&shared.store, format!("pods/{namespace}/")) {
        let pod: Value = serde_json::from_slice(&record?.value).map_err(Status::internal)?;
        let over = matches!(
            pod["status"]["phase"].as_str(),
            Some("Succeeded" | "Failed")
        );
        let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
        let mut claims = volumes.map(|volume| &volume["persistentVolumeClaim"]["claimName"]);
        if !over && claims.any(|claim| claim == name) {
            return Ok(true);
        }
    }
    Ok(false)
}
