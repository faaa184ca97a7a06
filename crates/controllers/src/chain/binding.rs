//! What is to be done about a binding: which release may run, what it is rendered to, and how that is doing.

mod judge;
mod promote;
mod report;

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use kube::ResourceExt as _;
use quadrille_planes::Trouble;
use quadrille_render::{Inputs, Needs, Plan, Prepared, cell::Asked, needs};
use quadrille_types::{ComponentRelease, annotations, conditions::Reason, release::TargetPlane};
use serde_json::{Value, json};

use self::{
    judge::{Judged, Running},
    report::Report,
};
use super::{
    inputs::{Fetched, Loaded, Seen, around, digest, fetch},
    releases::{self, Wish},
    shelves::{
        Snapshot, annotation, cell_release, is_going, name, named, namespace, release_name, uid,
    },
};
use crate::{
    key::Key,
    platform::{
        carry::{Object, Work, after, is_heard},
        step::{Step, Thing},
    },
    releases::{Context, Facts},
};

/// Looks at a binding once.
pub(super) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    let seen = around(&context.world.look(), &thing.key);
    let Some(seen) = seen else {
        context.written.lock().remove(thing);
        context.alarms.set(thing, None);
        return None;
    };
    let object = Object::of(&*seen.binding, seen.binding.status.as_ref());
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

async fn look_after(
    context: &Context,
    mut work: Work<'_>,
    seen: &Seen,
) -> Result<Option<Duration>, Trouble> {
    if is_going(&*seen.binding) {
        let step = end(context, seen).await?;
        return work.carry_out(step).await;
    }
    if is_yet_to_be_heard_of(context, seen).await? {
        return Ok(None);
    }
    work.hold().await?;
    let mut report = Report::of(seen, context.alarms.now());
    let until = deploy(context, seen, &mut report).await?;
    let promoted = promote::next(seen, &report);
    for wish in promoted.wishes {
        promote::write(context, wish).await?;
    }
    work.say(&report.finish(), None).await?;
    let moment = [until, promoted.due].into_iter().flatten().min();
    context.alarms.set(work.thing, moment);
    Ok(None)
}

/// Whether the release that is asked for is there and was not heard of yet: the news of it may come after those of the
/// binding, and bring it to be looked at again. Only what nobody finds is told to be missing.
async fn is_yet_to_be_heard_of(context: &Context, seen: &Seen) -> Result<bool, Trouble> {
    let spec = &seen.binding.spec;
    let wanted = spec.release_name.as_deref().unwrap_or_default();
    let is_known = seen.is_of_another || seen.snapshots.iter().any(|one| name(&**one) == wanted);
    if is_known || spec.is_undeployed() || !could_be_a_name(wanted) {
        return Ok(false);
    }
    let here = namespace(&*seen.binding);
    let found = context
        .control
        .get::<ComponentRelease>(here, wanted)
        .await?;
    let found = found.and_then(|found| serde_json::from_value::<Snapshot>(found).ok());
    Ok(found.is_some_and(|found| {
        let owner = &found.spec.owner;
        owner.project_name == spec.owner.project_name
            && owner.component_name == spec.owner.component_name
    }))
}

/// Whether an object can be called that: it becomes part of a path.
fn could_be_a_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
    text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.bytes().all(is_allowed)
}

/// Its Release goes, then the binding.
async fn end(context: &Context, seen: &Seen) -> Result<Step, Trouble> {
    let mut step = Step::default();
    let own = seen.release.as_ref().filter(|facts| is_ours(facts, seen));
    match own {
        Some(facts) => {
            releases::delete(context, facts).await?;
            let words = format!("waits for the end of Release {}", facts.key.name);
            step.ending(Reason::Finalizing, Reason::Finalizing, words);
        }
        None => {
            step.ending(
                Reason::Finalizing,
                Reason::Finalizing,
                "nothing is left of it",
            );
            step.may_go = true;
        }
    }
    Ok(step)
}

fn is_ours(facts: &Facts, seen: &Seen) -> bool {
    let rendered = facts.rendered.as_ref();
    rendered.is_some_and(|rendered| rendered.owner == uid(&*seen.binding))
}

