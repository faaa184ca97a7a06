//! Tests of pods: which of them are in trouble, and that the words for it stay.

use crate::health::{
    of,
    tests::{line, read},
};

/// The verdict of a pod with these containers; `more` are further fields of its status.
fn judged(spec: &str, containers: &str, more: &str) -> String {
    line(&of(&read(&format!(
        "apiVersion: v1\nkind: Pod\nspec: {{{spec}}}\n\
         status: {{phase: Running, containerStatuses: [{containers}], {more}}}"
    ))))
}

fn main(state: &str) -> String {
    judged(
        "",
        &format!("{{name: main, image: 'r/cart:v9', {state}}}"),
        "",
    )
}

#[test]
fn a_pod_is_judged_by_its_phase_first() {
    for (status, expected) in [
        ("phase: Succeeded", "Healthy"),
        (
            "phase: Failed, reason: Evicted, message: disk is full",
            "Degraded | Evicted | disk is full",
        ),
        (
            "phase: Failed, containerStatuses: [{name: a, state: {terminated: {exitCode: 0}}}, {name: b, state: {terminated: {exitCode: 2}}}]",
            "Degraded | Failed | container b: exit code 2",
        ),
        ("phase: Failed", "Degraded | Failed | it has failed"),
        (
            "phase: Pending",
            "Progressing | Starting | it is not ready yet",
        ),
        (
            "phase: Running, conditions: [{type: Ready, status: 'True'}]",
            "Healthy",
        ),
        (
            "phase: Unknown",
            "Unknown | NodeSilent | its node does not report on it",
        ),
    ] {
        let pod = read(&format!("apiVersion: v1\nkind: Pod\nstatus: {{{status}}}"));
        assert_eq!(line(&of(&pod)), expected, "{status}");
    }
}

#[test]
fn a_failed_pull_is_told_the_same_way_by_turns() {
    let expected = "Degraded | ImagePullFailed | container main: image r/cart:v9 cannot be pulled";
    let tries = "state: {waiting: {reason: ErrImagePull, message: 'r/cart:v9: not found'}}";
    let rests = "state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image'}}";
    assert_eq!(main(tries), expected);
    assert_eq!(main(rests), expected);
}

#[test]
fn the_cause_of_a_failed_pull_is_told_where_the_kubelet_remembers_it() {
    let expected =
        "Degraded | ImagePullFailed | container main: image r/cart:v9 cannot be pulled (not found)";
    for told in [
        "{reason: ErrImagePull, message: 'rpc error: code = NotFound'}",
        "{reason: ImagePullBackOff, message: 'Back-off pulling image \"r/cart:v9\": ErrImagePull: rpc error: code = NotFound'}",
    ] {
        let container = format!("{{name: main, image: 'r/cart:v9', state: {{waiting: {told}}}}}");
        assert_eq!(judged("", &container, "observedGeneration: 1"), expected);
    }
}

#[test]
fn a_crash_loop_is_told_the_same_way_in_all_its_turns() {
    let last = "lastState: {terminated: {exitCode: 1, reason: Error, startedAt: 2025-01-01T00:00:00Z, finishedAt: 2025-01-01T00:00:02Z}}";
    let expected =
        "Degraded | CrashLoopBackOff | container main: ends again and again (exit code 1)";
    for state in [
        format!(
            "restartCount: 3, state: {{waiting: {{reason: CrashLoopBackOff, message: back-off 40s}}}}, {last}"
        ),
        format!(
            "restartCount: 4, state: {{running: {{startedAt: 2025-01-01T00:01:00Z}}}}, ready: false, {last}"
        ),
        format!("restartCount: 4, state: {{terminated: {{exitCode: 1}}}}, {last}"),
    ] {
        assert_eq!(main(&state), expected, "{state}");
    }
}

#[test]
fn a_container_that_ended_once_and_tries_again_is_not_in_a_loop() {
    let last = "lastState: {terminated: {exitCode: 1, reason: Error}}";
    for state in [
        "restartCount: 0, state: {terminated: {exitCode: 1}}".to_owned(),
        format!("restartCount: 1, state: {{running: {{}}}}, ready: false, {last}"),
        "state: {waiting: {reason: ContainerCreating}}".to_owned(),
    ] {
        assert!(main(&state).starts_with("Progressing"), "{state}");
    }
}

#[test]
fn a_container_that_ran_well_for_long_is_not_in_a_loop() {
    let long = "lastState: {terminated: {exitCode: 255, startedAt: 2025-01-01T00:00:00Z, finishedAt: 2025-01-02T00:00:00Z}}";
    assert!(
        main(&format!(
            "restartCount: 7, state: {{running: {{}}}}, ready: false, {long}"
        ))
        .starts_with("Progressing")
    );
    // It was ready in this run and then lost its readiness.
    let container = "{name: main, restartCount: 7, ready: false, \
         state: {running: {startedAt: 2025-01-01T00:00:00Z}}, lastState: {terminated: {exitCode: 1}}}";
    let unready = |since: &str| {
        let condition = format!("{{type: Ready, status: 'False', lastTransitionTime: {since}}}");
        judged("", container, &format!("conditions: [{condition}]"))
    };
    assert!(unready("2025-01-01T00:10:00Z").starts_with("Progressing"));
    assert!(unready("2024-12-31T23:59:59Z").starts_with("Degraded | CrashLoopBackOff"));
}

