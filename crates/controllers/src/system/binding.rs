//! What is to be done about the binding of a service, web application or scheduled task: its class's templates with its
//! workload in them run in its environment, if they may.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use quadrille_planes::Trouble;
use quadrille_render::deployment_system::{
    binding::{self, Inputs, Offer, Outcome},
    endpoint::Claim,
};
use quadrille_types::{
    ApiClassSpec, ConfigurationGroup, SecretReferenceSpec, annotations,
    conditions::{ConditionType, Holds, Reason},
    names::EnvironmentName,
    release_binding::{PendingConnection, Ran},
    release_state::ReleaseState,
};
use serde_json::json;

use super::{
    claims::{age, taken},
    destination::{Destination, no_project},
    hierarchy::Problem,
    kinds::Bound,
    promotion::{Around, Ledger, identity},
    release::{self, Doing, Owner, Wanted, release_name},
    rivals,
    shelves::named,
};
use crate::{
    chain::shelves::{annotation, is_going, name, namespace, of_component, uid},
    key::Key,
    platform::{
        carry::{Object, Work, after, is_heard},
        step::{Step, Thing},
    },
    releases::{Context, Facts, Inner},
};

/// Everything around a binding.
struct Seen<B: Bound> {
    binding: Arc<B>,
    needed: Result<Needed<B>, Problem>,
    around: Around,
    release: Option<Arc<Facts>>,
}

/// What a binding is rendered from.
struct Needed<B: Bound> {
    destination: Destination,
    class: Arc<B::Class>,
    api_classes: BTreeMap<String, ApiClassSpec>,
    groups: Vec<Arc<ConfigurationGroup>>,
    secrets: BTreeMap<String, SecretReferenceSpec>,
    /// What others offer that it calls.
    offers: Vec<Offer>,
    /// What others have claimed before it.
    taken: Vec<Claim>,
}

fn around<B: Bound>(world: &Inner, key: &Key) -> Option<Seen<B>> {
    let shelf = B::shelf(&world.system);
    let binding = Arc::clone(shelf.get(key)?);
    let (here, owner) = (namespace(&*binding), binding.owner());
    let all = of_component(owner.project_name.as_str(), owner.component_name.as_str());
    let ran = shelf.of_group(here, &all).map(|one| ran(&**one)).collect();
    let release = Key::new(here, &release_name(B::KIND, name(&*binding)));
    Some(Seen {
        needed: Needed::of(world, &*binding),
        around: Around::of(
            world,
            here,
            owner.clone(),
            binding.environment().as_str(),
            ran,
            annotation(&*binding, annotations::REQUESTED_BY),
        ),
        release: release::find(world, &release),
        binding,
    })
}

fn ran(binding: &impl Bound) -> (EnvironmentName, Vec<Ran>) {
    let history = binding.noted().history.to_vec();
    (binding.environment().clone(), history)
}

impl<B: Bound> Needed<B> {
    fn of(world: &Inner, binding: &B) -> Result<Self, Problem> {
        let system = &world.system;
        let (here, owner) = (namespace(binding), binding.owner());
        let project = owner.project_name.as_str();
        if world.shelves.projects.find(here, project).is_none() {
            return Err(no_project(here, owner));
        }
        let environment = binding.environment().as_str();
        let destination = Destination::of(world, here, environment, "spec.environment")?;
        let wanted = binding.class_name();
        let class = B::classes(system).find(here, wanted).ok_or_else(|| {
            let words = format!(
                "spec.className: there is no {} {wanted:?} in namespace {here:?}: create it, or name another",
                B::CLASS
            );
            (B::NO_CLASS, words)
        })?;
        let api_classes = api_classes(world, binding)?;
        rivals::check(world, binding)?;
        let (groups, secrets) = binding::uses(binding.workload());
        let of_groups = groups
            .iter()
            .flat_map(|one| system.groups.of_group(here, &named(&[one])));
        let of_secrets = secrets.iter().filter_map(|one| {
            let secret = world.chain.secrets.find(here, one)?;
            Some((one.clone(), secret.spec.clone()))
        });
        Ok(Self {
            destination,
            class: Arc::clone(class),
            api_classes,
            groups: of_groups.cloned().collect(),
            secrets: of_secrets.collect(),
            offers: offers(world, binding),
            taken: taken(world, here, owner, environment, &age(B::KIND, binding)),
        })
    }
}

