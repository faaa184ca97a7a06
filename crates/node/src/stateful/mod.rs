//! StatefulSets: pods with names and claims of their own.

mod decide;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use self::decide::{Numbered, REVISION_LABEL, Step, Wanted, claims, ordinal};
use crate::{
    hands::{Hands, Outcome},
    kinds::Kind,
    pods,
    queue::Task,
    read::{self, Place, list, owner_reference, text},
    revisions,
    seen::Pod,
};

/// Looks at a set: makes, ends or replaces pods, and writes how many there are.
pub(crate) async fn look(hands: &Hands, place: &Place) -> Outcome {
    let Some(set) = hands.seen.get(Kind::StatefulSet, place) else {
        return Ok(());
    };
    let selector = read::selector(Kind::StatefulSet, &set);
    let owned = pods::claim(hands, Kind::StatefulSet, &set, &selector).await?;
    let pods: Vec<Numbered> = owned
        .into_iter()
        .filter_map(|pod| Some((ordinal(&place.name, &pod)?, pod)))
        .collect();
    let (known, update) = revisions::of(hands, Kind::StatefulSet, &set).await?;
    let current_name = text(&set["status"]["currentRevision"]);
    let current = known
        .iter()
        .find(|revision| read::name(revision) == current_name);
    let current = current.unwrap_or(&update).clone();
    let wanted = Wanted::of(&set, read::name(&current), read::name(&update));
    let now = hands.now();
    let steps = if read::is_deleting(&set) {
        Vec::new()
    } else {
        decide::next(&wanted, &pods, now)
    };
    let mut outcome = Ok(());
    let mut replaced = 0;
    for step in &steps {
        let done = act(hands, &set, step, &pods, [&current, &update]).await;
        if let (Step::Replace(number), Ok(())) = (step, &done) {
            let is_current = |(at, pod): &&Numbered| {
                at == number && pod.labels.get(REVISION_LABEL) == Some(wanted.current)
            };
            replaced += i64::from(pods.iter().find(is_current).is_some());
        }
        if let Err(trouble) = done {
            if !pods::is_terminating(&trouble) {
                outcome = Err(trouble);
            }
            break;
        }
    }
    let status = decide::status(&set, &wanted, &pods, replaced, now);
    hands.set_status(Kind::StatefulSet, &set, &status).await?;
    revisions::clean_up(hands, &set, &known, |revision| {
        let name = read::name(revision);
        name == wanted.current
            || name == wanted.update
            || pods
                .iter()
                .any(|(_, pod)| pod.labels.get(REVISION_LABEL) == Some(name))
    })
    .await?;
    let is_warming =
        |(_, pod): &Numbered| pod.is_ready() && !pod.is_available(wanted.min_ready_seconds, now);
    if pods.iter().any(is_warming) {
        let seconds = u64::try_from(wanted.min_ready_seconds).unwrap_or(1);
        hands.again(Task::StatefulSet, place, Duration::from_secs(seconds));
    }
    outcome
}

async fn act(
    hands: &Hands,
    set: &Value,
    step: &Step,
    pods: &[Numbered],
    revisions: [&Arc<Value>; 2],
) -> Outcome {
    match step {
        Step::Create { ordinal, revision } => {
            make_claims(hands, set, *ordinal).await?;
            let kept = revisions
                .into_iter()
                .find(|known| read::name(known) == revision);
            let template = kept.map_or_else(
                || set["spec"]["template"].clone(),
                |known| revisions::template(known),
            );
            let pod = pod(set, &template, *ordinal, revision);
            hands.create(Kind::Pod, &pod).await.map(drop)
        }
        Step::Replace(number) => end(hands, pods, *number).await,
        Step::ScaleDown(number) => {
            let policy = &set["spec"]["persistentVolumeClaimRetentionPolicy"];
            if policy["whenScaled"] == "Delete" {
                hand_over_claims(hands, set, pods, *number).await?;
            }
            end(hands, pods, *number).await
        }
    }
}

async fn end(hands: &Hands, pods: &[Numbered], number: i64) -> Outcome {
    let found: Vec<Arc<Pod>> = pods
        .iter()
        .filter(|(at, _)| *at == number)
        .map(|(_, pod)| pod.clone())
        .collect();
    pods::delete(hands, &found).await
}

