//! What is to be done about a Deployment: its artifact runs in its environment if it may, and its endpoints are there.

mod endpoints;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use kube::ResourceExt as _;
use quadrille_planes::Trouble;
use quadrille_render::{
    Plan,
    deployment_system::{
        Mistake, Mistakes, Plane, Stage,
        deployment::{Inputs, plan, uses},
    },
};
use quadrille_types::{
    Build, ConfigurationGroup, DeployableArtifact, Deployment, Endpoint, SecretReferenceSpec,
    annotations,
    conditions::{ConditionType, Holds, Reason},
    names::{ComponentName, EnvironmentName, ProjectName},
    release_binding::Ran,
    workload::WorkloadOwner,
};
use serde_json::json;

use super::{
    hierarchy::{self, Parents, Problem},
    promotion::{Around, Ledger, identity},
    release::{self, Doing, Owner, Wanted, release_name},
    shelves::{Belongs, logical, named, of_track, owned_by},
};
use crate::{
    chain::shelves::{annotation, is_going, name, namespace, uid},
    key::Key,
    platform::{
        carry::{Object, Work, after, is_heard},
        step::{Found, Kind, Step, Thing, names},
    },
    releases::{Context, Facts, Inner},
};

/// Everything around a Deployment.
struct Seen {
    deployment: Arc<Deployment>,
    parents: Result<Parents, Problem>,
    artifact: Option<Arc<DeployableArtifact>>,
    builds: Vec<Arc<Build>>,
    groups: Vec<Arc<ConfigurationGroup>>,
    secrets: BTreeMap<String, SecretReferenceSpec>,
    /// Deployments of the same track in the same environment that were there first.
    rivals: Vec<String>,
    /// The endpoints that were made for it.
    endpoints: Vec<Arc<Endpoint>>,
    /// All that lead to it, those that people made included.
    leading: Vec<Arc<Endpoint>>,
    around: Around,
    release: Option<Arc<Facts>>,
}

fn around(world: &Inner, key: &Key) -> Option<Seen> {
    let system = &world.system;
    let deployment = Arc::clone(system.deployments.get(key)?);
    let at = Belongs::of(&*deployment);
    let here = at.namespace;
    let track = of_track(at.project, at.component, at.track);
    let wanted = deployment.spec.deployment_artifact_ref.as_str();
    let mut artifacts = system.artifacts.of_group(here, &track);
    let artifact = artifacts.find(|one| name(&***one) == wanted).cloned();
    let (groups, secrets) = artifact
        .as_ref()
        .map(|artifact| uses(&deployment, artifact))
        .unwrap_or_default();
    let of_groups = groups
        .iter()
        .flat_map(|one| system.groups.of_group(here, &named(&[one])));
    let of_secrets = secrets.iter().filter_map(|one| {
        let secret = world.chain.secrets.find(here, one)?;
        Some((one.clone(), secret.spec.clone()))
    });
    let siblings: Vec<_> = system.deployments.of_group(here, &track).collect();
    let endpoints: Vec<_> = system
        .endpoints
        .of_group(here, &owned_by(uid(&*deployment)))
        .cloned()
        .collect();
    let own = at.deployment_named(logical(&*deployment));
    let labelled = system.endpoints.of_group(here, &own);
    let mut leading: Vec<_> = endpoints.iter().chain(labelled).cloned().collect();
    leading.sort_by(|one, other| name(&**one).cmp(name(&**other)));
    leading.dedup_by(|one, other| name(&**one) == name(&**other));
    let release = Key::new(here, &release_name(Kind::Deployment, name(&*deployment)));
    let owner = WorkloadOwner {
        project_name: ProjectName::new(at.project),
        component_name: ComponentName::new(at.component),
    };
    Some(Seen {
        parents: hierarchy::parents(world, Kind::Deployment.word(), &*deployment),
        builds: system.builds.of_group(here, &track).cloned().collect(),
        groups: of_groups.cloned().collect(),
        secrets: of_secrets.collect(),
        rivals: rivals(&deployment, &siblings),
        endpoints,
        leading,
        around: Around::of(
            world,
            here,
            owner,
            at.environment,
            siblings.iter().map(|one| ran(one)).collect(),
            annotation(&*deployment, annotations::REQUESTED_BY),
        ),
        release: release::find(world, &release),
        artifact,
        deployment,
    })
}

fn ran(deployment: &Deployment) -> (EnvironmentName, Vec<Ran>) {
    let place = EnvironmentName::new(Belongs::of(deployment).environment);
    let status = deployment.status.as_ref();
    let history = status.map(|status| status.history.clone());
    (place, history.unwrap_or_default())
}

