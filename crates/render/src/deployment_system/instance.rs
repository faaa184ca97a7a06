//! From an instance of a class and its workload to its binding in an environment.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quadrille_types::{
    ScheduledTask, ScheduledTaskBinding, ScheduledTaskBindingSpec, Service, ServiceBinding,
    ServiceBindingSpec, WebApplication, WebApplicationBinding, WebApplicationBindingSpec, Workload,
    labels::hierarchy, release_state::ReleaseState, workload::WorkloadOwner,
};

/// The metadata of an instance's binding: its name, its labels, and who belongs to whom.
fn metadata(instance: &ObjectMeta, owner: &WorkloadOwner, environment: &str) -> ObjectMeta {
    let mut labels: BTreeMap<String, String> = instance.labels.clone().unwrap_or_default();
    let organization = instance.namespace.as_deref().unwrap_or_default();
    for (key, value) in [
        (hierarchy::ORGANIZATION, organization),
        (hierarchy::PROJECT, owner.project_name.as_str()),
        (hierarchy::COMPONENT, owner.component_name.as_str()),
        (hierarchy::ENVIRONMENT, environment),
    ] {
        labels.insert(key.to_owned(), value.to_owned());
    }
    ObjectMeta {
        name: instance.name.clone(),
        namespace: instance.namespace.clone(),
        labels: Some(labels),
        ..ObjectMeta::default()
    }
}

/// The binding of a service. Whether it runs is the binding's own business: `state` is what the one that is there says.
pub fn bind_service(
    service: &Service,
    workload: &Workload,
    environment: &str,
    state: ReleaseState,
) -> ServiceBinding {
    let spec = &service.spec;
    ServiceBinding {
        metadata: metadata(&service.metadata, &spec.owner, environment),
        spec: ServiceBindingSpec {
            owner: spec.owner.clone(),
            environment: environment.into(),
            class_name: spec.class_name.clone(),
            workload_spec: workload.spec.template.clone(),
            apis: spec.apis.clone(),
            release_state: state,
        },
        status: None,
    }
}

/// The binding of a web application; see [`bind_service`].
pub fn bind_web_application(
    application: &WebApplication,
    workload: &Workload,
    environment: &str,
    state: ReleaseState,
) -> WebApplicationBinding {
    let spec = &application.spec;
    WebApplicationBinding {
        metadata: metadata(&application.metadata, &spec.owner, environment),
        spec: WebApplicationBindingSpec {
            owner: spec.owner.clone(),
            environment: environment.into(),
            class_name: spec.class_name.clone(),
            workload_spec: workload.spec.template.clone(),
            overrides: spec.overrides.clone(),
            release_state: state,
        },
        status: None,
    }
}

/// The binding of a scheduled task; see [`bind_service`].
pub fn bind_scheduled_task(
    task: &ScheduledTask,
    workload: &Workload,
    environment: &str,
    state: ReleaseState,
) -> ScheduledTaskBinding {
    let spec = &task.spec;
    ScheduledTaskBinding {
        metadata: metadata(&task.metadata, &spec.owner, environment),
        spec: ScheduledTaskBindingSpec {
            owner: spec.owner.clone(),
            environment: environment.into(),
            class_name: spec.class_name.clone(),
            workload_spec: workload.spec.template.clone(),
            overrides: spec.overrides.clone(),
            release_state: state,
        },
        status: None,
    }
}
