//! What all controllers of pods do alike: claim theirs, make new ones, end some.

use std::sync::Arc;

use futures::future::join_all;
use quadrille_machinery::selector::LabelSelector;
use quadrille_planes::Trouble;
use serde_json::{Value, json};

use crate::{
    hands::{Ending, Hands, Outcome},
    kinds::Kind,
    read::{self, Place, list, owner_reference},
    seen::Pod,
};

/// How many pods one look makes or ends at most.
pub(crate) const BURST: usize = 500;

/// The pods of a controller: its own, less those that its selector no longer has, plus those that nobody controls.
pub(crate) async fn claim(
    hands: &Hands,
    kind: Kind,
    object: &Value,
    selector: &LabelSelector,
) -> Result<Vec<Arc<Pod>>, Trouble> {
    let uid = read::uid(object);
    let is_deleting = read::is_deleting(object);
    let mut claimed = Vec::new();
    for pod in hands.seen.pods_of(uid) {
        if pod.is_selected(selector) {
            claimed.push(pod);
        } else if !is_deleting {
            release(hands, &pod, uid).await?;
        }
    }
    if is_deleting {
        return Ok(claimed);
    }
    let orphans = hands.seen.pods_within(read::namespace(object), |pod| {
        !pod.is_controlled && pod.deleting.is_none() && !pod.is_over() && pod.is_selected(selector)
    });
    for orphan in orphans {
        adopt(hands, Kind::Pod, &orphan.place, &orphan.uid, kind, object).await?;
        claimed.extend(hands.seen.pod(&orphan.place));
    }
    Ok(claimed)
}

/// Makes an object nobody controls one's own.
pub(crate) async fn adopt(
    hands: &Hands,
    adopted: Kind,
    place: &Place,
    uid: &str,
    kind: Kind,
    owner: &Value,
) -> Outcome {
    let Some(object) = hands.get(adopted, place).await? else {
        return Ok(());
    };
    if read::uid(&object) != uid || read::is_controlled(&object) {
        return Ok(());
    }
    let mut references = list(&object["metadata"]["ownerReferences"]).to_vec();
    references.retain(|reference| reference["uid"] != owner["metadata"]["uid"]);
    references.push(owner_reference(kind, owner));
    own(hands, adopted, place, &object, &references).await
}

async fn release(hands: &Hands, pod: &Pod, owner: &str) -> Outcome {
    let Some(object) = hands.get(Kind::Pod, &pod.place).await? else {
        return Ok(());
    };
    let mut references = list(&object["metadata"]["ownerReferences"]).to_vec();
    references.retain(|reference| reference["uid"] != owner);
    own(hands, Kind::Pod, &pod.place, &object, &references).await
}

async fn own(hands: &Hands, kind: Kind, place: &Place, object: &Value, to: &[Value]) -> Outcome {
    let patch = json!({ "metadata": {
        "resourceVersion": object["metadata"]["resourceVersion"],
        "ownerReferences": to,
    }});
    hands.merge(kind, place, "", &patch).await.map(drop)
}

/// A pod by a controller's template; the name is made by the server.
pub(crate) fn from_template(kind: Kind, owner: &Value, template: &Value) -> Value {
    let from = &template["metadata"];
    let mut metadata = json!({
        "generateName": format!("{}-", read::name(owner)),
        "namespace": read::namespace(owner),
        "ownerReferences": [owner_reference(kind, owner)],
    });
    for field in ["labels", "annotations", "finalizers"] {
        if !from[field].is_null() {
            metadata[field] = from[field].clone();
        }
    }
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"] })
}

/// What came of making pods.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) count: i64,
    pub(crate) trouble: Option<Trouble>,
}

/// Makes pods: one, then two, then four at a time, and no more after a failure, since the others would fail alike.
pub(crate) async fn create(hands: &Hands, pods: &[Value]) -> Made {
    let mut made = Made::default();
    let mut rest = pods;
    let mut batch = 1;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(batch.min(rest.len()));
        for answer in join_all(now.iter().map(|pod| hands.create(Kind::Pod, pod))).await {
            match answer {
                Ok(_) => made.count += 1,
                Err(trouble) => made.trouble = Some(trouble),
            }
        }
        if made.trouble.is_some() {
            break;
        }
        rest = later;
        batch = (batch * 2).min(64);
    }
    made
}

/// Ends pods.
pub(crate) async fn delete(hands: &Hands, pods: &[Arc<Pod>]) -> Outcome {
    let ends = pods
        .iter()
        .map(|pod| hands.delete(Kind::Pod, &pod.place, &pod.uid, Ending::default()));
    join_all(ends).await.into_iter().collect()
}

/// Whether a failure comes from a namespace that is about to end: then there is nothing more to do.
pub(crate) fn is_terminating(trouble: &Trouble) -> bool {
    let Trouble::Forbidden(status) = trouble else {
        return false;
    };
    status.details.as_ref().is_some_and(|details| {
        details
            .causes
            .iter()
            .any(|cause| cause.reason == "NamespaceTerminating")
    })
}
