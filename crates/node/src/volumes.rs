//! Claims and volumes: a claim gets a volume that is there, or one that is made up for it.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use crate::{
    hands::{Ending, Hands, Outcome},
    kinds::Kind,
    read::{self, Place, list, text},
    seen::milli,
};

/// Volumes of this maker are made up: nothing is stored in them.
const PROVISIONER: &str = "node.quadrille.dev/simulated";
/// The class of claims that name none.
const CLASS: &str = "standard";
const IS_DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";

/// Makes sure that there is a class of storage, unless somebody has made one.
pub(crate) async fn present(hands: Arc<Hands>) {
    let mut pause = Duration::from_millis(50);
    while let Err(trouble) = make_class(&hands).await {
        tracing::info!(%trouble, "the storage class could not be made; trying again");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(10));
    }
}

async fn make_class(hands: &Hands) -> Outcome {
    if hands
        .get(Kind::StorageClass, &Place::new("", CLASS))
        .await?
        .is_some()
    {
        return Ok(());
    }
    let class = json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": { "name": CLASS, "annotations": { IS_DEFAULT: "true" } },
        "provisioner": PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
    });
    hands.create(Kind::StorageClass, &class).await.map(drop)
}

/// The class of a claim: its own, or the default one. Empty means none.
fn class_of(hands: &Hands, claim: &Value) -> String {
    match claim["spec"]["storageClassName"].as_str() {
        Some(name) => name.to_owned(),
        None => hands
            .seen
            .all(Kind::StorageClass)
            .iter()
            .find(|class| class["metadata"]["annotations"][IS_DEFAULT] == "true")
            .map(|class| read::name(class).to_owned())
            .unwrap_or_default(),
    }
}

/// Looks at a claim.
pub(crate) async fn look_at_claim(hands: &Hands, place: &Place) -> Outcome {
    let Some(claim) = hands.seen.get(Kind::PersistentVolumeClaim, place) else {
        return Ok(());
    };
    if read::is_deleting(&claim) {
        return Ok(());
    }
    let named = text(&claim["spec"]["volumeName"]);
    if !named.is_empty() {
        let volume = hands
            .seen
            .get(Kind::PersistentVolume, &Place::new("", named));
        return match volume {
            Some(volume) if is_for(&volume, &claim) => bind(hands, &claim, &volume).await,
            None if claim["status"]["phase"] == "Bound" => {
                let mut status = claim["status"].clone();
                status["phase"] = json!("Lost");
                hands
                    .set_status(Kind::PersistentVolumeClaim, &claim, &status)
                    .await
            }
            _ => Ok(()),
        };
    }
    let class = class_of(hands, &claim);
    let volumes = hands.seen.all(Kind::PersistentVolume);
    if let Some(volume) = choose(&claim, &class, &volumes) {
        return bind(hands, &claim, volume).await;
    }
    provision(hands, &claim, &class).await
}

/// Makes a volume for a claim, if its class is ours.
async fn provision(hands: &Hands, claim: &Value, class: &str) -> Outcome {
    let Some(class) = hands.seen.get(Kind::StorageClass, &Place::new("", class)) else {
        // As a real cluster says it: without a class nobody makes volumes, and one of a name that nobody knows is a slip.
        let words = if class.is_empty() {
            let message =
                "no persistent volumes available for this claim and no storage class is set";
            ("Normal", "FailedBinding", message.to_owned())
        } else {
            let message = format!("storageclass.storage.k8s.io {class:?} not found");
            ("Warning", "ProvisioningFailed", message)
        };
        let (kind, reason, message) = (words.0, words.1, &*words.2);
        hands
            .event(Kind::PersistentVolumeClaim, claim, (kind, reason, message))
            .await;
        return Ok(());
    };
    if class["provisioner"] != PROVISIONER {
        return Ok(());
    }
    let name = format!("pvc-{}", read::uid(claim));
    let place = Place::new("", &name);
    let volume = match hands.seen.get(Kind::PersistentVolume, &place) {
        Some(volume) => volume,
        None => {
            let volume = made_up(claim, &class, &name);
            Arc::new(hands.create(Kind::PersistentVolume, &volume).await?)
        }
    };
    bind(hands, claim, &volume).await
}

fn made_up(claim: &Value, class: &Value, name: &str) -> Value {
    let spec = &claim["spec"];
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": { "name": name, "annotations": { PROVISIONED_BY: PROVISIONER } },
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": { "storage": spec["resources"]["requests"]["storage"] },
            "claimRef": reference(claim),
            "hostPath": { "path": format!("/simulated/{name}"), "type": "" },
            "persistentVolumeReclaimPolicy": class["reclaimPolicy"],
            "storageClassName": class["metadata"]["name"],
            "volumeMode": spec["volumeMode"],
        },
    })
}

fn reference(claim: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": read::namespace(claim),
        "name": read::name(claim),
        "uid": read::uid(claim),
    })
}

/// Whether a volume is the claim's, or could be.
fn is_for(volume: &Value, claim: &Value) -> bool {
    let wanted = &volume["spec"]["claimRef"];
    wanted.is_null()
        || wanted["name"] == claim["metadata"]["name"]
            && wanted["namespace"] == claim["metadata"]["namespace"]
            && (text(&wanted["uid"]).is_empty() || wanted["uid"] == claim["metadata"]["uid"])
}

