//! What the control plane holds of the deployment system's kinds, and how they are found: by whom they belong to, by labels
//! or by owner.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;
use quadrille_types::{
    ApiBinding, ApiClass, Build, ConfigurationGroup, DeployableArtifact, Deployment,
    DeploymentTrack, Endpoint, PublishedApi, ScheduledTask, ScheduledTaskBinding,
    ScheduledTaskClass, Service, ServiceBinding, ServiceClass, WebApplication,
    WebApplicationBinding, WebApplicationClass, labels::hierarchy, release_state::ReleaseState,
    workload::EndpointType,
};

use super::{
    kinds::{Bound, Instance},
    release::release_name,
};
use crate::{
    chain::shelves::{
        behind_release, in_cell, in_environment, in_project, is_going, namespace, needing,
        of_component,
    },
    key::Key,
    platform::step::{Found, Kind},
    shelf::Shelf,
};

/// The objects of the deployment system's kinds.
pub(crate) struct System {
    /// Whether they are looked after at all.
    pub(crate) is_on: bool,
    pub(crate) tracks: Shelf<DeploymentTrack>,
    pub(crate) artifacts: Shelf<DeployableArtifact>,
    pub(crate) builds: Shelf<Build>,
    pub(crate) groups: Shelf<ConfigurationGroup>,
    pub(crate) deployments: Shelf<Deployment>,
    pub(crate) endpoints: Shelf<Endpoint>,
    pub(crate) services: Shelf<Service>,
    pub(crate) web_applications: Shelf<WebApplication>,
    pub(crate) scheduled_tasks: Shelf<ScheduledTask>,
    pub(crate) service_bindings: Shelf<ServiceBinding>,
    pub(crate) web_application_bindings: Shelf<WebApplicationBinding>,
    pub(crate) scheduled_task_bindings: Shelf<ScheduledTaskBinding>,
    pub(crate) service_classes: Shelf<ServiceClass>,
    pub(crate) web_application_classes: Shelf<WebApplicationClass>,
    pub(crate) scheduled_task_classes: Shelf<ScheduledTaskClass>,
    pub(crate) apis: Shelf<PublishedApi>,
    pub(crate) api_bindings: Shelf<ApiBinding>,
    pub(crate) api_classes: Shelf<ApiClass>,
}

impl Default for System {
    fn default() -> Self {
        Self {
            is_on: false,
            tracks: Shelf::grouped(|track| {
                let at = Belongs::of(track);
                at.groups([
                    in_project(at.project),
                    of_component(at.project, at.component),
                    named(&[at.project, at.component, logical(track)]),
                ])
            }),
            artifacts: Shelf::grouped(|artifact| {
                let at = Belongs::of(artifact);
                at.groups([
                    in_project(at.project),
                    of_component(at.project, at.component),
                    of_track(at.project, at.component, at.track),
                ])
            }),
            builds: Shelf::grouped(|build| {
                let at = Belongs::of(build);
                at.groups([
                    of_component(at.project, at.component),
                    of_track(at.project, at.component, at.track),
                ])
            }),
            groups: Shelf::grouped(|group| {
                Vec::from([Key::new(namespace(group), &named(&[logical(group)]))])
            }),
            deployments: Shelf::grouped(groups_of_deployment),
            endpoints: Shelf::grouped(groups_of_endpoint),
            services: Shelf::grouped(groups_of_instance),
            web_applications: Shelf::grouped(groups_of_instance),
            scheduled_tasks: Shelf::grouped(groups_of_instance),
            service_bindings: Shelf::grouped(groups_of_binding),
            web_application_bindings: Shelf::grouped(groups_of_binding),
            scheduled_task_bindings: Shelf::grouped(groups_of_binding),
            service_classes: Shelf::default(),
            web_application_classes: Shelf::default(),
            scheduled_task_classes: Shelf::default(),
            apis: Shelf::grouped(|api| {
                let here = namespace(api);
                let owner = &api.spec.owner;
                let (project, component) =
                    (owner.project_name.as_str(), owner.component_name.as_str());
                let environment = api.spec.environment_name.as_str();
                Vec::from([
                    Key::new(here, &in_project(project)),
                    Key::new(here, &of_component(project, component)),
                    Key::new(here, &in_environment(environment)),
                ])
            }),
            api_bindings: Shelf::grouped(|binding| {
                let (here, spec) = (namespace(binding), &binding.spec);
                Vec::from([
                    Key::new(here, &in_environment(spec.environment_name.as_str())),
                    Key::new(here, &of_api(&spec.api_name)),
                    Key::new(here, &of_api_class(&spec.api_class_name)),
                ])
            }),
            api_classes: Shelf::default(),
        }
    }
}

