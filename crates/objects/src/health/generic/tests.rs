//! Tests of the conventions.

use std::time::Duration;

use crate::health::{
    of,
    tests::{check, read},
};

const THING: &str = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {generation: 2}";

#[test]
fn silence_is_not_success() {
    check(
        THING,
        &[
            ("spec: {}", "Unknown | NoStatus"),
            ("status: {}", "Unknown | NoStatus"),
            ("status: fine", "Unknown | NoStatus"),
            ("status: {color: red}", "Unknown | NotUnderstood"),
            (
                "status: {conditions: [{type: Shiny, status: 'True'}], observedGeneration: 2}",
                "Unknown | NotUnderstood",
            ),
            ("status: {observedGeneration: 2}", "Healthy"),
        ],
    );
}

#[test]
fn what_was_said_of_a_former_spec_does_not_count() {
    check(
        THING,
        &[
            (
                "status: {observedGeneration: 1, conditions: [{type: Ready, status: 'True'}]}",
                "Progressing | NotObserved",
            ),
            (
                "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}",
                "Progressing | NotObserved",
            ),
            (
                "status: {conditions: [{type: Stalled, status: 'True', observedGeneration: 1}, {type: Ready, status: 'True', observedGeneration: 2}]}",
                "Healthy",
            ),
            (
                "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 0}]}",
                "Healthy",
            ),
        ],
    );
}

#[test]
fn conditions_are_read_by_convention() {
    let cases = [
        ("{type: Ready, status: 'True'}", "Healthy"),
        (
            "{type: Ready, status: 'False', reason: Creating, message: soon}",
            "Progressing | Creating | soon",
        ),
        ("{type: Ready, status: 'False'}", "Progressing | NotReady"),
        (
            "{type: Ready, status: Unknown, reason: Checking}",
            "Progressing | Checking",
        ),
        (
            "{type: Ready, status: 'False', reason: BuildFailed, message: nope}",
            "Degraded | BuildFailed | nope",
        ),
        (
            "{type: Ready, status: 'False', reason: ErrInitIssuer}",
            "Degraded | ErrInitIssuer",
        ),
        (
            "{type: Ready, status: 'False', reason: Deferred}",
            "Progressing | Deferred",
        ),
        (
            "{type: Ready, status: 'True'}, {type: Stalled, status: 'True', reason: Stuck}",
            "Degraded | Stuck",
        ),
        (
            "{type: Ready, status: 'True'}, {type: Reconciling, status: 'True', reason: New}",
            "Progressing | New",
        ),
        (
            "{type: Available, status: 'True'}, {type: Progressing, status: 'True'}",
            "Healthy",
        ),
        (
            "{type: Available, status: 'False'}, {type: Progressing, status: 'True'}",
            "Progressing | Progressing",
        ),
        (
            "{type: Ready, status: 'True'}, {type: Synced, status: 'False', reason: ReconcileError}",
            "Degraded | ReconcileError",
        ),
    ];
    for (conditions, expected) in cases {
        check(
            THING,
            &[(&format!("status: {{conditions: [{conditions}]}}"), expected)],
        );
    }
}

#[test]
fn work_may_take_for_ever_and_strange_things_take_long() {
    let deadline = |kind: &str| {
        let conditions = format!("[{{type: {kind}, status: 'Unknown', reason: Busy}}]");
        of(&read(&format!(
            "{THING}\nstatus: {{conditions: {conditions}}}"
        )))
        .deadline
    };
    assert_eq!(deadline("Succeeded"), None);
    assert_eq!(deadline("Ready"), Some(Duration::from_mins(30)));
}

#[test]
fn a_word_for_the_phase_is_understood_if_it_is_a_common_one() {
    check(
        THING,
        &[
            ("status: {phase: Ready}", "Healthy"),
            ("status: {state: running}", "Healthy"),
            (
                "status: {phase: Provisioning, message: disk}",
                "Progressing | Provisioning | disk",
            ),
            (
                "status: {phase: ERROR, message: nope}",
                "Degraded | ERROR | nope",
            ),
            ("status: {phase: Blue}", "Unknown | NotUnderstood"),
            (
                "status: {phase: Degraded, conditions: [{type: Available, status: 'True'}]}",
                "Degraded | Degraded",
            ),
            (
                "status: {phase: Ready, conditions: [{type: Synced, status: 'False', reason: SyncFailed}]}",
                "Degraded | SyncFailed",
            ),
        ],
    );
}

#[test]
fn a_suspended_thing_is_suspended_whatever_its_old_status_says() {
    check(
        THING,
        &[
            (
                "spec: {suspend: true}\nstatus: {observedGeneration: 1}",
                "Suspended",
            ),
            ("spec: {paused: true}", "Suspended"),
        ],
    );
}
