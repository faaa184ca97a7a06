//! What is to be done about a component: it is checked as a whole; if it deploys itself, every change becomes a snapshot
//! that the first environment of its pipeline runs.

mod examine;
mod keep;

use std::{sync::Arc, time::Duration};

use quadrille_planes::Trouble;
use quadrille_render::snapshot;
use quadrille_types::{
    Component, ReleaseBinding, annotations,
    component::LatestComponentRelease,
    conditions::{ConditionType, Holds, Reason},
    finalizers,
};
use serde_json::json;

use self::examine::{Examined, Problem, examine};
pub(super) use self::examine::{own_hash_of, versions_of};
use super::{
    inputs::plane,
    shelves::{
        about_component, annotation, in_project, is_going, name, namespace, of_component,
        release_name,
    },
};
use crate::{
    key::Key,
    platform::{
        carry::{Object, Work, after, is_heard},
        step::{Found, Kind, Step, Thing, names},
    },
    releases::{Context, Inner},
    system::{hierarchy::is_rivalled, shelves::logical},
};

/// What was found out about a component.
struct Seen {
    component: Arc<Component>,
    examined: Result<Option<Examined>, Problem>,
    bindings: Vec<Arc<ReleaseBinding>>,
    /// What has to go when it goes, in order.
    belongings: Vec<Vec<Found>>,
    /// Snapshots that nobody needs any more.
    surplus: Vec<Found>,
    /// Why nothing can be deployed to the first environment.
    no_place: Option<String>,
}

fn around(world: &Inner, key: &Key) -> Option<Seen> {
    let chain = &world.chain;
    let component = Arc::clone(chain.components.get(key)?);
    let here = &*key.namespace;
    let project = component.spec.owner.project_name.as_str();
    let all = of_component(project, &key.name);
    let bindings: Vec<_> = chain.bindings.of_group(here, &all).cloned().collect();
    let snapshots: Vec<_> = chain.snapshots.of_group(here, &all).cloned().collect();
    let workloads = chain.workloads.of_group(here, &all);
    let examined = examine(world, &component);
    let no_place = match &examined {
        Ok(Some(examined)) => plane(&world.shelves, here, &examined.first).err(),
        _ => None,
    };
    let is_first_going = match &examined {
        Ok(Some(examined)) => {
            let first = world.shelves.environments.find(here, &examined.first);
            first.is_some_and(|first| is_going(&**first))
        }
        _ => false,
    };
    Some(Seen {
        belongings: {
            let mut belongings = vec![found(Kind::ReleaseBinding, bindings.iter())];
            // Owners have the name of the object.
            belongings.extend(world.system.belongings(here, &all));
            // Labels have its logical name, which somebody else may have as well.
            let labelled = of_component(project, logical(&*component));
            let components = chain.components.of_group(here, &in_project(project));
            if labelled != all && !is_rivalled(&*component, components) {
                belongings.extend(world.system.belongings(here, &labelled));
            }
            belongings.extend([
                found(
                    Kind::Approval,
                    chain.approvals.of_group(here, &about_component(&all)),
                ),
                found(Kind::ComponentRelease, snapshots.iter()),
                found(Kind::Workload, workloads),
            ]);
            belongings
        },
        surplus: keep::surplus(world, &component, &snapshots, &bindings),
        no_place: no_place.or_else(|| is_first_going.then(|| "it is on its way out".to_owned())),
        examined,
        bindings,
        component,
    })
}

fn found<'a, K: kube::Resource + 'a>(
    kind: Kind,
    objects: impl Iterator<Item = &'a Arc<K>>,
) -> Vec<Found> {
    objects.map(|object| Found::of(kind, &**object)).collect()
}

/// Looks at a component once.
pub(super) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    let seen = around(&context.world.look(), &thing.key);
    let Some(seen) = seen else {
        context.written.lock().remove(thing);
        context.world.look().chain.admitted.remove(&thing.key);
        return None;
    };
    // One of the older generation is deployed by other kinds; where nobody looks after those, it is left alone.
    let is_older = matches!(seen.examined, Ok(None));
    let is_left = is_older && !context.world.look().system.is_on;
    let object = Object::of(&*seen.component, seen.component.status.as_ref());
    if is_left || !is_heard(context, thing, &object.metadata) {
        return None;
    }
    let work = Work {
        context,
        thing,
        object,
    };
    after(thing, look_after(context, work, seen).await)
}

