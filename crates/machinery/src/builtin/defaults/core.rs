//! Defaults of the core group that depend on more than one field.

use serde_json::{Map, Value, json};

use super::image::pull_policy;
use crate::{
    builtin::fields::{count, object, object_or_new, objects, set_unset, set_zero, text, unset},
    schema::SchemaRef,
};

type Object = Map<String, Value>;

/// The pull policy follows the image's tag.
pub(super) fn container(container: &mut Object) {
    let policy = pull_policy(text(container, "image"));
    set_unset(container, "imagePullPolicy", policy);
}

/// A volume without a source is an empty folder; an image volume is pulled like a container's image.
pub(super) fn volume(schema: SchemaRef<'_>, volume: &mut Object) {
    let sources = schema.node().properties.iter();
    let has_source = sources
        .filter(|(name, _)| &**name != "name")
        .any(|(name, _)| volume.get(&**name).is_some_and(|source| !source.is_null()));
    if !has_source {
        volume.insert("emptyDir".into(), json!({}));
    }
    if let Some(image) = object(volume, "image") {
        let policy = pull_policy(text(image, "reference"));
        set_unset(image, "pullPolicy", policy);
    }
}

/// Limits without requests are requests too; on the host's network, ports are the host's ports.
pub(super) fn pod(pod: &mut Object) {
    let Some(spec) = object(pod, "spec") else {
        return;
    };
    let host_network = spec.get("hostNetwork") == Some(&json!(true));
    for list in ["containers", "initContainers"] {
        for container in objects(spec, list) {
            if let Some(resources) = object(container, "resources") {
                requests_from_limits(resources, |_| true);
            }
            if host_network {
                for port in objects(container, "ports") {
                    let number = port.get("containerPort").and_then(Value::as_i64);
                    set_zero(port, "hostPort", number.unwrap_or_default());
                }
            }
        }
    }
    if let Some(resources) = object(spec, "resources") {
        let of_pods =
            |name: &str| matches!(name, "cpu" | "memory") || name.starts_with("hugepages-");
        requests_from_limits(resources, of_pods);
    }
    set_unset(spec, "enableServiceLinks", true);
}

fn requests_from_limits(resources: &mut Object, counts: impl Fn(&str) -> bool) {
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else {
        return;
    };
    let requests = object_or_new(resources, "requests");
    for (name, amount) in limits.into_iter().filter(|(name, _)| counts(name)) {
        requests.entry(name).or_insert(amount);
    }
}

/// Everything that follows from the type of a service.
pub(super) fn service(service: &mut Object) {
    let spec = object_or_new(service, "spec");
    set_unset(spec, "sessionAffinity", "None");
    set_unset(spec, "type", "ClusterIP");
    match text(spec, "sessionAffinity") {
        "None" => {
            spec.remove("sessionAffinityConfig");
        }
        "ClientIP" => {
            let timeout = &["sessionAffinityConfig", "clientIP", "timeoutSeconds"];
            let mut found = spec.get(timeout[0]);
            for key in &timeout[1..] {
                found = found.and_then(|value| value.get(key));
            }
            if found.is_none() {
                let config = json!({"clientIP": {"timeoutSeconds": 10800}});
                spec.insert("sessionAffinityConfig".into(), config);
            }
        }
        _ => {}
    }
    for port in objects(spec, "ports") {
        let unset_target = match port.get("targetPort") {
            None | Some(Value::Null) => true,
            Some(Value::String(name)) => name.is_empty(),
            Some(number) => number.as_i64() == Some(0),
        };
        if unset_target {
            let number = port.get("port").cloned().unwrap_or_else(|| json!(0));
            port.insert("targetPort".into(), number);
        }
    }
    let ty = text(spec, "type").to_owned();
    let has_external_ips = ty == "ClusterIP" && count(spec, "externalIPs") > 0;
    if ty == "LoadBalancer" || ty == "NodePort" || has_external_ips {
        set_unset(spec, "externalTrafficPolicy", "Cluster");
    }
    if matches!(ty.as_str(), "NodePort" | "LoadBalancer" | "ClusterIP") {
        set_unset(spec, "internalTrafficPolicy", "Cluster");
    }
    if ty != "LoadBalancer" {
        return;
    }
    set_unset(spec, "allocateLoadBalancerNodePorts", true);
    if let Some(balancer) =
        object(service, "status").and_then(|status| object(status, "loadBalancer"))
    {
        for ingress in objects(balancer, "ingress") {
            if !unset(ingress, "ip") {
                set_unset(ingress, "ipMode", "VIP");
            }
        }
    }
}

/// A namespace is labelled with its own name.
pub(super) fn namespace(namespace: &mut Object) {
    let metadata = object_or_new(namespace, "metadata");
    let name = text(metadata, "name").to_owned();
    if !name.is_empty() {
        let labels = object_or_new(metadata, "labels");
        labels.insert("kubernetes.io/metadata.name".into(), json!(name));
    }
}

/// What can be allocated is the capacity, unless the node says otherwise.
pub(super) fn node_status(status: &mut Object) {
    if let Some(capacity) = status.get("capacity").cloned()
        && !status.contains_key("allocatable")
        && !capacity.is_null()
    {
        status.insert("allocatable".into(), capacity);
    }
}

/// Defaults of containers follow from the other bounds.
pub(super) fn limit_range_item(item: &mut Object) {
    if text(item, "type") != "Container" {
        return;
    }
    for (from, to) in [
        ("max", "default"),
        ("default", "defaultRequest"),
        ("min", "defaultRequest"),
    ] {
        let Some(Value::Object(source)) = item.get(from).cloned() else {
            continue;
        };
        let target = object_or_new(item, to);
        for (name, amount) in source {
            target.entry(name).or_insert(amount);
        }
    }
}
