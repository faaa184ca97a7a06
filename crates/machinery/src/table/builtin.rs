//! Tables of built-in kinds: the columns that real servers print, and the cells of one object.

mod access;
mod autoscaler;
mod cells;
mod columns;
mod core;
mod network;
mod node;
mod pod;
mod storage;
mod workloads;

use jiff::Timestamp;
use serde_json::{Value, json};

pub use columns::columns;

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub name: &'static str,
    /// `string`, `integer`, `boolean` or `date`.
    pub ty: &'static str,
    /// `name` for the column that names the object, else empty.
    pub format: &'static str,
    /// Zero: always shown; one: only in wide tables.
    pub priority: u8,
}

impl Column {
    /// The column as a `Table` defines it.
    pub fn definition(&self) -> Value {
        json!({
            "name": self.name,
            "type": self.ty,
            "format": self.format,
            "description": "",
            "priority": self.priority,
        })
    }
}

/// The cells of one object, one per column of its kind.
pub fn row(kind: &str, object: &Value, now: Timestamp) -> Vec<Value> {
    let age = cells::age(object, now);
    let name = cells::name(object);
    match kind {
        "APIService" => access::api_service(object, name, age),
        "CSIDriver" => storage::driver(object, name, age),
        "CSINode" => vec![name, cells::count(&object["spec"]["drivers"]), age],
        "CertificateSigningRequest" => access::certificate_request(object, name, age),
        "ComponentStatus" => core::component_status(object, name),
        "ConfigMap" => core::config_map(object, name, age),
        "ControllerRevision" => workloads::revision(object, name, age),
        "CronJob" => workloads::cron_job(object, name, age, now),
        "DaemonSet" => workloads::daemon_set(object, name, age),
        "Deployment" => workloads::deployment(object, name, age),
        "EndpointSlice" => network::endpoint_slice(object, name, age),
        "Endpoints" => network::endpoints(object, name, age),
        "Event" => core::event(object, now),
        "FlowSchema" => access::flow_schema(object, name, age),
        "HorizontalPodAutoscaler" => autoscaler::row(object, name, age),
        "IPAddress" => network::address(object, name, age),
        "Ingress" => network::ingress(object, name, age),
        "IngressClass" => network::ingress_class(object, age),
        "Job" => workloads::job(object, name, age, now),
        "Lease" => vec![name, cells::text(&object["spec"]["holderIdentity"]), age],
        "MutatingAdmissionPolicy" => access::policy(object, name, age, "mutations"),
        "MutatingAdmissionPolicyBinding" | "ValidatingAdmissionPolicyBinding" => {
            access::policy_binding(object, name, age)
        }
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            vec![name, cells::count(&object["webhooks"]), age]
        }
        "Namespace" => vec![name, cells::text(&object["status"]["phase"]), age],
        "NetworkPolicy" => {
            let selector = cells::selector(&object["spec"]["podSelector"]);
            vec![name, selector.into(), age]
        }
        "Node" => node::row(object, name, age),
        "PersistentVolume" => storage::volume(object, name, age),
        "PersistentVolumeClaim" => storage::claim(object, name, age),
        "Pod" => pod::row(object, name, age, now),
        "PodDisruptionBudget" => workloads::disruption_budget(object, name, age),
        "PodTemplate" => workloads::pod_template(object, name),
        "PriorityClass" => access::priority_class(object, name, age),
        "PriorityLevelConfiguration" => access::priority_level(object, name, age),
        "ReplicaSet" => workloads::replica_set(object, name, age),
        "ReplicationController" => workloads::replication_controller(object, name, age),
        "ResourceClaim" => core::resource_claim(object, name, age),
        "ResourceQuota" => core::resource_quota(object, name, age),
        "ResourceSlice" => core::resource_slice(object, name, age),
        "RoleBinding" | "ClusterRoleBinding" => access::role_binding(object, name, age),
        "RuntimeClass" => vec![name, cells::text(&object["handler"]), age],
        "Scale" => workloads::scale(object, name, age),
        "Secret" => core::secret(object, name, age),
        "Service" => network::service(object, name, age),
        "ServiceAccount" | "DeviceClass" | "ResourceClaimTemplate" => vec![name, age],
        "ServiceCIDR" => {
            let ranges = cells::join(&object["spec"]["cidrs"], ",");
            vec![name, ranges.into(), age]
        }
        "StatefulSet" => workloads::stateful_set(object, name, age),
        "StorageClass" => storage::class(object, age),
        "ValidatingAdmissionPolicy" => access::policy(object, name, age, "validations"),
        "VolumeAttachment" => storage::attachment(object, name, age),
        "VolumeAttributesClass" => vec![name, cells::text(&object["driverName"]), age],
        _ => vec![name, object["metadata"]["creationTimestamp"].clone()],
    }
}

/// The conditions of a row: finished pods are marked as completed.
pub fn row_conditions(kind: &str, object: &Value) -> Option<Value> {
    let phase = object["status"]["phase"].as_str()?;
    let message = match (kind, phase) {
        ("Pod", "Succeeded") => "The pod has completed successfully.",
        ("Pod", "Failed") => "The pod failed.",
        _ => return None,
    };
    Some(json!([{
        "type": "Completed",
        "status": "True",
        "reason": phase,
        "message": message,
    }]))
}