impl System {
    /// Whether everything was read.
    pub(crate) fn is_complete(&self) -> bool {
        !self.is_on
            || self.tracks.is_complete()
                && self.artifacts.is_complete()
                && self.builds.is_complete()
                && self.groups.is_complete()
                && self.deployments.is_complete()
                && self.endpoints.is_complete()
                && self.services.is_complete()
                && self.web_applications.is_complete()
                && self.scheduled_tasks.is_complete()
                && self.service_bindings.is_complete()
                && self.web_application_bindings.is_complete()
                && self.scheduled_task_bindings.is_complete()
                && self.service_classes.is_complete()
                && self.web_application_classes.is_complete()
                && self.scheduled_task_classes.is_complete()
                && self.apis.is_complete()
                && self.api_bindings.is_complete()
                && self.api_classes.is_complete()
    }
}

impl System {
    /// What of a group has to go before whatever it belongs to may: in this order, what makes others before what it makes.
    pub(crate) fn belongings(&self, here: &str, group: &str) -> Vec<Vec<Found>> {
        macro_rules! found {
            ($($kind:ident: $shelf:ident,)*) => {
                Vec::from([$(self
                    .$shelf
                    .of_group(here, group)
                    .map(|one| Found::of(Kind::$kind, &**one))
                    .collect::<Vec<_>>(),)*])
            };
        }
        let mut found = found! {
            Service: services,
            WebApplication: web_applications,
            ScheduledTask: scheduled_tasks,
            ApiBinding: api_bindings,
            Api: apis,
            ServiceBinding: service_bindings,
            WebApplicationBinding: web_application_bindings,
            ScheduledTaskBinding: scheduled_task_bindings,
            DeploymentTrack: tracks,
            Deployment: deployments,
            Endpoint: endpoints,
            DeployableArtifact: artifacts,
            Build: builds,
        };
        // A binding of an API does not say whose that is.
        let apis = self.apis.of_group(here, group);
        let bindings = apis.flat_map(|api| {
            let of = of_api(api.metadata.name.as_deref().unwrap_or_default());
            self.api_bindings.of_group(here, &of)
        });
        let bindings: Vec<Found> = bindings
            .map(|one| Found::of(Kind::ApiBinding, &**one))
            .collect();
        if !bindings.is_empty() {
            found.insert(0, bindings);
        }
        found
    }

    /// Whether something of these kinds is to run in a cell.
    pub(crate) fn runs_in(&self, here: &str, project: &str, environment: &str) -> bool {
        let group = in_cell(project, environment);
        macro_rules! is_bound {
            ($shelf:ident) => {
                self.$shelf.of_group(here, &group).any(|one| {
                    one.spec.release_state != ReleaseState::Undeploy && !is_going(&**one)
                })
            };
        }
        let mut deployments = self.deployments.of_group(here, &group);
        deployments.any(|one| !is_going(&**one))
            || is_bound!(service_bindings)
            || is_bound!(web_application_bindings)
            || is_bound!(scheduled_task_bindings)
    }
}

/// Whom an object belongs to, as its labels say; what they don't say is empty.
pub(crate) struct Belongs<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) project: &'a str,
    pub(crate) component: &'a str,
    pub(crate) track: &'a str,
    pub(crate) environment: &'a str,
    pub(crate) deployment: &'a str,
}

impl<'a> Belongs<'a> {
    pub(crate) fn of(object: &'a impl Resource) -> Self {
        let word = |key| label(object, key).unwrap_or_default();
        Self {
            namespace: namespace(object),
            project: word(hierarchy::PROJECT),
            component: word(hierarchy::COMPONENT),
            track: word(hierarchy::DEPLOYMENT_TRACK),
            environment: word(hierarchy::ENVIRONMENT),
            deployment: word(hierarchy::DEPLOYMENT),
        }
    }

    /// What a deployment of this name in the same place is found by, and its endpoints.
    pub(crate) fn deployment_named(&self, name: &str) -> String {
        named(&[
            self.project,
            self.component,
            self.track,
            self.environment,
            name,
        ])
    }

    fn groups<const N: usize>(&self, words: [String; N]) -> Vec<Key> {
        let words = words.into_iter();
        words.map(|word| Key::new(self.namespace, &word)).collect()
    }
}

/// A label of an object, if it says something.
pub(crate) fn label<'a>(object: &'a impl Resource, key: &str) -> Option<&'a str> {
    let found = object.meta().labels.as_ref()?.get(key)?;
    Some(found.as_str()).filter(|word| !word.is_empty())
}

/// The name that others use for an object: its label, where it has one.
pub(crate) fn logical(object: &impl Resource) -> &str {
    let own = object.meta().name.as_deref().unwrap_or_default();
    label(object, hierarchy::NAME).unwrap_or(own)
}