fn api_classes<B: Bound>(
    world: &Inner,
    binding: &B,
) -> Result<BTreeMap<String, ApiClassSpec>, Problem> {
    let here = namespace(binding);
    let mut classes = BTreeMap::new();
    for (api, offered) in binding.apis().into_iter().flatten() {
        let wanted = &offered.class_name;
        let class = world.system.api_classes.find(here, wanted).ok_or_else(|| {
            let words = format!(
                "spec.apis.{api}.className: there is no APIClass {wanted:?} in namespace {here:?}: create it, or name \
                 another"
            );
            (Reason::APIClassNotFound, words)
        })?;
        classes.insert(wanted.clone(), class.spec.clone());
    }
    Ok(classes)
}

/// What services offer in the same environment that a binding calls.
fn offers<B: Bound>(world: &Inner, binding: &B) -> Vec<Offer> {
    // What cannot be read is told when it is rendered.
    let workload = binding.workload().resolve("spec.workloadSpec").ok();
    let connections = workload.iter().flat_map(|workload| &workload.connections);
    let own = &binding.owner().project_name;
    let mut called: Vec<String> = connections
        .map(|needed| {
            let project = needed.project.as_ref().unwrap_or(own);
            of_component(project.as_str(), needed.component.as_str())
        })
        .collect();
    called.sort_unstable();
    called.dedup();
    let here = namespace(binding);
    let services = called
        .iter()
        .flat_map(|group| world.system.service_bindings.of_group(here, group));
    let near =
        services.filter(|one| one.spec.environment == *binding.environment() && !is_going(&***one));
    near.flat_map(|one| Offer::of(one)).collect()
}