/// The smallest free volume that a claim can use.
fn choose<'a>(claim: &Value, class: &str, volumes: &'a [Arc<Value>]) -> Option<&'a Arc<Value>> {
    let spec = &claim["spec"];
    let needed = milli(&spec["resources"]["requests"]["storage"]);
    let selector =
        (!spec["selector"].is_null()).then(|| read::selector(Kind::PersistentVolumeClaim, claim));
    volumes
        .iter()
        .filter(|volume| {
            let offer = &volume["spec"];
            let modes = list(&offer["accessModes"]);
            let mode = |value: &Value| value.as_str().unwrap_or("Filesystem").to_owned();
            !read::is_deleting(volume)
                && is_for(volume, claim)
                && !matches!(text(&volume["status"]["phase"]), "Released" | "Failed")
                && text(&offer["storageClassName"]) == class
                && mode(&offer["volumeMode"]) == mode(&spec["volumeMode"])
                && milli(&offer["capacity"]["storage"]) >= needed
                && list(&spec["accessModes"])
                    .iter()
                    .all(|wanted| modes.contains(wanted))
                && selector
                    .as_ref()
                    .is_none_or(|selector| read::is_selected(selector, volume))
        })
        .min_by_key(|volume| {
            let is_reserved = !volume["spec"]["claimRef"].is_null();
            (!is_reserved, milli(&volume["spec"]["capacity"]["storage"]))
        })
}

/// Brings a claim and a volume together, as far as they are not yet.
async fn bind(hands: &Hands, claim: &Value, volume: &Value) -> Outcome {
    let mut volume = volume.clone();
    if volume["spec"]["claimRef"]["uid"] != claim["metadata"]["uid"] {
        let patch = json!({
            "metadata": {
                "resourceVersion": volume["metadata"]["resourceVersion"],
                "annotations": { "pv.kubernetes.io/bound-by-controller": "yes" },
            },
            "spec": { "claimRef": reference(claim) },
        });
        let place = Place::of(&volume);
        volume = hands
            .merge(Kind::PersistentVolume, &place, "", &patch)
            .await?;
    }
    let mut claim = claim.clone();
    if text(&claim["spec"]["volumeName"]).is_empty() {
        let patch = json!({
            "metadata": {
                "resourceVersion": claim["metadata"]["resourceVersion"],
                "annotations": {
                    "pv.kubernetes.io/bind-completed": "yes",
                    "pv.kubernetes.io/bound-by-controller": "yes",
                },
            },
            "spec": { "volumeName": volume["metadata"]["name"] },
        });
        let place = Place::of(&claim);
        claim = hands
            .merge(Kind::PersistentVolumeClaim, &place, "", &patch)
            .await?;
    }
    let mut status = claim["status"].clone();
    status["phase"] = json!("Bound");
    status["accessModes"] = volume["spec"]["accessModes"].clone();
    status["capacity"] = volume["spec"]["capacity"].clone();
    hands
        .set_status(Kind::PersistentVolumeClaim, &claim, &status)
        .await
}

/// Looks at a volume: whether its claim is still there, and what becomes of it if not.
pub(crate) async fn look_at_volume(hands: &Hands, place: &Place) -> Outcome {
    let Some(volume) = hands.seen.get(Kind::PersistentVolume, place) else {
        return Ok(());
    };
    if read::is_deleting(&volume) {
        return Ok(());
    }
    let wanted = &volume["spec"]["claimRef"];
    let claim_place = Place::new(text(&wanted["namespace"]), text(&wanted["name"]));
    let claim = hands.seen.get(Kind::PersistentVolumeClaim, &claim_place);
    let claim_uid = text(&wanted["uid"]);
    let phase = match claim {
        _ if claim_uid.is_empty() => "Available",
        Some(claim) if read::uid(&claim) == claim_uid => "Bound",
        _ => "Released",
    };
    let mut status = volume["status"].clone();
    if status["phase"] == phase {
        let is_ours = volume["metadata"]["annotations"][PROVISIONED_BY] == PROVISIONER;
        let policy = text(&volume["spec"]["persistentVolumeReclaimPolicy"]);
        // Only once everybody can see that its claim is gone: a bound volume is protected.
        if phase == "Released" && is_ours && policy == "Delete" {
            let uid = read::uid(&volume);
            let ending = Ending::default();
            return hands
                .delete(Kind::PersistentVolume, place, uid, ending)
                .await;
        }
        return Ok(());
    }
    status["phase"] = json!(phase);
    status["lastPhaseTransitionTime"] = json!(crate::clock::shown(hands.now()));
    hands
        .set_status(Kind::PersistentVolume, &volume, &status)
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(name: &str, size: &str, claim: &Value) -> Arc<Value> {
        Arc::new(json!({
            "metadata": { "name": name },
            "spec": {
                "capacity": { "storage": size }, "accessModes": ["ReadWriteOnce"],
                "storageClassName": "disk", "claimRef": claim,
            },
        }))
    }

    #[test]
    fn a_claim_takes_the_smallest_volume_that_will_do() {
        let claim = json!({
            "metadata": { "name": "data", "namespace": "n", "uid": "u" },
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": { "requests": { "storage": "5Gi" } },
            },
        });
        let taken = json!({ "name": "other", "namespace": "n", "uid": "o" });
        let volumes = [
            volume("small", "1Gi", &Value::Null),
            volume("large", "50Gi", &Value::Null),
            volume("fit", "5Gi", &Value::Null),
            volume("taken", "5Gi", &taken),
        ];
        let name = |class: &str| {
            choose(&claim, class, &volumes).map(|volume| read::name(volume).to_owned())
        };
        assert_eq!(name("disk").as_deref(), Some("fit"));
        assert_eq!(name("other"), None);
    }
}
