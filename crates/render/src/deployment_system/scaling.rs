//! How many run: an autoscaler, or none at all while nobody asks.

use quadrille_types::{
    annotations::SCALE_TO_ZERO,
    application::{HorizontalScaling, ScaleToZero, Scaling},
    names::generate,
};
use serde_json::{Value, json};

use super::{
    Plane,
    error::{At, Found},
    overrides::Limits,
    place::Place,
    runs,
};
use crate::ports::Listens;

/// Where KEDA's own counter of requests is, on a plane that says only that it can do this.
const USUAL_SCALER: &str = "keda-add-ons-http-external-scaler.keda:9090";

/// What is scaled.
pub(super) struct Scaled<'a> {
    pub(super) names: &'a [&'a str],
    pub(super) place: &'a Place,
    pub(super) limits: &'a Limits,
    pub(super) listens: &'a [Listens],
    pub(super) plane: Plane<'a>,
}

/// The object that scales, if there is to be one.
pub(super) fn object(
    scaling: &Scaling,
    at: &At,
    scaled: &Scaled<'_>,
    notes: &mut Vec<String>,
    found: &mut Found,
) -> Option<Value> {
    match (&scaling.hpa, &scaling.s2z) {
        (Some(_), Some(_)) => {
            found.push(at.wrong("has both hpa and s2z: only one can be meant"));
            None
        }
        (Some(hpa), None) => Some(autoscaler(hpa, &at.below("hpa"), scaled, notes, found)),
        (None, Some(s2z)) => sleeper(s2z, &at.below("s2z"), scaled, notes, found),
        (None, None) => None,
    }
}

fn autoscaler(
    hpa: &HorizontalScaling,
    at: &At,
    scaled: &Scaled<'_>,
    notes: &mut Vec<String>,
    found: &mut Found,
) -> Value {
    let least = hpa.min_replicas.unwrap_or(1);
    let most = hpa.max_replicas.unwrap_or_default();
    if least < 1 {
        found.push(at.below("minReplicas").wrong(format!(
            "is {least}, must be at least 1; for none while nobody asks there is s2z"
        )));
    }
    match hpa.max_replicas {
        None => found.push(
            at.below("maxReplicas")
                .wrong("is missing: give how many may run at most"),
        ),
        Some(most) if most < least => found.push(at.below("maxReplicas").wrong(format!(
            "is {most}, which is less than the {least} that run at least"
        ))),
        Some(_) => {}
    }
    let mut metrics: Vec<Value> = Vec::new();
    let [processors, memory] = scaled.limits;
    for (resource, field, threshold, limit) in [
        ("cpu", "cpuThreshold", hpa.cpu_threshold, processors),
        ("memory", "memoryThreshold", hpa.memory_threshold, memory),
    ] {
        let Some(threshold) = threshold else { continue };
        if threshold < 1 {
            found.push(
                at.below(field)
                    .wrong(format!("is {threshold}, must be a percentage above 0")),
            );
        }
        if limit.is_none() {
            notes.push(format!(
                "{field} is a percentage of what is asked for, and nothing is: give resourceLimits.{resource}"
            ));
        }
        metrics.push(json!({ "type": "Resource", "resource": {
            "name": resource, "target": { "type": "Utilization", "averageUtilization": threshold },
        }}));
    }
    let target = generate::name(scaled.names);
    let mut object = json!({
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": scaled.place.metadata(&target),
        "spec": {
            "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": target },
            "minReplicas": least,
            "maxReplicas": most,
        },
    });
    if !metrics.is_empty() {
        object["spec"]["metrics"] = metrics.into();
    }
    object
}

/// Sleeps while nobody asks, on a plane that can wake it.
fn sleeper(
    s2z: &ScaleToZero,
    at: &At,
    scaled: &Scaled<'_>,
    notes: &mut Vec<String>,
    found: &mut Found,
) -> Option<Value> {
    let flags = scaled
        .plane
        .spec
        .kubernetes_cluster
        .as_ref()
        .and_then(|cluster| cluster.feature_flags.as_ref());
    let is_able = flags.and_then(|flags| flags.scale_to_zero) == Some(true);
    let said = scaled.plane.annotations.get(SCALE_TO_ZERO);
    let Some(address) = said.map(String::as_str).or(is_able.then_some(USUAL_SCALER)) else {
        notes.push(format!(
            "plane {} cannot scale to zero (annotation {SCALE_TO_ZERO}): it runs all the time",
            scaled.plane.name
        ));
        return None;
    };
    for (field, number) in [
        ("maxReplicas", s2z.max_replicas),
        ("queueLength", s2z.queue_length),
    ] {
        if let Some(number) = number.filter(|number| *number < 1) {
            found.push(
                at.below(field)
                    .wrong(format!("is {number}, must be at least 1")),
            );
        }
    }
    let Some(first) = scaled.listens.first() else {
        found.push(at.wrong("sleeps until somebody asks, but there is no endpoint to be asked at"));
        return None;
    };
    let target = generate::name(scaled.names);
    let mut asked = json!({
        "scalerAddress": address,
        "namespace": scaled.place.namespace,
        "service": runs::service_name(scaled.names),
        "port": first.port.to_string(),
    });
    if let Some(length) = s2z.queue_length {
        asked["queueLength"] = length.to_string().into();
    }
    let mut object = json!({
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": scaled.place.metadata(&target),
        "spec": {
            "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": target },
            "minReplicaCount": 0,
            "triggers": [{ "type": "external-push", "metadata": asked }],
        },
    });
    if let Some(most) = s2z.max_replicas {
        object["spec"]["maxReplicaCount"] = most.into();
    }
    Some(object)
}
