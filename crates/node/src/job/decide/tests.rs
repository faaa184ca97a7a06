//! When a Job makes pods, waits, and ends.

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_893_456_000 + second).unwrap()
}

fn pod(name: &str, phase: &str, code: i64, finished: i64) -> Arc<Pod> {
    Arc::new(Pod::read(&json!({
        "metadata": {
            "name": name, "namespace": "n", "uid": name,
            "finalizers": ["batch.kubernetes.io/job-tracking"],
            "annotations": { "batch.kubernetes.io/job-completion-index": name },
        },
        "spec": { "nodeName": "n" },
        "status": { "phase": phase, "containerStatuses": [{ "name": "main", "state": {
            "terminated": { "exitCode": code, "finishedAt": shown(at(finished)) },
        }}]},
    })))
}

fn job(spec: &Value) -> Value {
    json!({ "spec": spec, "status": { "startTime": shown(at(0)) } })
}

#[test]
fn it_makes_as_many_pods_as_may_run_at_once_and_are_still_needed() {
    let job = job(&json!({ "completions": 5, "parallelism": 2 }));
    let pods = [pod("a", "Succeeded", 0, 1), pod("b", "Running", 0, 1)];
    let counted = Counted::new(&job, &pods, at(2));
    assert_eq!((counted.wanted(), counted.missing()), (2, 1));
    assert_eq!(counted.succeeded, 1);
    assert_eq!(counted.success(1), None);
}

#[test]
fn it_is_done_when_enough_pods_did_well_and_none_runs() {
    let job = job(&json!({ "completions": 1, "parallelism": 1 }));
    let pods = [pod("a", "Succeeded", 0, 1)];
    let counted = Counted::new(&job, &pods, at(2));
    assert_eq!(counted.end(), None);
    let end = counted.success(0).unwrap();
    assert_eq!(end.types(), ("SuccessCriteriaMet", "Complete"));
    assert_eq!(end.reason, "CompletionsReached");
}

#[test]
fn failures_pause_it_ever_longer_and_end_it_at_last() {
    let job = job(&json!({ "completions": 1, "parallelism": 1, "backoffLimit": 1 }));
    let mut pods = vec![pod("a", "Failed", 1, 5)];
    assert_eq!(
        Counted::new(&job, &pods, at(6)).paused_until(),
        Some(at(15))
    );
    assert_eq!(Counted::new(&job, &pods, at(15)).paused_until(), None);
    pods.push(pod("b", "Failed", 1, 16));
    let counted = Counted::new(&job, &pods, at(17));
    assert_eq!(counted.paused_until(), Some(at(36)));
    assert_eq!(counted.end().unwrap().reason, "BackoffLimitExceeded");
}

#[test]
fn it_ends_when_it_took_too_long() {
    let job = job(&json!({ "completions": 1, "activeDeadlineSeconds": 30 }));
    assert_eq!(Counted::new(&job, &[], at(29)).end(), None);
    assert_eq!(
        Counted::new(&job, &[], at(30)).end().unwrap().reason,
        "DeadlineExceeded"
    );
}

#[test]
fn a_rule_about_exit_codes_ends_it_or_lets_a_failure_pass() {
    let rules = |action: &str| {
        job(
            &json!({ "backoffLimit": 0, "podFailurePolicy": { "rules": [{
                "action": action, "onExitCodes": { "operator": "In", "values": [42] },
            }]}}),
        )
    };
    let pods = [pod("a", "Failed", 42, 1)];
    let end = Counted::new(&rules("FailJob"), &pods, at(2)).end().unwrap();
    assert_eq!(
        end.message,
        "Container main for pod n/a failed with exit code 42 matching FailJob rule at index 0"
    );
    let ignoring = rules("Ignore");
    let counted = Counted::new(&ignoring, &pods, at(2));
    assert_eq!((counted.failed, counted.end()), (0, None));
}

#[test]
fn an_indexed_job_makes_pods_for_indexes_that_are_missing() {
    let mut job = job(&json!({ "completionMode": "Indexed", "completions": 5, "parallelism": 5 }));
    job["status"]["completedIndexes"] = json!("0");
    let pods = [pod("1", "Succeeded", 0, 1), pod("3", "Running", 0, 1)];
    let counted = Counted::new(&job, &pods, at(2));
    assert_eq!(counted.pending_indexes(9), [2, 4]);
    assert_eq!(counted.succeeded, 2);
}

#[test]
fn pods_are_counted_once_their_finalizer_is_gone() {
    let mut status = json!({
        "succeeded": 1,
        "uncountedTerminatedPods": { "succeeded": ["a", "b"], "failed": ["c"] },
    });
    settle(&mut status, |uid| uid == "b");
    assert_eq!(
        status,
        json!({ "succeeded": 2, "failed": 1, "uncountedTerminatedPods": { "succeeded": ["b"] } })
    );
}
