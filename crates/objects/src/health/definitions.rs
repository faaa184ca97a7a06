//! What other objects need first: namespaces, definitions and APIs.

use serde_json::Value;

use super::{
    live::{Conditions, not_observed, text},
    verdict::Verdict,
};

/// A `CustomResourceDefinition`: its names are accepted and it is served. That a schema is not
/// structural (`NonStructuralSchema`) keeps nobody from using it.
pub(super) fn custom_resource(object: &Value) -> Verdict {
    let conditions = Conditions::of(object);
    if let Some(conflict) = conditions.denies("NamesAccepted") {
        return conflict.degraded("NamesNotAccepted");
    }
    match conditions.get("Established") {
        Some(established) if established.is_true() => Verdict::healthy(),
        Some(established) => established.progressing("NotEstablished"),
        None => not_observed(),
    }
}

/// An `APIService`: its server may take a while to start.
pub(super) fn api_service(object: &Value) -> Verdict {
    match Conditions::of(object).get("Available") {
        Some(available) if available.is_true() => Verdict::healthy(),
        Some(available) => available.progressing("NotAvailable"),
        None => not_observed(),
    }
}

/// A Namespace.
pub(super) fn namespace(object: &Value) -> Verdict {
    match text(&object["status"]["phase"]) {
        "Active" => Verdict::healthy(),
        "Terminating" => Verdict::progressing("Terminating", "it is being deleted"),
        "" => not_observed(),
        other => Verdict::unknown("NotUnderstood", &format!("its phase is {other:?}")),
    }
}
