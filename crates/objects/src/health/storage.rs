//! Volumes and the claims to them.

use serde_json::Value;

use super::{
    live::{Conditions, not_observed, text},
    verdict::{PATIENCE, Verdict},
};

/// A claim to a volume.
pub(super) fn claim(object: &Value) -> Verdict {
    let conditions = Conditions::of(object);
    for kind in ["ControllerResizeError", "NodeResizeError"] {
        if let Some(failure) = conditions.holds(kind) {
            return failure.degraded("ResizeFailed");
        }
    }
    match text(&object["status"]["phase"]) {
        "Bound" => Verdict::healthy(),
        "Lost" => Verdict::degraded("ClaimLost", "its volume does not exist any more"),
        "Pending" | "" => pending(object),
        other => Verdict::unknown("NotUnderstood", &format!("its phase is {other:?}")),
    }
}

/// A claim may have to wait for the first pod that uses it, for ever if there is none. Only once a
/// provisioner was called is there something that can be late; a pod that waits for it is, anyhow.
fn pending(object: &Value) -> Verdict {
    let annotations = &object["metadata"]["annotations"];
    let keys = [
        "volume.kubernetes.io/storage-provisioner",
        "volume.beta.kubernetes.io/storage-provisioner",
    ];
    let provisioner = keys.iter().map(|key| text(&annotations[*key]));
    match provisioner.max().filter(|name| !name.is_empty()) {
        Some(name) => Verdict::progressing("Provisioning", &format!("{name} makes its volume"))
            .within(Some(PATIENCE)),
        None => Verdict::progressing("Unbound", "it has no volume yet").within(None),
    }
}

/// A volume.
pub(super) fn volume(object: &Value) -> Verdict {
    let status = &object["status"];
    match text(&status["phase"]) {
        "Available" | "Bound" | "Released" => Verdict::healthy(),
        "Failed" => Verdict::degraded("VolumeFailed", text(&status["message"])),
        "Pending" | "" => not_observed(),
        other => Verdict::unknown("NotUnderstood", &format!("its phase is {other:?}")),
    }
}
