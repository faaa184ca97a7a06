//! Controllers.

use serde_json::{Value, json};

use super::{
    pod,
    report::{Report, list, percent, text},
    selector, storage,
};
use crate::{field_error::Kind, names};

pub(super) const MISMATCH: &str = "`selector` does not match template `labels`";

pub(super) fn deployment(report: &mut Report, spec: &Value) {
    report.not_negative("spec.replicas", &spec["replicas"]);
    selector_of(report, spec, "deployment", "invalid label selector");
    template(report, spec, "ReplicaSet");
    deployment_strategy(report, &spec["strategy"]);
    report.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    report.not_negative("spec.revisionHistoryLimit", &spec["revisionHistoryLimit"]);
    let deadline = &spec["progressDeadlineSeconds"];
    report.not_negative("spec.progressDeadlineSeconds", deadline);
    let ready = spec["minReadySeconds"].as_i64().unwrap_or_default();
    if deadline.as_i64().is_some_and(|deadline| deadline <= ready) {
        let why = "must be greater than minReadySeconds";
        report.invalid("spec.progressDeadlineSeconds", deadline, why);
    }
}

pub(super) fn replica_set(report: &mut Report, spec: &Value) {
    report.not_negative("spec.replicas", &spec["replicas"]);
    report.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    selector_of(report, spec, "deployment", "invalid label selector");
    template(report, spec, "ReplicaSet");
}

pub(super) fn stateful_set(report: &mut Report, spec: &Value, is_new: bool) {
    let policy = &spec["podManagementPolicy"];
    match text(policy) {
        "" => report.required("spec.podManagementPolicy"),
        "OrderedReady" | "Parallel" => {}
        _ => {
            let why = "must be 'OrderedReady' or 'Parallel'";
            report.invalid("spec.podManagementPolicy", policy, why);
        }
    }
    stateful_set_strategy(report, &spec["updateStrategy"]);
    let retention = &spec["persistentVolumeClaimRetentionPolicy"];
    for field in ["whenDeleted", "whenScaled"] {
        let path = format!("spec.persistentVolumeClaimRetentionPolicy.{field}");
        report.one_of(path, &retention[field], &["Retain", "Delete"]);
    }
    // Neither can change later, so that older ones may be as they are.
    if is_new {
        for (index, claim) in list(&spec["volumeClaimTemplates"]).iter().enumerate() {
            let path = format!("spec.volumeClaimTemplates[{index}].spec");
            storage::claim(report, &claim["spec"], &path);
        }
    }
    report.not_negative("spec.replicas", &spec["replicas"]);
    report.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    report.not_negative("spec.ordinals.start", &spec["ordinals"]["start"]);
    let service = text(&spec["serviceName"]);
    if is_new && !service.is_empty() {
        let complaints = names::dns_1123_label(service);
        report.names("spec.serviceName", service, complaints);
    }
    selector_of(report, spec, "statefulset", "");
    template(report, &as_controlled(spec), "StatefulSet");
}

/// What a stateful set's controller makes of its template: names of its own, and a volume for each claim.
fn as_controlled(spec: &Value) -> Value {
    let mut spec = spec.clone();
    let claims: Vec<Value> = list(&spec["volumeClaimTemplates"])
        .iter()
        .map(|claim| claim["metadata"]["name"].clone())
        .collect();
    let pod = &mut spec["template"]["spec"];
    for field in ["hostname", "subdomain"] {
        if let Some(fields) = pod.as_object_mut() {
            fields.remove(field);
        }
    }
    if !claims.is_empty() {
        let kept = list(&pod["volumes"])
            .iter()
            .filter(|volume| !claims.contains(&volume["name"]));
        let made = claims.iter().map(|name| {
            let claim = json!({"claimName": name});
            json!({"name": name, "persistentVolumeClaim": claim})
        });
        pod["volumes"] = made.chain(kept.cloned()).collect();
    }
    spec
}

pub(super) fn daemon_set(report: &mut Report, spec: &Value) {
    let well_formed = selector::check(report, &spec["selector"], "spec.selector");
    if well_formed && !selector::matches(&spec["selector"], &spec["template"]["metadata"]["labels"])
    {
        mismatch(report, spec);
    }
    if spec["selector"].is_object() && selector::is_empty(&spec["selector"]) {
        let why = "empty selector is invalid for daemonset";
        report.invalid("spec.selector", &spec["selector"], why);
    }
    pod::template(report, &spec["template"], "spec.template");
    always_restarts(report, spec, "DaemonSet");
    report.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    daemon_set_strategy(report, &spec["updateStrategy"]);
    report.not_negative("spec.revisionHistoryLimit", &spec["revisionHistoryLimit"]);
}

pub(super) fn replication_controller(report: &mut Report, spec: &Value) {
    report.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    let labels = spec["selector"].as_object();
    if labels.is_none_or(serde_json::Map::is_empty) {
        report.required("spec.selector");
    }
    report.not_negative("spec.replicas", &spec["replicas"]);
    if !spec["template"].is_object() {
        report.required("spec.template");
        return;
    }
    let given = &spec["template"]["metadata"]["labels"];
    let has = |(name, value): (&String, &Value)| given.get(name) == Some(value);
    if labels.is_some_and(|labels| !labels.iter().all(has)) {
        mismatch(report, spec);
    }
    pod::template(report, &spec["template"], "spec.template");
    always_restarts(report, spec, "ReplicationController");
}

