//! What is to be done about APIs by themselves: a binding of one makes routes to the service of its component, under the
//! rules of a class; the API tells where it is reached.

use std::{sync::Arc, time::Duration};

use quadrille_planes::Trouble;
use quadrille_render::{
    deployment_system::{
        Ground,
        api::{ApiInputs, plan},
        endpoint::Claim,
    },
    routes::Exposure,
};
use quadrille_types::{
    ApiBinding, ApiClassSpec, PublishedApi,
    conditions::{ConditionType, Holds, Reason, is_true},
    release_state::ReleaseState,
};
use serde_json::json;

use super::{
    claims::{age, taken},
    destination::{Destination, whose},
    hierarchy::Problem,
    release::{self, Doing, Owner, Wanted, release_name},
    shelves::of_api,
};
use crate::{
    chain::shelves::{is_going, name, namespace, of_component, uid},
    key::Key,
    platform::{
        carry::{Object, Work, after, is_heard},
        step::{Kind, Step, Thing, names},
    },
    releases::{Context, Inner},
};

/// An API, and what answers it in the environment of a binding.
pub(super) struct Offered {
    api: Arc<PublishedApi>,
    /// Its name, for people.
    called: String,
    destination: Destination,
    ground: Ground,
}

impl Offered {
    pub(super) fn of(world: &Inner, binding: &ApiBinding) -> Result<Self, Problem> {
        let (here, spec) = (namespace(binding), &binding.spec);
        let wanted = &spec.api_name;
        let api = world.system.apis.find(here, wanted).ok_or_else(|| {
            let words = format!(
                "spec.apiName: there is no API {wanted:?} in namespace {here:?}: create it, or name another"
            );
            (Reason::APINotFound, words)
        })?;
        let environment = spec.environment_name.as_str();
        let destination = Destination::of(world, here, environment, "spec.environmentName")?;
        let owner = &api.spec.owner;
        let (project, component) = (owner.project_name.as_str(), owner.component_name.as_str());
        let services = world
            .system
            .service_bindings
            .of_group(here, &of_component(project, component));
        let services = services.filter(|one| {
            one.spec.environment.as_str() == environment
                && one.spec.release_state != ReleaseState::Undeploy
                && !is_going(&***one)
        });
        let first = services.min_by_key(|one| age(Kind::ServiceBinding, &***one));
        let service = first.ok_or_else(|| {
            let words = format!(
                "there is no ServiceBinding of component {project}/{component} in {environment}: deploy it there"
            );
            (Reason::ServiceBindingNotFound, words)
        })?;
        let ground = Ground::of_binding(&whose(here, owner), environment, name(&**service));
        Ok(Self {
            api: Arc::clone(api),
            called: format!("API {wanted}"),
            destination,
            ground,
        })
    }

    pub(super) fn inputs<'a>(
        &'a self,
        binding: &'a ApiBinding,
        rules: &'a ApiClassSpec,
        taken: &'a [Claim],
    ) -> ApiInputs<'a> {
        let Self {
            api,
            called,
            destination,
            ground,
        } = self;
        ApiInputs {
            whose: called,
            field: "spec",
            binding: name(binding),
            api: name(&**api),
            spec: &api.spec.offered,
            class: &binding.spec.api_class_name,
            class_spec: rules,
            place: ground.place(
                whose(namespace(binding), &api.spec.owner),
                destination.stage(),
                destination.plane(),
            ),
            taken,
        }
    }
}

type Rendered = Result<(Offered, Exposure), Problem>;

fn render(world: &Inner, binding: &ApiBinding) -> Rendered {
    let (here, spec) = (namespace(binding), &binding.spec);
    let offered = Offered::of(world, binding)?;
    let wanted = &spec.api_class_name;
    let class = world.system.api_classes.find(here, wanted).ok_or_else(|| {
        let words = format!(
            "spec.apiClassName: there is no APIClass {wanted:?} in namespace {here:?}: create it, or name another"
        );
        (Reason::APIClassNotFound, words)
    })?;
    let taken = taken(
        world,
        here,
        &offered.api.spec.owner,
        spec.environment_name.as_str(),
        &age(Kind::ApiBinding, binding),
    );
    let exposure = plan(&offered.inputs(binding, &class.spec, &taken))
        .map_err(|error| (Reason::InvalidConfiguration, error.to_string()))?;
    Ok((offered, exposure))
}

/// Everything around the binding of an API.
struct Seen {
    binding: Arc<ApiBinding>,
    rendered: Rendered,
}

