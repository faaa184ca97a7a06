//! What is to be done about an instance of a class: with its workload, it is bound to the first environment of its
//! project's pipeline. Whatever else it is bound to is the business of whoever promoted it.

use std::{sync::Arc, time::Duration};

use kube::Resource as _;
use quadrille_planes::Trouble;
use quadrille_types::{
    Workload,
    conditions::{ConditionType, Holds, Reason, find},
    release_state::ReleaseState,
};
use serde_json::Value;

use super::{
    child,
    destination::no_project,
    hierarchy::Problem,
    kinds::{Bound, Instance},
    shelves::owner,
};
use crate::{
    chain::{
        inputs::pipeline,
        shelves::{is_going, name, namespace, uid},
    },
    key::Key,
    platform::{
        carry::{Object, Work, after, is_heard},
        step::{Step, Thing},
    },
    releases::{Context, Inner},
};

/// Everything around an instance.
struct Seen<I: Instance> {
    instance: Arc<I>,
    /// What runs, and where the pipeline begins.
    needed: Result<(Arc<Workload>, String), Problem>,
    /// The binding of its name.
    binding: Option<Arc<I::Binding>>,
}

fn around<I: Instance>(world: &Inner, key: &Key) -> Option<Seen<I>> {
    let instance = Arc::clone(I::shelf(&world.system).get(key)?);
    let binding = I::Binding::shelf(&world.system).get(key).cloned();
    Some(Seen {
        needed: needed(world, &*instance),
        instance,
        binding,
    })
}

fn needed<I: Instance>(world: &Inner, instance: &I) -> Result<(Arc<Workload>, String), Problem> {
    let here = namespace(instance);
    let owner = instance.owner();
    let project = owner.project_name.as_str();
    if world.shelves.projects.find(here, project).is_none() {
        return Err(no_project(here, owner));
    }
    let wanted = instance.workload_name();
    let workload = world.chain.workloads.find(here, wanted).ok_or_else(|| {
        let words = format!(
            "spec.workloadName: there is no Workload {wanted:?} in namespace {here:?}: create it, or name another"
        );
        (Reason::WorkloadNotFound, words)
    })?;
    let pipeline = pipeline(&world.shelves, here, project)
        .map_err(|words| (Reason::DeploymentPipelineNotFound, words))?;
    let first = pipeline.first().ok_or_else(|| {
        let words = format!(
            "the pipeline of Project {project} has no environments: add promotionPaths to it"
        );
        (Reason::InvalidConfiguration, words)
    })?;
    let environment = world.shelves.environments.find(here, first.as_str());
    let is_going = environment.map(|one| is_going(&**one));
    let words = match is_going {
        Some(false) => return Ok((Arc::clone(workload), first.to_string())),
        Some(true) => format!("Environment {first}, where the pipeline begins, is on its way out"),
        None => format!(
            "there is no Environment {:?}, where the pipeline begins: create it",
            first.as_str()
        ),
    };
    Err((Reason::EnvironmentNotFound, words))
}

/// Looks at an instance once.
pub(super) async fn run<I: Instance>(context: &Context, thing: &Thing) -> Option<Duration> {
    let seen = around::<I>(&context.world.look(), &thing.key);
    let Some(seen) = seen else {
        context.written.lock().remove(thing);
        return None;
    };
    let object = Object::of(&*seen.instance, seen.instance.status());
    if !is_heard(context, thing, &object.metadata) {
        return None;
    }
    let work = Work {
        context,
        thing,
        object,
    };
    after(thing, look_after(context, work, &seen).await)
}

async fn look_after<I: Instance>(
    context: &Context,
    mut work: Work<'_>,
    seen: &Seen<I>,
) -> Result<Option<Duration>, Trouble> {
    let (wish, (holds, reason, words)) = decide(seen);
    let collection = I::Binding::KIND.path(namespace(&*seen.instance));
    match wish {
        Wish::Nothing => {}
        Wish::Make(binding) => child::make(context, &collection, &binding).await?,
        Wish::Change(patch) => {
            let url = format!("{collection}/{}", name(&*seen.instance));
            context.control.patch_at(url, &patch).await?;
        }
    }
    let mut step = Step::default();
    step.say(ConditionType::Ready, holds, reason, words);
    work.say(&step, None).await?;
    Ok(None)
}

/// What is to become of the binding.
#[derive(Debug, PartialEq)]
enum Wish<B> {
    Nothing,
    /// It is made.
    Make(B),
    /// This of it is changed.
    Change(Value),
}

type Said = (Holds, Reason, String);

/// What is to be done, and said.
fn decide<I: Instance>(seen: &Seen<I>) -> (Wish<I::Binding>, Said) {
    let instance = &*seen.instance;
    let no = |reason, words| (Wish::Nothing, (Holds::False, reason, words));
    if is_going(instance) {
        // Its binding is owned, and goes with it.
        return no(Reason::Finalizing, "it is on its way out".to_owned());
    }
    let bound = format!("{} {}", I::Binding::KIND.word(), name(instance));
    let under_way = |words: &str| {
        let words = format!("{bound} {words}");
        (Holds::False, Reason::ResourceHealthProgressing, words)
    };
    let known = seen.binding.as_deref();
    let maker = known.map(|known| owner(known).map(|owner| owner.uid.as_str()));
    if maker.is_some_and(|maker| maker != Some(uid(instance))) {
        let words = format!(
            "{bound} is there and was not made for this: delete it, or give this another name"
        );
        return no(Reason::OwnershipConflict, words);
    }
    if known.is_some_and(is_going) {
        return (Wish::Nothing, under_way("is still going"));
    }
    let (workload, first) = match &seen.needed {
        Ok(needed) => needed,
        Err((reason, words)) => return no(*reason, words.clone()),
    };
    let Some(known) = known else {
        let mut wanted = instance.bind(workload, first, ReleaseState::default());
        let reference = instance.controller_owner_ref(&());
        wanted.meta_mut().owner_references = reference.map(|one| vec![one]);
        return (Wish::Make(wanted), under_way("is being made"));
    };
    // Where a binding is cannot change: what runs stays where it is, whatever becomes of the pipeline.
    let environment = known.environment().as_str();
    let wanted = instance.bind(workload, environment, known.state());
    let there = (known.meta(), known.spec());
    if let Some(patch) = child::difference(there, (wanted.meta(), wanted.spec())) {
        return (Wish::Change(patch), under_way("is being changed"));
    }
    let Some((holds, reason, words)) = ready(known) else {
        return (Wish::Nothing, under_way("was not looked at yet"));
    };
    let words = if first == environment {
        words
    } else {
        format!(
            "{words}; it stays in {environment}, although the pipeline begins with {first} now: to move it, delete {bound}"
        )
    };
    (Wish::Nothing, (holds, reason, words))
}

/// What a binding says of itself as it is now.
fn ready(binding: &impl Bound) -> Option<Said> {
    let ready = find(binding.noted().conditions, ConditionType::Ready)?;
    let about = ready.observed_generation;
    if about.is_some() && about != binding.meta().generation {
        return None;
    }
    let holds = match ready.status.as_str() {
        "True" => Holds::True,
        "False" => Holds::False,
        _ => Holds::Unknown,
    };
    let mut all = Reason::ALL.iter();
    let reason = all.find(|one| one.as_str() == ready.reason)?;
    Some((holds, *reason, ready.message.clone()))
}

#[cfg(test)]
mod tests;