/// The selector of a controller. `malformed` is what is said about the whole if a part is wrong.
fn selector_of(report: &mut Report, spec: &Value, owner: &str, malformed: &str) {
    let wanted = &spec["selector"];
    if !wanted.is_object() {
        report.required("spec.selector");
        return;
    }
    let well_formed = selector::check(report, wanted, "spec.selector");
    if selector::is_empty(wanted) {
        let why = format!("empty selector is invalid for {owner}");
        report.invalid("spec.selector", wanted, &why);
    }
    if !well_formed {
        report.invalid("spec.selector", wanted, malformed);
    }
}

/// The template of a controller; one whose selector is malformed is not looked at.
fn template(report: &mut Report, spec: &Value, owner: &str) {
    let wanted = &spec["selector"];
    let labels = &spec["template"]["metadata"]["labels"];
    if !selector::check(&mut Report::default(), wanted, "") {
        return;
    }
    let matched = selector::matches(wanted, labels) || selector::is_empty(wanted);
    if !wanted.is_object() || !matched {
        mismatch(report, spec);
    }
    pod::template(report, &spec["template"], "spec.template");
    if owner == "StatefulSet" {
        // Looked at once more, by its own rules.
        pod::labels_and_annotations(report, &spec["template"], "spec.template");
    }
    always_restarts(report, spec, owner);
}

fn mismatch(report: &mut Report, spec: &Value) {
    let labels = &spec["template"]["metadata"]["labels"];
    report.invalid("spec.template.metadata.labels", labels, MISMATCH);
}

fn always_restarts(report: &mut Report, spec: &Value, owner: &str) {
    let pod = &spec["template"]["spec"];
    let policy = &pod["restartPolicy"];
    report.one_of("spec.template.spec.restartPolicy", policy, &["Always"]);
    if pod["activeDeadlineSeconds"].is_number() {
        let why = format!("activeDeadlineSeconds in {owner} is not Supported");
        report.forbidden("spec.template.spec.activeDeadlineSeconds", &why);
    }
}

fn unknown_strategy(strategy: &Value) -> String {
    format!("{{\"Type\":{},\"RollingUpdate\":null}}", strategy["type"])
}

fn is_zero(value: &Value) -> bool {
    value.as_i64() == Some(0) || value.as_str().and_then(percent) == Some(0)
}

fn deployment_strategy(report: &mut Report, strategy: &Value) {
    let rolling = &strategy["rollingUpdate"];
    let at = |field: &str| format!("spec.strategy.rollingUpdate.{field}");
    match text(&strategy["type"]) {
        "Recreate" if rolling.is_object() => {
            let why = "may not be specified when strategy `type` is 'Recreate'";
            report.forbidden("spec.strategy.rollingUpdate", why);
        }
        "Recreate" => {}
        "RollingUpdate" => {
            report.number_or_percent(&at("maxUnavailable"), &rolling["maxUnavailable"]);
            report.number_or_percent(&at("maxSurge"), &rolling["maxSurge"]);
            if is_zero(&rolling["maxUnavailable"]) && is_zero(&rolling["maxSurge"]) {
                let why = "may not be 0 when `maxSurge` is 0";
                report.invalid(at("maxUnavailable"), &rolling["maxUnavailable"], why);
            }
            report.at_most_hundred(&at("maxUnavailable"), &rolling["maxUnavailable"]);
        }
        _ => {
            let why = "supported values: \"Recreate\", \"RollingUpdate\"";
            report.shown(
                Kind::NotSupported,
                "spec.strategy",
                &unknown_strategy(strategy),
                why,
            );
        }
    }
}

fn daemon_set_strategy(report: &mut Report, strategy: &Value) {
    let rolling = &strategy["rollingUpdate"];
    let at = |field: &str| format!("spec.updateStrategy.rollingUpdate.{field}");
    match text(&strategy["type"]) {
        "OnDelete" => {}
        "RollingUpdate" => {
            report.number_or_percent(&at("maxUnavailable"), &rolling["maxUnavailable"]);
            report.number_or_percent(&at("maxSurge"), &rolling["maxSurge"]);
            match (
                is_zero(&rolling["maxUnavailable"]),
                is_zero(&rolling["maxSurge"]),
            ) {
                (true, true) => {
                    let why = "cannot be 0 when maxSurge is 0";
                    report.required_because(at("maxUnavailable"), why);
                }
                (false, false) => {
                    let why = "may not be set when maxUnavailable is non-zero";
                    report.invalid(at("maxSurge"), &rolling["maxSurge"], why);
                }
                _ => {}
            }
            report.at_most_hundred(&at("maxUnavailable"), &rolling["maxUnavailable"]);
            report.at_most_hundred(&at("maxSurge"), &rolling["maxSurge"]);
        }
        _ => {
            let why = "supported values: \"RollingUpdate\", \"OnDelete\"";
            let shown = unknown_strategy(strategy);
            report.shown(Kind::NotSupported, "spec.updateStrategy", &shown, why);
        }
    }
}

fn stateful_set_strategy(report: &mut Report, strategy: &Value) {
    let rolling = &strategy["rollingUpdate"];
    match text(&strategy["type"]) {
        "" => report.required("spec.updateStrategy"),
        "OnDelete" if rolling.is_object() => {
            let partition = &rolling["partition"];
            let shown = format!("{{\"Partition\":{partition},\"MaxUnavailable\":null}}");
            let why = "only allowed for updateStrategy 'RollingUpdate'";
            report.invalid_shown("spec.updateStrategy.rollingUpdate", &shown, why);
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            let path = "spec.updateStrategy.rollingUpdate.partition";
            report.not_negative(path, &rolling["partition"]);
        }
        _ => {
            let why = "must be 'RollingUpdate' or 'OnDelete'";
            report.invalid_shown("spec.updateStrategy", &unknown_strategy(strategy), why);
        }
    }
}
