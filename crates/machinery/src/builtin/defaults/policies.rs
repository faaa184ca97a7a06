//! Defaults of access rules, network policies, flow control, devices and custom resource definitions.

use serde_json::{Map, Value, json};

use crate::builtin::fields::{count, object_or_new, set_unset, set_zero, text, unset};

type Object = Map<String, Value>;

const RBAC: &str = "rbac.authorization.k8s.io";

/// Roles belong to one group.
pub(super) fn role_reference(reference: &mut Object) {
    set_unset(reference, "apiGroup", RBAC);
}

/// Users and groups belong to the group of roles, service accounts to the core group.
pub(super) fn subject(subject: &mut Object) {
    if matches!(text(subject, "kind"), "User" | "Group") {
        set_unset(subject, "apiGroup", RBAC);
    }
}

/// A policy is about what comes in, and about what goes out if it says so.
pub(super) fn network_policy(spec: &mut Object) {
    if count(spec, "policyTypes") == 0 {
        let types = if count(spec, "egress") == 0 {
            json!(["Ingress"])
        } else {
            json!(["Ingress", "Egress"])
        };
        spec.insert("policyTypes".into(), types);
    }
}

/// Numbers whose zero means the default: in a flow schema and in the configuration of queues.
pub(super) fn flow_control(object: &mut Object) {
    for (field, default) in [
        ("matchingPrecedence", 1000),
        ("handSize", 8),
        ("queues", 64),
        ("queueLengthLimit", 50),
    ] {
        if object.contains_key(field) {
            set_zero(object, field, default);
        }
    }
}

/// A request is for one device unless it says otherwise.
pub(super) fn device_request(request: &mut Object) {
    set_unset(request, "allocationMode", "ExactCount");
    if text(request, "allocationMode") == "ExactCount" {
        set_zero(request, "count", 1);
    }
}

/// Names follow from the kind; the stored version is the storage version.
pub(super) fn custom_resource_definition(definition: &mut Object) {
    let spec = object_or_new(definition, "spec");
    let names = object_or_new(spec, "names");
    let kind = text(names, "kind").to_owned();
    set_unset(names, "singular", kind.to_lowercase());
    if !kind.is_empty() {
        set_unset(names, "listKind", format!("{kind}List"));
    }
    if unset(spec, "conversion") {
        spec.insert("conversion".into(), json!({"strategy": "None"}));
    }
    let stored = spec.get("versions").and_then(Value::as_array);
    let stored = stored.into_iter().flatten();
    let stored = stored
        .filter(|version| version["storage"] == json!(true))
        .map(|version| version["name"].clone())
        .next();
    let status = object_or_new(definition, "status");
    if let (0, Some(name)) = (count(status, "storedVersions"), stored) {
        status.insert("storedVersions".into(), json!([name]));
    }
}
