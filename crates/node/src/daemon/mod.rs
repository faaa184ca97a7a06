//! DaemonSets: a pod on every node that is meant.

mod decide;

use std::time::Duration;

use serde_json::{Value, json};

use self::decide::ByNode;
use crate::{
    hands::{Hands, Outcome},
    kinds::Kind,
    pods,
    queue::Task,
    read::{self, Place, int, list, text},
    revisions,
    seen::Pod,
};

const HASH: &str = "controller-revision-hash";

/// Looks at a set.
pub(crate) async fn look(hands: &Hands, place: &Place) -> Outcome {
    let Some(set) = hands.seen.get(Kind::DaemonSet, place) else {
        return Ok(());
    };
    if read::is_deleting(&set) {
        return Ok(());
    }
    let selector = read::selector(Kind::DaemonSet, &set);
    let (known, update) = revisions::of(hands, Kind::DaemonSet, &set).await?;
    let hash = revisions::hash(&update).to_owned();
    let is_new = |pod: &Pod| pod.labels.get(HASH) == Some(&hash);
    let owned = pods::claim(hands, Kind::DaemonSet, &set, &selector).await?;
    let mut by_node = ByNode::new();
    for pod in &owned {
        if let Some(node) = node_of(pod) {
            by_node.entry(node).or_default().push(pod.clone());
        }
    }
    let nodes = hands.seen.all(Kind::Node);
    let steps = decide::manage(&set, &nodes, &by_node);
    let new: Vec<Value> = steps
        .create
        .iter()
        .map(|node| pod(&set, node, &hash))
        .collect();
    let made = pods::create(hands, &new).await;
    pods::delete(hands, &steps.delete).await?;
    let now = hands.now();
    if new.is_empty() && steps.delete.is_empty() {
        let old = decide::roll(&set, &nodes, &by_node, is_new, now);
        pods::delete(hands, &old).await?;
    }
    let status = decide::status(&set, &nodes, &by_node, is_new, now);
    hands.set_status(Kind::DaemonSet, &set, &status).await?;
    revisions::clean_up(hands, &set, &known, |revision| {
        let kept = revisions::hash(revision);
        kept == hash || owned.iter().any(|pod| pod.labels.get(HASH) == Some(kept))
    })
    .await?;
    let seconds = int(&set["spec"]["minReadySeconds"]);
    if seconds > 0 && int(&status["numberReady"]) != int(&status["numberAvailable"]) {
        let wait = Duration::from_secs(u64::try_from(seconds).unwrap_or(1));
        hands.again(Task::DaemonSet, place, wait);
    }
    match made.trouble {
        Some(trouble) if !pods::is_terminating(&trouble) => Err(trouble),
        _ => Ok(()),
    }
}

/// The node that a pod runs on, or is meant for.
fn node_of(pod: &Pod) -> Option<String> {
    if let Some(node) = &pod.node {
        return Some(node.to_string());
    }
    let spec = pod.unscheduled.as_deref()?;
    let required =
        &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let term = list(&required["nodeSelectorTerms"]).first()?;
    let field = list(&term["matchFields"]).first()?;
    list(&field["values"])
        .first()
        .map(|name| text(name).to_owned())
}

/// A pod for one node.
fn pod(set: &Value, node: &str, hash: &str) -> Value {
    let mut pod = pods::from_template(Kind::DaemonSet, set, &set["spec"]["template"]);
    pod["metadata"]["labels"][HASH] = json!(hash);
    let generation = &set["metadata"]["annotations"]["deprecated.daemonset.template.generation"];
    if generation.is_string() {
        pod["metadata"]["labels"]["pod-template-generation"] = generation.clone();
    }
    let spec = &mut pod["spec"];
    spec["tolerations"] = Value::Array(decide::tolerations(spec));
    spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json!({
        "nodeSelectorTerms": [{
            "matchFields": [{ "key": "metadata.name", "operator": "In", "values": [node] }],
        }],
    });
    pod
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_meant_for_its_node_before_it_has_one() {
        let set =
            json!({ "metadata": { "name": "agent", "uid": "u" }, "spec": { "template": {} } });
        let made = pod(&set, "a", "h");
        assert_eq!(node_of(&Pod::read(&made)).as_deref(), Some("a"));
        assert_eq!(made["metadata"]["labels"][HASH], "h");
    }
}
