//! Who may reach a component, as a network policy.
//!
//! The ports are those that pods listen on, since that is what a policy sees; a Service's own port may differ.

use std::collections::{BTreeMap, BTreeSet};

use quadrille_types::{
    labels::{SYSTEM_COMPONENT, hierarchy},
    workload::{EndpointPort, EndpointType, Visibility},
};
use serde_json::{Value, json};

use crate::{inputs::Inputs, metadata::Metadata, provider::PolicyProvider};

/// A port that pods listen on: number, transport, whether HTTP is spoken there.
type Port = (i32, &'static str, bool);

/// The policy of a component: its own cell reaches every endpoint, other cells of the organization and gateways what is
/// visible to them. Without endpoints nobody reaches it.
pub(crate) fn of(
    endpoints: &BTreeMap<String, EndpointPort>,
    metadata: &Metadata,
    inputs: &Inputs<'_>,
    provider: PolicyProvider,
) -> Value {
    let seen_by = |visible: &dyn Fn(&EndpointPort) -> bool| -> BTreeSet<Port> {
        endpoints
            .values()
            .filter(|endpoint| visible(endpoint))
            .map(port)
            .collect()
    };
    let all = seen_by(&|_| true);
    let organization = seen_by(&|endpoint| endpoint.visibility.contains(&Visibility::Namespace));
    let gateways = seen_by(&|endpoint| {
        let beyond = [Visibility::Internal, Visibility::External];
        beyond.iter().any(|who| endpoint.visibility.contains(who))
    });
    let name = format!("openchoreo-{}", inputs.component.name);
    match provider {
        PolicyProvider::Standard => {
            standard(&name, metadata, inputs, [&all, &organization, &gateways])
        }
        PolicyProvider::Cilium => cilium(&name, metadata, inputs, [&all, &organization, &gateways]),
    }
}

fn port(endpoint: &EndpointPort) -> Port {
    use EndpointType::{GraphQl, Grpc, Http, Rest, Websocket};
    let speaks_http = matches!(endpoint.protocol, Http | Rest | GraphQl | Websocket | Grpc);
    (
        endpoint.target_port,
        endpoint.protocol.transport(),
        speaks_http,
    )
}

fn standard(
    name: &str,
    metadata: &Metadata,
    inputs: &Inputs<'_>,
    [all, organization, gateways]: [&BTreeSet<Port>; 3],
) -> Value {
    let rule = |ports: &BTreeSet<Port>, from: Value| {
        let ports: BTreeSet<(i32, &str)> = ports
            .iter()
            .map(|(port, transport, _)| (*port, *transport))
            .collect();
        let ports = ports
            .into_iter()
            .map(|(port, transport)| json!({ "port": port, "protocol": transport }));
        json!({ "from": [from], "ports": ports.collect::<Vec<_>>() })
    };
    let mut ingress = Vec::new();
    if !all.is_empty() {
        ingress.push(rule(all, json!({ "podSelector": {} })));
    }
    if !organization.is_empty() {
        let labels = json!({
            hierarchy::NAMESPACE: inputs.organization,
            hierarchy::ENVIRONMENT: inputs.environment.name,
        });
        ingress.push(rule(
            organization,
            json!({ "namespaceSelector": { "matchLabels": labels } }),
        ));
    }
    if !gateways.is_empty() {
        let exists = json!([{ "key": SYSTEM_COMPONENT, "operator": "Exists" }]);
        let from =
            json!({ "namespaceSelector": {}, "podSelector": { "matchExpressions": exists } });
        ingress.push(rule(gateways, from));
    }
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": { "name": name, "namespace": metadata.namespace, "labels": metadata.labels },
        "spec": {
            "podSelector": { "matchLabels": metadata.labels },
            "policyTypes": ["Ingress"],
            "ingress": ingress,
        },
    })
}

fn cilium(
    name: &str,
    metadata: &Metadata,
    inputs: &Inputs<'_>,
    [all, organization, gateways]: [&BTreeSet<Port>; 3],
) -> Value {
    let rule = |ports: &BTreeSet<Port>, from: Value| {
        let entry = |speaks_http: bool| {
            let ports: Vec<Value> = ports
                .iter()
                .filter(|(_, _, http)| *http == speaks_http)
                .map(|(port, transport, _)| json!({ "port": port.to_string(), "protocol": transport }))
                .collect();
            (!ports.is_empty()).then(|| {
                if speaks_http {
                    json!({ "ports": ports, "rules": { "http": [{}] } })
                } else {
                    json!({ "ports": ports })
                }
            })
        };
        let to_ports: Vec<Value> = [entry(true), entry(false)].into_iter().flatten().collect();
        json!({ "fromEndpoints": [from], "toPorts": to_ports })
    };
    let any_namespace = json!({ "key": "k8s:io.kubernetes.pod.namespace", "operator": "Exists" });
    let namespace_label = |key: &str| format!("k8s:io.cilium.k8s.namespace.labels.{key}");
    let mut ingress = Vec::new();
    if !all.is_empty() {
        ingress.push(rule(all, json!({})));
    }
    if !organization.is_empty() {
        let labels = json!({
            namespace_label(hierarchy::NAMESPACE): inputs.organization,
            namespace_label(hierarchy::ENVIRONMENT): inputs.environment.name,
        });
        let from = json!({ "matchLabels": labels, "matchExpressions": [any_namespace.clone()] });
        ingress.push(rule(organization, from));
    }
    if !gateways.is_empty() {
        let system = json!({ "key": format!("k8s:{SYSTEM_COMPONENT}"), "operator": "Exists" });
        ingress.push(rule(
            gateways,
            json!({ "matchExpressions": [system, any_namespace] }),
        ));
    }
    // An empty rule closes what a policy without rules would leave open.
    if ingress.is_empty() {
        ingress.push(json!({}));
    }
    json!({
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumNetworkPolicy",
        "metadata": { "name": name, "namespace": metadata.namespace, "labels": metadata.labels },
        "spec": { "endpointSelector": { "matchLabels": metadata.labels }, "ingress": ingress },
    })
}

#[cfg(test)]
mod tests;
