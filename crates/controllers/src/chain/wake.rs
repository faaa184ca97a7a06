//! Whom a change concerns.

use std::sync::Arc;

use quadrille_types::{
    Approval, ClusterComponentType, ClusterTrait, Component, ComponentType, ReleaseBinding,
    SecretReference, Trait, Workload, component_type::EmbeddedTrait, reference::Reference,
    workload::WorkloadOwner,
};

use super::shelves::{
    Chain, Snapshot, about_release, behind_release, cell_release, in_cell, in_environment,
    in_project, is_going, name, namespace, needing, of_component, stage, using, using_secret,
};
use crate::{
    key::Key,
    platform::step::{Kind, Thing},
    releases::{Facts, Inner},
    system,
};

fn thing(kind: Kind, namespace: &str, name: &str) -> Thing {
    let key = Key::new(namespace, name);
    Thing { kind, key }
}

fn things(kind: Kind, keys: Vec<Key>) -> impl Iterator<Item = Thing> {
    keys.into_iter().map(move |key| Thing { kind, key })
}

fn bindings(chain: &Chain, namespace: &str, group: &str) -> impl Iterator<Item = Thing> {
    let keys = chain.bindings.keys_of_group(namespace, group);
    things(Kind::ReleaseBinding, keys)
}

fn approvals(chain: &Chain, namespace: &str, group: &str) -> impl Iterator<Item = Thing> {
    let keys = chain.approvals.keys_of_group(namespace, group);
    things(Kind::Approval, keys)
}

/// The project and the environment that something is of, if they are on their way out: then they wait for its end.
pub(crate) fn ending(world: &Inner, here: &str, project: &str, environment: &str) -> Vec<Thing> {
    let shelves = &world.shelves;
    let project = shelves.projects.find(here, project);
    let project = project.filter(|one| is_going(&***one));
    let environment = shelves.environments.find(here, environment);
    let environment = environment.filter(|one| is_going(&***one));
    let mut found = Vec::new();
    found.extend(project.map(|one| thing(Kind::Project, here, name(&**one))));
    found.extend(environment.map(|one| thing(Kind::Environment, here, name(&**one))));
    found
}

/// A cell, as it is looked at.
pub(crate) fn cell(namespace: &str, project: &str, environment: &str) -> Thing {
    thing(Kind::Cell, namespace, &format!("{project}/{environment}"))
}

/// The cells that have a Release, as they are looked at: they may have lost whatever else they were known by.
fn made<'a>(releases: impl Iterator<Item = &'a Arc<Facts>>) -> impl Iterator<Item = Thing> {
    releases
        .filter(|facts| *facts.key.name == *cell_release(&facts.project, &facts.environment))
        .map(|facts| cell(&facts.key.namespace, &facts.project, &facts.environment))
}

/// Everything there is: after a list, nobody can say what changed.
pub(crate) fn everything(world: &Inner) -> Vec<Thing> {
    let chain = &world.chain;
    let all = |kind, keys: Vec<Key>| things(kind, keys);
    let approvals = chain.approvals.keys().cloned().collect();
    let bindings: Vec<Key> = chain.bindings.keys().cloned().collect();
    let cells = bindings.iter().filter_map(|key| {
        let spec = &chain.bindings.get(key)?.spec;
        let project = spec.owner.project_name.as_str();
        Some(cell(&key.namespace, project, spec.environment.as_str()))
    });
    let mut found: Vec<Thing> = cells.collect();
    found.extend(all(
        Kind::Component,
        chain.components.keys().cloned().collect(),
    ));
    found.extend(all(Kind::ReleaseBinding, bindings.clone()));
    found.extend(all(Kind::Approval, approvals));
    found.extend(all(
        Kind::ComponentType,
        chain.types.keys().cloned().collect(),
    ));
    found.extend(all(
        Kind::ClusterComponentType,
        chain.cluster_types.keys().cloned().collect(),
    ));
    found.extend(all(Kind::Trait, chain.traits.keys().cloned().collect()));
    found.extend(all(
        Kind::ClusterTrait,
        chain.cluster_traits.keys().cloned().collect(),
    ));
    found.extend(made(world.releases.values().map(|held| &held.facts)));
    found
}

fn of_owner(chain: &Chain, namespace: &str, owner: &WorkloadOwner) -> Vec<Thing> {
    let (project, component) = (owner.project_name.as_str(), owner.component_name.as_str());
    let mut found = vec![thing(Kind::Component, namespace, component)];
    found.extend(bindings(
        chain,
        namespace,
        &of_component(project, component),
    ));
    found
}

