//! Defaults that are one value for one field of one type.

use serde_json::{Map, Value, json};

use crate::builtin::fields::set_unset;

enum Default {
    Text(&'static str),
    Number(i64),
    Flag(bool),
    /// An empty object.
    Object,
    /// A list with one text.
    List(&'static str),
}

use Default::{Flag, List, Number, Object, Text};

/// Sorted by type, then in the order of the sources.
const ROWS: &[(&str, &str, Default)] = &[
    ("AzureDiskVolumeSource", "cachingMode", Text("ReadWrite")),
    ("AzureDiskVolumeSource", "fsType", Text("ext4")),
    ("AzureDiskVolumeSource", "kind", Text("Shared")),
    ("AzureDiskVolumeSource", "readOnly", Flag(false)),
    ("CSIDriverSpec", "attachRequired", Flag(true)),
    (
        "CSIDriverSpec",
        "fsGroupPolicy",
        Text("ReadWriteOnceWithFSType"),
    ),
    ("CSIDriverSpec", "podInfoOnMount", Flag(false)),
    ("CSIDriverSpec", "requiresRepublish", Flag(false)),
    ("CSIDriverSpec", "seLinuxMount", Flag(false)),
    ("CSIDriverSpec", "storageCapacity", Flag(false)),
    ("CSIDriverSpec", "volumeLifecycleModes", List("Persistent")),
    ("ConfigMapVolumeSource", "defaultMode", Number(0o644)),
    (
        "Container",
        "terminationMessagePath",
        Text("/dev/termination-log"),
    ),
    ("Container", "terminationMessagePolicy", Text("File")),
    ("ContainerPort", "protocol", Text("TCP")),
    ("CronJobSpec", "concurrencyPolicy", Text("Allow")),
    ("CronJobSpec", "failedJobsHistoryLimit", Number(1)),
    ("CronJobSpec", "successfulJobsHistoryLimit", Number(3)),
    ("CronJobSpec", "suspend", Flag(false)),
    ("DaemonSetSpec", "revisionHistoryLimit", Number(10)),
    ("DeploymentSpec", "progressDeadlineSeconds", Number(600)),
    ("DeploymentSpec", "replicas", Number(1)),
    ("DeploymentSpec", "revisionHistoryLimit", Number(10)),
    ("DownwardAPIVolumeSource", "defaultMode", Number(0o644)),
    ("EndpointPort", "name", Text("")),
    ("EndpointPort", "protocol", Text("TCP")),
    (
        "EphemeralContainer",
        "terminationMessagePath",
        Text("/dev/termination-log"),
    ),
    (
        "EphemeralContainer",
        "terminationMessagePolicy",
        Text("File"),
    ),
    (
        "ExemptPriorityLevelConfiguration",
        "lendablePercent",
        Number(0),
    ),
    (
        "ExemptPriorityLevelConfiguration",
        "nominalConcurrencyShares",
        Number(0),
    ),
    ("FileKeySelector", "optional", Flag(false)),
    ("GRPCAction", "service", Text("")),
    ("HTTPGetAction", "path", Text("/")),
    ("HTTPGetAction", "scheme", Text("HTTP")),
    ("HorizontalPodAutoscalerSpec", "minReplicas", Number(1)),
    ("HostPathVolumeSource", "type", Text("")),
    (
        "ISCSIPersistentVolumeSource",
        "iscsiInterface",
        Text("default"),
    ),
    ("ISCSIVolumeSource", "iscsiInterface", Text("default")),
    ("IngressClassParametersReference", "scope", Text("Cluster")),
    (
        "LimitedPriorityLevelConfiguration",
        "lendablePercent",
        Number(0),
    ),
    (
        "LimitedPriorityLevelConfiguration",
        "nominalConcurrencyShares",
        Number(30),
    ),
    ("MatchResources", "matchPolicy", Text("Equivalent")),
    ("MatchResources", "namespaceSelector", Object),
    ("MatchResources", "objectSelector", Object),
    ("MutatingAdmissionPolicySpec", "failurePolicy", Text("Fail")),
    ("MutatingWebhook", "failurePolicy", Text("Fail")),
    ("MutatingWebhook", "matchPolicy", Text("Equivalent")),
    ("MutatingWebhook", "namespaceSelector", Object),
    ("MutatingWebhook", "objectSelector", Object),
    ("MutatingWebhook", "reinvocationPolicy", Text("Never")),
    ("MutatingWebhook", "timeoutSeconds", Number(10)),
    ("NamedRuleWithOperations", "scope", Text("*")),
    ("NamespaceStatus", "phase", Text("Active")),
    ("NetworkPolicyPort", "protocol", Text("TCP")),
    ("ObjectFieldSelector", "apiVersion", Text("v1")),
    (
        "PersistentVolumeClaimSpec",
        "volumeMode",
        Text("Filesystem"),
    ),
    ("PersistentVolumeClaimStatus", "phase", Text("Pending")),
    (
        "PersistentVolumeSpec",
        "persistentVolumeReclaimPolicy",
        Text("Retain"),
    ),
    ("PersistentVolumeSpec", "volumeMode", Text("Filesystem")),
    ("PersistentVolumeStatus", "phase", Text("Pending")),
    (
        "PodFailurePolicyOnPodConditionsPattern",
        "status",
        Text("True"),
    ),
    ("PodSpec", "dnsPolicy", Text("ClusterFirst")),
    ("PodSpec", "restartPolicy", Text("Always")),
    ("PodSpec", "schedulerName", Text("default-scheduler")),
    ("PodSpec", "securityContext", Object),
    ("PodSpec", "terminationGracePeriodSeconds", Number(30)),
    (
        "PriorityClass",
        "preemptionPolicy",
        Text("PreemptLowerPriority"),
    ),
    ("Probe", "failureThreshold", Number(3)),
    ("Probe", "periodSeconds", Number(10)),
    ("Probe", "successThreshold", Number(1)),
    ("Probe", "timeoutSeconds", Number(1)),
    ("ProjectedVolumeSource", "defaultMode", Number(0o644)),
    (
        "RBDPersistentVolumeSource",
        "keyring",
        Text("/etc/ceph/keyring"),
    ),
    ("RBDPersistentVolumeSource", "pool", Text("rbd")),
    ("RBDPersistentVolumeSource", "user", Text("admin")),
    ("RBDVolumeSource", "keyring", Text("/etc/ceph/keyring")),
    ("RBDVolumeSource", "pool", Text("rbd")),
    ("RBDVolumeSource", "user", Text("admin")),
    ("ReplicaSetSpec", "replicas", Number(1)),
    ("ReplicationControllerSpec", "replicas", Number(1)),
    ("RuleWithOperations", "scope", Text("*")),
    ("ScaleIOPersistentVolumeSource", "fsType", Text("xfs")),
    (
        "ScaleIOPersistentVolumeSource",
        "storageMode",
        Text("ThinProvisioned"),
    ),
    ("ScaleIOVolumeSource", "fsType", Text("xfs")),
    (
        "ScaleIOVolumeSource",
        "storageMode",
        Text("ThinProvisioned"),
    ),
    ("Secret", "type", Text("Opaque")),
    ("SecretVolumeSource", "defaultMode", Number(0o644)),
    (
        "ServiceAccountTokenProjection",
        "expirationSeconds",
        Number(3600),
    ),
    ("ServicePort", "protocol", Text("TCP")),
    ("ServiceReference", "port", Number(443)),
    (
        "StatefulSetPersistentVolumeClaimRetentionPolicy",
        "whenDeleted",
        Text("Retain"),
    ),
    (
        "StatefulSetPersistentVolumeClaimRetentionPolicy",
        "whenScaled",
        Text("Retain"),
    ),
    (
        "StatefulSetSpec",
        "persistentVolumeClaimRetentionPolicy",
        Object,
    ),
    (
        "StatefulSetSpec",
        "podManagementPolicy",
        Text("OrderedReady"),
    ),
    ("StatefulSetSpec", "replicas", Number(1)),
    ("StatefulSetSpec", "revisionHistoryLimit", Number(10)),
    ("StorageClass", "reclaimPolicy", Text("Delete")),
    ("StorageClass", "volumeBindingMode", Text("Immediate")),
    ("TokenRequestSpec", "expirationSeconds", Number(3600)),
    (
        "ValidatingAdmissionPolicySpec",
        "failurePolicy",
        Text("Fail"),
    ),
    ("ValidatingWebhook", "failurePolicy", Text("Fail")),
    ("ValidatingWebhook", "matchPolicy", Text("Equivalent")),
    ("ValidatingWebhook", "namespaceSelector", Object),
    ("ValidatingWebhook", "objectSelector", Object),
    ("ValidatingWebhook", "timeoutSeconds", Number(10)),
];

/// Sets the fields of a type that nobody has set.
pub(super) fn apply(type_name: &str, object: &mut Map<String, Value>) {
    let start = ROWS.partition_point(|(name, ..)| *name < type_name);
    let rows = ROWS[start..].iter();
    for (_, field, default) in rows.take_while(|(name, ..)| *name == type_name) {
        let value = match default {
            Text(text) => json!(text),
            Number(number) => json!(number),
            Flag(flag) => json!(flag),
            Object => json!({}),
            List(text) => json!([text]),
        };
        set_unset(object, field, value);
    }
}

#[cfg(test)]
mod tests {
    use super::ROWS;

    #[test]
    fn rows_are_sorted_so_that_they_are_found() {
        assert!(ROWS.is_sorted_by_key(|(name, field, _)| (*name, *field)));
    }
}