#[test]
fn want_of_memory_and_commands_that_do_not_start_have_their_own_words() {
    let killed = "lastState: {terminated: {exitCode: 137, reason: OOMKilled}}";
    for state in [
        format!("restartCount: 3, state: {{waiting: {{reason: CrashLoopBackOff}}}}, {killed}"),
        format!("restartCount: 3, state: {{running: {{}}}}, {killed}"),
        "restartCount: 3, state: {terminated: {exitCode: 137, reason: OOMKilled}}".to_owned(),
    ] {
        assert!(main(&state).starts_with("Degraded | OOMKilled | container main: "));
    }
    let told = "'unable to start container process: exec: \"x\": not found: unknown'";
    let expected =
        "Degraded | StartError | container main: cannot be started (exec: \"x\": not found)";
    for state in [
        format!("state: {{waiting: {{reason: RunContainerError, message: {told}}}}}"),
        format!(
            "state: {{waiting: {{reason: CrashLoopBackOff}}}}, lastState: {{terminated: {{reason: StartError, message: {told}}}}}"
        ),
    ] {
        assert_eq!(main(&state), expected);
    }
}

#[test]
fn what_a_container_printed_at_its_end_is_not_repeated() {
    let state = "restartCount: 3, state: {waiting: {reason: CrashLoopBackOff}}, \
         lastState: {terminated: {exitCode: 1, reason: Error, message: password=hunter2}}";
    assert!(!main(state).contains("hunter2"));
}

#[test]
fn a_missing_secret_is_named() {
    assert_eq!(
        main(
            "state: {waiting: {reason: CreateContainerConfigError, message: 'secret \"db\" not found'}}"
        ),
        "Degraded | CreateContainerConfigError | container main: CreateContainerConfigError (secret \"db\" not found)"
    );
}

#[test]
fn init_containers_fail_and_sidecars_run_on() {
    let init = |spec: &str, status: &str| {
        let more = format!("initContainerStatuses: [{{name: first, {status}}}]");
        judged(spec, "", &more)
    };
    let loops = "restartCount: 2, state: {terminated: {exitCode: 3}}";
    assert_eq!(
        init("initContainers: [{name: first}]", loops),
        "Degraded | CrashLoopBackOff | init container first: ends again and again (exit code 3)"
    );
    let done = "restartCount: 2, state: {terminated: {exitCode: 0}}";
    assert!(init("initContainers: [{name: first}]", done).starts_with("Progressing"));
    let sidecar = "initContainers: [{name: first, restartPolicy: Always}]";
    assert_eq!(
        init(sidecar, done),
        "Degraded | CrashLoopBackOff | container first: ends again and again (exit code 0)"
    );
    let runs = "restartCount: 0, ready: true, state: {running: {}}";
    assert!(init(sidecar, runs).starts_with("Progressing"));
}

#[test]
fn what_runs_to_its_end_may_end() {
    let ended = |policy: &str, code: i32| {
        let container =
            format!("{{name: main, restartCount: 2, state: {{terminated: {{exitCode: {code}}}}}}}");
        judged(&format!("restartPolicy: {policy}"), &container, "")
    };
    assert!(ended("OnFailure", 0).starts_with("Progressing"));
    assert!(ended("OnFailure", 1).starts_with("Degraded | CrashLoopBackOff"));
    assert!(ended("Never", 1).starts_with("Progressing"));
    assert!(ended("Always", 0).starts_with("Degraded | CrashLoopBackOff"));
}

#[test]
fn a_pod_is_unschedulable_only_when_the_scheduler_says_so() {
    let scheduled = |condition: &str, more: &str| {
        judged(
            "",
            "",
            &format!("conditions: [{{type: PodScheduled, status: 'False', {condition}}}]{more}"),
        )
    };
    let full = "reason: Unschedulable, message: '0/2 nodes are available: 2 Insufficient cpu.'";
    assert_eq!(
        scheduled(full, ""),
        "Degraded | Unschedulable | no node takes its pod: Insufficient cpu"
    );
    // Room is being made for it.
    assert!(scheduled(full, ", nominatedNodeName: n1").starts_with("Progressing"));
    assert!(scheduled("reason: SchedulingGated", "").starts_with("Progressing"));
    let unbound =
        "reason: Unschedulable, message: 'pod has unbound immediate PersistentVolumeClaims'";
    assert!(scheduled(unbound, "").starts_with("Progressing"));
}

#[test]
fn a_pod_does_not_lose_its_readiness_when_its_spec_is_changed_in_place() {
    let pod = read(
        "apiVersion: v1\nkind: Pod\nmetadata: {generation: 2}\n\
         status: {phase: Running, conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}",
    );
    assert_eq!(line(&of(&pod)), "Healthy");
}

#[test]
fn past_restarts_of_a_ready_pod_are_past() {
    let container = "{name: main, restartCount: 9, ready: true, state: {running: {}}, \
         lastState: {terminated: {exitCode: 1}}}";
    let ready = "conditions: [{type: Ready, status: 'True'}]";
    assert_eq!(judged("", container, ready), "Healthy");
}