/// A pod of the set.
fn pod(set: &Value, template: &Value, ordinal: i64, revision: &str) -> Value {
    let mut pod = pods::from_template(Kind::StatefulSet, set, template);
    let name = format!("{}-{ordinal}", read::name(set));
    if let Some(metadata) = pod["metadata"].as_object_mut() {
        metadata.remove("generateName");
    }
    pod["metadata"]["name"] = json!(name);
    let labels = &mut pod["metadata"]["labels"];
    labels["statefulset.kubernetes.io/pod-name"] = json!(name);
    labels["apps.kubernetes.io/pod-index"] = json!(ordinal.to_string());
    labels[REVISION_LABEL] = json!(revision);
    let spec = &mut pod["spec"];
    spec["hostname"] = json!(name);
    spec["subdomain"] = set["spec"]["serviceName"].clone();
    let claims = claims(set, ordinal);
    let mut volumes: Vec<Value> = claims
        .iter()
        .map(|(claim, template)| {
            json!({
                "name": template["metadata"]["name"],
                "persistentVolumeClaim": { "claimName": claim },
            })
        })
        .collect();
    let is_claimed = |volume: &Value| {
        claims
            .iter()
            .any(|(_, template)| template["metadata"]["name"] == volume["name"])
    };
    volumes.extend(
        list(&spec["volumes"])
            .iter()
            .filter(|volume| !is_claimed(volume))
            .cloned(),
    );
    if !volumes.is_empty() {
        spec["volumes"] = Value::Array(volumes);
    }
    pod
}

/// Makes the claims of a pod that are missing.
async fn make_claims(hands: &Hands, set: &Value, ordinal: i64) -> Outcome {
    for (name, template) in claims(set, ordinal) {
        let place = Place::new(read::namespace(set), &name);
        if hands
            .seen
            .get(Kind::PersistentVolumeClaim, &place)
            .is_some()
        {
            continue;
        }
        let mut labels = template["metadata"]["labels"].clone();
        for (key, value) in set["spec"]["selector"]["matchLabels"]
            .as_object()
            .into_iter()
            .flatten()
        {
            labels[key.as_str()] = value.clone();
        }
        let mut claim = json!({
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": { "name": name, "namespace": read::namespace(set), "labels": labels },
            "spec": template["spec"],
        });
        if !template["metadata"]["annotations"].is_null() {
            claim["metadata"]["annotations"] = template["metadata"]["annotations"].clone();
        }
        let policy = &set["spec"]["persistentVolumeClaimRetentionPolicy"];
        if policy["whenDeleted"] == "Delete" {
            claim["metadata"]["ownerReferences"] = json!([owner_reference(Kind::StatefulSet, set)]);
        }
        hands.create(Kind::PersistentVolumeClaim, &claim).await?;
    }
    Ok(())
}

/// A pod's claims will end with it.
async fn hand_over_claims(hands: &Hands, set: &Value, pods: &[Numbered], number: i64) -> Outcome {
    let Some((_, pod)) = pods.iter().find(|(at, _)| *at == number) else {
        return Ok(());
    };
    for (name, _) in claims(set, number) {
        let place = Place::new(read::namespace(set), &name);
        if hands
            .seen
            .get(Kind::PersistentVolumeClaim, &place)
            .is_none()
        {
            continue;
        }
        let patch = json!({ "metadata": { "ownerReferences": [{
            "apiVersion": "v1", "kind": "Pod", "name": &*pod.place.name, "uid": &*pod.uid,
        }]}});
        hands
            .merge(Kind::PersistentVolumeClaim, &place, "", &patch)
            .await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_has_its_name_its_host_name_and_its_claims() {
        let set = json!({
            "metadata": { "name": "db", "namespace": "n", "uid": "u" },
            "spec": {
                "serviceName": "dbs",
                "volumeClaimTemplates": [{ "metadata": { "name": "data" } }],
            },
        });
        let template = json!({ "metadata": { "labels": { "app": "db" } }, "spec": {
            "volumes": [{ "name": "data", "emptyDir": {} }, { "name": "tmp", "emptyDir": {} }],
        }});
        let pod = pod(&set, &template, 2, "db-x");
        assert_eq!(pod["metadata"]["name"], "db-2");
        assert_eq!(pod["spec"]["hostname"], "db-2");
        assert_eq!(pod["spec"]["subdomain"], "dbs");
        assert_eq!(list(&pod["spec"]["volumes"]).len(), 2);
        assert_eq!(
            pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"],
            "data-db-2"
        );
    }
}
