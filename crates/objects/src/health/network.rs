//! Services.
//!
//! Ingresses need no rule: they are well when present. Many controllers never write an address, since
//! there is none to tell (node ports, host networks), and nothing else in the status tells of trouble.

use serde_json::Value;

use super::{
    live::{entries, text},
    verdict::Verdict,
};

/// A Service; only one that asks for a load balancer has to wait for anything.
pub(super) fn service(object: &Value) -> Verdict {
    if text(&object["spec"]["type"]) != "LoadBalancer" {
        return Verdict::healthy();
    }
    let addresses = entries(&object["status"]["loadBalancer"]["ingress"]);
    let has_address = addresses
        .iter()
        .any(|entry| !text(&entry["ip"]).is_empty() || !text(&entry["hostname"]).is_empty());
    if has_address {
        Verdict::healthy()
    } else {
        Verdict::progressing("NoAddress", "its load balancer has no address yet")
    }
}