async fn look_after(
    context: &Context,
    mut work: Work<'_>,
    seen: Seen,
) -> Result<Option<Duration>, Trouble> {
    if is_going(&*seen.component) {
        return work.carry_out(end(seen)).await;
    }
    work.hold().await?;
    let mut step = Step::default();
    match &seen.examined {
        Err((reason, words)) => {
            step.say(ConditionType::Ready, Holds::False, *reason, words.clone());
        }
        Ok(None) => {
            let words = match seen.belongings.iter().flatten().next() {
                Some(_) => "other kinds deploy it",
                None => {
                    "nothing of it is deployed: give it a DeploymentTrack with artifacts and Deployments, or an instance of a \
                     class"
                }
            };
            step.say(ConditionType::Ready, Holds::True, Reason::Reconciled, words);
        }
        Ok(Some(examined)) => deploy(context, &seen, examined, &mut step).await?,
    }
    step.removes = seen.surplus;
    work.carry_out(step).await
}

/// Bindings first, then what was said of it, then snapshots, then workloads.
fn end(seen: Seen) -> Step {
    let mut step = Step::default();
    for found in seen.belongings {
        if let Some(first) = found.first() {
            let kind = first.thing.kind.word();
            let which = names(found.iter().map(|one| &*one.thing.key.name));
            let words = format!("waits for the end of {kind} {which}");
            step.ending(Reason::Finalizing, Reason::Finalizing, words);
            step.removes = found;
            return step;
        }
    }
    step.ending(
        Reason::Finalizing,
        Reason::Finalizing,
        "nothing is left of it",
    );
    step.may_go = true;
    step
}

/// Makes a snapshot if there is something new, and points the first environment at it.
async fn deploy(
    context: &Context,
    seen: &Seen,
    examined: &Examined,
    step: &mut Step,
) -> Result<(), Trouble> {
    let component = &seen.component;
    if !examined.is_auto {
        let words = "it is checked; it is deployed by hand: quad deploy";
        step.say(ConditionType::Ready, Holds::True, Reason::Reconciled, words);
        return Ok(());
    }
    if examined.must_wait {
        let words = "its type or a trait changed; it follows when its turn comes";
        step.say(
            ConditionType::Ready,
            Holds::True,
            Reason::ComponentReleaseReady,
            words,
        );
        return Ok(());
    }
    let latest = match &examined.snapshot {
        Some(snapshot) => {
            make(context, component, snapshot, examined.is_made).await?;
            LatestComponentRelease {
                name: snapshot.name.clone(),
                release_hash: snapshot.hash.clone(),
                own_hash: Some(examined.own_hash.clone()),
                definitions: Some(examined.definitions.clone()),
            }
        }
        None => match latest_of(component) {
            Some(latest) => latest.clone(),
            None => return Ok(()),
        },
    };
    match &seen.no_place {
        Some(why) => {
            let words = format!(
                "{} cannot be deployed to {}: {why}",
                latest.name, examined.first
            );
            step.say(
                ConditionType::Ready,
                Holds::False,
                Reason::EnvironmentNotFound,
                words,
            );
        }
        None => match point(context, seen, examined, &latest).await? {
            Ok(()) => {
                let words = format!("{} is the newest release", latest.name);
                step.say(
                    ConditionType::Ready,
                    Holds::True,
                    Reason::ComponentReleaseReady,
                    words,
                );
            }
            Err(words) => step.say(
                ConditionType::Ready,
                Holds::False,
                Reason::AutoDeployFailed,
                words,
            ),
        },
    }
    step.fields.insert("latestRelease", json!(latest));
    Ok(())
}

fn latest_of(component: &Component) -> Option<&LatestComponentRelease> {
    component.status.as_ref()?.latest_release.as_ref()
}

