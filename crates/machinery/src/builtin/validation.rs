//! Which objects of built-in kinds are refused, and in which words.
//!
//! The commonest rules of each kind are here, in the order and with the messages of real servers; `docs/` lists
//! what is not enforced. Objects have their defaults.

mod access;
mod admission_policy;
mod affinity;
mod annotations;
mod autoscaling;
mod config;
mod container;
mod cron;
mod dns;
mod endpoints;
mod environment;
mod indexes;
mod ingress;
mod job;
mod job_status;
mod metadata;
mod mounts;
mod network_policy;
mod pod;
mod pod_status;
mod pod_update;
mod probe;
mod quota;
mod report;
mod resources;
mod security;
mod selector;
mod service;
mod simple;
mod spread;
mod status;
mod storage;
mod update;
mod volume;
mod windows;
mod workload;

use serde_json::Value;

use crate::field_error::FieldError;
use report::Report;

/// What is wrong with a new object, metadata included.
pub fn validate_create(kind: &str, namespaced: bool, object: &Value) -> Vec<FieldError> {
    let mut report = Report::default();
    if told_alone(&mut report, kind, object) {
        return report.errors;
    }
    metadata::create(&mut report, kind, namespaced, object);
    content(&mut report, kind, object, true);
    report.errors
}

/// Whether something is wrong that real servers find before they look at the rest.
fn told_alone(report: &mut Report, kind: &str, object: &Value) -> bool {
    if kind == "Service" {
        service::addresses(report, &object["spec"]);
    }
    !report.errors.is_empty()
}

/// What is wrong with the new state of an object, metadata included.
pub fn validate_update(kind: &str, new: &Value, old: &Value) -> Vec<FieldError> {
    let mut report = Report::default();
    if told_alone(&mut report, kind, new) {
        return report.errors;
    }
    metadata::update(&mut report, kind, new, old);
    if update::checks_content_first(kind) {
        for _ in 0..update::checks_of_content(kind) {
            content(&mut report, kind, new, false);
        }
        update::check(&mut report, kind, new, old);
    } else {
        update::check(&mut report, kind, new, old);
        if update::checks_content(kind) {
            content(&mut report, kind, new, false);
        }
    }
    if kind == "EndpointSlice" && new["endpoints"] == old["endpoints"] {
        // Endpoints that were taken once may stay.
        let of_endpoint = |error: &FieldError| error.field.starts_with("endpoints");
        report.errors.retain(|error| !of_endpoint(error));
    }
    report.errors
}

/// What is wrong with an update through a subresource such as `status`: metadata, and what some kinds watch
/// over there.
pub fn validate_subresource_update(
    kind: &str,
    subresource: &str,
    new: &Value,
    old: &Value,
) -> Vec<FieldError> {
    let mut report = Report::default();
    metadata::update(&mut report, kind, new, old);
    if subresource == "status" {
        status::check(&mut report, kind, new, old);
    }
    if kind == "Pod" && subresource == "ephemeralcontainers" {
        pod::pod(&mut report, new, false);
        pod_update::ephemeral_containers(&mut report, &new["spec"], &old["spec"]);
    }
    if kind == "CertificateSigningRequest" {
        access::certificate_verdict(&mut report, subresource == "approval", new, old);
    }
    report.errors
}

fn content(report: &mut Report, kind: &str, object: &Value, is_new: bool) {
    let spec = &object["spec"];
    match kind {
        "CertificateSigningRequest" => access::certificate_request(report, object),
        "ClusterRole" => {
            access::role(report, object, false);
            access::aggregation(report, object);
        }
        "ClusterRoleBinding" => access::role_binding(report, object, false),
        "ConfigMap" => config::config_map(report, object),
        "CronJob" => cron::cron_job(report, object),
        "DaemonSet" => workload::daemon_set(report, spec),
        "Deployment" => workload::deployment(report, spec),
        "EndpointSlice" => endpoints::slice(report, object),
        "Endpoints" => endpoints::endpoints(report, object),
        "Event" => simple::event(report, object),
        "HorizontalPodAutoscaler" => autoscaling::autoscaler(report, object),
        "Ingress" => ingress::ingress(report, object, is_new),
        "IngressClass" => ingress::class(report, spec),
        "Job" => job::job(report, object),
        "Lease" => simple::lease(report, spec),
        "LimitRange" => quota::limit_range(report, spec),
        "Namespace" => simple::namespace(report, spec),
        "NetworkPolicy" => network_policy::policy(report, spec),
        "Node" => simple::node(report, spec),
        "PersistentVolume" => storage::volume(report, spec),
        "PersistentVolumeClaim" => storage::claim(report, spec, "spec"),
        "Pod" => pod::pod(report, object, is_new),
        "PodDisruptionBudget" => simple::disruption_budget(report, spec),
        "PodTemplate" => pod::template(report, &object["template"], "template"),
        "PriorityClass" => simple::priority_class(report, object),
        "ReplicaSet" => workload::replica_set(report, spec),
        "ReplicationController" => workload::replication_controller(report, spec),
        "ResourceQuota" => quota::resource_quota(report, spec),
        "Role" => access::role(report, object, true),
        "RoleBinding" => access::role_binding(report, object, true),
        "RuntimeClass" => simple::runtime_class(report, object),
        "Secret" => config::secret(report, object),
        "Service" => service::service(report, object),
        "StatefulSet" => workload::stateful_set(report, spec, is_new),
        "StorageClass" => storage::class(report, object),
        "ValidatingAdmissionPolicy" => admission_policy::policy(report, object),
        "ValidatingAdmissionPolicyBinding" => admission_policy::binding(report, spec),
        _ => {}
    }
}
