//! Tests of verdicts that depend on pods.

use serde_json::Value;

use super::{steady_from, with_pods};
use crate::health::{
    Health, Pod, of,
    tests::{line, read},
};

const CRASHES: &str = "{name: main, restartCount: 5, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1}}}";
const STARTS: &str = "{name: main, state: {waiting: {reason: ContainerCreating}}}";
const LOOP: &str =
    "Degraded | CrashLoopBackOff | container main: ends again and again (exit code 1)";

/// A pod of that revision, made in that minute.
fn pod(revision: &str, minute: u32, container: &str) -> Value {
    read(&format!(
        "metadata:\n  name: p{minute}\n  creationTimestamp: 2025-01-01T00:{minute:02}:00Z\n  \
         labels: {{pod-template-hash: {revision}, controller-revision-hash: {revision}}}\n\
         status: {{phase: Running, containerStatuses: [{container}]}}"
    ))
}

fn judged(object: &Value, pods: &[Value]) -> String {
    line(&with_pods(
        object,
        &pods.iter().map(Pod::read).collect::<Vec<_>>(),
    ))
}

fn workload(kind: &str, spec: &str, status: &str) -> Value {
    read(&format!(
        "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: cart, namespace: shop, uid: u1, generation: 1}}\n\
         spec: {{selector: {{matchLabels: {{app: cart}}}}, {spec}}}\n\
         status: {{observedGeneration: 1, {status}}}"
    ))
}

fn rolling() -> Value {
    workload(
        "Deployment",
        "replicas: 2",
        "replicas: 3, updatedReplicas: 1, availableReplicas: 2",
    )
}

#[test]
fn pods_that_crash_after_a_finished_rollout_degrade_it() {
    let finished = workload(
        "Deployment",
        "replicas: 2",
        "replicas: 2, updatedReplicas: 2, availableReplicas: 1, \
         conditions: [{type: Progressing, status: 'True', reason: NewReplicaSetAvailable}]",
    );
    assert_eq!(of(&finished).health, Health::Progressing);
    assert_eq!(judged(&finished, &[pod("a", 1, CRASHES)]), LOOP);
    assert_eq!(
        judged(&finished, &[pod("a", 1, STARTS)]),
        line(&of(&finished))
    );
    // The caller keeps watching until it has recovered.
    let verdict = with_pods(&finished, &[Pod::read(&pod("a", 1, CRASHES))]);
    assert_eq!(verdict.pods, of(&finished).pods);
    assert!(verdict.pods.is_some() && verdict.deadline.is_none());
}

#[test]
fn only_the_newest_revision_of_a_deployment_counts() {
    let old_crashes = [pod("a", 1, CRASHES), pod("b", 2, STARTS)];
    assert!(judged(&rolling(), &old_crashes).starts_with("Progressing"));
    let new_crashes = [pod("a", 1, STARTS), pod("b", 2, CRASHES)];
    assert_eq!(judged(&rolling(), &new_crashes), LOOP);
    // Back to the first revision: its pods are new again.
    let back = [
        pod("a", 1, STARTS),
        pod("b", 2, CRASHES),
        pod("a", 3, STARTS),
    ];
    assert!(judged(&rolling(), &back).starts_with("Progressing"));
}

#[test]
fn a_revision_is_newer_if_both_made_pods_at_once_but_one_is_older() {
    let pods = [
        pod("a", 1, CRASHES),
        pod("a", 2, CRASHES),
        pod("b", 2, STARTS),
    ];
    assert!(judged(&rolling(), &pods).starts_with("Progressing"));
}

#[test]
fn deleted_and_ended_pods_do_not_count() {
    let mut deleted = pod("b", 2, CRASHES);
    deleted["metadata"]["deletionTimestamp"] = "2025-01-01T01:00:00Z".into();
    let mut ended = pod("b", 2, CRASHES);
    ended["status"]["phase"] = "Failed".into();
    assert!(judged(&rolling(), &[deleted, ended]).starts_with("Progressing"));
}

#[test]
fn pods_of_others_under_the_same_labels_do_not_count() {
    let owned = |kind: &str, name: &str, uid: &str| {
        let mut pod = pod("b", 2, CRASHES);
        pod["metadata"]["ownerReferences"] = read(&format!(
            "[{{controller: true, kind: {kind}, name: {name}, uid: {uid}}}]"
        ));
        pod
    };
    assert_eq!(
        judged(&rolling(), &[owned("ReplicaSet", "cart-b", "x")]),
        LOOP
    );
    for other in [
        owned("ReplicaSet", "cart-db-b", "x"),
        owned("Job", "cart-b", "x"),
    ] {
        assert!(judged(&rolling(), &[other]).starts_with("Progressing"));
    }
    let set = workload("ReplicaSet", "replicas: 1", "replicas: 1");
    assert_eq!(judged(&set, &[owned("ReplicaSet", "cart", "u1")]), LOOP);
    assert!(judged(&set, &[owned("ReplicaSet", "other", "u2")]).starts_with("Progressing"));
}

#[test]
fn a_stateful_set_is_judged_by_the_revision_it_goes_to() {
    let status = "replicas: 2, updatedReplicas: 1, availableReplicas: 1, currentRevision: a, updateRevision: b";
    let set = workload("StatefulSet", "replicas: 2", status);
    let old_crashes = [pod("a", 1, CRASHES), pod("b", 2, STARTS)];
    assert!(judged(&set, &old_crashes).starts_with("Progressing"));
    assert_eq!(
        judged(&set, &[pod("a", 9, STARTS), pod("b", 2, CRASHES)]),
        LOOP
    );
    // No pod was replaced yet, and one that crashes can hold that up.
    assert_eq!(judged(&set, &old_crashes[..1]), LOOP);
    for strategy in ["type: OnDelete", "rollingUpdate: {partition: 1}"] {
        let spec = format!("replicas: 2, updateStrategy: {{{strategy}}}");
        let set = workload("StatefulSet", &spec, status);
        assert_eq!(judged(&set, &old_crashes), LOOP, "{strategy}");
    }
}

