//! Secrets that come from elsewhere, or go there.

use serde_json::Value;

use super::{
    live::{Conditions, not_observed},
    verdict::Verdict,
};

/// An `ExternalSecret`, a `PushSecret` or a store of either: its operator sets `Ready` to false only
/// when something failed.
pub(super) fn ready(object: &Value) -> Verdict {
    let Some(ready) = Conditions::of(object).get("Ready") else {
        return not_observed();
    };
    if ready.is_true() {
        Verdict::healthy()
    } else if ready.is_false() {
        ready.degraded("NotReady")
    } else {
        ready.progressing("NotReady")
    }
}
