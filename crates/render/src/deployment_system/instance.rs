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

/// An instance of a class: with its workload, it becomes a binding in an environment.
pub trait Bind {
    /// The binding.
    type Binding;

    /// The binding in an environment. Whether it runs is the binding's own business: `state` is what the one that is there
    /// says.
    fn bind(&self, workload: &Workload, environment: &str, state: ReleaseState) -> Self::Binding;
}

/// Instances differ in one thing that they hand on.
macro_rules! instances {
    ($($instance:ident => $binding:ident($spec:ident) with $own:ident;)*) => {
        $(impl Bind for $instance {
            type Binding = $binding;

            fn bind(
                &self,
                workload: &Workload,
                environment: &str,
                state: ReleaseState,
            ) -> $binding {
                let spec = &self.spec;
                $binding {
                    metadata: metadata(&self.metadata, &spec.owner, environment),
                    spec: $spec {
                        owner: spec.owner.clone(),
                        environment: environment.into(),
                        class_name: spec.class_name.clone(),
                        workload_spec: workload.spec.template.clone(),
                        $own: spec.$own.clone(),
                        release_state: state,
                    },
                    status: None,
                }
            }
        })*
    };
}

instances! {
    Service => ServiceBinding(ServiceBindingSpec) with apis;
    WebApplication => WebApplicationBinding(WebApplicationBindingSpec) with overrides;
    ScheduledTask => ScheduledTaskBinding(ScheduledTaskBindingSpec) with overrides;
}
