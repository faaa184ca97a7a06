//! Fields that say the same twice, for the sake of old clients, and are kept alike.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};

use crate::builtin::fields::{object_or_new, objects, set_unset, text, unset};

type Object = Map<String, Value>;

/// `serviceAccount` is the old name of `serviceAccountName`.
pub(super) fn service_account(spec: &mut Object) {
    if unset(spec, "serviceAccountName") {
        let old = text(spec, "serviceAccount").to_owned();
        set_unset(spec, "serviceAccountName", old);
    }
    if !unset(spec, "serviceAccountName") {
        let name = spec["serviceAccountName"].clone();
        spec.insert("serviceAccount".into(), name);
    }
}

/// The first of `podCIDRs` is `podCIDR`.
pub(super) fn pod_cidrs(spec: &mut Object) {
    first_and_list(
        spec,
        "podCIDR",
        "podCIDRs",
        |first| first,
        |first| Some(first.clone()),
    );
}

/// The first of `podIPs` is `podIP`. What is said of `hostIPs` is for validation to compare.
pub(super) fn pod_ips(status: &mut Object) {
    let wrap = |ip| json!({"ip": ip});
    first_and_list(status, "podIP", "podIPs", wrap, |first| {
        first.get("ip").cloned()
    });
}

fn first_and_list(
    object: &mut Object,
    single: &str,
    list: &str,
    wrap: impl Fn(Value) -> Value,
    unwrap: impl Fn(&Value) -> Option<Value>,
) {
    if unset(object, single) {
        let first = object.get(list).and_then(|entries| entries.get(0));
        if let Some(first) = first.and_then(unwrap) {
            object.insert(single.to_owned(), first);
        }
    } else {
        let wanted = wrap(object[single].clone());
        let agrees = object.get(list).and_then(|entries| entries.get(0)) == Some(&wanted);
        if !agrees {
            object.insert(list.to_owned(), json!([wanted]));
        }
    }
}

/// `stringData` is a way to write `data`, never read back.
pub(super) fn string_data(secret: &mut Object) {
    let Some(Value::Object(texts)) = secret.remove("stringData") else {
        return;
    };
    if texts.is_empty() {
        return;
    }
    let data = object_or_new(secret, "data");
    for (key, value) in texts {
        let encoded = BASE64_STANDARD.encode(value.as_str().unwrap_or_default());
        data.insert(key, json!(encoded));
    }
}

/// Claim templates always name their kind.
pub(super) fn claim_templates(spec: &mut Object) {
    for claim in objects(spec, "volumeClaimTemplates") {
        set_unset(claim, "apiVersion", "v1");
        set_unset(claim, "kind", "PersistentVolumeClaim");
    }
}

/// A number that was a field once is an annotation now.
pub(super) fn template_generation(set: &mut Object) {
    let annotations = object_or_new(object_or_new(set, "metadata"), "annotations");
    set_unset(annotations, "deprecated.daemonset.template.generation", "0");
}
