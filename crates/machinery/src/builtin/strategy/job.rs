//! How a job finds its pods: labels and a selector made from its uid.

use serde_json::{Map, Value, json};

use crate::builtin::fields::{object_or_new, text};

const UID: &str = "batch.kubernetes.io/controller-uid";

/// Labels the pod template with name and uid of the job and selects by the uid, unless the author does.
pub(super) fn generate_selector(job: &mut Map<String, Value>) {
    let metadata = object_or_new(job, "metadata");
    let name = json!(text(metadata, "name"));
    let uid = json!(text(metadata, "uid"));
    let spec = object_or_new(job, "spec");
    if spec.get("manualSelector") == Some(&json!(true)) {
        return;
    }
    let template = object_or_new(spec, "template");
    let labels = object_or_new(object_or_new(template, "metadata"), "labels");
    for (key, value) in [
        ("job-name", &name),
        ("batch.kubernetes.io/job-name", &name),
        ("controller-uid", &uid),
        (UID, &uid),
    ] {
        labels.entry(key).or_insert_with(|| value.clone());
    }
    let selector = object_or_new(object_or_new(spec, "selector"), "matchLabels");
    selector.entry(UID).or_insert(uid);
}
