//! What is to be done about a component type or a trait: it is checked as a whole; and a change of it reaches those who
//! use it one after another, and goes no further when the first ones get into trouble.

mod pace;

use std::{sync::Arc, time::Duration};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use quadrille_template::Problems;
use quadrille_types::{
    Component, annotations,
    conditions::{ConditionType, Holds, Reason, find},
    reference::Reference,
};

use self::pace::{Standing, Tally};
use super::{
    component::versions_of,
    shelves::{Chain, annotation, is_going, name, namespace, of_component, using},
};
use crate::{
    key::Key,
    platform::{
        carry::{Object, Work, after, is_heard},
        step::{Kind, Step, Thing},
    },
    queue::Urgency,
    releases::{Context, Inner},
};

/// A definition that is there.
struct Seen {
    object: Object,
    generation: Option<i64>,
    conditions: Vec<Condition>,
    observed: Option<i64>,
    check: Check,
}

/// How to check it: not while everything waits for what is known.
type Check = Box<dyn FnOnce(&Context) -> Result<(), Problems> + Send>;

fn around(world: &Inner, thing: &Thing) -> Option<Seen> {
    let chain = &world.chain;
    macro_rules! seen {
        ($object:expr, $check:expr) => {{
            let object = Arc::clone($object);
            let status = object.status.clone().unwrap_or_default();
            Some(Seen {
                object: Object::of(&*object, object.status.as_ref()),
                generation: object.metadata.generation,
                conditions: status.conditions,
                observed: status.observed_generation,
                check: Box::new(move |context: &Context| $check(context, &object.spec)),
            })
        }};
    }
    match thing.kind {
        Kind::ComponentType => {
            let check = |context: &Context, spec: &_| {
                let renderer = &context.kitchen.renderer;
                renderer.check_component_type("ComponentType", spec)
            };
            seen!(chain.types.get(&thing.key)?, check)
        }
        Kind::ClusterComponentType => {
            let check = |context: &Context, spec: &quadrille_types::ClusterComponentTypeSpec| {
                let renderer = &context.kitchen.renderer;
                renderer.check_component_type("ClusterComponentType", &spec.0)
            };
            seen!(chain.cluster_types.get(&thing.key)?, check)
        }
        Kind::Trait => {
            let check = |context: &Context, spec: &_| context.kitchen.renderer.check_trait(spec);
            seen!(chain.traits.get(&thing.key)?, check)
        }
        Kind::ClusterTrait => {
            let check = |context: &Context, spec: &quadrille_types::ClusterTraitSpec| {
                context.kitchen.renderer.check_trait(&spec.0)
            };
            seen!(chain.cluster_traits.get(&thing.key)?, check)
        }
        _ => None,
    }
}

/// Looks at a definition once.
pub(super) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    let seen = around(&context.world.look(), thing);
    let Some(seen) = seen else {
        context.written.lock().remove(thing);
        return None;
    };
    if !is_heard(context, thing, &seen.object.metadata) {
        return None;
    }
    let mut step = Step::default();
    if seen.observed != seen.generation || find(&seen.conditions, ConditionType::Ready).is_none() {
        match (seen.check)(context) {
            Ok(()) => step.say(
                ConditionType::Ready,
                Holds::True,
                Reason::Reconciled,
                "it can be used",
            ),
            Err(problems) => step.say(
                ConditionType::Ready,
                Holds::False,
                Reason::InvalidDefinition,
                problems.to_string(),
            ),
        }
    }
    if matches!(thing.kind, Kind::ComponentType | Kind::ClusterComponentType) {
        roll_out(context, thing, &mut step);
    }
    let mut work = Work {
        context,
        thing,
        object: seen.object,
    };
    let said = work.say(&step, None).await;
    after(thing, said.map(|()| None))
}

/// Lets the next ones follow.
fn roll_out(context: &Context, thing: &Thing, step: &mut Step) {
    let (tally, next) = {
        let mut world = context.world.look();
        let reference = Reference {
            kind: thing.kind.word().to_owned(),
            name: thing.key.name.to_string(),
        };
        let group = using(&thing.key.namespace, &reference);
        let chain = &mut world.chain;
        let keys = chain
            .components
            .keys_of_group(&group.namespace, &group.name);
        let mut tally = Tally::default();
        let mut outdated: Vec<(Key, String)> = Vec::new();
        for key in keys {
            let Some(component) = chain.components.get(&key).cloned() else {
                continue;
            };
            let Some((standing, versions)) = standing(chain, &component) else {
                continue;
            };
            if matches!(standing, Standing::Outdated) {
                // One that has its turn already is on its way.
                if chain.admitted.get(&key) == Some(&versions) {
                    tally.count(&key.name, &Standing::Rolling);
                    continue;
                }
                outdated.push((key.clone(), versions));
            }
            tally.count(&key.name, &standing);
        }
        let next: Vec<(Key, String)> = outdated.into_iter().take(tally.may_start()).collect();
        for (key, versions) in &next {
            chain.admitted.insert(key.clone(), versions.clone());
        }
        (tally, next)
    };
    if tally.total() > 0 {
        let (holds, reason, words) = tally.said();
        step.say(ConditionType::RolledOut, holds, reason, words);
    }
    for (key, _) in next {
        let thing = Thing {
            kind: Kind::Component,
            key,
        };
        context.look_at(thing, Urgency::Background, Duration::ZERO);
    }
}

/// Where a component stands between two versions of its definitions, and which the newer one is.
fn standing(chain: &Chain, component: &Component) -> Option<(Standing, String)> {
    if component.spec.auto_deploy != Some(true) || is_going(component) {
        return None;
    }
    let latest = component.status.as_ref()?.latest_release.as_ref()?;
    let versions = versions_of(chain, component)?;
    if latest.definitions.as_ref() != Some(&versions) {
        return Some((Standing::Outdated, versions));
    }
    let group = of_component(component.spec.owner.project_name.as_str(), name(component));
    let mut bindings = chain.bindings.of_group(namespace(component), &group);
    let deployed = bindings.find(|binding| {
        annotation(&***binding, annotations::AUTO_DEPLOYED) == Some(&latest.release_hash)
    });
    let Some(running) = deployed else {
        // The component is ahead of what was heard of its binding.
        return Some((Standing::Rolling, versions));
    };
    // What somebody does there by hand says nothing about the change.
    let is_by_hand = running.spec.release_name.as_deref() != Some(&latest.name);
    if is_by_hand || running.spec.is_undeployed() {
        return Some((Standing::Settled, versions));
    }
    let status = running.status.clone().unwrap_or_default();
    let ready = find(&status.conditions, ConditionType::Ready);
    let is_of_this = status.observed_generation == running.metadata.generation;
    let standing = match ready {
        Some(ready) if is_of_this && ready.status == "True" => Standing::Settled,
        Some(ready) if is_of_this && pace::is_trouble(&ready.reason) => {
            // One that was in trouble before says nothing about the change.
            let was_well = status
                .history
                .get(1)
                .is_some_and(|ran| ran.ready_at.is_some());
            if was_well {
                Standing::Troubled(ready.message.clone())
            } else {
                Standing::Settled
            }
        }
        _ => Standing::Rolling,
    };
    Some((standing, versions))
}
