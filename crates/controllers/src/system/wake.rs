//! Whom a change concerns. A look costs no request, so those who might be concerned look, too: what is written is decided
//! by what comes of it.

use kube::Resource;
use quadrille_render::deployment_system::{binding, deployment};
use quadrille_types::{
    ApiBinding, ApiClass, Approval, Build, Component, ConfigurationGroup, DeployableArtifact,
    Deployment, DeploymentTrack, Endpoint, PublishedApi, SecretReference, Workload,
};
use serde::de::DeserializeOwned;

use super::{
    kinds::{Bound, Instance},
    shelves::{
        Belongs, System, claiming, logical, named, of_api, of_api_class, of_artifact, of_class,
        of_track, of_workload, owner, streaming,
    },
};
use crate::{
    chain::{
        self,
        shelves::{
            about_component, behind_release, in_environment, in_project, name, namespace, needing,
            of_component,
        },
        wake::{cell, ending},
    },
    key::Key,
    platform::step::{Kind, Thing},
    releases::{Facts, Inner},
    shelf::Shelf,
};

fn thing(kind: Kind, namespace: &str, name: &str) -> Thing {
    Thing {
        kind,
        key: Key::new(namespace, name),
    }
}

fn things(kind: Kind, keys: Vec<Key>) -> impl Iterator<Item = Thing> {
    keys.into_iter().map(move |key| Thing { kind, key })
}

/// Those of a shelf in a namespace.
fn within<K>(kind: Kind, shelf: &Shelf<K>, here: &str) -> Vec<Thing>
where
    K: Resource<DynamicType = ()> + DeserializeOwned,
{
    let keys = shelf.keys().filter(|key| *key.namespace == *here);
    things(kind, keys.cloned().collect()).collect()
}

/// The bindings of a group, of all kinds.
fn bindings(system: &System, here: &str, group: &str) -> Vec<Thing> {
    let mut found = Vec::new();
    let keys = system.service_bindings.keys_of_group(here, group);
    found.extend(things(Kind::ServiceBinding, keys));
    let keys = system.web_application_bindings.keys_of_group(here, group);
    found.extend(things(Kind::WebApplicationBinding, keys));
    let keys = system.scheduled_task_bindings.keys_of_group(here, group);
    found.extend(things(Kind::ScheduledTaskBinding, keys));
    let keys = system.api_bindings.keys_of_group(here, group);
    found.extend(things(Kind::ApiBinding, keys));
    found
}

/// Deployments, endpoints and bindings of a group: everything of it that renders.
fn rendered(system: &System, here: &str, group: &str) -> Vec<Thing> {
    let mut found = bindings(system, here, group);
    let keys = system.deployments.keys_of_group(here, group);
    found.extend(things(Kind::Deployment, keys));
    let keys = system.endpoints.keys_of_group(here, group);
    found.extend(things(Kind::Endpoint, keys));
    found
}

/// Everything of a namespace that renders.
fn all_rendered(system: &System, here: &str) -> Vec<Thing> {
    let mut found = within(Kind::Deployment, &system.deployments, here);
    found.extend(within(Kind::ServiceBinding, &system.service_bindings, here));
    found.extend(within(
        Kind::WebApplicationBinding,
        &system.web_application_bindings,
        here,
    ));
    found.extend(within(
        Kind::ScheduledTaskBinding,
        &system.scheduled_task_bindings,
        here,
    ));
    found
}

/// Everything there is, of the other families too: after a list, nobody can say what changed.
pub(crate) fn everything(world: &Inner) -> Vec<Thing> {
    let system = &world.system;
    let mut found = Vec::new();
    macro_rules! all {
        ($($kind:ident: $shelf:ident,)*) => {
            $(found.extend(things(Kind::$kind, system.$shelf.keys().cloned().collect()));)*
        };
    }
    all! {
        DeploymentTrack: tracks,
        DeployableArtifact: artifacts,
        ConfigurationGroup: groups,
        Deployment: deployments,
        Endpoint: endpoints,
        Service: services,
        WebApplication: web_applications,
        ScheduledTask: scheduled_tasks,
        ServiceBinding: service_bindings,
        WebApplicationBinding: web_application_bindings,
        ScheduledTaskBinding: scheduled_task_bindings,
        Api: apis,
        ApiBinding: api_bindings,
    }
    // Cells of what runs here, and what is looked after by others, who wait until these are known.
    for key in system.deployments.keys() {
        if let Some(one) = system.deployments.get(key) {
            let at = Belongs::of(&**one);
            found.push(cell(at.namespace, at.project, at.environment));
        }
    }
    macro_rules! cells {
        ($($shelf:ident,)*) => {
            $(for key in system.$shelf.keys() {
                if let Some(one) = system.$shelf.get(key) {
                    let project = one.spec.owner.project_name.as_str();
                    found.push(cell(&key.namespace, project, one.spec.environment.as_str()));
                }
            })*
        };
    }
    cells! { service_bindings, web_application_bindings, scheduled_task_bindings, }
    found.extend(world.shelves.everything());
    found.extend(chain::wake::everything(world));
    found
}

