//! The node: takes the pods that were given to it, has a runtime run them, and says how they are.

mod facts;
mod plan;
pub mod runtime;
pub mod simulated;
mod status;

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use quadrille_planes::Trouble;
use serde_json::{Value, json};
use tokio::sync::mpsc;

pub use self::plan::{ANNOTATION_PREFIX, Container, NamedPort, Plan, Restart};
use self::{
    facts::{Facts, Stopping},
    runtime::{PodRun, Report, Reports, Runtime},
};
use crate::{
    clock::Clock,
    events::About,
    hands::{Ending, Hands, Manager, Outcome},
    kinds::Kind,
    queue::{Key, Queue, Task},
    read::{self, Place},
    seen::Pod,
};

/// The address of the node.
const HOST: &str = "127.0.0.1";
/// When something that a pod needs is looked for again.
const MISSING_AGAIN: Duration = Duration::from_secs(2);

/// The node's own memory.
pub(crate) struct Kubelet {
    node: String,
    runtime: Arc<dyn Runtime>,
    reports: Reports,
    pods: Mutex<HashMap<Place, Facts>>,
    clock: Arc<dyn Clock>,
}

impl Kubelet {
    /// A node of that name, and where its runtime's reports come in.
    pub(crate) fn new(
        node: String,
        runtime: Arc<dyn Runtime>,
        clock: Arc<dyn Clock>,
    ) -> (Self, mpsc::UnboundedReceiver<Report>) {
        let (reports, receiver) = mpsc::unbounded_channel();
        let kubelet = Self {
            node,
            runtime,
            reports,
            pods: Mutex::default(),
            clock,
        };
        (kubelet, receiver)
    }

    pub(crate) fn node(&self) -> &str {
        &self.node
    }

    pub(crate) fn runtime(&self) -> &dyn Runtime {
        &*self.runtime
    }

    /// Takes in a report.
    pub(crate) fn hear(&self, report: Report, queue: &Queue) {
        let now = self.clock.now();
        let mut pods = self.pods.lock();
        let Some(facts) = pods.get_mut(&report.place) else {
            return;
        };
        if facts.pod.uid != report.uid {
            return;
        }
        facts.hear(report.container, report.attempt, report.news, now);
        drop(pods);
        queue.add(Key {
            task: Task::Kubelet,
            place: report.place,
        });
    }

    fn forget(&self, place: &Place) {
        let known = self.pods.lock().remove(place);
        if let Some(facts) = known {
            self.runtime.forget(&facts.pod.uid);
        }
    }
}

/// Looks at a pod of this node.
pub(crate) async fn look(hands: &Hands, place: &Place) -> Outcome {
    let kubelet = &hands.kubelet;
    let Some(pod) = hands.seen.pod(place) else {
        kubelet.forget(place);
        return Ok(());
    };
    if pod.node.as_deref() != Some(kubelet.node()) {
        return bury_orphan(hands, &pod).await;
    }
    if pod.is_over() {
        kubelet.forget(place);
        return if pod.deleting.is_some() && pod.grace_seconds > 0 {
            bury(hands, &pod).await
        } else {
            Ok(())
        };
    }
    take_in(hands, &pod).await?;
    if pod.deleting.is_some() {
        return stop(hands, &pod).await;
    }
    let missing = missing(hands, &pod).await?;
    if missing.is_some() {
        hands.again(Task::Kubelet, place, MISSING_AGAIN);
    }
    let (starts, wake, run) = {
        let mut pods = kubelet.pods.lock();
        let Some(facts) = pods.get_mut(place) else {
            return Ok(());
        };
        facts.missing = missing.map(Into::into);
        if facts.missing.is_some() {
            (Vec::new(), None, None)
        } else {
            let (starts, wake) = facts.step(hands.now());
            let run = (!starts.is_empty()).then(|| facts.pod.clone());
            (starts, wake, run)
        }
    };
    tell(hands, &pod).await?;
    if let Some(run) = run {
        for (container, attempt) in starts {
            kubelet
                .runtime
                .start(&run, container, attempt, &kubelet.reports);
        }
    }
    if let Some(at) = wake {
        let key = Key {
            task: Task::Kubelet,
            place: place.clone(),
        };
        hands.queue.add_at(key, at);
    }
    Ok(())
}

