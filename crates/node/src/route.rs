//! Whom a change concerns.

use serde_json::Value;

use crate::{
    hands::Hands,
    kinds::Kind,
    queue::{Key, Task},
    read::{self, Owner, Place},
    seen::{CONTROLLERS, Change, Changed, Pod, wants_scheduling},
};

/// Has everybody look whom a change concerns.
pub(crate) fn wake(hands: &Hands, changed: &Changed) {
    match changed {
        Changed::Pod(change) => pod(hands, change),
        Changed::Other(kind, change) => other(hands, *kind, change),
    }
}

fn add(hands: &Hands, task: Task, place: Place) {
    hands.queue.add(Key { task, place });
}

/// Who looks after a kind itself.
fn task(kind: Kind) -> Option<Task> {
    Some(match kind {
        Kind::ReplicaSet => Task::ReplicaSet,
        Kind::ReplicationController => Task::ReplicationController,
        Kind::Deployment => Task::Deployment,
        Kind::StatefulSet => Task::StatefulSet,
        Kind::DaemonSet => Task::DaemonSet,
        Kind::Job => Task::Job,
        Kind::CronJob => Task::CronJob,
        Kind::Service => Task::Endpoints,
        Kind::PersistentVolumeClaim => Task::Claim,
        Kind::PersistentVolume => Task::Volume,
        Kind::HorizontalPodAutoscaler => Task::Autoscaler,
        Kind::PodDisruptionBudget => Task::Budget,
        _ => return None,
    })
}

fn owner(hands: &Hands, namespace: &str, owner: &Owner) {
    if let Some(task) = task(owner.kind) {
        add(hands, task, Place::new(namespace, &owner.name));
    }
}

fn pod(hands: &Hands, (before, after): &Change<Pod>) {
    let Some(pod) = after.as_ref().or(before.as_ref()) else {
        return;
    };
    let namespace = &*pod.place.namespace;
    for version in [before, after].into_iter().flatten() {
        if let Some(controller) = &version.controller {
            owner(hands, namespace, controller);
        }
    }
    if pod.node.as_deref() == Some(hands.kubelet.node())
        || pod.node.is_some() && pod.deleting.is_some()
    {
        add(hands, Task::Kubelet, pod.place.clone());
    }
    if let (Some(spec), Some(_)) = (&pod.unscheduled, after)
        && wants_scheduling(spec)
    {
        add(hands, Task::Schedule, pod.place.clone());
    }
    // Room on a node: those that found none look again.
    let left = |pod: &Pod| pod.node.is_some() && !pod.is_over();
    if before.as_ref().is_some_and(|pod| left(pod)) && !after.as_ref().is_some_and(|pod| left(pod))
    {
        schedule_all(hands);
    }
    if after.is_some() && !pod.is_controlled {
        for kind in CONTROLLERS {
            adopters(hands, kind, namespace, |object| {
                pod.is_selected(&read::selector(kind, object))
            });
        }
    }
    if matters_to_services(before.as_deref(), after.as_deref()) {
        for service in hands.seen.within(Kind::Service, namespace) {
            let Some(selector) = service["spec"]["selector"].as_object() else {
                continue;
            };
            let is_selected = |pod: &Pod| {
                selector
                    .iter()
                    .all(|(key, value)| pod.labels.get(key) == value.as_str())
            };
            if [before, after]
                .into_iter()
                .flatten()
                .any(|pod| is_selected(pod))
            {
                add(hands, Task::Endpoints, Place::of(&service));
            }
        }
        for budget in hands.seen.within(Kind::PodDisruptionBudget, namespace) {
            let selector = read::selector(Kind::PodDisruptionBudget, &budget);
            if [before, after]
                .into_iter()
                .flatten()
                .any(|pod| pod.is_selected(&selector))
            {
                add(hands, Task::Budget, Place::of(&budget));
            }
        }
    }
}

fn matters_to_services(before: Option<&Pod>, after: Option<&Pod>) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return true;
    };
    before.ip != after.ip
        || before.is_ready() != after.is_ready()
        || before.phase != after.phase
        || before.deleting != after.deleting
        || before.labels != after.labels
}

/// Has everything look that might adopt an object nobody controls.
fn adopters(hands: &Hands, kind: Kind, namespace: &str, matches: impl Fn(&Value) -> bool) {
    let Some(task) = task(kind) else { return };
    for object in hands.seen.within(kind, namespace) {
        if matches(&object) {
            add(hands, task, Place::of(&object));
        }
    }
}

/// Pods that have no node look again.
pub(crate) fn schedule_all(hands: &Hands) {
    for pod in hands.seen.unscheduled() {
        let spec = pod.unscheduled.as_deref();
        if spec.is_some_and(wants_scheduling) {
            add(hands, Task::Schedule, pod.place.clone());
        }
    }
}

fn other(hands: &Hands, kind: Kind, (before, after): &Change<Value>) {
    let Some(object) = after.as_ref().or(before.as_ref()) else {
        return;
    };
    let namespace = read::namespace(object);
    for version in [before, after].into_iter().flatten() {
        if let Some(controller) = read::controller(version) {
            owner(hands, namespace, &controller);
        }
    }
    if let Some(task) = task(kind) {
        add(hands, task, Place::of(object));
    }
    if kind == Kind::ReplicaSet && after.is_some() && !read::is_controlled(object) {
        adopters(hands, Kind::Deployment, namespace, |deployment| {
            read::is_selected(&read::selector(Kind::Deployment, deployment), object)
        });
    }
    match kind {
        Kind::Node => {
            schedule_all(hands);
            for set in hands.seen.all(Kind::DaemonSet) {
                add(hands, Task::DaemonSet, Place::of(&set));
            }
        }
        Kind::PersistentVolumeClaim => {
            schedule_all(hands);
            let volume = read::text(&object["spec"]["volumeName"]);
            if !volume.is_empty() {
                add(hands, Task::Volume, Place::new("", volume));
            }
        }
        Kind::PersistentVolume | Kind::StorageClass => {
            for claim in hands.seen.all(Kind::PersistentVolumeClaim) {
                if claim["status"]["phase"] != "Bound" || kind == Kind::PersistentVolume {
                    add(hands, Task::Claim, Place::of(&claim));
                }
            }
        }
        Kind::EndpointSlice | Kind::Endpoints => {
            let service = if kind == Kind::Endpoints {
                read::name(object)
            } else {
                read::text(&object["metadata"]["labels"]["kubernetes.io/service-name"])
            };
            add(hands, Task::Endpoints, Place::new(namespace, service));
        }
        Kind::Deployment | Kind::StatefulSet | Kind::ReplicaSet | Kind::ReplicationController => {
            scalers(hands, kind, object);
        }
        _ => {}
    }
}

/// Autoscalers of a workload look when it changes.
fn scalers(hands: &Hands, kind: Kind, object: &Value) {
    for scaler in hands
        .seen
        .within(Kind::HorizontalPodAutoscaler, read::namespace(object))
    {
        let target = &scaler["spec"]["scaleTargetRef"];
        if target["kind"] == kind.name() && target["name"] == object["metadata"]["name"] {
            add(hands, Task::Autoscaler, Place::of(&scaler));
        }
    }
}