/// Whoever waits for the end of something of theirs; and the component, which says whether anything is deployed of it.
fn waiting(
    world: &Inner,
    here: &str,
    project: &str,
    component: &str,
    environment: &str,
) -> Vec<Thing> {
    let mut found = ending(world, here, project, environment);
    if !component.is_empty() {
        found.push(thing(Kind::Component, here, component));
        // Labels have its logical name; the object may have another one.
        let near = world.chain.components.of_group(here, &in_project(project));
        let labelled = near.filter(|one| logical(&***one) == component);
        found.extend(labelled.map(|one| thing(Kind::Component, here, name(&**one))));
    }
    found
}

pub(super) fn track(world: &Inner, track: &DeploymentTrack) -> Vec<Thing> {
    let at = Belongs::of(track);
    let mut found = vec![thing(Kind::DeploymentTrack, at.namespace, name(track))];
    let of = of_component(at.project, at.component);
    found.extend(rendered(&world.system, at.namespace, &of));
    found.extend(waiting(world, at.namespace, at.project, at.component, ""));
    found
}

pub(super) fn artifact(world: &Inner, artifact: &DeployableArtifact) -> Vec<Thing> {
    let at = Belongs::of(artifact);
    let mut found = vec![thing(
        Kind::DeployableArtifact,
        at.namespace,
        name(artifact),
    )];
    let keys = world
        .system
        .deployments
        .keys_of_group(at.namespace, &of_artifact(name(artifact)));
    found.extend(things(Kind::Deployment, keys));
    found.extend(tracks(&world.system, &at));
    found.extend(waiting(world, at.namespace, at.project, at.component, ""));
    found
}

/// The track that something is of.
fn tracks(system: &System, at: &Belongs<'_>) -> Vec<Thing> {
    let group = named(&[at.project, at.component, at.track]);
    let keys = system.tracks.keys_of_group(at.namespace, &group);
    things(Kind::DeploymentTrack, keys).collect()
}

pub(super) fn build(world: &Inner, build: &Build) -> Vec<Thing> {
    let at = Belongs::of(build);
    let group = of_track(at.project, at.component, at.track);
    let keys = world.system.deployments.keys_of_group(at.namespace, &group);
    let mut found: Vec<Thing> = things(Kind::Deployment, keys).collect();
    found.extend(tracks(&world.system, &at));
    found.extend(waiting(world, at.namespace, at.project, at.component, ""));
    found
}

pub(super) fn group(world: &Inner, group: &ConfigurationGroup) -> Vec<Thing> {
    let here = namespace(group);
    let mut found = within(Kind::ConfigurationGroup, &world.system.groups, here);
    found.extend(all_rendered(&world.system, here));
    found
}

/// The groups that somebody uses.
fn groups(system: &System, here: &str, used: &[String]) -> Vec<Thing> {
    let keys = used
        .iter()
        .flat_map(|one| system.groups.keys_of_group(here, &named(&[one])));
    things(Kind::ConfigurationGroup, keys.collect()).collect()
}

pub(super) fn deployment(world: &Inner, deployment: &Deployment) -> Vec<Thing> {
    let system = &world.system;
    let at = Belongs::of(deployment);
    let here = at.namespace;
    let mut found = vec![
        thing(Kind::Deployment, here, name(deployment)),
        cell(here, at.project, at.environment),
    ];
    // Its rivals, and the next environments, which go by what ran in this one.
    let track = of_track(at.project, at.component, at.track);
    let keys = system.deployments.keys_of_group(here, &track);
    found.extend(things(Kind::Deployment, keys));
    found.extend(tracks(system, &at));
    let artifact = deployment.spec.deployment_artifact_ref.as_str();
    found.push(thing(Kind::DeployableArtifact, here, artifact));
    let own = at.deployment_named(logical(deployment));
    found.extend(things(
        Kind::Endpoint,
        system.endpoints.keys_of_group(here, &own),
    ));
    if let Some(artifact) = system.artifacts.find(here, artifact) {
        let (used, _) = deployment::uses(deployment, artifact);
        found.extend(groups(system, here, &used));
    }
    found.extend(of_owner(world, here, at.project, at.component));
    found.extend(waiting(
        world,
        here,
        at.project,
        at.component,
        at.environment,
    ));
    found
}

