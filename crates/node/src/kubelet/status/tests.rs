//! What a pod says at each turn of its life.

use super::*;
use crate::{
    kubelet::{
        Plan,
        runtime::{News, PodRun},
    },
    read::{Place, list, text},
};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_893_456_000 + second).unwrap()
}

fn facts(spec: &Value) -> Facts {
    let pod = PodRun {
        place: Place::new("n", "web"),
        uid: "u".into(),
        plan: std::sync::Arc::new(Plan::read(&json!({ "spec": spec }))),
    };
    Facts::new(pod, "10.0.0.1".to_owned(), at(0))
}

fn one() -> Facts {
    facts(&json!({ "containers": [{ "name": "a", "image": "x" }] }))
}

fn told(facts: &mut Facts, now: i64) -> (String, String, String) {
    let status = status(facts, "127.0.0.1", 1, at(now));
    let state = status["containerStatuses"][0]["state"].as_object().unwrap();
    let (kind, what) = state.iter().next().unwrap();
    let ready = list(&status["conditions"])
        .iter()
        .find(|condition| condition["type"] == "Ready")
        .unwrap();
    (
        text(&status["phase"]).to_owned(),
        format!("{kind} {}", text(&what["reason"]))
            .trim()
            .to_owned(),
        text(&ready["status"]).to_owned(),
    )
}

fn words(phase: &str, state: &str, ready: &str) -> (String, String, String) {
    (phase.to_owned(), state.to_owned(), ready.to_owned())
}

#[test]
fn a_pod_is_created_runs_and_becomes_ready() {
    let mut facts = one();
    facts.step(at(0));
    assert_eq!(
        told(&mut facts, 0),
        words("Pending", "waiting ContainerCreating", "False")
    );
    facts.hear(0, 0, News::Started, at(1));
    assert_eq!(told(&mut facts, 1), words("Running", "running", "False"));
    facts.hear(0, 0, News::Ready(true), at(2));
    assert_eq!(told(&mut facts, 2), words("Running", "running", "True"));
    let status = status(&mut facts, "127.0.0.1", 1, at(9));
    let since = &status["conditions"][2]["lastTransitionTime"];
    assert_eq!(
        since, "2030-01-01T00:00:02Z",
        "the time of the turn, not of the look"
    );
}

#[test]
fn a_crash_loop_is_shown_with_its_pause_and_its_last_end() {
    let mut facts = one();
    for attempt in 0..2 {
        facts.step(at(0));
        facts.hear(0, attempt, News::Started, at(0));
        let news = News::Exited {
            code: 1,
            reason: "Error",
        };
        facts.hear(0, attempt, news, at(0));
    }
    assert_eq!(
        told(&mut facts, 1),
        words("Running", "waiting CrashLoopBackOff", "False")
    );
    let status = status(&mut facts, "127.0.0.1", 1, at(1));
    let container = &status["containerStatuses"][0];
    assert_eq!(
        container["state"]["waiting"]["message"],
        "back-off 10s restarting failed container=a pod=web_n(u)"
    );
    assert_eq!(container["restartCount"], 1);
    assert_eq!(container["lastState"]["terminated"]["exitCode"], 1);
}

#[test]
fn an_image_that_cannot_be_had_is_shown() {
    let mut facts = one();
    facts.step(at(0));
    facts.hear(0, 0, News::PullFailed("not found".to_owned()), at(0));
    assert_eq!(
        told(&mut facts, 0),
        words("Pending", "waiting ErrImagePull", "False")
    );
    assert_eq!(
        told(&mut facts, 3),
        words("Pending", "waiting ImagePullBackOff", "False")
    );
    // While it is tried again the trouble is the same.
    facts.step(at(60));
    assert_eq!(facts.containers[0].doing, Doing::Starting);
    assert_eq!(
        told(&mut facts, 60),
        words("Pending", "waiting ImagePullBackOff", "False")
    );
    facts.hear(0, 1, News::Started, at(61));
    assert!(told(&mut facts, 61).1.starts_with("running"));
}

#[test]
fn a_pod_that_does_its_work_succeeds_or_fails() {
    for (code, phase) in [(0, "Succeeded"), (2, "Failed")] {
        let spec = json!({ "restartPolicy": "Never", "containers": [{ "name": "a" }] });
        let mut facts = facts(&spec);
        facts.step(at(0));
        facts.hear(0, 0, News::Started, at(0));
        let news = News::Exited {
            code,
            reason: "Completed",
        };
        facts.hear(0, 0, news, at(1));
        assert_eq!(
            told(&mut facts, 1),
            words(phase, "terminated Completed", "False")
        );
    }
}
