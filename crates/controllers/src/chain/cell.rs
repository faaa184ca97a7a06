//! A project in an environment: its namespace and policies are a Release of their own. It is made when the first component
//! is bound there, and goes with the last; one that holds data stays.

use std::{sync::Arc, time::Duration};

use kube::ResourceExt as _;
use quadrille_engine::{Site, namespaces};
use quadrille_objects::digest::Digest;
use quadrille_planes::{PlaneName, Trouble};
use quadrille_render::cell::{Asked, CellInputs, plan};
use quadrille_types::{
    DataPlane, Environment, Project, RawObject,
    names::{ResourceId, generate},
    release::ReleaseObject,
};
use serde_json::json;

use super::{
    inputs::plane,
    releases::{self, Wish},
    shelves::{cell_release, in_cell, is_going, name, named, uid},
};
use crate::{
    events::{Event, Regarding},
    key::Key,
    platform::{carry::after, step::Thing},
    releases::{Context, End, Facts, Inner},
};

/// How soon to look again at a cell that is kept for its data.
const LOOK_AGAIN: Duration = Duration::from_mins(5);

/// What is around a cell.
struct Seen {
    project: Option<Arc<Project>>,
    environment: Option<Arc<Environment>>,
    plane: Option<Arc<DataPlane>>,
    /// Whether a component is bound there.
    is_used: bool,
    /// Whether something of the deployment system is.
    runs_older: bool,
    /// Whether Releases still depend on it.
    has_dependents: bool,
    release: Option<Arc<Facts>>,
    /// The way to its plane.
    site: Result<Site, String>,
}

fn around(world: &Inner, here: &str, project: &str, environment: &str) -> Seen {
    let chain = &world.chain;
    let mut bound = chain
        .bindings
        .of_group(here, &in_cell(project, environment));
    let key = Key::new(here, &cell_release(project, environment));
    let runs_older = world.system.runs_in(here, project, environment);
    let plane = plane(&world.shelves, here, environment).ok();
    let release = world.releases.get(&key).map(|held| Arc::clone(&held.facts));
    // Where its environment is gone, it is where it was put.
    let put = release.as_ref().and_then(|facts| facts.said.plane.as_ref());
    let way = PlaneName {
        namespace: here.to_owned(),
        name: match (&plane, put) {
            (Some(plane), _) => name(&**plane).to_owned(),
            (None, Some(put)) => put.name.clone(),
            (None, None) => String::new(),
        },
    };
    Seen {
        project: world.shelves.projects.find(here, project).cloned(),
        environment: world.shelves.environments.find(here, environment).cloned(),
        is_used: bound.any(|binding| !binding.spec.is_undeployed() && !is_going(&**binding))
            || runs_older,
        runs_older,
        has_dependents: world.dependents(&key).next().is_some(),
        release,
        site: world.way_to(&way),
        plane,
    }
}

/// Looks at a cell once.
pub(super) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    let here = &*thing.key.namespace;
    let (project, environment) = thing.key.name.split_once('/')?;
    let seen = around(&context.world.look(), here, project, environment);
    let carried = if seen.is_used {
        make(context, here, &seen).await.map(|()| None)
    } else {
        leave(context, here, project, environment, &seen).await
    };
    after(thing, carried)
}

async fn make(context: &Context, here: &str, seen: &Seen) -> Result<(), Trouble> {
    let (Some(project), Some(environment), Some(plane)) =
        (&seen.project, &seen.environment, &seen.plane)
    else {
        // The bindings say what is missing.
        return Ok(());
    };
    let is_ending = is_going(&**project) || is_going(&**environment);
    let known = seen.release.as_ref();
    let is_foreign = known.is_some_and(|facts| facts.rendered.is_none());
    let is_leaving = known.is_some_and(|facts| facts.deleting_since.is_some());
    if is_ending || is_foreign || is_leaving {
        // What somebody made by hand is theirs; what is going is made again when it is gone.
        return Ok(());
    }
    let annotations = plane.annotations();
    let Ok(asked) = Asked::read(
        project.annotations(),
        environment.annotations(),
        annotations,
    ) else {
        // The bindings say what is wrong; a cell that is there stays as it is.
        return Ok(());
    };
    let objects = plan(&CellInputs {
        organization: here,
        project: named(&**project),
        environment: named(&**environment),
        asked: &asked,
        plane_spec: &plane.spec,
        plane_annotations: annotations,
        runs_older: seen.runs_older,
    });
    let text = json!([
        env!("CARGO_PKG_VERSION"),
        uid(&**plane),
        objects
            .iter()
            .map(|planned| &planned.object)
            .collect::<Vec<_>>(),
    ]);
    let inputs = Digest::of([text.to_string().as_str()]).to_string();
    if known.is_some_and(|facts| releases::is_from(facts, &inputs)) {
        return Ok(());
    }
    let (project, environment) = (name(&**project), name(&**environment));
    let resources = objects.into_iter().map(|planned| ReleaseObject {
        id: ResourceId::new(planned.id),
        object: RawObject::new(&planned.object),
    });
    let wish = Wish {
        key: Key::new(here, &cell_release(project, environment)),
        owner: None,
        project,
        component: None,
        environment,
        resources: resources.collect(),
        depends_on: Vec::new(),
        snapshot: "",
        snapshot_uid: "",
        inputs: &inputs,
        may_shrink: false,
    };
    match releases::write(context, known, wish).await {
        // The watch brings it.
        Err(Trouble::AlreadyExists(_)) => Ok(()),
        written => written,
    }
}

/// Takes a cell away that nobody uses, unless it holds data.
async fn leave(
    context: &Context,
    here: &str,
    project: &str,
    environment: &str,
    seen: &Seen,
) -> Result<Option<Duration>, Trouble> {
    let Some(facts) = &seen.release else {
        return Ok(None);
    };
    if facts.rendered.is_none() || facts.deleting_since.is_some() || seen.has_dependents {
        return Ok(None);
    }
    let cell = generate::cell_namespace(&here.into(), &project.into(), &environment.into());
    if !facts.records.is_empty() {
        let Ok(site) = &seen.site else {
            // A plane that answers again wakes everybody on it.
            return Ok(None);
        };
        let claims = namespaces::claims(site, &cell).await?;
        if let Some(first) = claims.first() {
            context.events.tell(Event {
                regarding: Regarding {
                    kind: "Release",
                    namespace: here.to_owned(),
                    name: facts.key.name.to_string(),
                    uid: facts.uid.to_string(),
                },
                is_warning: false,
                reason: "CellKept",
                action: "Delete",
                note: format!(
                    "Namespace {cell} stays: it holds PersistentVolumeClaim {first}: delete what is not needed, or the \
                     project or environment"
                ),
            });
            return Ok(Some(LOOK_AGAIN));
        }
    }
    // Whoever came meanwhile keeps it; whoever comes from now on waits until it is gone and made anew.
    {
        let mut world = context.world.look();
        let now = around(&world, here, project, environment);
        if now.is_used || now.has_dependents {
            return Ok(None);
        }
        world.set_end(facts, End::Decided);
    }
    let deleted = releases::delete(context, facts).await;
    if deleted.is_err() {
        context.set_end(facts, End::Open);
    }
    deleted.map(|()| None)
}
