//! What the three kinds of instances have in common, and the three kinds of bindings: they are looked after as one.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::Resource;
use quadrille_render::deployment_system::{binding, instance::Bind};
use quadrille_types::{
    Deployment, ScheduledTask, ScheduledTaskBinding, ScheduledTaskClass, Service, ServiceBinding,
    ServiceClass, WebApplication, WebApplicationBinding, WebApplicationClass,
    api::ServiceApi,
    conditions::Reason,
    judged_status::JudgedStatus,
    names::EnvironmentName,
    release_binding::Ran,
    release_state::ReleaseState,
    workload::{WorkloadOwner, WorkloadTemplate},
};
use serde::{Serialize, de::DeserializeOwned};

use super::shelves::System;
use crate::{platform::step::Kind, shelf::Shelf};

/// An instance of a class.
pub(crate) trait Instance:
    Resource<DynamicType = ()> + DeserializeOwned + Bind<Binding: Bound>
{
    const KIND: Kind;

    fn owner(&self) -> &WorkloadOwner;
    fn workload_name(&self) -> &str;
    fn status(&self) -> Option<&JudgedStatus>;
    fn shelf(system: &System) -> &Shelf<Self>;
}

/// A service, web application or scheduled task in an environment.
pub(crate) trait Bound: Resource<DynamicType = ()> + DeserializeOwned + Serialize {
    type Instance: Instance;
    type Class: Resource<DynamicType = ()> + DeserializeOwned;
    type Spec: Serialize;
    type Status: Serialize;

    const KIND: Kind;
    /// The word for its class.
    const CLASS: &'static str;
    /// What is said where that is missing.
    const NO_CLASS: Reason;
    /// What it is about, as health is judged.
    const WORKLOAD: &'static str;
    /// Whether its status tells where it is reached.
    const IS_REACHED: bool;

    fn spec(&self) -> &Self::Spec;
    fn owner(&self) -> &WorkloadOwner;
    fn environment(&self) -> &EnvironmentName;
    fn class_name(&self) -> &str;
    fn workload(&self) -> &WorkloadTemplate;
    fn apis(&self) -> Option<&BTreeMap<String, ServiceApi>>;
    fn state(&self) -> ReleaseState;
    fn status(&self) -> Option<&Self::Status>;
    fn noted(&self) -> Noted<'_>;
    fn shelf(system: &System) -> &Shelf<Self>;
    fn classes(system: &System) -> &Shelf<Self::Class>;
    /// What it is rendered from.
    fn instance<'a>(&'a self, class: &'a Self::Class) -> binding::Instance<'a>;
}

/// What a status has noted of what is promoted.
#[derive(Clone, Copy, Default)]
pub(crate) struct Noted<'a> {
    pub(crate) conditions: &'a [Condition],
    pub(crate) requested: Option<&'a str>,
    pub(crate) current: Option<&'a str>,
    pub(crate) history: &'a [Ran],
}

impl Noted<'_> {
    /// Whether a version is one that people were asked about.
    pub(crate) fn knows(&self, version: &str) -> bool {
        let mut ran = self.history.iter();
        self.requested == Some(version)
            || self.current == Some(version)
            || ran.any(|ran| ran.release_name == version)
    }
}

macro_rules! noted {
    ($status:expr) => {
        $status.map_or(Noted::default(), |status| Noted {
            conditions: &status.conditions,
            requested: status.requested_release.as_deref(),
            current: status.current_release.as_deref(),
            history: &status.history,
        })
    };
}

/// What the status of a Deployment has noted.
pub(crate) fn noted_of(deployment: &Deployment) -> Noted<'_> {
    noted!(deployment.status.as_ref())
}

macro_rules! families {
    ($($instance:ident, $binding:ident, $class:ident: $instances:ident, $bindings:ident, $classes:ident,
        health of $workload:literal, without class $no_class:ident, reached $is_reached:literal,
        apis $apis:expr;)*) => {
        $(impl Instance for $instance {
            const KIND: Kind = Kind::$instance;

            fn owner(&self) -> &WorkloadOwner {
                &self.spec.owner
            }

            fn workload_name(&self) -> &str {
                &self.spec.workload_name
            }

            fn status(&self) -> Option<&JudgedStatus> {
                self.status.as_ref()
            }

            fn shelf(system: &System) -> &Shelf<Self> {
                &system.$instances
            }
        }

        impl Bound for $binding {
            type Instance = $instance;
            type Class = $class;
            type Spec = <$binding as kube::core::object::HasSpec>::Spec;
            type Status = <$binding as kube::core::object::HasStatus>::Status;

            const KIND: Kind = Kind::$binding;
            const CLASS: &'static str = stringify!($class);
            const NO_CLASS: Reason = Reason::$no_class;
            const WORKLOAD: &'static str = $workload;
            const IS_REACHED: bool = $is_reached;

            fn spec(&self) -> &Self::Spec {
                &self.spec
            }

            fn owner(&self) -> &WorkloadOwner {
                &self.spec.owner
            }

            fn environment(&self) -> &EnvironmentName {
                &self.spec.environment
            }

            fn class_name(&self) -> &str {
                &self.spec.class_name
            }

            fn workload(&self) -> &WorkloadTemplate {
                &self.spec.workload_spec
            }

            fn apis(&self) -> Option<&BTreeMap<String, ServiceApi>> {
                let apis: fn(&Self) -> Option<&BTreeMap<String, ServiceApi>> = $apis;
                apis(self)
            }

            fn state(&self) -> ReleaseState {
                self.spec.release_state
            }

            fn status(&self) -> Option<&Self::Status> {
                self.status.as_ref()
            }

            fn noted(&self) -> Noted<'_> {
                noted!(self.status.as_ref())
            }

            fn shelf(system: &System) -> &Shelf<Self> {
                &system.$bindings
            }

            fn classes(system: &System) -> &Shelf<$class> {
                &system.$classes
            }

            fn instance<'a>(&'a self, class: &'a $class) -> binding::Instance<'a> {
                binding::Instance::$instance(&self.spec, &class.spec)
            }
        })*
    };
}

families! {
    Service, ServiceBinding, ServiceClass: services, service_bindings, service_classes,
        health of "deployment", without class ServiceClassNotFound, reached true,
        apis |one| Some(&one.spec.apis);
    WebApplication, WebApplicationBinding, WebApplicationClass:
        web_applications, web_application_bindings, web_application_classes,
        health of "deployment", without class WebApplicationClassNotFound, reached true,
        apis |_| None;
    ScheduledTask, ScheduledTaskBinding, ScheduledTaskClass:
        scheduled_tasks, scheduled_task_bindings, scheduled_task_classes,
        health of "cronjob", without class ScheduledTaskClassNotFound, reached false,
        apis |_| None;
}