/// The object that looks after another.
pub(crate) fn owner(object: &impl Resource) -> Option<&OwnerReference> {
    let mut owners = object.meta().owner_references.iter().flatten();
    owners.find(|owner| owner.controller == Some(true))
}

/// What an object is found by that labels name by this path.
pub(crate) fn named(path: &[&str]) -> String {
    format!("named:{}", path.join("/"))
}

/// What everything of a track is found by.
pub(crate) fn of_track(project: &str, component: &str, track: &str) -> String {
    format!("track:{project}/{component}/{track}")
}

/// What the deployments of an artifact are found by.
pub(crate) fn of_artifact(artifact: &str) -> String {
    format!("artifact:{artifact}")
}

/// What the endpoints of a deployment are found by, whatever their labels say.
pub(crate) fn owned_by(uid: &str) -> String {
    format!("owner:{uid}")
}

/// What the endpoints are found by that may claim the same path or host.
pub(crate) fn claiming(component: &str, environment: &str) -> String {
    format!("claims:{component}/{environment}")
}

/// What the endpoints are found by that may claim the same port of a gateway.
pub(crate) fn streaming() -> &'static str {
    "streams"
}

/// What the bindings of a class are found by.
pub(crate) fn of_class(class: &str) -> String {
    format!("class:{class}")
}

/// What the bindings under a class of APIs are found by.
pub(crate) fn of_api_class(class: &str) -> String {
    format!("api-class:{class}")
}

/// What the bindings of an API are found by.
pub(crate) fn of_api(api: &str) -> String {
    format!("api:{api}")
}

/// What the instances of a workload are found by.
pub(crate) fn of_workload(workload: &str) -> String {
    format!("workload:{workload}")
}

fn groups_of_deployment(deployment: &Deployment) -> Vec<Key> {
    let at = Belongs::of(deployment);
    let Belongs {
        project,
        component,
        track,
        environment,
        ..
    } = at;
    at.groups([
        in_project(project),
        in_environment(environment),
        in_cell(project, environment),
        of_component(project, component),
        of_track(project, component, track),
        of_artifact(&deployment.spec.deployment_artifact_ref),
        behind_release(&release_name(
            Kind::Deployment,
            deployment.metadata.name.as_deref().unwrap_or_default(),
        )),
        at.deployment_named(logical(deployment)),
    ])
}

fn groups_of_endpoint(endpoint: &Endpoint) -> Vec<Key> {
    let at = Belongs::of(endpoint);
    let Belongs {
        project,
        component,
        environment,
        ..
    } = at;
    let mut groups = at.groups([
        in_project(project),
        in_environment(environment),
        in_cell(project, environment),
        of_component(project, component),
        claiming(component, environment),
        behind_release(&release_name(
            Kind::Endpoint,
            endpoint.metadata.name.as_deref().unwrap_or_default(),
        )),
        at.deployment_named(at.deployment),
    ]);
    let owner = owner(endpoint).map(|owner| owned_by(&owner.uid));
    groups.extend(owner.map(|word| Key::new(at.namespace, &word)));
    if matches!(
        endpoint.spec.protocol,
        EndpointType::Tcp | EndpointType::Udp
    ) {
        groups.push(Key::new(at.namespace, streaming()));
    }
    groups
}

fn groups_of_instance(instance: &impl Instance) -> Vec<Key> {
    let (here, owner) = (namespace(instance), instance.owner());
    let (project, component) = (owner.project_name.as_str(), owner.component_name.as_str());
    Vec::from([
        Key::new(here, &in_project(project)),
        Key::new(here, &of_component(project, component)),
        Key::new(here, &of_workload(instance.workload_name())),
    ])
}

fn groups_of_binding(binding: &impl Bound) -> Vec<Key> {
    let (here, owner) = (namespace(binding), binding.owner());
    let (project, component) = (owner.project_name.as_str(), owner.component_name.as_str());
    let environment = binding.environment().as_str();
    let mut words = Vec::from([
        in_project(project),
        in_environment(environment),
        in_cell(project, environment),
        of_component(project, component),
        of_class(binding.class_name()),
    ]);
    let apis = binding.apis().into_iter().flatten();
    words.extend(apis.map(|(_, api)| of_api_class(&api.class_name)));
    let resolved = binding.workload().resolve("spec.workloadSpec").ok();
    let connections = resolved.iter().flat_map(|workload| &workload.connections);
    words.extend(connections.map(|connection| {
        let of = connection.project.as_ref();
        let of = of.map_or(project, |name| name.as_str());
        needing(of, connection.component.as_str(), environment)
    }));
    words.iter().map(|word| Key::new(here, word)).collect()
}