pub(super) fn component(world: &Inner, component: &Component) -> Vec<Thing> {
    let here = namespace(component);
    let mut found = vec![thing(Kind::Component, here, name(component))];
    let project = component.spec.owner.project_name.as_str();
    found.extend(bindings(
        &world.chain,
        here,
        &of_component(project, name(component)),
    ));
    found.extend(definition_of(component));
    found.extend(ending(world, here, project, ""));
    found.extend(system::wake::component(world, component));
    found
}

/// The type that a component follows.
pub(super) fn definition_of(component: &Component) -> Option<Thing> {
    use quadrille_types::component::DeployedBy;
    let resolved = component.spec.resolve().ok()?;
    let DeployedBy::ComponentType { reference, .. } = resolved.deployed_by else {
        return None;
    };
    Some(match reference.kind.as_str() {
        "ClusterComponentType" => thing(Kind::ClusterComponentType, "", &reference.name),
        _ => thing(Kind::ComponentType, namespace(component), &reference.name),
    })
}

pub(super) fn workload(world: &Inner, workload: &Workload) -> Vec<Thing> {
    let owner = workload.spec.owner.component_name.as_str();
    let mut found = vec![thing(Kind::Component, namespace(workload), owner)];
    found.extend(system::wake::workload(world, workload));
    found
}

fn users(chain: &Chain, here: &str, reference: &Reference) -> Vec<Key> {
    let group = using(here, reference);
    chain
        .components
        .keys_of_group(&group.namespace, &group.name)
}

fn of_type(world: &Inner, kind: Kind, here: &str, name: &str) -> Vec<Thing> {
    let reference = Reference {
        kind: kind.word().to_owned(),
        name: name.to_owned(),
    };
    let mut found = vec![thing(kind, here, name)];
    found.extend(things(
        Kind::Component,
        users(&world.chain, here, &reference),
    ));
    found
}

pub(super) fn component_type(world: &Inner, one: &ComponentType) -> Vec<Thing> {
    of_type(world, Kind::ComponentType, namespace(one), name(one))
}

pub(super) fn cluster_component_type(world: &Inner, one: &ClusterComponentType) -> Vec<Thing> {
    of_type(world, Kind::ClusterComponentType, "", name(one))
}

/// Those that have a trait, and those whose type has it.
fn of_trait(world: &Inner, kind: Kind, here: &str, name: &str) -> Vec<Thing> {
    let chain = &world.chain;
    let mut found = of_type(world, kind, here, name);
    let wanted = Reference {
        kind: kind.word().to_owned(),
        name: name.to_owned(),
    };
    // Whoever has the trait follows when its type says that it is their turn.
    let followed: Vec<Thing> = users(chain, here, &wanted)
        .iter()
        .filter_map(|key| definition_of(chain.components.get(key)?))
        .collect();
    found.extend(followed);
    let has =
        |of: &str, traits: &[EmbeddedTrait]| traits.iter().any(|used| used.reference(of) == wanted);
    let is_everywhere = here.is_empty();
    for key in chain.types.keys() {
        let Some(one) = chain.types.get(key) else {
            continue;
        };
        if (is_everywhere || *key.namespace == *here) && has("ComponentType", &one.spec.traits) {
            found.extend(of_type(
                world,
                Kind::ComponentType,
                &key.namespace,
                &key.name,
            ));
        }
    }
    for key in chain.cluster_types.keys() {
        let one = chain.cluster_types.get(key);
        if one.is_some_and(|one| has("ClusterComponentType", &one.spec.0.traits)) {
            found.extend(of_type(world, Kind::ClusterComponentType, "", &key.name));
        }
    }
    found
}

pub(super) fn component_trait(world: &Inner, one: &Trait) -> Vec<Thing> {
    of_trait(world, Kind::Trait, namespace(one), name(one))
}

pub(super) fn cluster_trait(world: &Inner, one: &ClusterTrait) -> Vec<Thing> {
    of_trait(world, Kind::ClusterTrait, "", name(one))
}

pub(super) fn snapshot(world: &Inner, snapshot: &Snapshot) -> Vec<Thing> {
    let (chain, here) = (&world.chain, namespace(snapshot));
    let mut found = of_owner(chain, here, &snapshot.spec.owner);
    found.extend(approvals(chain, here, &about_release(name(snapshot))));
    found
}

/// The binding itself and its component; the other environments of that component, since promotion goes by what ran
/// elsewhere; whoever needs its endpoints; its cell; and whoever waits for its end.
pub(super) fn binding(world: &Inner, binding: &ReleaseBinding) -> Vec<Thing> {
    let here = namespace(binding);
    let spec = &binding.spec;
    let (project, component) = (
        spec.owner.project_name.as_str(),
        spec.owner.component_name.as_str(),
    );
    let environment = spec.environment.as_str();
    let chain = &world.chain;
    let mut found = vec![
        thing(Kind::ReleaseBinding, here, name(binding)),
        cell(here, project, environment),
    ];
    found.extend(ending(world, here, project, environment));
    found.extend(of_owner(chain, here, &spec.owner));
    found.extend(bindings(
        chain,
        here,
        &needing(project, component, environment),
    ));
    let owner = chain.components.find(here, component);
    found.extend(owner.and_then(|owner| definition_of(owner)));
    found
}