/// Looks at a binding once.
pub(super) async fn run<B: Bound>(context: &Context, thing: &Thing) -> Option<Duration> {
    let seen = around::<B>(&context.world.look(), &thing.key);
    let Some(seen) = seen else {
        context.written.lock().remove(thing);
        context.alarms.set(thing, None);
        return None;
    };
    let object = Object::of(&*seen.binding, seen.binding.status());
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

async fn look_after<B: Bound>(
    context: &Context,
    mut work: Work<'_>,
    seen: &Seen<B>,
) -> Result<Option<Duration>, Trouble> {
    let binding = &*seen.binding;
    let key = Key::new(namespace(binding), &release_name(B::KIND, name(binding)));
    if is_going(binding) {
        context.alarms.set(work.thing, None);
        let step = release::end(context, &key, uid(binding)).await?;
        return work.carry_out(step).await;
    }
    work.hold().await?;
    let mut step = Step::default();
    deploy(context, work.thing, seen, &key, &mut step).await?;
    work.say(&step, None).await?;
    Ok(None)
}

/// Makes what runs be what is asked for, as far as it may, and says how that is doing.
async fn deploy<B: Bound>(
    context: &Context,
    thing: &Thing,
    seen: &Seen<B>,
    key: &Key,
    step: &mut Step,
) -> Result<(), Trouble> {
    let binding = &*seen.binding;
    let now = context.alarms.now();
    let noted = binding.noted();
    let known = seen.release.as_ref();
    let own = known.filter(|facts| release::is_of(facts, uid(binding)));
    let current = own.and_then(|facts| release::current(facts));
    let mut ledger = Ledger::new(noted.history.to_vec(), current.map(str::to_owned), now);
    if binding.state() == ReleaseState::Undeploy {
        context.alarms.set(thing, None);
        let is_going = release::take_away(context, key, uid(binding)).await?;
        let doing = Doing::undeployed(is_going);
        doing.say(step);
        step.say(ConditionType::Ready, doing.holds, doing.reason, doing.words);
        ledger.stopped();
        tell_endpoints::<B>(step, &[]);
        ledger.write(step);
        return Ok(());
    }
    let owner = binding.owner();
    let component = owner.component_name.as_str();
    let wanted = version(binding);
    let verdict = seen.around.judge(&wanted, current, now);
    ledger.judged(step, noted.conditions, &wanted, &verdict);
    context.alarms.set(thing, verdict.until);
    let outcome = match render(seen) {
        // What cannot be rendered would not run either if somebody agreed to it.
        Err(problem) => Err(problem),
        Ok(_) if !verdict.is_admitted => Err((verdict.reason, verdict.words)),
        // What is stopped calls nobody.
        Ok(outcome) if binding.state() == ReleaseState::Suspend => Ok(outcome),
        Ok(outcome) => match pending(&outcome.plan.pending_connections) {
            Some(words) => Err((Reason::ConnectionsPending, words)),
            None => Ok(outcome),
        },
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err((reason, words)) => {
            let words = match current {
                Some(current) => format!("{words}; {current} keeps running"),
                None => words,
            };
            release::of_known(own, B::WORKLOAD).say(step);
            step.say(ConditionType::Ready, Holds::False, reason, words);
            ledger.write(step);
            return Ok(());
        }
    };
    let plan = &outcome.plan;
    let standing = release::see_to(
        context,
        Wanted {
            key: key.clone(),
            owner: Owner::of(B::KIND, binding),
            project: owner.project_name.as_str(),
            component,
            environment: binding.environment().as_str(),
            identity: &wanted,
            objects: &plan.objects,
        },
    )
    .await?;
    if standing.is_followed() {
        ledger.runs(&seen.around, &wanted, verdict.approved_by);
    }
    let doing = standing.doing(&key.name, B::WORKLOAD);
    doing.say(step);
    let (holds, reason, mut words) = said(binding.state(), &doing, plan.objects.len());
    if holds == Holds::True {
        ledger.is_ready();
    }
    for note in &plan.notes {
        words.push_str("; ");
        words.push_str(note);
    }
    step.say(ConditionType::Ready, holds, reason, words);
    tell_endpoints::<B>(step, &outcome.endpoints);
    ledger.write(step);
    Ok(())
}

/// The name of exactly what is asked for, by which people agree to it. A copy in another environment has the same one.
fn version(binding: &impl Bound) -> String {
    let content = json!([binding.class_name(), binding.workload(), binding.apis()]);
    identity(binding.owner().component_name.as_str(), &content)
}

/// What the binding becomes, or why it becomes nothing.
fn render<B: Bound>(seen: &Seen<B>) -> Result<Outcome, Problem> {
    let needed = seen.needed.as_ref().map_err(Clone::clone)?;
    let binding = &*seen.binding;
    let inputs = Inputs {
        organization: namespace(binding),
        name: name(binding),
        instance: binding.instance(&needed.class),
        environment: needed.destination.stage(),
        plane: needed.destination.plane(),
        groups: needed.groups.iter().map(|group| &**group).collect(),
        secrets: &needed.secrets,
        offers: needed.offers.clone(),
    };
    binding::plan(&inputs, |base| {
        binding::routes(&inputs, base, &needed.api_classes, &needed.taken)
    })
    .map_err(|mistakes| (Reason::InvalidConfiguration, mistakes.to_string()))
}

/// What is waited for, if anything.
fn pending(connections: &[PendingConnection]) -> Option<String> {
    let words: Vec<String> = connections
        .iter()
        .map(|one| {
            format!(
                "waits for endpoint {} of {}/{}: {}",
                one.endpoint, one.project, one.component, one.reason
            )
        })
        .collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// What is said of a binding whose Release is as wished.
fn said(state: ReleaseState, doing: &Doing, count: usize) -> (Holds, Reason, String) {
    let is_stopped = [
        Reason::ReadyWithSuspendedResources,
        Reason::CronJobSuspended,
    ]
    .contains(&doing.reason);
    match state {
        ReleaseState::Suspend if is_stopped => (
            Holds::False,
            Reason::ResourcesSuspended,
            "Resources suspended".to_owned(),
        ),
        ReleaseState::Suspend if doing.holds == Holds::True => (
            Holds::False,
            Reason::ResourceHealthProgressing,
            format!("it is being suspended: {}", doing.words),
        ),
        // What its class or somebody else stopped is as they want it.
        _ if is_stopped => (doing.holds, doing.bound_reason(), doing.words.clone()),
        _ if doing.holds == Holds::True => {
            (doing.holds, doing.bound_reason(), release::all_well(count))
        }
        _ => (doing.holds, doing.bound_reason(), doing.words.clone()),
    }
}

fn tell_endpoints<B: Bound>(
    step: &mut Step,
    endpoints: &[quadrille_types::exposed_endpoint::ExposedEndpoint],
) {
    if B::IS_REACHED {
        let told = (!endpoints.is_empty()).then_some(endpoints);
        step.fields.insert("endpoints", json!(told));
    }
}

#[cfg(test)]
mod tests;