/// Makes a place for a pod that is new here, or goes on with one that was here before.
async fn take_in(hands: &Hands, pod: &Pod) -> Outcome {
    let kubelet = &hands.kubelet;
    let known = kubelet
        .pods
        .lock()
        .get(&pod.place)
        .map(|facts| facts.pod.uid.clone());
    match known {
        Some(uid) if uid == pod.uid => return Ok(()),
        Some(_) => kubelet.forget(&pod.place),
        None => {}
    }
    let Some(plan) = pod.plan.clone() else {
        return Ok(());
    };
    let run = PodRun {
        place: pod.place.clone(),
        uid: pod.uid.clone(),
        plan,
    };
    let mut ip = kubelet.runtime.prepare(&run, pod.ip.as_deref());
    if run.plan.is_on_host {
        HOST.clone_into(&mut ip);
    }
    let now = hands.now();
    let is_plain = pod.restarts == 0 && run.plan.containers.iter().all(|one| !one.is_init);
    let facts = if pod.ip.is_none() {
        Facts::new(run, ip, now)
    } else if let Some(since) = pod.ready_since.filter(|_| is_plain) {
        let mut facts = Facts::well(run, ip, since);
        facts.told = digest(&status::status(&mut facts, HOST, pod.generation, now));
        facts
    } else {
        let object = hands.get(Kind::Pod, &pod.place).await?;
        let status = object.map(|object| object["status"].clone());
        Facts::remembered(run, ip, &status.unwrap_or_default(), now)
    };
    for (container, attempt) in facts.running() {
        kubelet
            .runtime
            .resume(&facts.pod, container, attempt, &kubelet.reports);
    }
    let wishes = if pod.ip.is_none() {
        kubelet.runtime.misunderstood(&facts.pod.plan)
    } else {
        // They were told when the pod was new.
        Vec::new()
    };
    kubelet.pods.lock().insert(pod.place.clone(), facts);
    let about = About {
        kind: Kind::Pod,
        place: &pod.place,
        uid: &pod.uid,
    };
    for words in wishes {
        hands
            .event_about(&about, ("Warning", "InvalidAnnotation", &words))
            .await;
    }
    Ok(())
}

/// Something that the pod can't start without, and is not there.
async fn missing(hands: &Hands, pod: &Pod) -> Result<Option<String>, Trouble> {
    let Some(plan) = pod.plan.as_deref().filter(|_| !pod.is_ready()) else {
        return Ok(None);
    };
    for (plural, name) in &plan.needs {
        let namespace = &pod.place.namespace;
        let path = format!("/api/v1/namespaces/{namespace}/{plural}/{name}");
        if hands.get_path(&path).await?.is_none() {
            let kind = plural.trim_end_matches('s');
            return Ok(Some(format!("{kind} {name:?} not found")));
        }
    }
    Ok(None)
}

/// Writes a pod's status, if it says anything new.
async fn tell(hands: &Hands, pod: &Pod) -> Outcome {
    let kubelet = &hands.kubelet;
    let now = hands.now();
    let (status, digest) = {
        let mut pods = kubelet.pods.lock();
        let Some(facts) = pods.get_mut(&pod.place) else {
            return Ok(());
        };
        let status = status::status(facts, HOST, pod.generation, now);
        let digest = digest(&status);
        if digest == facts.told {
            return Ok(());
        }
        (status, digest)
    };
    let patch = json!({ "metadata": { "uid": &*pod.uid }, "status": status });
    let written = hands
        .patch(
            Kind::Pod,
            &pod.place,
            "status",
            &patch,
            "strategic",
            Manager::Kubelet,
        )
        .await;
    match written {
        Ok(_) => {}
        Err(Trouble::NotFound(_)) => return Ok(()),
        Err(trouble) => return Err(trouble),
    }
    if let Some(facts) = kubelet.pods.lock().get_mut(&pod.place) {
        facts.told = digest;
    }
    warn(hands, pod, &status).await;
    Ok(())
}

fn digest(status: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    status.to_string().hash(&mut hasher);
    hasher.finish()
}

/// Events about containers in trouble, as people look for them.
async fn warn(hands: &Hands, pod: &Pod, status: &Value) {
    for container in read::list(&status["containerStatuses"]) {
        let waiting = &container["state"]["waiting"];
        let name = read::text(&container["name"]);
        let message = read::text(&waiting["message"]);
        let words = match read::text(&waiting["reason"]) {
            "CrashLoopBackOff" => (
                "BackOff",
                format!(
                    "Back-off restarting failed container {name} in pod {}_{}({})",
                    pod.place.name, pod.place.namespace, pod.uid
                ),
            ),
            "ErrImagePull" => {
                let image = read::text(&container["image"]);
                (
                    "Failed",
                    format!("Failed to pull image {image:?}: {message}"),
                )
            }
            "ImagePullBackOff" => ("BackOff", message.to_owned()),
            "CreateContainerConfigError" => ("Failed", format!("Error: {message}")),
            _ => continue,
        };
        let about = About {
            kind: Kind::Pod,
            place: &pod.place,
            uid: &pod.uid,
        };
        hands
            .event_about(&about, ("Warning", words.0, &words.1))
            .await;
    }
}

