//! How containers follow one another, crash and come back.

use serde_json::json;

use super::*;
use crate::{kubelet::Plan, read::Place};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_893_456_000 + second).unwrap()
}

pub(super) fn facts(spec: &Value) -> Facts {
    let pod = PodRun {
        place: Place::new("n", "web"),
        uid: "u".into(),
        plan: Arc::new(Plan::read(&json!({ "spec": spec }))),
    };
    Facts::new(pod, "10.0.0.1".to_owned(), at(0))
}

fn exited(code: i32) -> News {
    News::Exited {
        code,
        reason: "Error",
    }
}

#[test]
fn init_containers_run_one_by_one_before_the_others() {
    let mut facts = facts(&json!({
        "initContainers": [{ "name": "a" }, { "name": "side", "restartPolicy": "Always" }],
        "containers": [{ "name": "b" }, { "name": "c" }],
    }));
    assert_eq!(facts.step(at(0)).0, [(0, 0)]);
    facts.hear(0, 0, News::Started, at(0));
    assert_eq!(facts.step(at(1)).0, []);
    facts.hear(0, 0, exited(0), at(1));
    assert!(!facts.is_initialized());
    assert_eq!(
        facts.step(at(1)).0,
        [(1, 0)],
        "the sidecar starts, and the others wait for it"
    );
    facts.hear(1, 0, News::Started, at(1));
    assert_eq!(facts.step(at(1)).0, [(2, 0), (3, 0)]);
    assert!(facts.is_initialized());
}

#[test]
fn a_container_that_crashes_comes_back_at_once_and_then_ever_later() {
    let mut facts = facts(&json!({ "containers": [{ "name": "a" }] }));
    let mut pauses = Vec::new();
    let mut now = 0;
    for attempt in 0..7 {
        let (starts, _) = facts.step(at(now));
        assert_eq!(starts, [(0, attempt)]);
        facts.hear(0, attempt, News::Started, at(now));
        facts.hear(0, attempt, exited(1), at(now));
        let due = facts.restart_at(0).unwrap().as_second() - at(0).as_second();
        pauses.push(due - now);
        now = due;
    }
    assert_eq!(pauses, [0, 10, 20, 40, 80, 160, 300]);
    assert_eq!(facts.containers[0].restarts, 6);
}

#[test]
fn a_container_that_ran_for_long_is_forgiven() {
    let mut facts = facts(&json!({ "containers": [{ "name": "a" }] }));
    facts.containers[0].failures = 5;
    facts.step(at(0));
    facts.hear(0, 0, News::Started, at(0));
    facts.hear(0, 0, exited(1), at(601));
    assert_eq!(facts.restart_at(0), Some(at(601)));
}

#[test]
fn the_restart_policy_decides_who_comes_back() {
    for (policy, code, comes_back) in [
        ("Always", 0, true),
        ("OnFailure", 0, false),
        ("OnFailure", 1, true),
        ("Never", 1, false),
    ] {
        let spec = json!({ "restartPolicy": policy, "containers": [{ "name": "a" }] });
        let mut facts = facts(&spec);
        facts.step(at(0));
        facts.hear(0, 0, News::Started, at(0));
        facts.hear(0, 0, exited(code), at(1));
        assert_eq!(
            !facts.step(at(2)).0.is_empty(),
            comes_back,
            "{policy} {code}"
        );
    }
}

#[test]
fn a_pull_that_fails_is_tried_again_later() {
    let mut facts = facts(&json!({ "containers": [{ "name": "a" }] }));
    facts.step(at(0));
    facts.hear(0, 0, News::PullFailed("no such image".to_owned()), at(0));
    let (starts, wake) = facts.step(at(0));
    assert_eq!(
        (starts, wake),
        (vec![], Some(at(2))),
        "shown as put off after two seconds"
    );
    assert_eq!(facts.step(at(3)), (vec![], Some(at(10))));
    assert_eq!(facts.step(at(10)).0, [(0, 1)]);
    facts.hear(0, 0, News::Started, at(10));
    assert_eq!(
        facts.containers[0].doing,
        Doing::Starting,
        "that was about the first start"
    );
}

#[test]
fn a_status_is_remembered_after_a_restart_of_the_node() {
    let mut before = facts(&json!({ "containers": [{ "name": "a" }, { "name": "b" }] }));
    before.step(at(0));
    before.hear(0, 0, News::Started, at(0));
    before.hear(0, 0, News::Ready(true), at(0));
    before.hear(1, 0, News::Started, at(0));
    before.hear(1, 0, exited(3), at(5));
    let status = crate::kubelet::status::status(&mut before, "h", 1, at(5));
    let again = Facts::remembered(before.pod.clone(), "10.0.0.1".to_owned(), &status, at(9));
    assert_eq!(again.running(), [(0, 0)]);
    assert!(matches!(&again.containers[1].doing, Doing::Exited(exit) if exit.code == 3));
}
