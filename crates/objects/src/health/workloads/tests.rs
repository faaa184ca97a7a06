//! Tests of what workloads say of themselves.

use std::time::Duration;

use super::*;
use crate::health::{
    Health, of,
    tests::{check, read},
};

const DEPLOYMENT: &str =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: cart, namespace: shop, generation: 3}";
const STATEFUL: &str =
    "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, generation: 3}";
const DAEMON: &str = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: log, generation: 3}";
const REPLICA: &str = "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: one, generation: 3}";

#[test]
fn a_deployment_is_well_only_when_all_its_replicas_are_new_and_available() {
    check(
        DEPLOYMENT,
        &[
            (
                "spec: {replicas: 3}\nstatus: {observedGeneration: 3, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3}",
                "Healthy",
            ),
            // The controller has not seen the spec.
            (
                "spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 3}",
                "Progressing | NotObserved",
            ),
            ("spec: {replicas: 3}", "Progressing | NotObserved"),
            // minReadySeconds: ready, but not for long enough.
            (
                "spec: {replicas: 3, minReadySeconds: 30}\nstatus: {observedGeneration: 3, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 1}",
                "Progressing | Rollout | 1 of 3 replicas are available",
            ),
            // Surge: the old ones still serve.
            (
                "spec: {replicas: 3}\nstatus: {observedGeneration: 3, replicas: 4, updatedReplicas: 1, availableReplicas: 3}",
                "Progressing | Rollout | 1 of 3 replicas are updated",
            ),
            (
                "spec: {replicas: 3}\nstatus: {observedGeneration: 3, replicas: 4, updatedReplicas: 3, availableReplicas: 4}",
                "Progressing | Rollout | replicas left of a former revision: 1",
            ),
            // An autoscaler has the say over replicas.
            (
                "spec: {}\nstatus: {observedGeneration: 3, replicas: 1, updatedReplicas: 1, availableReplicas: 1}",
                "Healthy",
            ),
            // Fewer are wanted than are there.
            (
                "spec: {replicas: 1}\nstatus: {observedGeneration: 3, replicas: 3, updatedReplicas: 3, availableReplicas: 3}",
                "Progressing | Rollout | replicas there: 3, wanted: 1",
            ),
        ],
    );
}

#[test]
fn a_deployment_at_rest_is_suspended() {
    check(
        DEPLOYMENT,
        &[
            (
                "spec: {replicas: 0}\nstatus: {observedGeneration: 3}",
                "Suspended | ScaledToZero",
            ),
            (
                "spec: {replicas: 0}\nstatus: {observedGeneration: 3, replicas: 2}",
                "Progressing | Rollout | replicas left: 2",
            ),
            (
                "spec: {replicas: 2, paused: true}\nstatus: {observedGeneration: 3, replicas: 2, availableReplicas: 2}",
                "Suspended | Paused",
            ),
        ],
    );
}

#[test]
fn a_paused_deployment_that_lacks_replicas_is_still_judged_by_its_pods() {
    let paused = format!(
        "{DEPLOYMENT}\nspec: {{paused: true, selector: {{matchLabels: {{app: cart}}}}}}\nstatus: "
    );
    let short = of(&read(&format!("{paused}{{observedGeneration: 3}}")));
    assert_eq!(short.health, Health::Suspended);
    let pods = short.pods.unwrap();
    assert_eq!(
        (pods.namespace.as_str(), pods.labels.as_str()),
        ("shop", "app=cart")
    );
    let full = of(&read(&format!(
        "{paused}{{observedGeneration: 3, availableReplicas: 1}}"
    )));
    assert_eq!(full.pods, None);
}

#[test]
fn a_stuck_rollout_and_refused_pods_are_trouble() {
    check(
        DEPLOYMENT,
        &[
            (
                "spec: {replicas: 2}\nstatus: {observedGeneration: 3, replicas: 3, updatedReplicas: 1, availableReplicas: 2, \
                 conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}",
                "Degraded | ProgressDeadlineExceeded | 1 of 2 replicas are updated",
            ),
            (
                "spec: {replicas: 2}\nstatus: {observedGeneration: 3, conditions: [{type: ReplicaFailure, status: 'True', \
                 reason: FailedCreate, message: 'pods \"cart-1-a\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'}]}",
                "Degraded | FailedCreate | pod is forbidden: exceeded quota: q, requested: pods=1",
            ),
        ],
    );
    check(
        REPLICA,
        &[(
            "spec: {replicas: 2}\nstatus: {observedGeneration: 3, conditions: [{type: ReplicaFailure, status: 'True', message: nope}]}",
            "Degraded | ReplicaFailure | nope",
        )],
    );
}

