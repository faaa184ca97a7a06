//! What is to be done about an Endpoint: whoever may reach its deployment gets there, and nobody else.

use std::{sync::Arc, time::Duration};

use kube::ResourceExt as _;
use quadrille_planes::Trouble;
use quadrille_render::{
    deployment_system::{
        Deployed, Ground, Plane, Stage, Whose,
        endpoint::{Claim, EndpointInputs, claims, plan},
    },
    routes::Exposure,
};
use quadrille_types::{
    Deployment, Endpoint,
    conditions::{ConditionType, Holds, Reason},
};
use serde_json::json;

use super::{
    hierarchy::{self, Parents, Problem},
    release::{self, Doing, Owner, Wanted, release_name},
    shelves::{Belongs, claiming, logical, streaming},
};
use crate::{
    chain::shelves::{is_going, name, namespace, uid},
    key::Key,
    platform::{
        carry::{Object, Work, after, is_heard},
        step::{Kind, Step, Thing},
    },
    releases::{Context, Inner},
};

/// Everything around an Endpoint.
struct Seen {
    endpoint: Arc<Endpoint>,
    rendered: Result<(Ready, Exposure), Problem>,
}

/// Whom an Endpoint belongs to.
struct Ready {
    parents: Parents,
    ground: Ground,
}

impl Ready {
    fn of(world: &Inner, endpoint: &Endpoint) -> Result<(Self, Arc<Deployment>), Problem> {
        let parents = hierarchy::parents(world, Kind::Endpoint.word(), endpoint)?;
        let deployment = hierarchy::deployment(world, Kind::Endpoint.word(), endpoint)?;
        let component_type = parents.component.spec.older_type.as_deref();
        let who = Deployed {
            organization: namespace(endpoint),
            project: name(&*parents.project),
            environment: name(&*parents.environment),
            component: logical(&*parents.component),
            component_type: component_type.unwrap_or_default(),
            track: logical(&*parents.track),
            deployment: logical(&*deployment),
        };
        let ground = Ground::of_deployment(&who, name(&*parents.component), name(&*parents.track));
        Ok((Self { parents, ground }, deployment))
    }

    fn inputs<'a>(&'a self, endpoint: &'a Endpoint, taken: &'a [Claim]) -> EndpointInputs<'a> {
        let Parents {
            project,
            component,
            environment,
            plane,
            ..
        } = &self.parents;
        EndpointInputs {
            name: name(endpoint),
            called: logical(endpoint),
            spec: &endpoint.spec,
            is_web_application: component.spec.older_type.as_deref() == Some("WebApplication"),
            place: self.ground.place(
                Whose {
                    organization: namespace(endpoint),
                    project: name(&**project),
                    component: name(&**component),
                },
                Stage {
                    name: name(&**environment),
                    spec: &environment.spec,
                },
                Plane {
                    name: name(&**plane),
                    spec: &plane.spec,
                    annotations: plane.annotations(),
                },
            ),
            taken,
        }
    }
}

fn around(world: &Inner, key: &Key) -> Option<Seen> {
    let endpoint = Arc::clone(world.system.endpoints.get(key)?);
    let rendered = render(world, &endpoint);
    Some(Seen { endpoint, rendered })
}

fn render(world: &Inner, endpoint: &Endpoint) -> Result<(Ready, Exposure), Problem> {
    let (ready, _) = Ready::of(world, endpoint)?;
    let taken = taken(world, endpoint);
    let exposure = plan(&ready.inputs(endpoint, &taken))
        .map_err(|error| (Reason::InvalidConfiguration, error.to_string()))?;
    Ok((ready, exposure))
}

/// What those have claimed who were there first.
fn taken(world: &Inner, endpoint: &Endpoint) -> Vec<Claim> {
    let at = Belongs::of(endpoint);
    let endpoints = &world.system.endpoints;
    let near = endpoints.of_group(at.namespace, &claiming(at.component, at.environment));
    let streams = endpoints.of_group(at.namespace, streaming());
    let age = |one: &Endpoint| {
        let made = one.metadata.creation_timestamp.as_ref().map(|at| at.0);
        (made, name(one).to_owned())
    };
    let first = near
        .chain(streams)
        .filter(|other| !is_going(&***other) && age(other) < age(endpoint));
    let mut taken: Vec<Claim> = first
        .filter_map(|other| {
            let (ready, _) = Ready::of(world, other).ok()?;
            claims(&ready.inputs(other, &[])).ok()
        })
        .flatten()
        .collect();
    taken.sort();
    taken.dedup();
    taken
}

/// Looks at an Endpoint once.
pub(super) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    let seen = around(&context.world.look(), &thing.key);
    let Some(seen) = seen else {
        context.written.lock().remove(thing);
        return None;
    };
    let object = Object::of(&*seen.endpoint, seen.endpoint.status.as_ref());
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
    let endpoint = &*seen.endpoint;
    let release = release_name(Kind::Endpoint, name(endpoint));
    let key = Key::new(namespace(endpoint), &release);
    let mut step = Step::default();
    if is_going(endpoint) {
        let ends = Reason::EndpointFinalizing;
        if release::take_away(context, &key, uid(endpoint)).await? {
            let words = format!("waits for the end of Release {release}");
            step.ending(ends, ends, words);
        } else {
            step.ending(ends, ends, "nothing is left of it");
            step.may_go = true;
        }
        return work.carry_out(step).await;
    }
    work.hold().await?;
    match &seen.rendered {
        Err((reason, words)) => {
            let runs = release::find(&context.world.look(), &key);
            let words = match runs.filter(|facts| release::is_of(facts, uid(endpoint))) {
                Some(_) => format!("{words}; it is reached as before"),
                None => words.clone(),
            };
            step.say(ConditionType::Ready, Holds::False, *reason, words);
        }
        Ok((ready, exposure)) => {
            let parents = &ready.parents;
            let standing = release::see_to(
                context,
                Wanted {
                    key,
                    owner: Owner::of(Kind::Endpoint, endpoint),
                    project: name(&*parents.project),
                    component: name(&*parents.component),
                    environment: name(&*parents.environment),
                    identity: "",
                    objects: &exposure.objects,
                },
            )
            .await?;
            say(&mut step, standing.doing(&release, ""), exposure);
        }
    }
    work.say(&step, None).await?;
    Ok(None)
}

fn say(step: &mut Step, doing: Doing, exposure: &Exposure) {
    let (reason, mut words) = match doing.reason {
        _ if exposure.objects.is_empty() && doing.holds == Holds::True => (
            Reason::EndpointReady,
            "nobody beyond its project reaches it: spec.networkVisibilities".to_owned(),
        ),
        _ if doing.holds == Holds::True => (Reason::EndpointReady, "Endpoint is ready".to_owned()),
        Reason::ResourcesDegraded | Reason::ResourceApplyFailed => {
            (Reason::EndpointNotAccepted, doing.words)
        }
        Reason::ReleaseOwnershipConflict => (doing.reason, doing.words),
        _ => (Reason::EndpointProgressing, doing.words),
    };
    for note in &exposure.notes {
        words.push_str("; ");
        words.push_str(note);
    }
    step.say(ConditionType::Ready, doing.holds, reason, words);
    let urls = exposure.urls();
    let address = urls
        .as_ref()
        .and_then(|urls| urls.public.clone().or_else(|| urls.organization.clone()));
    step.fields.insert("address", json!(address));
    step.fields.insert("urls", json!(urls));
}