async fn make(
    context: &Context,
    component: &Component,
    snapshot: &snapshot::Snapshot,
    is_made: bool,
) -> Result<(), Trouble> {
    if is_made {
        return Ok(());
    }
    let here = namespace(component);
    let object = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ComponentRelease",
        "metadata": { "namespace": here, "name": snapshot.name },
        "spec": snapshot.spec,
    });
    let path = Kind::ComponentRelease.path(here);
    match context.control.create(path, &object).await {
        Ok(metadata) => {
            let key = Key::new(here, &snapshot.name);
            let uid = metadata.uid.unwrap_or_default();
            context.kitchen.made(key, uid, &snapshot.spec);
            Ok(())
        }
        // The name is the digest of the content.
        Err(Trouble::AlreadyExists(_)) => Ok(()),
        Err(trouble) => Err(trouble),
    }
}

/// Whether the name of a binding is another's. One of its own that came in between is pointed at the snapshot once it was
/// heard of.
fn taken(context: &Context, component: &Component, first: &str) -> Result<(), String> {
    let binding = release_name(name(component), first);
    let world = context.world.look();
    let known = world.chain.bindings.find(namespace(component), &binding);
    let is_anothers = known.is_some_and(|known| {
        let spec = &known.spec;
        spec.owner.component_name.as_str() != name(component) || spec.environment.as_str() != first
    });
    if !is_anothers {
        return Ok(());
    }
    Err(format!(
        "its binding in {first} would be called {binding}, which is the name of another's: rename the component, or make a \
         binding of another name"
    ))
}

/// Points the binding of the first environment at a snapshot, once: what somebody does there by hand after that stays
/// until there is another snapshot.
async fn point(
    context: &Context,
    seen: &Seen,
    examined: &Examined,
    latest: &LatestComponentRelease,
) -> Result<Result<(), String>, Trouble> {
    let component = &seen.component;
    let here = namespace(&**component);
    let first = examined.first.as_str();
    let there: Vec<_> = seen
        .bindings
        .iter()
        .filter(|binding| binding.spec.environment.as_str() == first)
        .collect();
    let collection = Kind::ReleaseBinding.path(here);
    match there.as_slice() {
        [] => {
            let object = json!({
                "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ReleaseBinding",
                "metadata": {
                    "namespace": here, "name": release_name(name(&**component), first),
                    "annotations": { annotations::AUTO_DEPLOYED: latest.release_hash },
                    "finalizers": [finalizers::RELEASE_BINDING],
                },
                "spec": {
                    "owner": {
                        "projectName": component.spec.owner.project_name,
                        "componentName": name(&**component),
                    },
                    "environment": first, "releaseName": latest.name,
                },
            });
            match context.control.create(collection, &object).await {
                Ok(_) => Ok(Ok(())),
                Err(Trouble::AlreadyExists(_)) => Ok(taken(context, component, first)),
                Err(trouble) => Err(trouble),
            }
        }
        [binding] => {
            let deployed = annotation(&***binding, annotations::AUTO_DEPLOYED);
            let noted = latest_of(component).map(|known| known.release_hash.as_str());
            let is_done = match deployed {
                Some(deployed) => deployed == latest.release_hash,
                // Somebody wrote the binding anew; what was deployed is noted here as well.
                None => {
                    binding.spec.release_name.is_some()
                        && noted == Some(latest.release_hash.as_str())
                }
            };
            if is_done || is_going(&***binding) {
                return Ok(Ok(()));
            }
            let patch = json!({
                "metadata": {
                    "resourceVersion": binding.metadata.resource_version,
                    "annotations": {
                        annotations::AUTO_DEPLOYED: latest.release_hash,
                        annotations::REQUESTED_BY: null,
                    },
                },
                "spec": { "releaseName": latest.name },
            });
            let url = format!("{collection}/{}", name(&***binding));
            context.control.patch_at(url, &patch).await?;
            Ok(Ok(()))
        }
        [one, other, ..] => Ok(Err(format!(
            "it has two bindings in {first}: delete {} or {}",
            name(&***one),
            name(&***other)
        ))),
    }
}