#[test]
fn a_daemon_set_is_judged_by_its_newest_revision() {
    let status = "desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 1";
    let pods = [pod("a", 1, CRASHES), pod("b", 2, STARTS)];
    let set = workload("DaemonSet", "", status);
    assert!(judged(&set, &pods).starts_with("Progressing"));
    let by_hand = workload("DaemonSet", "updateStrategy: {type: OnDelete}", status);
    assert_eq!(judged(&by_hand, &pods), LOOP);
}

#[test]
fn a_job_whose_pods_cannot_start_is_degraded_before_it_gives_up() {
    let job = read(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: load}\n\
         spec: {selector: {matchLabels: {job: load}}}\nstatus: {active: 1}",
    );
    let waiting = "{name: main, image: 'r/a:1', state: {waiting: {reason: ErrImagePull}}}";
    assert_eq!(
        judged(&job, &[pod("", 1, waiting)]),
        "Degraded | ImagePullFailed | container main: image r/a:1 cannot be pulled"
    );
}

#[test]
fn a_stuck_rollout_is_told_by_its_cause_and_a_pause_hides_nothing() {
    let stuck = workload(
        "Deployment",
        "replicas: 1",
        "replicas: 1, updatedReplicas: 1, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]",
    );
    assert!(judged(&stuck, &[]).starts_with("Degraded | ProgressDeadlineExceeded"));
    assert_eq!(judged(&stuck, &[pod("a", 1, CRASHES)]), LOOP);
    let paused = workload("Deployment", "replicas: 1, paused: true", "replicas: 1");
    assert!(judged(&paused, &[pod("a", 1, STARTS)]).starts_with("Suspended"));
    assert_eq!(judged(&paused, &[pod("a", 1, CRASHES)]), LOOP);
}

#[test]
fn pods_change_nothing_where_none_are_asked_for() {
    let fine = workload(
        "Deployment",
        "replicas: 1",
        "replicas: 1, updatedReplicas: 1, availableReplicas: 1",
    );
    assert_eq!(judged(&fine, &[pod("a", 1, CRASHES)]), "Healthy");
    let zero = workload("Deployment", "replicas: 0", "replicas: 0");
    assert!(judged(&zero, &[pod("a", 1, CRASHES)]).starts_with("Suspended"));
}

#[test]
fn the_same_trouble_is_told_whatever_the_order_of_the_pods() {
    let full = "{name: side, state: {waiting: {reason: InvalidImageName}}, image: ':'}";
    let mut pods = vec![pod("a", 1, CRASHES), pod("a", 2, full), pod("a", 3, STARTS)];
    let first = judged(&rolling(), &pods);
    pods.reverse();
    assert_eq!(judged(&rolling(), &pods), first);
    assert_eq!(
        first,
        "Degraded | InvalidImageName | container side: \":\" is no name of an image"
    );
}

#[test]
fn a_crash_loop_that_looks_well_for_a_moment_is_not_believed() {
    let running = |restarts: u32, lasted: &str| {
        let container = format!(
            "{{name: main, ready: true, restartCount: {restarts}, state: {{running: {{startedAt: 2025-01-01T10:00:00Z}}}}, \
             lastState: {{terminated: {{exitCode: 1, startedAt: 2025-01-01T00:00:00Z, finishedAt: 2025-01-01T{lasted}Z}}}}}}"
        );
        let mut pod = pod("a", 1, &container);
        pod["status"]["conditions"] = read("[{type: Ready, status: 'True'}]");
        steady_from(&rolling(), &[Pod::read(&pod)]).map(|time| time.to_string())
    };
    assert_eq!(
        running(3, "00:00:01").as_deref(),
        Some("2025-01-01T10:00:30Z")
    );
    assert_eq!(
        running(3, "00:03:00").as_deref(),
        Some("2025-01-01T10:06:00Z")
    );
    assert_eq!(
        running(3, "00:09:00").as_deref(),
        Some("2025-01-01T10:10:00Z")
    );
    // After a long good run, or without a restart, there is nothing to prove.
    assert_eq!(running(3, "05:00:00"), None);
    assert_eq!(running(0, "00:00:01"), None);
}

#[test]
fn of_revisions_within_a_second_the_one_counts_that_the_controller_names() {
    let of_set = |revision: &str, container: &str| {
        let mut pod = pod(revision, 1, container);
        pod["metadata"]["ownerReferences"] = serde_json::json!([{
            "kind": "ReplicaSet", "name": format!("cart-{revision}"), "uid": revision, "controller": true,
        }]);
        pod
    };
    let runs = "{name: main, ready: true, state: {running: {startedAt: '2025-01-01T00:01:00Z'}}}";
    for (old, new) in [("a", "b"), ("b", "a")] {
        let status = format!(
            "replicas: 3, updatedReplicas: 1, availableReplicas: 2, conditions: [{{type: Progressing, status: 'True', \
             reason: ReplicaSetUpdated, message: 'ReplicaSet \"cart-{new}\" is progressing.'}}]"
        );
        let rolling = workload("Deployment", "replicas: 2", &status);
        let crashed = [of_set(old, runs), of_set(new, CRASHES)];
        assert_eq!(judged(&rolling, &crashed), LOOP, "{new}");
        let mended = [of_set(old, CRASHES), of_set(new, STARTS)];
        assert_eq!(judged(&rolling, &mended), line(&of(&rolling)), "{new}");
    }
}
