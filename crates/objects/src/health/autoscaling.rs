//! Autoscalers.

use serde_json::Value;

use super::{
    live::{Conditions, lagging, not_observed},
    verdict::Verdict,
};

/// A `HorizontalPodAutoscaler`. Being at a limit (`ScalingLimited`) is its duty and no trouble. Metrics
/// are missing at first for every new workload, so their absence is trouble only when it lasts.
pub(super) fn horizontal(object: &Value) -> Verdict {
    if let Some(verdict) = lagging(object) {
        return verdict;
    }
    let conditions = Conditions::of(object);
    if conditions.is_empty() {
        // The first version of the kind has no conditions, only counts.
        return if object["status"]["currentReplicas"].is_i64() {
            Verdict::healthy()
        } else {
            not_observed()
        };
    }
    for kind in ["AbleToScale", "ScalingActive"] {
        let Some(problem) = conditions.denies(kind) else {
            continue;
        };
        return match problem.reason {
            "ScalingDisabled" => {
                Verdict::suspended("ScalingDisabled", "its target is scaled to zero")
            }
            reason if reason.starts_with("FailedGet") => problem.progressing("FailedGet"),
            _ => problem.degraded("ScalingFailed"),
        };
    }
    Verdict::healthy()
}