pub(super) fn secret(world: &Inner, secret: &SecretReference) -> Vec<Thing> {
    let group = using_secret(name(secret));
    let mut found: Vec<Thing> = bindings(&world.chain, namespace(secret), &group).collect();
    found.extend(system::wake::secret(world, secret));
    found
}

pub(super) fn approval(world: &Inner, approval: &Approval) -> Vec<Thing> {
    let spec = &approval.spec;
    let group = stage(&spec.owner, spec.environment.as_str());
    let here = namespace(approval);
    let mut found = vec![
        thing(Kind::Approval, here, name(approval)),
        // One that goes waits for its end.
        thing(Kind::Component, here, spec.owner.component_name.as_str()),
    ];
    found.extend(bindings(&world.chain, here, &group));
    found.extend(system::wake::approval(world, approval));
    found
}

/// Whom a Release concerns: the binding that it was rendered for, or its cell.
pub(crate) fn release(world: &Inner, facts: &Facts) -> Vec<Thing> {
    let here = &*facts.key.namespace;
    let (project, environment) = (&*facts.project, &*facts.environment);
    let chain = &world.chain;
    let mut found: Vec<Thing> = bindings(chain, here, &behind_release(&facts.key.name)).collect();
    let is_cell = *facts.key.name == *cell_release(project, environment);
    if is_cell {
        found.extend(bindings(chain, here, &in_cell(project, environment)));
    }
    if is_cell || facts.rendered.is_some() {
        found.push(cell(here, project, environment));
    }
    found
}

/// Whom an environment concerns.
pub(crate) fn environment(world: &Inner, key: &Key) -> Vec<Thing> {
    let chain = &world.chain;
    let here = &*key.namespace;
    let mut found: Vec<Thing> = bindings(chain, here, &in_environment(&key.name)).collect();
    found.extend(approvals(chain, here, &in_environment(&key.name)));
    // Its cells, whatever runs there: a look at one that nobody wants does nothing.
    let projects = world.shelves.projects.within(here);
    found.extend(projects.map(|project| cell(here, name(&**project), &key.name)));
    // The first environment of a pipeline may be there only now.
    let components = chain
        .components
        .keys()
        .filter(|one| *one.namespace == *here);
    found.extend(things(Kind::Component, components.cloned().collect()));
    found.extend(system::wake::environment(world, key));
    found
}

/// Whom a project concerns.
pub(crate) fn project(world: &Inner, key: &Key) -> Vec<Thing> {
    let chain = &world.chain;
    let here = &*key.namespace;
    let components = chain.components.keys_of_group(here, &in_project(&key.name));
    // Its cells, whatever runs there: a look at one that nobody wants does nothing.
    let environments = world.shelves.environments.within(here);
    let mut found: Vec<Thing> = environments
        .map(|environment| cell(here, &key.name, name(&**environment)))
        .collect();
    for component in &components {
        let group = of_component(&key.name, &component.name);
        found.extend(bindings(chain, here, &group));
    }
    found.extend(things(Kind::Component, components));
    found.extend(system::wake::project(world, key));
    found
}

/// Whom a pipeline concerns: everybody of the namespace who is promoted along it.
pub(crate) fn pipeline(world: &Inner, key: &Key) -> Vec<Thing> {
    let projects = world.shelves.projects.within(&key.namespace);
    let along = projects.filter(|project| {
        let resolved = project.spec.resolve();
        resolved.is_ok_and(|resolved| resolved.pipeline.as_str() == &*key.name)
    });
    let mut found: Vec<Thing> = along
        .flat_map(|project| self::project(world, &Key::new(&key.namespace, name(&**project))))
        .collect();
    // Those of other projects: it may guard the environments that they are in, or have done so until now.
    let here = &*key.namespace;
    for environment in world.shelves.environments.within(here) {
        let group = in_environment(name(&**environment));
        found.extend(bindings(&world.chain, here, &group));
        let place = Key::new(here, name(&**environment));
        found.extend(system::wake::environment(world, &place));
    }
    found
}

/// Whom a plane concerns: everybody in its environments.
pub(crate) fn plane(world: &Inner, key: &Key) -> Vec<Thing> {
    let plane = quadrille_planes::PlaneName {
        namespace: key.namespace.to_string(),
        name: key.name.to_string(),
    };
    let environments = world.shelves.environments_on(&plane);
    let mut found: Vec<Thing> = made(world.on_plane(&plane)).collect();
    for one in &environments {
        found.extend(environment(world, &one.thing.key));
    }
    found
}
