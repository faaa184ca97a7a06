//! What a Deployment says at each turn of a rollout.

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_893_456_000 + second).unwrap()
}

fn deployment(status: &Value) -> Value {
    json!({
        "metadata": { "name": "web", "generation": 1 },
        "spec": {
            "replicas": 2, "progressDeadlineSeconds": 10,
            "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } },
        },
        "status": status,
    })
}

fn set(replicas: i64, available: i64) -> Value {
    json!({
        "metadata": { "name": "web-1" },
        "spec": { "replicas": replicas },
        "status": {
            "replicas": replicas, "readyReplicas": available, "availableReplicas": available,
            "terminatingReplicas": 0,
        },
    })
}

fn told(status: &Value) -> Vec<String> {
    let mut told: Vec<String> = read::list(&status["conditions"])
        .iter()
        .map(|condition| {
            format!(
                "{}={}/{}",
                text(&condition["type"]),
                text(&condition["status"]),
                text(&condition["reason"])
            )
        })
        .collect();
    told.sort();
    told
}

#[test]
fn a_rollout_says_that_it_moves_and_then_that_it_is_done() {
    let started = with_set(&deployment(&json!({})), "web-1", true, at(0)).unwrap();
    assert_eq!(told(&started), ["Progressing=True/NewReplicaSetCreated"]);
    let moving = rollout(&deployment(&started), Some(&set(2, 1)), &[], at(1));
    assert_eq!(
        told(&moving),
        [
            "Available=False/MinimumReplicasUnavailable",
            "Progressing=True/ReplicaSetUpdated"
        ]
    );
    assert_eq!(moving["unavailableReplicas"], 1);
    let done = rollout(&deployment(&moving), Some(&set(2, 2)), &[], at(2));
    assert_eq!(
        told(&done),
        [
            "Available=True/MinimumReplicasAvailable",
            "Progressing=True/NewReplicaSetAvailable"
        ]
    );
    assert_eq!(
        rollout(&deployment(&done), Some(&set(2, 2)), &[], at(99)),
        done
    );
    assert_eq!(check_at(&deployment(&done)), None);
}

#[test]
fn a_rollout_that_does_not_move_is_stuck_after_its_deadline() {
    let started = with_set(&deployment(&json!({})), "web-1", true, at(0)).unwrap();
    let waiting = rollout(&deployment(&started), Some(&set(2, 0)), &[], at(1));
    let waiting = rollout(&deployment(&waiting), Some(&set(2, 0)), &[], at(5));
    assert_eq!(check_at(&deployment(&waiting)), Some(at(12)));
    let stuck = rollout(&deployment(&waiting), Some(&set(2, 0)), &[], at(12));
    assert_eq!(
        told(&stuck),
        [
            "Available=False/MinimumReplicasUnavailable",
            "Progressing=False/ProgressDeadlineExceeded"
        ]
    );
    let moving = rollout(&deployment(&stuck), Some(&set(2, 1)), &[], at(20));
    assert!(told(&moving).contains(&"Progressing=True/ReplicaSetUpdated".to_owned()));
}

#[test]
fn a_pause_is_told_and_so_is_its_end() {
    let mut paused_one = deployment(&json!({}));
    paused_one["spec"]["paused"] = json!(true);
    let status = paused(&paused_one, at(0)).unwrap();
    assert_eq!(told(&status), ["Progressing=Unknown/DeploymentPaused"]);
    let status = paused(&deployment(&status), at(1)).unwrap();
    assert_eq!(told(&status), ["Progressing=Unknown/DeploymentResumed"]);
}
