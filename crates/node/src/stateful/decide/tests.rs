//! How a StatefulSet grows, shrinks and rolls.

use super::*;

const NOW: i64 = 1_893_456_000;

fn pod(number: i64, state: &str, revision: &str) -> Numbered {
    let ready = json!([{
        "type": "Ready", "status": if state == "ready" { "True" } else { "False" },
        "lastTransitionTime": "2030-01-01T00:00:00Z",
    }]);
    let phase = match state {
        "failed" => "Failed",
        "pending" => "Pending",
        _ => "Running",
    };
    let mut object = json!({
        "metadata": { "name": format!("db-{number}"), "labels": { REVISION_LABEL: revision } },
        "spec": { "nodeName": "n" },
        "status": { "phase": phase, "conditions": ready },
    });
    if state == "ending" {
        object["metadata"]["deletionTimestamp"] = json!("2030-01-01T00:00:00Z");
    }
    (number, Arc::new(Pod::read(&object)))
}

fn wanted(replicas: i64) -> Wanted<'static> {
    Wanted {
        replicas,
        start: 0,
        is_ordered: true,
        partition: Some(0),
        min_ready_seconds: 0,
        current: "one",
        update: "one",
    }
}

fn steps(wanted: &Wanted<'_>, pods: &[Numbered]) -> Vec<Step> {
    next(wanted, pods, Timestamp::from_second(NOW).unwrap())
}

fn create(ordinal: i64, revision: &str) -> Step {
    Step::Create {
        ordinal,
        revision: revision.to_owned(),
    }
}

#[test]
fn it_grows_one_by_one_and_waits_for_each() {
    assert_eq!(steps(&wanted(3), &[]), [create(0, "one")]);
    assert_eq!(steps(&wanted(3), &[pod(0, "pending", "one")]), []);
    assert_eq!(
        steps(&wanted(3), &[pod(0, "ready", "one")]),
        [create(1, "one")]
    );
}

#[test]
fn a_parallel_one_grows_and_shrinks_at_once() {
    let parallel = Wanted {
        is_ordered: false,
        ..wanted(2)
    };
    assert_eq!(steps(&parallel, &[]), [create(0, "one"), create(1, "one")]);
    let pods: Vec<_> = (0..4).map(|number| pod(number, "ready", "one")).collect();
    assert_eq!(
        steps(&parallel, &pods),
        [Step::ScaleDown(3), Step::ScaleDown(2)]
    );
}

#[test]
fn it_shrinks_from_the_end_and_waits_for_each() {
    let mut pods: Vec<_> = (0..3).map(|number| pod(number, "ready", "one")).collect();
    assert_eq!(steps(&wanted(1), &pods), [Step::ScaleDown(2)]);
    pods[2] = pod(2, "ending", "one");
    assert_eq!(steps(&wanted(1), &pods), []);
}

#[test]
fn a_pod_that_failed_is_replaced() {
    assert_eq!(
        steps(&wanted(1), &[pod(0, "failed", "one")]),
        [Step::Replace(0)]
    );
}

#[test]
fn an_update_goes_from_the_end_to_the_partition() {
    let rolling = Wanted {
        partition: Some(1),
        update: "two",
        ..wanted(3)
    };
    let mut pods: Vec<_> = (0..3).map(|number| pod(number, "ready", "one")).collect();
    assert_eq!(steps(&rolling, &pods), [Step::Replace(2)]);
    pods[2] = pod(2, "pending", "two");
    assert_eq!(steps(&rolling, &pods), []);
    pods[2] = pod(2, "ready", "two");
    assert_eq!(steps(&rolling, &pods), [Step::Replace(1)]);
    pods[1] = pod(1, "ready", "two");
    assert_eq!(steps(&rolling, &pods), []);
    assert_eq!(steps(&rolling, &pods[1..]), [create(0, "one")]);
}

#[test]
fn when_all_are_updated_the_new_revision_is_the_current_one() {
    let rolling = Wanted {
        update: "two",
        ..wanted(1)
    };
    let set = json!({ "metadata": { "generation": 2 } });
    let now = Timestamp::from_second(NOW).unwrap();
    let status = status(&set, &rolling, &[pod(0, "ready", "two")], 0, now);
    assert_eq!(
        status,
        json!({
            "observedGeneration": 2, "replicas": 1, "readyReplicas": 1, "availableReplicas": 1,
            "currentReplicas": 1, "updatedReplicas": 1, "currentRevision": "two", "updateRevision": "two",
            "collisionCount": 0,
        })
    );
}
