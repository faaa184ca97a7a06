//! What the admission plugins that every server runs add to new objects.

use serde_json::{Map, Value, json};

use super::fields::{object_or_new, objects, set_unset, text};

type Object = Map<String, Value>;

/// Completes a new object of a built-in kind; `kind` is its kind, `group` its API group.
pub fn admit_create(group: &str, kind: &str, object: &mut Value) {
    let Some(object) = object.as_object_mut() else {
        return;
    };
    match (group, kind) {
        ("", "Pod") => pod(object),
        ("", "Node") => node(object),
        ("", "PersistentVolume") => finalizer(object, "kubernetes.io/pv-protection"),
        ("", "PersistentVolumeClaim") => finalizer(object, "kubernetes.io/pvc-protection"),
        ("storage.k8s.io", "VolumeAttributesClass") => {
            finalizer(object, "kubernetes.io/vac-protection");
        }
        _ => {}
    }
}

/// Completes the new state of an object of a built-in kind.
pub fn admit_update(group: &str, kind: &str, object: &mut Value, old: &Value) {
    if let (("", "Pod"), Some(pod)) = ((group, kind), object.as_object_mut()) {
        let spec = object_or_new(pod, "spec");
        // Nobody has to repeat what admission gave.
        for field in ["priority", "preemptionPolicy"] {
            let given = spec.get(field).is_some_and(|value| !value.is_null());
            if let (false, Some(value)) = (given, old["spec"].get(field)) {
                spec.insert(field.to_owned(), value.clone());
            }
        }
        tolerate_lost_nodes(spec);
    }
}

/// A pod without a priority class has priority zero.
fn pod(pod: &mut Object) {
    let spec = object_or_new(pod, "spec");
    if text(spec, "priorityClassName").is_empty() {
        set_unset(spec, "priority", 0);
        set_unset(spec, "preemptionPolicy", "PreemptLowerPriority");
    }
    tolerate_lost_nodes(spec);
}

/// A pod stays five minutes on a node that is lost.
fn tolerate_lost_nodes(spec: &mut Object) {
    for key in [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ] {
        let tolerated = objects(spec, "tolerations").any(|toleration| {
            let effect = text(toleration, "effect");
            let known = text(toleration, "key");
            (known == key || known.is_empty()) && (effect == "NoExecute" || effect.is_empty())
        });
        if !tolerated {
            let toleration = json!({
                "key": key,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            });
            push(spec, "tolerations", toleration);
        }
    }
}

/// A new node is not ready until its kubelet says so.
fn node(node: &mut Object) {
    let spec = object_or_new(node, "spec");
    let tainted = objects(spec, "taints").any(|taint| {
        text(taint, "key") == "node.kubernetes.io/not-ready"
            && text(taint, "effect") == "NoSchedule"
    });
    if !tainted {
        let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
        push(spec, "taints", taint);
    }
}

fn finalizer(object: &mut Object, name: &str) {
    let metadata = object_or_new(object, "metadata");
    let present = metadata
        .get("finalizers")
        .and_then(Value::as_array)
        .is_some_and(|finalizers| finalizers.iter().any(|finalizer| finalizer == name));
    if !present {
        push(metadata, "finalizers", json!(name));
    }
}

fn push(parent: &mut Object, field: &str, entry: Value) {
    match parent.get_mut(field) {
        Some(Value::Array(entries)) => entries.push(entry),
        _ => {
            parent.insert(field.to_owned(), json!([entry]));
        }
    }
}