/// Looks at the binding of an API once.
pub(super) async fn run_binding(context: &Context, thing: &Thing) -> Option<Duration> {
    let seen = {
        let world = context.world.look();
        let binding = world.system.api_bindings.get(&thing.key).cloned();
        binding.map(|binding| Seen {
            rendered: render(&world, &binding),
            binding,
        })
    };
    let Some(seen) = seen else {
        context.written.lock().remove(thing);
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
    let binding = &*seen.binding;
    let release = release_name(Kind::ApiBinding, name(binding));
    let key = Key::new(namespace(binding), &release);
    let mut step = Step::default();
    if is_going(binding) {
        let step = release::end(context, &key, uid(binding)).await?;
        return work.carry_out(step).await;
    }
    work.hold().await?;
    let (holds, reason, words) = match (binding.spec.release_state, &seen.rendered) {
        (ReleaseState::Undeploy, _) => {
            let is_going = release::take_away(context, &key, uid(binding)).await?;
            let doing = Doing::undeployed(is_going);
            (doing.holds, doing.reason, doing.words)
        }
        // Nothing of an API runs that could be stopped: while it is suspended, nobody is led to it. Its address stays its own.
        (ReleaseState::Suspend, _) => {
            let is_going = release::take_away(context, &key, uid(binding)).await?;
            let words = if is_going {
                "its routes are being taken away while it is suspended"
            } else {
                "its routes are taken away while it is suspended"
            };
            (Holds::False, Reason::ResourcesSuspended, words.to_owned())
        }
        (ReleaseState::Active, Err((reason, words))) => {
            let has_nothing =
                [Reason::APINotFound, Reason::ServiceBindingNotFound].contains(reason);
            let words = if has_nothing {
                // Nobody is to be led to what is no longer offered, or to where nothing answers.
                release::take_away(context, &key, uid(binding)).await?;
                words.clone()
            } else {
                let runs = release::find(&context.world.look(), &key);
                match runs.filter(|facts| release::is_of(facts, uid(binding))) {
                    Some(_) => format!("{words}; it is reached as before"),
                    None => words.clone(),
                }
            };
            (Holds::False, *reason, words)
        }
        (ReleaseState::Active, Ok((offered, exposure))) => {
            let owner = &offered.api.spec.owner;
            let standing = release::see_to(
                context,
                Wanted {
                    key,
                    owner: Owner::of(Kind::ApiBinding, binding),
                    project: owner.project_name.as_str(),
                    component: owner.component_name.as_str(),
                    environment: binding.spec.environment_name.as_str(),
                    identity: "",
                    objects: &exposure.objects,
                },
            )
            .await?;
            offers(&standing.doing(&release, ""), exposure)
        }
    };
    step.say(ConditionType::Ready, holds, reason, words);
    work.say(&step, None).await?;
    Ok(None)
}

/// What is said of routes that are as wished.
fn offers(doing: &Doing, exposure: &Exposure) -> (Holds, Reason, String) {
    let mut words = match exposure.objects.len() {
        _ if doing.holds != Holds::True => doing.words.clone(),
        0 => "nobody beyond its project reaches it: spec.rest.exposeLevels of the API".to_owned(),
        count => release::all_well(count),
    };
    for note in &exposure.notes {
        words.push_str("; ");
        words.push_str(note);
    }
    (doing.holds, doing.bound_reason(), words)
}

/// Looks at an API once.
pub(super) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    let decided = {
        let world = context.world.look();
        let api = world.system.apis.get(&thing.key).cloned();
        api.map(|api| (decide(&world, &api), api))
    };
    let Some((step, api)) = decided else {
        context.written.lock().remove(thing);
        return None;
    };
    let object = Object::of(&*api, api.status.as_ref());
    if !is_heard(context, thing, &object.metadata) {
        return None;
    }
    let mut work = Work {
        context,
        thing,
        object,
    };
    let said = work.say(&step, None).await;
    after(thing, said.map(|()| None))
}

/// What is said of an API: where it is reached, by those of its bindings that are ready.
fn decide(world: &Inner, api: &PublishedApi) -> Step {
    let here = namespace(api);
    let mut step = Step::default();
    let bindings = world.system.api_bindings.of_group(here, &of_api(name(api)));
    let (ready, waiting): (Vec<_>, Vec<_>) = bindings.partition(|one| {
        let status = one.status.as_ref();
        status.is_some_and(|status| is_true(&status.conditions, ConditionType::Ready))
    });
    let of = |found: &[&Arc<ApiBinding>]| names(found.iter().map(|one| name(&***one)));
    let (holds, reason, words) = match (ready.as_slice(), waiting.as_slice()) {
        ([], []) => (
            Holds::False,
            Reason::APIBindingNotFound,
            "no APIBinding offers it yet".to_owned(),
        ),
        (_, []) => (
            Holds::True,
            Reason::ResourcesActive,
            format!("offered by APIBinding {}", of(&ready)),
        ),
        _ => (
            Holds::False,
            Reason::ResourceHealthProgressing,
            format!("APIBinding {} is not ready", of(&waiting)),
        ),
    };
    step.say(ConditionType::Ready, holds, reason, words);
    // An API says in which environment it is at home.
    let home = &api.spec.environment_name;
    let mut at_home = ready.iter();
    let first = at_home
        .find(|one| one.spec.environment_name == *home)
        .or(ready.first());
    let address = first.and_then(|one| {
        let (_, exposure) = render(world, one).ok()?;
        let urls = exposure.urls()?;
        urls.public.or(urls.organization)
    });
    step.fields.insert("address", json!(address));
    step
}

#[cfg(test)]
mod tests;
