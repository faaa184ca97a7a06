//! Kinds that every supported cluster serves, under the same paths since long.

use kube::core::{ApiResource, GroupVersionKind};

use super::Served;

/// Kind, plural, whether its objects are in namespaces.
type Row = (&'static str, &'static str, bool);

const CORE: &[Row] = &[
    ("ConfigMap", "configmaps", true),
    ("Endpoints", "endpoints", true),
    ("Event", "events", true),
    ("LimitRange", "limitranges", true),
    ("Namespace", "namespaces", false),
    ("Node", "nodes", false),
    ("PersistentVolume", "persistentvolumes", false),
    ("PersistentVolumeClaim", "persistentvolumeclaims", true),
    ("Pod", "pods", true),
    ("PodTemplate", "podtemplates", true),
    ("ReplicationController", "replicationcontrollers", true),
    ("ResourceQuota", "resourcequotas", true),
    ("Secret", "secrets", true),
    ("Service", "services", true),
    ("ServiceAccount", "serviceaccounts", true),
];

const APPS: &[Row] = &[
    ("ControllerRevision", "controllerrevisions", true),
    ("DaemonSet", "daemonsets", true),
    ("Deployment", "deployments", true),
    ("ReplicaSet", "replicasets", true),
    ("StatefulSet", "statefulsets", true),
];

const BATCH: &[Row] = &[("CronJob", "cronjobs", true), ("Job", "jobs", true)];

const NETWORKING: &[Row] = &[
    ("Ingress", "ingresses", true),
    ("IngressClass", "ingressclasses", false),
    ("NetworkPolicy", "networkpolicies", true),
];

const RBAC: &[Row] = &[
    ("ClusterRole", "clusterroles", false),
    ("ClusterRoleBinding", "clusterrolebindings", false),
    ("Role", "roles", true),
    ("RoleBinding", "rolebindings", true),
];

const AUTOSCALING: &[Row] = &[("HorizontalPodAutoscaler", "horizontalpodautoscalers", true)];

const POLICY: &[Row] = &[("PodDisruptionBudget", "poddisruptionbudgets", true)];

const DEFINITIONS: &[Row] = &[(
    "CustomResourceDefinition",
    "customresourcedefinitions",
    false,
)];

/// All of them by group and version.
pub(super) const GROUPS: &[(&str, &str, &[Row])] = &[
    ("", "v1", CORE),
    ("apps", "v1", APPS),
    ("batch", "v1", BATCH),
    ("networking.k8s.io", "v1", NETWORKING),
    ("rbac.authorization.k8s.io", "v1", RBAC),
    ("autoscaling", "v2", AUTOSCALING),
    ("policy", "v1", POLICY),
    ("apiextensions.k8s.io", "v1", DEFINITIONS),
];

/// A kind, if every cluster has it.
pub(super) fn find(group: &str, version: &str, kind: &str) -> Option<Served> {
    let (_, _, rows) = GROUPS
        .iter()
        .find(|(of, at, _)| *of == group && *at == version)?;
    let (kind, plural, namespaced) = rows.iter().find(|(name, _, _)| *name == kind)?;
    let kind = GroupVersionKind::gvk(group, version, kind);
    Some(Served {
        resource: ApiResource::from_gvk_with_plural(&kind, plural),
        namespaced: *namespaced,
    })
}