/// Of two Deployments of a track in an environment, the one that was there first has it.
fn rivals(deployment: &Deployment, siblings: &[&Arc<Deployment>]) -> Vec<String> {
    let age = |one: &Deployment| {
        let made = one.metadata.creation_timestamp.as_ref().map(|at| at.0);
        (made, name(one).to_owned())
    };
    let environment = Belongs::of(deployment).environment;
    let others = siblings.iter().filter(|other| {
        Belongs::of(&****other).environment == environment
            && !is_going(&****other)
            && age(other) < age(deployment)
    });
    others.map(|other| name(&***other).to_owned()).collect()
}

/// Looks at a Deployment once.
pub(super) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    let seen = around(&context.world.look(), &thing.key);
    let Some(seen) = seen else {
        context.written.lock().remove(thing);
        context.alarms.set(thing, None);
        return None;
    };
    let object = Object::of(&*seen.deployment, seen.deployment.status.as_ref());
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
    if is_going(&*seen.deployment) {
        let step = end(context, seen).await?;
        return work.carry_out(step).await;
    }
    work.hold().await?;
    let mut step = Step::default();
    deploy(context, seen, &mut step).await?;
    work.say(&step, None).await?;
    Ok(None)
}

/// Its endpoints go first, so that nobody is led to where nothing is; then what runs.
async fn end(context: &Context, seen: &Seen) -> Result<Step, Trouble> {
    let mut step = Step::default();
    let ends = Reason::DeploymentFinalizing;
    if !seen.leading.is_empty() {
        let which = names(seen.leading.iter().map(|one| name(&**one)));
        step.ending(ends, ends, format!("waits for the end of Endpoint {which}"));
        let endpoints = seen.leading.iter();
        step.removes = endpoints
            .map(|one| Found::of(Kind::Endpoint, &**one))
            .collect();
        return Ok(step);
    }
    let deployment = &*seen.deployment;
    let own = release_name(Kind::Deployment, name(deployment));
    let key = Key::new(namespace(deployment), &own);
    if release::take_away(context, &key, uid(deployment)).await? {
        step.ending(ends, ends, format!("waits for the end of Release {own}"));
    } else {
        step.ending(ends, ends, "nothing is left of it");
        step.may_go = true;
    }
    Ok(step)
}

/// Makes what runs be what is asked for, as far as it may, and says how that is doing.
async fn deploy(context: &Context, seen: &Seen, step: &mut Step) -> Result<(), Trouble> {
    let now = context.alarms.now();
    let status = seen.deployment.status.clone().unwrap_or_default();
    let own = seen
        .release
        .as_ref()
        .filter(|facts| release::is_of(facts, uid(&*seen.deployment)));
    let current = own.and_then(|facts| release::current(facts));
    let mut ledger = Ledger::new(status.history, current.map(str::to_owned), now);
    let rendered = render(seen);
    step.said.extend(resolved(seen, &rendered));
    let (artifact, parents, plan) = match rendered {
        Ok(rendered) => rendered,
        Err((reason, words)) => {
            not_ready(step, reason, words, current);
            release::of_known(own, workload(seen)).say(step);
            ledger.write(step);
            return Ok(());
        }
    };
    let wanted = identity(name(artifact), &json!([artifact.spec, images(seen)]));
    let verdict = seen.around.judge(&wanted, current, now);
    ledger.judged(step, &status.conditions, &wanted, &verdict);
    let thing = Thing {
        kind: Kind::Deployment,
        key: Key::of(&*seen.deployment),
    };
    context.alarms.set(&thing, verdict.until);
    if !verdict.is_admitted {
        not_ready(step, verdict.reason, verdict.words, current);
        release::of_known(own, workload(seen)).say(step);
        ledger.write(step);
        return Ok(());
    }
    let release = release_name(Kind::Deployment, name(&*seen.deployment));
    let standing = release::see_to(
        context,
        Wanted {
            key: Key::new(namespace(&*seen.deployment), &release),
            owner: Owner::of(Kind::Deployment, &*seen.deployment),
            project: name(&*parents.project),
            component: name(&*parents.component),
            environment: name(&*parents.environment),
            identity: &wanted,
            objects: &plan.objects,
        },
    )
    .await?;
    if standing.is_followed() {
        ledger.runs(&seen.around, &wanted, verdict.approved_by);
    }
    endpoints::see_to(context, &seen.deployment, artifact, &seen.endpoints).await?;
    let doing = standing.doing(&release, workload(seen));
    doing.say(step);
    if doing.holds == Holds::True {
        ledger.is_ready();
    }
    ready(step, doing, &plan);
    ledger.write(step);
    Ok(())
}