/// Makes the Release be what the binding asks for, as far as it may. Tells when that may be otherwise without an event.
async fn deploy(
    context: &Context,
    seen: &Seen,
    report: &mut Report,
) -> Result<Option<Timestamp>, Trouble> {
    let Judged { running, until } = judge::which(seen, report);
    let known = seen.release.as_ref();
    let running = match running {
        Running::Nothing => return Ok(until),
        Running::TakenAway => {
            let own = known.filter(|facts| is_ours(facts, seen));
            if let Some(facts) = own {
                releases::delete(context, facts).await?;
            }
            report.taken_away(own.is_some());
            return Ok(until);
        }
        Running::Snapshot(snapshot) => snapshot,
    };
    if let Some(foreign) = known.filter(|facts| !is_ours(facts, seen)) {
        report.conflict(&foreign.key.name);
        return Ok(until);
    }
    if known.is_some_and(|facts| facts.deleting_since.is_some()) {
        report.waits("the last Release is still going");
        return Ok(until);
    }
    let snapshot = name(&*running);
    let identity = running.identity();
    // What it uses and needs follows from the snapshot and the settings, so what was noted last is enough to tell that
    // nothing changed.
    let status = seen.binding.status.clone().unwrap_or_default();
    let noted = fetch(
        &context.world.look(),
        &seen.binding,
        &status.secret_reference_names,
        &status.connection_targets,
        &[],
    );
    let is_current = known.is_some_and(|facts| {
        let inputs = digest(seen, &identity, &noted);
        // A Release that is right does not help if what came of it was never noted.
        inputs.is_some_and(|inputs| {
            releases::is_from(facts, &inputs) && status.rendered_from.as_ref() == Some(&inputs)
        })
    });
    if let Some(facts) = known.filter(|_| is_current && noted.circle.is_none()) {
        report.runs(snapshot);
        report.doing(facts);
        return Ok(until);
    }
    let Some(loaded) = context.kitchen.load(context, &running).await? else {
        return Ok(until);
    };
    match render(context, seen, &identity, &loaded, report) {
        Ok(Some((plan, inputs))) => {
            let fresh = {
                let world = context.world.look();
                let key = Key::new(namespace(&*seen.binding), &own_release(seen));
                world.releases.get(&key).map(|held| Arc::clone(&held.facts))
            };
            if let Some(facts) = fresh.as_ref().filter(|one| releases::is_from(one, &inputs)) {
                report.rendered(snapshot, &inputs, &plan);
                report.doing(facts);
                return Ok(until);
            }
            let is_new = fresh.is_none();
            releases::write(
                context,
                fresh.as_ref(),
                wish(seen, &running, &plan, &inputs),
            )
            .await?;
            report.rendered(snapshot, &inputs, &plan);
            report.written(is_new, &plan);
        }
        // What ran goes on.
        Ok(None) => report.keeps(known),
        Err(problem) => {
            report.failed(&problem);
            report.keeps(known);
        }
    }
    Ok(until)
}

fn own_release(seen: &Seen) -> String {
    let spec = &seen.binding.spec;
    release_name(
        spec.owner.component_name.as_str(),
        spec.environment.as_str(),
    )
}

/// What the binding becomes, unless something is missing; then that is said.
fn render(
    context: &Context,
    seen: &Seen,
    identity: &str,
    loaded: &Loaded,
    report: &mut Report,
) -> Result<Option<(Plan, String)>, String> {
    let binding = &seen.binding;
    let here = namespace(&**binding);
    let prepared = loaded.as_ref().map_err(Clone::clone)?;
    let needed = needs(prepared, &binding.spec, here).map_err(|error| error.to_string())?;
    let fetched = fetch(
        &context.world.look(),
        binding,
        &needed.secrets,
        &needed.connections,
        &needed.optional_connections,
    );
    report.needs(&needed, &fetched);
    if let Some(circle) = &fetched.circle {
        report.circle(circle);
        return Ok(None);
    }
    let Some(plan) = plan(seen, prepared, &fetched, &needed)? else {
        return Ok(None);
    };
    let pending = &fetched.connections.pending;
    if !pending.is_empty() || !plan.pending_resources.is_empty() {
        report.pending(pending, &plan);
        return Ok(None);
    }
    let digest = digest(seen, identity, &fetched);
    Ok(digest.map(|digest| (plan, digest)))
}

fn plan(
    seen: &Seen,
    prepared: &Prepared,
    fetched: &Fetched,
    needed: &Needs,
) -> Result<Option<Plan>, String> {
    let (Some(component), Some(project), Some(environment), Ok(plane)) = (
        &seen.component,
        &seen.project,
        &seen.environment,
        &seen.plane,
    ) else {
        return Ok(None);
    };
    let missing: Vec<&str> = needed
        .secrets
        .iter()
        .filter(|name| !fetched.secrets.contains_key(*name))
        .map(String::as_str)
        .collect();
    if !missing.is_empty() {
        return Err(format!(
            "there is no SecretReference {}: create it, or take it out of the workload",
            missing.join(", ")
        ));
    }
    let connections: Vec<_> = fetched
        .connections
        .resolved
        .iter()
        .chain(&fetched.optional)
        .cloned()
        .collect();
    let asked = Asked::read(
        project.annotations(),
        environment.annotations(),
        plane.annotations(),
    )
    .map_err(|error| error.to_string())?;
    let plan = prepared.plan(&Inputs {
        organization: namespace(&*seen.binding),
        project: named(&**project),
        component: named(&**component),
        binding: &seen.binding.spec,
        environment: named(&**environment),
        environment_spec: &environment.spec,
        plane: named(&**plane),
        plane_spec: &plane.spec,
        plane_annotations: plane.annotations(),
        enforces_egress: asked.enforces_egress,
        secrets: &fetched.secrets,
        connections: &connections,
        resources: &[],
        notification_channel: None,
        restarted_at: annotation(&*seen.binding, annotations::RESTARTED_AT),
    });
    plan.map(Some).map_err(|error| error.to_string())
}

fn wish<'a>(seen: &'a Seen, running: &'a Snapshot, plan: &Plan, inputs: &'a str) -> Wish<'a> {
    let binding = &seen.binding;
    let spec = &binding.spec;
    let (project, component) = (
        spec.owner.project_name.as_str(),
        spec.owner.component_name.as_str(),
    );
    let environment = spec.environment.as_str();
    Wish {
        key: Key::new(namespace(&**binding), &release_name(component, environment)),
        owner: Some(owner_reference(seen)),
        project,
        component: Some(component),
        environment,
        resources: plan.resources(TargetPlane::Data),
        depends_on: vec![cell_release(project, environment)],
        snapshot: name(running),
        snapshot_uid: uid(running),
        inputs,
        may_shrink: false,
    }
}

fn owner_reference(seen: &Seen) -> Value {
    json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ReleaseBinding",
        "name": name(&*seen.binding), "uid": uid(&*seen.binding),
        "controller": true, "blockOwnerDeletion": true,
    })
}
