//! HorizontalPodAutoscalers, as far as a load that an annotation states goes.
//!
//! Nothing is measured here. `node.quadrille.dev/load` on an autoscaler says what all pods of the target carry
//! together, in percent of one pod's request; each carries its part. So the number of pods settles. Where nobody says
//! so they carry nothing, which is what pods do in which no container runs.

use jiff::Timestamp;
use quadrille_planes::Trouble;
use serde_json::{Value, json};

use crate::{
    clock::shown,
    hands::{Hands, Outcome},
    kinds::Kind,
    kubelet::ANNOTATION_PREFIX,
    read::{self, Place, int, list, text},
};

/// Looks at an autoscaler.
pub(crate) async fn look(hands: &Hands, place: &Place) -> Outcome {
    let kind = Kind::HorizontalPodAutoscaler;
    let Some(scaler) = hands.seen.get(kind, place) else {
        return Ok(());
    };
    let target = &scaler["spec"]["scaleTargetRef"];
    let now = hands.now();
    let Some(target_kind) = Kind::named(text(&target["kind"])) else {
        let message = format!("no matches for kind {:?}", text(&target["kind"]));
        let status = unable(&scaler, "FailedGetScale", &message, now);
        return hands.set_status(kind, &scaler, &status).await;
    };
    let target_place = Place::new(&place.namespace, text(&target["name"]));
    let Some(object) = hands.seen.get(target_kind, &target_place) else {
        let message = format!(
            "the HPA controller was unable to get the target's current scale: {} {:?} not found",
            target_kind.resource().plural,
            target_place.name
        );
        let status = unable(&scaler, "FailedGetScale", &message, now);
        return hands.set_status(kind, &scaler, &status).await;
    };
    let current = read::replicas(&object);
    let decision = decide(&scaler, current);
    if let Some(desired) = decision.desired.filter(|desired| *desired != current) {
        let patch = json!({ "spec": { "replicas": desired } });
        match hands
            .merge(target_kind, &target_place, "scale", &patch)
            .await
        {
            Ok(_) => {}
            Err(Trouble::NotFound(_)) => return Ok(()),
            Err(trouble) => return Err(trouble),
        }
        let message = format!("New size: {desired}; reason: {}", decision.reason);
        hands
            .event(kind, &scaler, ("Normal", "SuccessfulRescale", &message))
            .await;
    }
    let status = status(&scaler, current, &decision, now);
    hands.set_status(kind, &scaler, &status).await
}

/// How many replicas there should be, and why.
#[derive(Debug, PartialEq, Eq)]
struct Decision {
    /// Nothing if it is not known.
    desired: Option<i64>,
    /// What each pod carries now, in percent.
    utilization: Option<i64>,
    reason: &'static str,
    /// Whether a bound held it.
    limited: Option<&'static str>,
}

fn decide(scaler: &Value, current: i64) -> Decision {
    let spec = &scaler["spec"];
    let least = spec["minReplicas"].as_i64().unwrap_or(1);
    let most = int(&spec["maxReplicas"]);
    let mut decision = Decision {
        desired: None,
        utilization: None,
        reason: "All metrics below target",
        limited: None,
    };
    if current == 0 {
        return decision;
    }
    if current < least || current > most {
        decision.desired = Some(current.clamp(least, most));
        decision.reason = if current < least {
            "Current number of replicas below Spec.MinReplicas"
        } else {
            "Current number of replicas above Spec.MaxReplicas"
        };
        return decision;
    }
    let load = &scaler["metadata"]["annotations"][format!("{ANNOTATION_PREFIX}load").as_str()];
    let load = load.as_str().unwrap_or("0");
    let Ok(load) = load.parse::<i64>() else {
        return decision;
    };
    let target = list(&spec["metrics"])
        .iter()
        .find_map(|metric| metric["resource"]["target"]["averageUtilization"].as_i64())
        .unwrap_or(80);
    let carried = load / current;
    decision.utilization = Some(carried);
    // Within a tenth of the target nothing moves.
    let is_close = (carried - target).abs() * 10 <= target;
    let wanted = if is_close {
        current
    } else {
        (load + target - 1) / target
    };
    // No more than twice as many at once, or four.
    let step = (2 * current).max(4);
    let bounded = wanted.min(step).clamp(least, most);
    if wanted > most {
        decision.limited = Some("TooManyReplicas");
    } else if wanted < least {
        decision.limited = Some("TooFewReplicas");
    }
    if bounded > current {
        decision.reason = "cpu resource utilization (percentage of request) above target";
    }
    decision.desired = Some(bounded);
    decision
}

