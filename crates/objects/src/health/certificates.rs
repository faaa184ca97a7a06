//! Certificates of cert-manager.

use serde_json::Value;

use super::{generic, live::Conditions, verdict::Verdict};

/// A Certificate. While it is being issued it is not ready; a failed try is told by `Issuing`, and
/// the next one follows only after a long pause.
pub(super) fn certificate(object: &Value) -> Verdict {
    let conditions = Conditions::of(object);
    if conditions.holds("Ready").is_none()
        && let Some(failed) = conditions.denies("Issuing")
        && failed.reason == "Failed"
    {
        return failed.degraded("Failed");
    }
    generic::judge(object)
}
