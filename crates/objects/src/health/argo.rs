//! Argo's workflows.

use serde_json::Value;

use super::{
    live::{Conditions, text},
    verdict::Verdict,
};

/// A Workflow. It may run for ever, but has to start.
pub(super) fn workflow(object: &Value) -> Verdict {
    let status = &object["status"];
    match text(&status["phase"]) {
        "Succeeded" => Verdict::healthy(),
        "Failed" => Verdict::degraded("Failed", text(&status["message"])),
        "Error" => Verdict::degraded("Error", text(&status["message"])),
        _ if object["spec"]["suspend"] == true => {
            Verdict::suspended("Suspended", "it is suspended")
        }
        "Running" if waits_for_somebody(status) => {
            Verdict::suspended("Waiting", "one of its steps waits to be resumed")
        }
        "Running" => Verdict::progressing("Running", "it is running").within(None),
        "Pending" | "" => Verdict::progressing("Pending", "it has not started yet"),
        other => Verdict::unknown("NotUnderstood", &format!("its phase is {other:?}")),
    }
}

fn waits_for_somebody(status: &Value) -> bool {
    let mut nodes = status["nodes"].as_object().into_iter().flatten();
    nodes.any(|(_, node)| node["type"] == "Suspend" && node["phase"] == "Running")
}

/// A `CronWorkflow`: well unless its workflows cannot even be made.
pub(super) fn cron_workflow(object: &Value) -> Verdict {
    if object["spec"]["suspend"] == true {
        return Verdict::suspended("Suspended", "it is suspended");
    }
    let conditions = Conditions::of(object);
    for kind in ["SubmissionError", "SpecError"] {
        if let Some(failure) = conditions.holds(kind) {
            return failure.degraded(kind);
        }
    }
    Verdict::healthy()
}
