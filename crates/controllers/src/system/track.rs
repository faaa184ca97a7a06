//! Tracks and artifacts: whom they belong to is checked, and whatever stands on them goes before they do.

use std::time::Duration;

use kube::Resource;
use quadrille_types::conditions::{ConditionType, Holds, Reason};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    hierarchy::{component_of, is_rivalled},
    shelves::{Belongs, logical, named, of_artifact, of_track},
};
use crate::{
    chain::shelves::{is_going, name},
    platform::{
        carry::{Object, Work, after, is_heard},
        step::{Found, Kind, Step, Thing, names},
    },
    releases::{Context, Inner},
    shelf::Shelf,
};

/// The words of a kind.
struct Words {
    is_there: Reason,
    is_ending: Reason,
}

/// Looks at a track once.
pub(super) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    let decided = {
        let world = context.world.look();
        match thing.kind {
            Kind::DeploymentTrack => {
                let track = world.system.tracks.get(&thing.key);
                track.map(|track| {
                    let at = Belongs::of(&**track);
                    let here = &world.system;
                    let group = of_track(at.project, at.component, logical(&**track));
                    let name = named(&[at.project, at.component, logical(&**track)]);
                    let near = here.tracks.of_group(at.namespace, &name);
                    let belongings = if is_rivalled(&**track, near) {
                        Vec::new()
                    } else {
                        Vec::from([
                            of(Kind::Deployment, &here.deployments, at.namespace, &group),
                            of(
                                Kind::DeployableArtifact,
                                &here.artifacts,
                                at.namespace,
                                &group,
                            ),
                            of(Kind::Build, &here.builds, at.namespace, &group),
                        ])
                    };
                    let words = Words {
                        is_there: Reason::DeploymentTrackAvailable,
                        is_ending: Reason::DeploymentTrackFinalizing,
                    };
                    let step = decide(&world, thing.kind, &**track, &belongings, &words);
                    (Object::of(&**track, track.status.as_ref()), step)
                })
            }
            _ => {
                let artifact = world.system.artifacts.get(&thing.key);
                artifact.map(|artifact| {
                    let at = Belongs::of(&**artifact);
                    let group = of_artifact(name(&**artifact));
                    let users = world.system.deployments.of_group(at.namespace, &group);
                    // An artifact of the same name on another track is another one.
                    let track = of_track(at.project, at.component, at.track);
                    let users = users.filter(|one| {
                        let at = Belongs::of(&***one);
                        of_track(at.project, at.component, at.track) == track
                    });
                    let belongings = [users
                        .map(|one| Found::of(Kind::Deployment, &**one))
                        .collect::<Vec<_>>()];
                    let words = Words {
                        is_there: Reason::DeployableArtifactAvailable,
                        is_ending: Reason::DeployableArtifactFinalizing,
                    };
                    let step = decide(&world, thing.kind, &**artifact, &belongings, &words);
                    (Object::of(&**artifact, artifact.status.as_ref()), step)
                })
            }
        }
    };
    let Some((object, step)) = decided else {
        context.written.lock().remove(thing);
        return None;
    };
    if !is_heard(context, thing, &object.metadata) {
        return None;
    }
    let work = Work {
        context,
        thing,
        object,
    };
    after(thing, work.carry_out(step).await)
}

fn of<K>(kind: Kind, shelf: &Shelf<K>, here: &str, group: &str) -> Vec<Found>
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Serialize,
{
    let all = shelf.of_group(here, group);
    all.map(|one| Found::of(kind, &**one)).collect()
}

fn decide<K: Resource>(
    world: &Inner,
    kind: Kind,
    object: &K,
    belongings: &[Vec<Found>],
    words: &Words,
) -> Step {
    let mut step = Step::default();
    if is_going(object) {
        let first = belongings.iter().find(|found| !found.is_empty());
        match first {
            Some(found) => {
                let kind = found.first().map_or("", |one| one.thing.kind.word());
                let which = names(found.iter().map(|one| &*one.thing.key.name));
                let waits = format!("waits for the end of {kind} {which}");
                step.ending(words.is_ending, words.is_ending, waits);
                step.removes.clone_from(found);
            }
            None => {
                step.ending(words.is_ending, words.is_ending, "nothing is left of it");
                step.may_go = true;
            }
        }
        return step;
    }
    match component_of(world, kind.word(), object) {
        Ok(component) => {
            let said = format!("it belongs to component {}", name(&*component));
            step.say(
                ConditionType::Available,
                Holds::True,
                words.is_there,
                said.clone(),
            );
            step.say(ConditionType::Ready, Holds::True, words.is_there, said);
        }
        Err((reason, problem)) => {
            step.say(
                ConditionType::Available,
                Holds::False,
                reason,
                problem.clone(),
            );
            step.say(ConditionType::Ready, Holds::False, reason, problem);
        }
    }
    step
}
