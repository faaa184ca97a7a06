//! What single built-in kinds do differently, as tables.

use crate::resource::{Origin, Resource};

/// Resources whose delete answers with the object instead of a Status.
const RETURNS_DELETED: [(&str, &str); 19] = [
    ("", "pods"),
    ("", "services"),
    ("", "namespaces"),
    ("", "serviceaccounts"),
    ("", "persistentvolumes"),
    ("", "persistentvolumeclaims"),
    ("", "podtemplates"),
    ("", "resourcequotas"),
    ("storage.k8s.io", "csidrivers"),
    ("storage.k8s.io", "storageclasses"),
    ("storage.k8s.io", "volumeattachments"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "volumeattributesclasses"),
    ("resource.k8s.io", "resourceclaimtemplates"),
    ("resource.k8s.io", "resourceslices"),
    ("resource.k8s.io", "resourceclaims"),
    ("resource.k8s.io", "deviceclasses"),
    ("resource.k8s.io", "devicetaintrules"),
    ("resource.k8s.io", "resourcepoolstatusrequests"),
];

/// Resources that an update creates when they don't exist.
const CREATED_BY_UPDATE: [(&str, &str); 11] = [
    ("node.k8s.io", "runtimeclasses"),
    ("rbac.authorization.k8s.io", "rolebindings"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "roles"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("coordination.k8s.io", "leases"),
    ("coordination.k8s.io", "leasecandidates"),
    ("", "limitranges"),
    ("", "events"),
    ("", "services"),
    ("", "endpoints"),
];

/// Built-in resources whose update must name a resource version. Custom resources always must.
const CONDITIONAL_UPDATE: [(&str, &str); 20] = [
    ("certificates.k8s.io", "podcertificaterequests"),
    ("certificates.k8s.io", "clustertrustbundles"),
    ("node.k8s.io", "runtimeclasses"),
    ("storagemigration.k8s.io", "storageversionmigrations"),
    ("policy", "poddisruptionbudgets"),
    ("resource.k8s.io", "resourcepoolstatusrequests"),
    ("internal.apiserver.k8s.io", "storageversions"),
    ("storage.k8s.io", "csidrivers"),
    ("storage.k8s.io", "csistoragecapacities"),
    ("storage.k8s.io", "volumeattachments"),
    ("storage.k8s.io", "csinodes"),
    ("coordination.k8s.io", "leases"),
    ("coordination.k8s.io", "leasecandidates"),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicies",
    ),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
    ),
    (
        "admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
    ),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
];

/// Resources whose dependents are orphaned when a delete says nothing about them.
const ORPHANS_BY_DEFAULT: [(&str, &str); 2] = [("", "replicationcontrollers"), ("batch", "jobs")];

fn listed(table: &[(&str, &str)], resource: &Resource) -> bool {
    matches!(resource.origin, Origin::BuiltIn)
        && table.contains(&(resource.group.as_str(), resource.plural.as_str()))
}

/// Whether a delete answers with the deleted object.
pub(crate) fn returns_deleted(resource: &Resource) -> bool {
    listed(&RETURNS_DELETED, resource)
}

/// Whether an update creates what is missing.
pub(crate) fn created_by_update(resource: &Resource) -> bool {
    listed(&CREATED_BY_UPDATE, resource)
}

/// Whether an update must name the resource version that it saw.
pub(crate) fn conditional_update(resource: &Resource) -> bool {
    matches!(resource.origin, Origin::Custom { .. }) || listed(&CONDITIONAL_UPDATE, resource)
}

/// Whether dependents are orphaned by default.
pub(crate) fn orphans_by_default(resource: &Resource) -> bool {
    listed(&ORPHANS_BY_DEFAULT, resource)
}

/// Whether the garbage collector has no say: events have no dependents.
pub(crate) fn without_garbage_collection(resource: &Resource) -> bool {
    resource.plural == "events" && matches!(resource.origin, Origin::BuiltIn)
}

/// The field selectors that a resource knows beyond name and namespace.
pub(crate) fn selectable_fields(resource: &Resource) -> Vec<String> {
    let built_in: &[&str] = match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "replicationcontrollers") => &["status.replicas"],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "events") => &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
        ("", "namespaces") => &["status.phase"],
        ("", "secrets") => &["type"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        ("batch", "jobs") => &["status.successful"],
        ("certificates.k8s.io", "certificatesigningrequests") => &["spec.signerName"],
        _ => &[],
    };
    let mut fields: Vec<String> = built_in.iter().map(|field| (*field).to_owned()).collect();
    if let Origin::Custom {
        definition,
        version_index,
        ..
    } = &resource.origin
    {
        let declared = &definition["spec"]["versions"][*version_index]["selectableFields"];
        for field in declared.as_array().into_iter().flatten() {
            if let Some(path) = field["jsonPath"].as_str() {
                fields.push(path.trim_start_matches('.').to_owned());
            }
        }
    }
    fields
}
