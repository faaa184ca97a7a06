//! Policies about pods: disruption budgets and Cilium's rules.

use serde_json::Value;

use super::{
    live::{Conditions, text, unobserved},
    verdict::Verdict,
};

/// A `PodDisruptionBudget`. One that allows no disruption at the moment protects something, which is
/// its duty; how that something is doing is for the workload to say.
pub(super) fn disruption_budget(object: &Value) -> Verdict {
    if let Some(verdict) = unobserved(object) {
        return verdict;
    }
    match Conditions::of(object).denies("DisruptionAllowed") {
        Some(failure) if failure.reason == "SyncFailed" => failure.degraded("SyncFailed"),
        _ => Verdict::healthy(),
    }
}

/// A Cilium policy. Several versions of Cilium write no status at all and enforce the policy
/// nevertheless, so that silence is no sign of trouble; a word against it is.
pub(super) fn cilium(object: &Value) -> Verdict {
    if let Some(invalid) = Conditions::of(object).denies("Valid") {
        return invalid.degraded("Invalid");
    }
    let nodes = object["status"]["nodes"].as_object().into_iter().flatten();
    let errors = nodes.map(|(_, node)| text(&node["error"]));
    // The same error is told whichever of the nodes reports it.
    match errors.filter(|error| !error.is_empty()).min() {
        Some(error) => Verdict::degraded("NotEnforced", error),
        None => Verdict::healthy(),
    }
}