pub(super) fn endpoint(world: &Inner, endpoint: &Endpoint) -> Vec<Thing> {
    let at = Belongs::of(endpoint);
    let here = at.namespace;
    let mut found = vec![thing(Kind::Endpoint, here, name(endpoint))];
    let owner = owner(endpoint).filter(|owner| owner.kind == Kind::Deployment.word());
    found.extend(owner.map(|owner| thing(Kind::Deployment, here, &owner.name)));
    // One that a person made is nobody's but by its labels; that deployment waits for its end all the same.
    let named_by = at.deployment_named(at.deployment);
    let keys = world.system.deployments.keys_of_group(here, &named_by);
    found.extend(things(Kind::Deployment, keys));
    // Those who may want the same address.
    let endpoints = &world.system.endpoints;
    let near = claiming(at.component, at.environment);
    found.extend(things(Kind::Endpoint, endpoints.keys_of_group(here, &near)));
    if endpoints
        .of_group(here, streaming())
        .any(|one| name(&**one) == name(endpoint))
    {
        found.extend(things(
            Kind::Endpoint,
            endpoints.keys_of_group(here, streaming()),
        ));
    }
    found.extend(waiting(
        world,
        here,
        at.project,
        at.component,
        at.environment,
    ));
    found
}

pub(super) fn instance<I: Instance>(world: &Inner, instance: &I) -> Vec<Thing> {
    let (here, owner) = (namespace(instance), instance.owner());
    let (project, component) = (owner.project_name.as_str(), owner.component_name.as_str());
    let mut found = vec![
        thing(I::KIND, here, name(instance)),
        thing(I::Binding::KIND, here, name(instance)),
    ];
    found.extend(waiting(world, here, project, component, ""));
    found
}

/// A binding, the instance that made it, the same component elsewhere, whoever calls it, and its cell.
pub(super) fn bound<B: Bound>(world: &Inner, binding: &B) -> Vec<Thing> {
    let (system, here) = (&world.system, namespace(binding));
    let owner = binding.owner();
    let (project, component) = (owner.project_name.as_str(), owner.component_name.as_str());
    let environment = binding.environment().as_str();
    let mut found = vec![
        thing(B::KIND, here, name(binding)),
        thing(B::Instance::KIND, here, name(binding)),
        cell(here, project, environment),
    ];
    found.extend(of_owner(world, here, project, component));
    found.extend(bindings(
        system,
        here,
        &needing(project, component, environment),
    ));
    found.extend(groups(system, here, &binding::uses(binding.workload()).0));
    found.extend(waiting(world, here, project, component, environment));
    found
}

/// Whoever goes by what else there is of a component: its bindings, since promotion goes by what ran elsewhere and only one
/// may be in an environment; its APIs, since each address is had once; and what was said about it.
fn of_owner(world: &Inner, here: &str, project: &str, component: &str) -> Vec<Thing> {
    let system = &world.system;
    let group = of_component(project, component);
    let mut found = bindings(system, here, &group);
    for api in system.apis.of_group(here, &group) {
        found.push(thing(Kind::Api, here, name(&**api)));
        let of = of_api(name(&**api));
        let keys = system.api_bindings.keys_of_group(here, &of);
        found.extend(things(Kind::ApiBinding, keys));
    }
    let approvals = &world.chain.approvals;
    let keys = approvals.keys_of_group(here, &about_component(&group));
    found.extend(things(Kind::Approval, keys));
    found
}

/// Whom the class of bindings concerns.
pub(super) fn class<B: Bound>(world: &Inner, class: &B::Class) -> Vec<Thing> {
    let group = of_class(name(class));
    let keys = B::shelf(&world.system).keys_of_group(namespace(class), &group);
    things(B::KIND, keys).collect()
}

pub(super) fn api_class(world: &Inner, one: &ApiClass) -> Vec<Thing> {
    bindings(&world.system, namespace(one), &of_api_class(name(one)))
}

pub(super) fn api(world: &Inner, one: &PublishedApi) -> Vec<Thing> {
    let here = namespace(one);
    let owner = &one.spec.owner;
    let (project, component) = (owner.project_name.as_str(), owner.component_name.as_str());
    let environment = one.spec.environment_name.as_str();
    let mut found = vec![thing(Kind::Api, here, name(one))];
    found.extend(bindings(&world.system, here, &of_api(name(one))));
    found.extend(of_owner(world, here, project, component));
    found.extend(waiting(world, here, project, component, environment));
    found
}

pub(super) fn api_binding(world: &Inner, one: &ApiBinding) -> Vec<Thing> {
    let (here, spec) = (namespace(one), &one.spec);
    let mut found = vec![
        thing(Kind::ApiBinding, here, name(one)),
        thing(Kind::Api, here, &spec.api_name),
    ];
    found.extend(ending(world, here, "", spec.environment_name.as_str()));
    if let Some(api) = world.system.apis.find(here, &spec.api_name) {
        let owner = &api.spec.owner;
        let (project, component) = (owner.project_name.as_str(), owner.component_name.as_str());
        found.extend(of_owner(world, here, project, component));
        found.extend(waiting(world, here, project, component, ""));
    }
    found
}