#[test]
fn a_deployment_has_at_least_as_long_as_it_gives_itself() {
    let deadline = |seconds: &str| {
        let yaml = format!("{DEPLOYMENT}\nspec: {{{seconds}}}\nstatus: {{observedGeneration: 3}}");
        of(&read(&yaml)).deadline
    };
    assert_eq!(deadline(""), Some(Duration::from_mins(10)));
    assert_eq!(
        deadline("progressDeadlineSeconds: 30"),
        Some(Duration::from_mins(10))
    );
    assert_eq!(
        deadline("progressDeadlineSeconds: 1200"),
        Some(Duration::from_mins(20))
    );
    assert_eq!(deadline("progressDeadlineSeconds: 2147483647"), None);
}

#[test]
fn a_stateful_set_renews_only_what_its_strategy_says() {
    check(
        STATEFUL,
        &[
            (
                "spec: {replicas: 3}\nstatus: {observedGeneration: 3, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3}",
                "Healthy",
            ),
            (
                "spec: {replicas: 3}\nstatus: {observedGeneration: 3, replicas: 3, updatedReplicas: 1, readyReplicas: 3, availableReplicas: 3}",
                "Progressing | Rollout | 1 of 3 replicas are updated",
            ),
            // A partition keeps two of three at the former revision.
            (
                "spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}}\n\
                 status: {observedGeneration: 3, replicas: 3, updatedReplicas: 1, availableReplicas: 3, currentRevision: a, updateRevision: b}",
                "Healthy",
            ),
            (
                "spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 9}}}\n\
                 status: {observedGeneration: 3, replicas: 3, updatedReplicas: 0, availableReplicas: 3}",
                "Healthy",
            ),
            (
                "spec: {replicas: 3, updateStrategy: {type: OnDelete}}\n\
                 status: {observedGeneration: 3, replicas: 3, updatedReplicas: 0, availableReplicas: 3}",
                "Healthy",
            ),
            (
                "spec: {replicas: 3, minReadySeconds: 9}\nstatus: {observedGeneration: 3, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 0}",
                "Progressing | Rollout | 0 of 3 replicas are available",
            ),
            // Ordinals 5, 6 and 7, of which the last two are renewed.
            (
                "spec: {replicas: 3, ordinals: {start: 5}, updateStrategy: {rollingUpdate: {partition: 6}}}\n\
                 status: {observedGeneration: 3, replicas: 3, updatedReplicas: 1, availableReplicas: 3}",
                "Progressing | Rollout | 1 of 2 replicas are updated",
            ),
            // Before there was minReadySeconds.
            (
                "spec: {}\nstatus: {observedGeneration: 3, replicas: 1, updatedReplicas: 1, readyReplicas: 1}",
                "Healthy",
            ),
            (
                "spec: {replicas: 0}\nstatus: {observedGeneration: 3, replicas: 0}",
                "Suspended",
            ),
            (
                "spec: {}\nstatus: {observedGeneration: 2, availableReplicas: 1}",
                "Progressing | NotObserved",
            ),
        ],
    );
}

#[test]
fn a_daemon_set_on_no_node_is_well() {
    check(
        DAEMON,
        &[
            (
                "status: {observedGeneration: 3, desiredNumberScheduled: 0}",
                "Healthy",
            ),
            (
                "status: {observedGeneration: 3, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2}",
                "Healthy",
            ),
            (
                "status: {observedGeneration: 3, desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2}",
                "Progressing | Rollout | 1 of 2 nodes are updated",
            ),
            (
                "spec: {updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 3, desiredNumberScheduled: 2, numberAvailable: 2}",
                "Healthy",
            ),
            (
                "status: {observedGeneration: 3, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1}",
                "Progressing | Rollout | 1 of 2 nodes have an available pod",
            ),
            (
                "status: {observedGeneration: 3}",
                "Progressing | NotObserved",
            ),
        ],
    );
}

#[test]
fn a_replica_set_counts_what_is_available() {
    check(
        REPLICA,
        &[
            (
                "spec: {replicas: 2}\nstatus: {observedGeneration: 3, replicas: 2, availableReplicas: 2}",
                "Healthy",
            ),
            (
                "spec: {}\nstatus: {observedGeneration: 3, replicas: 1}",
                "Progressing | Rollout | 0 of 1",
            ),
            (
                "spec: {replicas: 0}\nstatus: {observedGeneration: 3}",
                "Suspended",
            ),
        ],
    );
}

#[test]
fn the_time_that_a_pod_has_to_prove_itself_is_not_held_against_it() {
    let yaml =
        format!("{STATEFUL}\nspec: {{minReadySeconds: 900}}\nstatus: {{observedGeneration: 3}}");
    assert_eq!(
        of(&read(&yaml)).deadline,
        Some(PATIENCE + Duration::from_mins(15))
    );
}
