//! Which rule judges which kind.

use serde_json::Value;

use super::{
    argo, autoscaling, batch, certificates, definitions, external_secrets, gateway, generic,
    live::{entries, group_kind},
    network, pod, policies, storage,
    verdict::Verdict,
    workloads,
};

/// How a kind is judged.
#[derive(Clone, Copy)]
enum Rule {
    /// There is nothing that could go wrong with it once it exists.
    Presence,
    /// By its spec and status.
    Judge(fn(&Value) -> Verdict),
}

/// How an object is doing, as far as it says so itself. Any JSON has an answer.
pub fn of(object: &Value) -> Verdict {
    let (group, kind) = group_kind(object);
    of_kind(group, kind, object)
}

/// How an object of a known kind is doing; entries of lists and bare metadata do not name theirs.
pub fn of_kind(group: &str, kind: &str, object: &Value) -> Verdict {
    if !object["metadata"]["deletionTimestamp"].is_null() {
        return terminating(object);
    }
    match rule(group, kind) {
        Rule::Presence => Verdict::healthy(),
        Rule::Judge(judge) => judge(object),
    }
}

/// Whether the verdict on a kind needs more than its metadata. What needs no more can be watched
/// without spec and status.
pub fn needs_status(group: &str, kind: &str) -> bool {
    !matches!(rule(group, kind), Rule::Presence)
}

/// What is said of something that is on its way out, whatever its kind.
fn terminating(object: &Value) -> Verdict {
    let finalizers = entries(&object["metadata"]["finalizers"]).iter();
    let finalizers: Vec<_> = finalizers.filter_map(Value::as_str).collect();
    let message = if finalizers.is_empty() {
        "it is being deleted".to_owned()
    } else {
        format!(
            "it is being deleted and waits for {}",
            finalizers.join(", ")
        )
    };
    Verdict::progressing("Terminating", &message)
}

fn rule(group: &str, kind: &str) -> Rule {
    use Rule::{Judge, Presence};
    match (group, kind) {
        ("apps", "Deployment") => Judge(workloads::deployment),
        ("apps", "StatefulSet") => Judge(workloads::stateful_set),
        ("apps", "DaemonSet") => Judge(workloads::daemon_set),
        ("apps", "ReplicaSet") => Judge(workloads::replica_set),
        ("", "Pod") => Judge(pod::pod),
        ("batch", "Job") => Judge(batch::job),
        ("batch", "CronJob") => Judge(batch::cron_job),
        ("", "PersistentVolumeClaim") => Judge(storage::claim),
        ("", "PersistentVolume") => Judge(storage::volume),
        ("", "Service") => Judge(network::service),
        ("", "Namespace") => Judge(definitions::namespace),
        ("autoscaling", "HorizontalPodAutoscaler") => Judge(autoscaling::horizontal),
        ("policy", "PodDisruptionBudget") => Judge(policies::disruption_budget),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Judge(definitions::custom_resource),
        ("apiregistration.k8s.io", "APIService") => Judge(definitions::api_service),
        ("gateway.networking.k8s.io", "GatewayClass") | ("gateway.envoyproxy.io", "Backend") => {
            Judge(gateway::accepted)
        }
        ("gateway.networking.k8s.io", "Gateway" | "ListenerSet") => Judge(gateway::gateway),
        (
            "gateway.networking.k8s.io",
            "HTTPRoute" | "GRPCRoute" | "TLSRoute" | "TCPRoute" | "UDPRoute",
        ) => Judge(gateway::route),
        ("gateway.networking.k8s.io", "BackendTLSPolicy")
        | (
            "gateway.envoyproxy.io",
            "BackendTrafficPolicy"
            | "ClientTrafficPolicy"
            | "SecurityPolicy"
            | "EnvoyExtensionPolicy"
            | "EnvoyPatchPolicy",
        ) => Judge(gateway::policy),
        ("cilium.io", "CiliumNetworkPolicy" | "CiliumClusterwideNetworkPolicy") => {
            Judge(policies::cilium)
        }
        (
            "external-secrets.io",
            "ExternalSecret"
            | "ClusterExternalSecret"
            | "SecretStore"
            | "ClusterSecretStore"
            | "PushSecret",
        ) => Judge(external_secrets::ready),
        ("cert-manager.io", "Certificate") => Judge(certificates::certificate),
        ("argoproj.io", "Workflow") => Judge(argo::workflow),
        ("argoproj.io", "CronWorkflow") => Judge(argo::cron_workflow),
        _ if has_no_say(group, kind) => Presence,
        _ => Judge(generic::judge),
    }
}

/// Whether a kind has no status, or none that tells of trouble.
fn has_no_say(group: &str, kind: &str) -> bool {
    let kinds: &[&str] = match group {
        "" => &[
            "ConfigMap",
            "Secret",
            "ServiceAccount",
            "LimitRange",
            "ResourceQuota",
            "Endpoints",
            "Event",
            "PodTemplate",
        ],
        "apps" => &["ControllerRevision"],
        "rbac.authorization.k8s.io" => {
            &["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"]
        }
        "networking.k8s.io" => &["NetworkPolicy", "Ingress", "IngressClass"],
        "discovery.k8s.io" => &["EndpointSlice"],
        "coordination.k8s.io" => &["Lease"],
        "events.k8s.io" => &["Event"],
        "scheduling.k8s.io" => &["PriorityClass"],
        "node.k8s.io" => &["RuntimeClass"],
        "storage.k8s.io" => &[
            "StorageClass",
            "CSIDriver",
            "CSINode",
            "CSIStorageCapacity",
            "VolumeAttributesClass",
        ],
        "flowcontrol.apiserver.k8s.io" => &["FlowSchema", "PriorityLevelConfiguration"],
        "admissionregistration.k8s.io" => &[
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
        ],
        "gateway.networking.k8s.io" => &["ReferenceGrant"],
        "gateway.envoyproxy.io" => &["EnvoyProxy", "HTTPRouteFilter"],
        "secrets-store.csi.x-k8s.io" => &["SecretProviderClass"],
        "keda.sh" => &["TriggerAuthentication", "ClusterTriggerAuthentication"],
        "argoproj.io" => &["WorkflowTemplate", "ClusterWorkflowTemplate"],
        "monitoring.coreos.com" => &["PrometheusRule", "ServiceMonitor", "PodMonitor", "Probe"],
        "snapshot.storage.k8s.io" => &["VolumeSnapshotClass"],
        // Generators only describe; the secrets made with them report.
        "generators.external-secrets.io" => return true,
        _ => &[],
    };
    kinds.contains(&kind)
}
