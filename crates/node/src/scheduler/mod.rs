//! Gives pods a node.

pub(crate) mod fit;

use jiff::Timestamp;
use quadrille_planes::Trouble;
use serde_json::{Value, json};

use crate::{
    clock::shown,
    events::About,
    hands::{Hands, Manager, Outcome},
    kinds::Kind,
    read::{self, Place, list, text},
    seen::{Pod, Use},
};

/// Looks at a pod that has no node.
pub(crate) async fn look(hands: &Hands, place: &Place) -> Outcome {
    let Some(pod) = hands.seen.pod(place) else {
        return Ok(());
    };
    let Some(spec) = pod.unscheduled.as_deref() else {
        return Ok(());
    };
    if pod.deleting.is_some() || !crate::seen::wants_scheduling(spec) {
        return Ok(());
    }
    if let Some(why) = missing_claim(hands, &pod, spec) {
        return refuse(hands, &pod, &why).await;
    }
    let nodes = hands.seen.all(Kind::Node);
    let mut obstacles = Vec::new();
    let mut best: Option<(i64, &Value)> = None;
    for node in &nodes {
        let taken = hands.seen.taken(read::name(node));
        let room = Use::room(node);
        let mut free = room;
        free.add(taken, -1);
        match fit::obstacle(spec, node, room, free, pod.use_of) {
            Some(obstacle) => obstacles.push(obstacle),
            None if best.is_none_or(|(pods, _)| taken.pods < pods) => {
                best = Some((taken.pods, node));
            }
            None => {}
        }
    }
    match best {
        Some((_, node)) => match hands.bind(place, &pod.uid, read::name(node)).await {
            // It has a node already, or is about to end: the watch will tell.
            Err(Trouble::Conflict(_) | Trouble::NotFound(_)) => Ok(()),
            other => other,
        },
        None => refuse(hands, &pod, &fit::message(&obstacles)).await,
    }
}

/// A claim that the pod waits for.
fn missing_claim(hands: &Hands, pod: &Pod, spec: &Value) -> Option<String> {
    for volume in list(&spec["volumes"]) {
        let claim = text(&volume["persistentVolumeClaim"]["claimName"]);
        if claim.is_empty() {
            continue;
        }
        let place = Place::new(&pod.place.namespace, claim);
        match hands.seen.get(Kind::PersistentVolumeClaim, &place) {
            None => return Some(format!("persistentvolumeclaim {claim:?} not found")),
            Some(claim) if claim["status"]["phase"] != "Bound" => {
                return Some("pod has unbound immediate PersistentVolumeClaims".to_owned());
            }
            Some(_) => {}
        }
    }
    None
}

/// Says why a pod has no node; it looks again when something changes.
async fn refuse(hands: &Hands, pod: &Pod, why: &str) -> Outcome {
    let Some(object) = hands.get(Kind::Pod, &pod.place).await? else {
        return Ok(());
    };
    let known = read::condition(&object["status"], "PodScheduled");
    if known.is_some_and(|known| known["message"] == why && known["status"] == "False") {
        return Ok(());
    }
    let patch = json!({ "status": { "conditions": [condition(known, why, hands.now())] } });
    hands
        .patch(
            Kind::Pod,
            &pod.place,
            "status",
            &patch,
            "strategic",
            Manager::Scheduler,
        )
        .await?;
    let about = About {
        kind: Kind::Pod,
        place: &pod.place,
        uid: &pod.uid,
    };
    hands
        .event_about(&about, ("Warning", "FailedScheduling", why))
        .await;
    Ok(())
}

fn condition(known: Option<&Value>, why: &str, now: Timestamp) -> Value {
    let since = known
        .filter(|known| known["status"] == "False")
        .map_or_else(
            || json!(shown(now)),
            |known| known["lastTransitionTime"].clone(),
        );
    json!({
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": why,
        "lastProbeTime": null,
        "lastTransitionTime": since,
    })
}