/// Has a pod stopped, and ends it when it has.
async fn stop(hands: &Hands, pod: &Pod) -> Outcome {
    let kubelet = &hands.kubelet;
    let stopping = {
        let mut pods = kubelet.pods.lock();
        pods.get_mut(&pod.place).map(|facts| {
            let was = facts.stopping;
            if was == Stopping::No {
                facts.stopping = Stopping::Asked;
            }
            (was, facts.pod.clone())
        })
    };
    match stopping {
        Some((Stopping::No, run)) => {
            let grace = Duration::from_secs(u64::try_from(pod.grace_seconds).unwrap_or(0));
            kubelet.runtime.stop(&run, grace, &kubelet.reports);
            Ok(())
        }
        Some((Stopping::Asked, _)) => Ok(()),
        Some((Stopping::Done, _)) => {
            if pod.has_finalizers {
                // Somebody wants to see how it ended.
                tell(hands, pod).await?;
            }
            bury(hands, pod).await
        }
        None => bury(hands, pod).await,
    }
}

async fn bury(hands: &Hands, pod: &Pod) -> Outcome {
    let how = Ending {
        grace_seconds: Some(0),
        ..Ending::default()
    };
    match hands.delete(Kind::Pod, &pod.place, &pod.uid, how).await {
        // Another pod of the same name has taken its place.
        Err(Trouble::Conflict(_)) => Ok(()),
        other => other,
    }
}

/// A pod that is to end on a node that does not exist has nobody to end it.
async fn bury_orphan(hands: &Hands, pod: &Pod) -> Outcome {
    let Some(node) = pod.node.as_deref() else {
        return Ok(());
    };
    let place = Place::new("", node);
    if pod.deleting.is_none() || hands.seen.get(Kind::Node, &place).is_some() {
        return Ok(());
    }
    bury(hands, pod).await
}

/// What the node has to give: nothing here is real, so there is a lot.
fn capacity() -> Value {
    json!({ "cpu": "1k", "memory": "4Ti", "pods": "20k", "ephemeral-storage": "100Ti" })
}

/// Shows the node: what runs its containers, and how many pods it takes.
pub(crate) async fn present(hands: Arc<Hands>) {
    let place = Place::new("", hands.kubelet.node());
    let mut pause = Duration::from_millis(50);
    while let Err(trouble) = show_node(&hands, &place).await {
        tracing::info!(%trouble, "the node could not be shown; trying again");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(10));
    }
}

async fn show_node(hands: &Hands, place: &Place) -> Outcome {
    if hands.get(Kind::Node, place).await?.is_none() {
        let node = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": { "name": &*place.name, "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": &*place.name,
                "kubernetes.io/os": "linux",
            }},
        });
        hands.create(Kind::Node, &node).await?;
    }
    let ready = ready_condition(hands.now());
    let status = json!({ "status": {
        "capacity": capacity(),
        "allocatable": capacity(),
        "conditions": [ready],
        "addresses": [
            { "type": "InternalIP", "address": HOST },
            { "type": "Hostname", "address": &*place.name },
        ],
        "nodeInfo": { "containerRuntimeVersion": hands.kubelet.runtime().version() },
    }});
    hands
        .patch(
            Kind::Node,
            place,
            "status",
            &status,
            "strategic",
            Manager::Kubelet,
        )
        .await?;
    // A new node is taken for not ready, and nobody else takes that back.
    let taint = json!({ "spec": { "taints": [
        { "$patch": "delete", "key": "node.kubernetes.io/not-ready", "effect": "NoSchedule" },
    ]}});
    hands
        .patch(Kind::Node, place, "", &taint, "strategic", Manager::Kubelet)
        .await
        .map(drop)
}

fn ready_condition(now: Timestamp) -> Value {
    json!({
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "kubelet is posting ready status",
        "lastHeartbeatTime": crate::clock::shown(now),
        "lastTransitionTime": crate::clock::shown(now),
    })
}
