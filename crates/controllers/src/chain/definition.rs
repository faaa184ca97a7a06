//! What is to be done about a component type or a trait: it is checked as a whole; and a change of it reaches those who
//! use it one after another, and goes no further when the first ones get into trouble.

mod pace;

use std::{sync::Arc, time::Duration};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use quadrille_template::Problems;
use quadrille_types::{
    Component, ReleaseBinding, annotations,
    conditions::{ConditionType, Holds, Reason, find},
    reference::Reference,
};

use self::pace::{Standing, Tally};
use super::{
    component::{own_hash_of, versions_of},
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
        let components = &world.chain.components;
        let mut tally = Tally::default();
        let mut outdated: Vec<(Key, String)> = Vec::new();
        for component in components.of_group(&group.namespace, &group.name) {
            let Some((standing, versions)) = standing(&world, component) else {
                continue;
            };
            tally.count(name(&**component), &standing);
            if matches!(standing, Standing::Outdated) {
                outdated.push((Key::of(&**component), versions));
            }
        }
        let next: Vec<(Key, String)> = outdated.into_iter().take(tally.may_start()).collect();
        for (key, versions) in &next {
            let admitted = &mut world.chain.admitted;
            admitted.insert(key.clone(), versions.clone());
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

/// Where a component stands between two versions of its definitions, and which the newer one is. One that cannot go on for
/// reasons of its own says nothing about the change, and keeps nobody waiting.
fn standing(world: &Inner, component: &Component) -> Option<(Standing, String)> {
    if component.spec.auto_deploy != Some(true) || is_going(component) {
        return None;
    }
    let chain = &world.chain;
    let status = component.status.as_ref()?;
    let latest = status.latest_release.as_ref()?;
    let versions = versions_of(chain, component)?;
    let refused = find(&status.conditions, ConditionType::Ready).filter(|ready| {
        ready.status == "False" && ready.observed_generation == component.metadata.generation
    });
    let is_invalid = |refused: &Condition| refused.reason == Reason::InvalidConfiguration.as_str();
    if latest.definitions.as_ref() != Some(&versions) {
        let has_its_turn = chain.admitted.get(&Key::of(component)) == Some(&versions);
        let own = own_hash_of(world, component);
        let is_own = own.is_some() && own == latest.own_hash;
        let standing = match refused.filter(|refused| is_invalid(refused)) {
            _ if own.is_none() => Standing::Aside { follows: false },
            Some(refused) if has_its_turn && is_own => Standing::Troubled(refused.message.clone()),
            // What its developer last did is no good.
            Some(_) if !is_own => Standing::Aside { follows: false },
            _ if has_its_turn => Standing::Rolling,
            _ => Standing::Outdated,
        };
        return Some((standing, versions));
    }
    let aside = Standing::Aside { follows: true };
    if refused.is_some_and(|refused| !is_invalid(refused)) {
        return Some((aside, versions));
    }
    let group = of_component(component.spec.owner.project_name.as_str(), name(component));
    let bindings = chain.bindings.of_group(namespace(component), &group);
    let bindings: Vec<(Option<&str>, &ReleaseBinding)> = bindings
        .map(|binding| &**binding)
        .map(|binding| (annotation(binding, annotations::AUTO_DEPLOYED), binding))
        .collect();
    let has_latest = |deployed: Option<&str>| deployed == Some(&latest.release_hash);
    let Some((_, running)) = bindings.iter().find(|(deployed, _)| has_latest(*deployed)) else {
        // Somebody wrote the binding anew, or the component is ahead of what was heard of it.
        let is_anew =
            !bindings.is_empty() && bindings.iter().all(|(deployed, _)| deployed.is_none());
        let standing = if is_anew { aside } else { Standing::Rolling };
        return Some((standing, versions));
    };
    // What somebody does there by hand says nothing about the change.
    let is_by_hand = running.spec.release_name.as_deref() != Some(&latest.name);
    if is_by_hand || running.spec.is_undeployed() {
        return Some((aside, versions));
    }
    let status = running.status.clone().unwrap_or_default();
    let ready = find(&status.conditions, ConditionType::Ready);
    let is_of_this = status.observed_generation == running.metadata.generation;
    // One that was never well before, or was not even then, says nothing about the change.
    let mut before = status
        .history
        .iter()
        .filter(|ran| ran.release_name != latest.name);
    let was_well = before.next().is_some_and(|ran| ran.ready_at.is_some());
    let standing = match ready.filter(|_| is_of_this) {
        Some(ready) if ready.status == "True" => Standing::Settled,
        Some(_) if !was_well => aside,
        Some(ready) if pace::is_trouble(&ready.reason) => Standing::Troubled(ready.message.clone()),
        Some(ready) if has_waited_before(chain, component, &latest.name, ready) => aside,
        _ => Standing::Rolling,
    };
    Some((standing, versions))
}

/// Whether what is said of a binding was said before the release that it is to run was made: it waits for something else.
fn has_waited_before(
    chain: &Chain,
    component: &Component,
    release: &str,
    ready: &Condition,
) -> bool {
    let snapshot = chain.snapshots.find(namespace(component), release);
    let made = snapshot.and_then(|snapshot| snapshot.metadata.creation_timestamp.as_ref());
    made.is_some_and(|made| ready.last_transition_time.0 < made.0)
}