fn unable(scaler: &Value, reason: &str, message: &str, now: Timestamp) -> Value {
    let mut status = scaler["status"].clone();
    if !status.is_object() {
        status = json!({ "desiredReplicas": 0, "currentMetrics": null });
    }
    let mut conditions = read::conditions(&status);
    let words = ("AbleToScale", "False", reason, message);
    read::set_condition(&mut conditions, words, now, false);
    status["conditions"] = Value::Array(conditions);
    status
}

fn status(scaler: &Value, current: i64, decision: &Decision, now: Timestamp) -> Value {
    let before = &scaler["status"];
    let desired = decision.desired.unwrap_or(current);
    let mut conditions = read::conditions(before);
    let mut set = |kind: &str, truth: &str, reason: &str, message: &str| {
        read::set_condition(&mut conditions, (kind, truth, reason, message), now, false);
    };
    if desired == current {
        let message = "recommended size matches current size";
        set("AbleToScale", "True", "ReadyForNewScale", message);
    } else {
        let message =
            format!("the HPA controller was able to update the target scale to {desired}");
        set("AbleToScale", "True", "SucceededRescale", &message);
    }
    if current == 0 {
        let message = "scaling is disabled since the replica count of the target is zero";
        set("ScalingActive", "False", "ScalingDisabled", message);
    } else if decision.utilization.is_some() {
        let message = "the HPA was able to successfully calculate a replica count from cpu resource \
                       utilization (percentage of request)";
        set("ScalingActive", "True", "ValidMetricFound", message);
    } else if decision.desired.is_none() {
        let message = "the HPA was unable to compute the replica count: the annotation \
                       node.quadrille.dev/load is no number";
        set("ScalingActive", "False", "FailedGetResourceMetric", message);
    }
    if decision.utilization.is_some() {
        match decision.limited {
            Some(reason @ "TooManyReplicas") => {
                let message = "the desired replica count is more than the maximum replica count";
                set("ScalingLimited", "True", reason, message);
            }
            Some(reason) => {
                let message = "the desired replica count is less than the minimum replica count";
                set("ScalingLimited", "True", reason, message);
            }
            None => {
                let message = "the desired count is within the acceptable range";
                set("ScalingLimited", "False", "DesiredWithinRange", message);
            }
        }
    }
    let mut status = json!({
        "observedGeneration": before["observedGeneration"],
        "currentReplicas": current,
        "desiredReplicas": desired,
        "currentMetrics": null,
        "conditions": conditions,
    });
    if let Some(utilization) = decision.utilization {
        status["currentMetrics"] = json!([{
            "type": "Resource",
            "resource": {
                "name": "cpu",
                "current": { "averageUtilization": utilization, "averageValue": "0" },
            },
        }]);
    }
    let last = &before["lastScaleTime"];
    if desired != current {
        status["lastScaleTime"] = json!(shown(now));
    } else if !last.is_null() {
        status["lastScaleTime"] = last.clone();
    }
    if let Some(fields) = status.as_object_mut() {
        fields.retain(|name, value| name == "currentMetrics" || !value.is_null());
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desired(load: impl Into<Value>, current: i64) -> (Option<i64>, Option<&'static str>) {
        let scaler = json!({
            "metadata": { "annotations": { "node.quadrille.dev/load": load.into() } },
            "spec": { "minReplicas": 2, "maxReplicas": 6, "metrics": [
                { "type": "Resource", "resource": { "target": { "averageUtilization": 50 } } },
            ]},
        });
        let decision = decide(&scaler, current);
        (decision.desired, decision.limited)
    }

    #[test]
    fn the_number_of_pods_settles_where_each_carries_its_part() {
        assert_eq!(desired("200", 2), (Some(4), None));
        assert_eq!(desired("200", 4), (Some(4), None));
        assert_eq!(desired("1000", 4), (Some(6), Some("TooManyReplicas")));
        assert_eq!(desired("10", 4), (Some(2), Some("TooFewReplicas")));
        assert_eq!(desired("nonsense", 4), (None, None));
        assert_eq!(desired(Value::Null, 4), (Some(2), Some("TooFewReplicas")));
        assert_eq!(desired("200", 1), (Some(2), None));
    }
}