/// Whom a Release concerns: what it was rendered for.
pub(crate) fn release(world: &Inner, facts: &Facts) -> Vec<Thing> {
    let system = &world.system;
    if !system.is_on {
        return Vec::new();
    }
    let (here, called) = (&*facts.key.namespace, &*facts.key.name);
    let group = behind_release(called);
    let mut found: Vec<Thing> = things(
        Kind::Deployment,
        system.deployments.keys_of_group(here, &group),
    )
    .collect();
    found.extend(things(
        Kind::Endpoint,
        system.endpoints.keys_of_group(here, &group),
    ));
    macro_rules! bound {
        ($($kind:ident: $shelf:ident,)*) => {
            $(if system.$shelf.find(here, called).is_some() {
                found.push(thing(Kind::$kind, here, called));
            })*
        };
    }
    bound! {
        ServiceBinding: service_bindings,
        WebApplicationBinding: web_application_bindings,
        ScheduledTaskBinding: scheduled_task_bindings,
        ApiBinding: api_bindings,
    }
    found
}

/// Whom an environment concerns: whatever is deployed there, and groups that name it.
pub(crate) fn environment(world: &Inner, key: &Key) -> Vec<Thing> {
    let system = &world.system;
    let mut found = rendered(system, &key.namespace, &in_environment(&key.name));
    // Those that are to be bound to it, once it is there.
    found.extend(within(Kind::Service, &system.services, &key.namespace));
    found.extend(within(
        Kind::WebApplication,
        &system.web_applications,
        &key.namespace,
    ));
    found.extend(within(
        Kind::ScheduledTask,
        &system.scheduled_tasks,
        &key.namespace,
    ));
    found.extend(within(
        Kind::ConfigurationGroup,
        &system.groups,
        &key.namespace,
    ));
    found
}

/// Whom a project concerns: whatever is of it.
pub(crate) fn project(world: &Inner, key: &Key) -> Vec<Thing> {
    let system = &world.system;
    let (here, group) = (&*key.namespace, in_project(&key.name));
    let mut found = rendered(system, here, &group);
    macro_rules! of {
        ($($kind:ident: $shelf:ident,)*) => {
            $(found.extend(things(Kind::$kind, system.$shelf.keys_of_group(here, &group)));)*
        };
    }
    of! {
        DeploymentTrack: tracks,
        DeployableArtifact: artifacts,
        Service: services,
        WebApplication: web_applications,
        ScheduledTask: scheduled_tasks,
        Api: apis,
    }
    found
}

/// Whom a component concerns: whatever is of it.
pub(crate) fn component(world: &Inner, component: &Component) -> Vec<Thing> {
    let system = &world.system;
    let here = namespace(component);
    let project = component.spec.owner.project_name.as_str();
    // Labels have its logical name.
    let group = of_component(project, logical(component));
    let mut found = rendered(system, here, &group);
    // Owners have that of the object.
    let owned = of_component(project, name(component));
    found.extend(bindings(system, here, &owned));
    found.extend(things(
        Kind::DeploymentTrack,
        system.tracks.keys_of_group(here, &group),
    ));
    found.extend(things(
        Kind::DeployableArtifact,
        system.artifacts.keys_of_group(here, &group),
    ));
    found
}

/// Whom a workload concerns: its instances.
pub(crate) fn workload(world: &Inner, workload: &Workload) -> Vec<Thing> {
    let system = &world.system;
    let (here, group) = (namespace(workload), of_workload(name(workload)));
    let mut found = Vec::new();
    found.extend(things(
        Kind::Service,
        system.services.keys_of_group(here, &group),
    ));
    found.extend(things(
        Kind::WebApplication,
        system.web_applications.keys_of_group(here, &group),
    ));
    found.extend(things(
        Kind::ScheduledTask,
        system.scheduled_tasks.keys_of_group(here, &group),
    ));
    found
}

/// Whom a reference to a secret concerns.
pub(crate) fn secret(world: &Inner, secret: &SecretReference) -> Vec<Thing> {
    all_rendered(&world.system, namespace(secret))
}

/// Whom a word about a component concerns.
pub(crate) fn approval(world: &Inner, approval: &Approval) -> Vec<Thing> {
    let owner = &approval.spec.owner;
    let (project, component) = (owner.project_name.as_str(), owner.component_name.as_str());
    let group = of_component(project, component);
    rendered(&world.system, namespace(approval), &group)
}