/// What a component runs as.
fn workload(seen: &Seen) -> &'static str {
    let component = seen.parents.as_ref().ok().map(|parents| &parents.component);
    match component.and_then(|component| component.spec.older_type.as_deref()) {
        Some("ScheduledTask") => "cronjob",
        Some("Service" | "WebApplication") => "deployment",
        _ => "",
    }
}

type Rendered<'a> = (&'a DeployableArtifact, &'a Parents, Plan);

/// What the Deployment becomes, or why it becomes nothing.
fn render(seen: &Seen) -> Result<Rendered<'_>, Problem> {
    let parents = seen.parents.as_ref().map_err(Clone::clone)?;
    let reference = &seen.deployment.spec.deployment_artifact_ref;
    let artifact = seen.artifact.as_ref().ok_or_else(|| {
        let words = format!(
            "spec.deploymentArtifactRef: Artifact {reference:?} not found on DeploymentTrack {}: create it, or name another",
            name(&*parents.track)
        );
        (Reason::ArtifactNotFound, words)
    })?;
    let planned = plan(&Inputs {
        deployment: &seen.deployment,
        artifact,
        builds: seen.builds.iter().map(|build| &**build).collect(),
        project: &parents.project,
        component: &parents.component,
        track: &parents.track,
        environment: Stage {
            name: name(&*parents.environment),
            spec: &parents.environment.spec,
        },
        plane: Plane {
            name: name(&*parents.plane),
            spec: &parents.plane.spec,
            annotations: parents.plane.annotations(),
        },
        groups: seen.groups.iter().map(|group| &**group).collect(),
        secrets: &seen.secrets,
        rivals: seen.rivals.iter().map(String::as_str).collect(),
    });
    match planned {
        Ok(plan) => Ok((artifact, parents, plan)),
        Err(mistakes) => {
            let reason = if is_about_build(&mistakes) {
                Reason::ArtifactBuildNotFound
            } else {
                Reason::InvalidConfiguration
            };
            Err((reason, mistakes.to_string()))
        }
    }
}

fn is_about_build(mistakes: &Mistakes) -> bool {
    let about = |one: &Mistake| {
        matches!(
            one,
            Mistake::BuildNotFound { .. } | Mistake::NoImageYet { .. }
        )
    };
    mistakes.0.iter().any(about)
}

/// The images that the artifact's build has made: with another one it is another version.
fn images(seen: &Seen) -> Vec<Option<&str>> {
    let artifact = seen.artifact.as_ref();
    let from = artifact.and_then(|one| one.spec.target_artifact.from_build_ref.as_ref());
    let wanted = from.and_then(|from| from.name.as_deref());
    let builds = seen
        .builds
        .iter()
        .filter(|build| wanted.is_none_or(|wanted| name(&***build) == wanted));
    builds.map(|build| build.image()).collect()
}

/// What is said of the artifact.
fn resolved(
    seen: &Seen,
    rendered: &Result<Rendered<'_>, Problem>,
) -> Option<quadrille_types::conditions::Judgement> {
    let (holds, reason, words) = match rendered {
        Err((reason @ (Reason::ArtifactNotFound | Reason::ArtifactBuildNotFound), words)) => {
            (Holds::False, *reason, words.clone())
        }
        // Nobody has looked for it.
        Err(_) if seen.parents.is_err() => return None,
        _ => (
            Holds::True,
            Reason::ArtifactResolvedSuccessfully,
            "Artifact resolved successfully".to_owned(),
        ),
    };
    let mut step = Step::default();
    step.say(ConditionType::ArtifactResolved, holds, reason, words);
    step.said.pop()
}

/// Says what is in the way, and that what runs goes on.
fn not_ready(step: &mut Step, reason: Reason, words: String, current: Option<&str>) {
    let words = match current {
        Some(current) => format!("{words}; {current} keeps running"),
        None => words,
    };
    step.say(ConditionType::Ready, Holds::False, reason, words);
}

fn ready(step: &mut Step, doing: Doing, plan: &Plan) {
    let (reason, mut words) = match doing.reason {
        _ if doing.holds == Holds::True => {
            (Reason::DeploymentReady, "Deployment is ready".to_owned())
        }
        Reason::ResourcesDegraded | Reason::ResourceApplyFailed => {
            (Reason::DeploymentDegraded, doing.words)
        }
        Reason::ReleaseOwnershipConflict => (doing.reason, doing.words),
        _ => (Reason::DeploymentProgressing, doing.words),
    };
    for note in &plan.notes {
        words.push_str("; ");
        words.push_str(note);
    }
    step.say(ConditionType::Ready, doing.holds, reason, words);
}
