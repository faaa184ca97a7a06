//! One plane: finds the way to it, keeps it open, tells how it is.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use quadrille_engine::Site;
use quadrille_planes::{
    AccessProblem, Plane, PlaneName, PlaneState, Trouble, Way, access, needed_secrets,
};
use quadrille_types::{DataPlane, annotations, conditions::Reason, finalizers};
use serde_json::json;
use tokio::{sync::watch, task::JoinHandle, time::sleep};

use super::{
    Surroundings,
    secrets::Secrets,
    status::{self, Seen, Shown, Users},
};
use crate::{
    events::{Event, Regarding},
    platform::step::{Found, Thing, is_abandoned, is_annotated},
    releases::PlaneFacts,
};

/// How often to look whether a plane that is to go is still in use, should nobody have said so.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// How soon to look again while not everything was read.
const SOON: Duration = Duration::from_millis(200);
/// How long after a failed write it is tried again.
const WRITE_AGAIN: Duration = Duration::from_secs(2);

/// The way to a plane that is open.
struct Open {
    way: Way,
    site: Site,
    state: watch::Receiver<PlaneState>,
    probing: JoinHandle<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.probing.abort();
    }
}

/// What stands in the way.
type Problem = (&'static str, String);

pub(super) async fn run(
    around: Arc<Surroundings>,
    name: PlaneName,
    mut object: watch::Receiver<Arc<DataPlane>>,
) {
    let mut work = Work {
        around,
        name,
        secrets: Secrets::default(),
        open: None,
        shown: None,
    };
    let mut news = work.around.context.changes();
    loop {
        let plane = object.borrow_and_update().clone();
        news.mark_unchanged();
        let is_going = plane.metadata.deletion_timestamp.is_some();
        let problem = work.find_way(&plane);
        work.share(&plane, problem.clone());
        let again = work.report(&plane, problem).await;
        let state_changed = async {
            match &mut work.open {
                Some(open) => open.state.changed().await.is_ok(),
                None => std::future::pending().await,
            }
        };
        let timer = async {
            match again {
                Some(after) => sleep(after).await,
                None => std::future::pending().await,
            }
        };
        // Who uses it matters only to one that is to go.
        let users_changed = async {
            if !is_going || news.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            changed = object.changed() => if changed.is_err() { return },
            () = users_changed => {}
            () = work.secrets.changed() => {}
            _ = state_changed => {}
            () = timer => {}
        }
    }
}

struct Work {
    around: Arc<Surroundings>,
    name: PlaneName,
    secrets: Secrets,
    open: Option<Open>,
    /// What releases were last told: whether there is a way, whether the plane answers, whether it is on its way out.
    shown: Option<(bool, bool, bool, Option<Problem>)>,
}

impl Work {
    /// Opens the way that the object asks for. Tells what stands in the way, if something does.
    fn find_way(&mut self, plane: &DataPlane) -> Option<Problem> {
        let resolved = match plane.spec.resolve(&self.name.name) {
            Ok(resolved) => resolved,
            Err(problem) => {
                self.open = None;
                return Some(("InvalidConfiguration", problem.to_string()));
            }
        };
        let needed = needed_secrets(&resolved.connection, &self.name.namespace);
        self.secrets
            .follow(&self.around.context.control.client(), &needed);
        let found = self.secrets.with(&needed, |known| {
            let find = |name: &_| known.get(name).and_then(Option::as_ref);
            access(&resolved.connection, &self.name.namespace, find)
        });
        let way = match found {
            Ok(Ok(way)) => way,
            Ok(Err(problem)) => {
                // Whoever takes everything away may take the Secrets first. Nothing is sent to a plane without
                // credentials any more, but what is open serves to take things away, to the end.
                let is_missing = matches!(problem, AccessProblem::SecretMissing { .. });
                if !is_missing {
                    self.open = None;
                }
                let is_going = plane.metadata.deletion_timestamp.is_some();
                if is_missing && is_going && self.open.is_some() {
                    return None;
                }
                return Some((problem.reason(), problem.to_string()));
            }
            Err(Some(words)) if self.open.is_none() => return Some(("SecretUnreadable", words)),
            // What is open stays open while Secrets are read.
            Err(_) => return None,
        };
        if self.open.as_ref().is_some_and(|open| open.way == way) {
            return None;
        }
        self.open = None;
        match self.around.planes.get(&way) {
            Err(error) => {
                let why = std::error::Error::source(&error);
                let why = why.map(|source| format!(": {source}")).unwrap_or_default();
                Some(("CredentialsMalformed", format!("{error}{why}")))
            }
            Ok(connected) => {
                let plane = Plane::new(self.name.clone(), connected, self.around.settings);
                self.open = Some(self.open(way, plane));
                self.shown = None;
                None
            }
        }
    }

    fn open(&self, way: Way, plane: Plane) -> Open {
        // The context holds the site, so the site must not hold the context.
        let context = Arc::downgrade(&self.around.context);
        let site = Site::new(
            plane.clone(),
            Surroundings::marks(),
            self.around.fence.clone(),
            Arc::new(move |_, owner| {
                if let Some(context) = context.upgrade() {
                    context.saw(owner);
                }
            }),
        );
        Open {
            way,
            site,
            state: plane.state(),
            probing: tokio::spawn(probe(plane)),
        }
    }

    /// Lets releases know, if it matters to them.
    fn share(&mut self, plane: &DataPlane, problem: Option<Problem>) {
        let site = self.open.as_ref().map(|open| open.site.clone());
        let answers = self
            .open
            .as_ref()
            .is_some_and(|open| !matches!(*open.state.borrow(), PlaneState::Troubled { .. }));
        let is_going = plane.metadata.deletion_timestamp.is_some();
        let shown = (site.is_some(), answers, is_going, problem.clone());
        let facts = PlaneFacts {
            uid: plane.metadata.uid.as_deref().unwrap_or_default().into(),
            site,
            problem,
            is_abandoned: is_abandoned(plane),
            is_going,
        };
        let context = &self.around.context;
        let before = context.world.look().planes.insert(self.name.clone(), facts);
        let was_abandoned = before.is_some_and(|before| before.is_abandoned);
        if self.shown.as_ref() != Some(&shown) || was_abandoned != is_abandoned(plane) {
            context.plane_changed(&self.name);
            self.shown = Some(shown);
        }
    }

    /// Writes finalizer and status if they say something new. Tells when to look again.
    async fn report(&self, plane: &DataPlane, problem: Option<Problem>) -> Option<Duration> {
        match self.write(plane, problem).await {
            Ok(again) => again,
            // The watch brings what is there now.
            Err(Trouble::Conflict(_) | Trouble::NotFound(_)) => None,
            Err(trouble) => {
                let (plane, reason) = (&self.name, trouble.reason());
                tracing::debug!(%plane, reason, "a plane's status could not be written");
                Some(WRITE_AGAIN)
            }
        }
    }

    async fn write(
        &self,
        plane: &DataPlane,
        problem: Option<Problem>,
    ) -> Result<Option<Duration>, Trouble> {
        let now = Timestamp::now();
        let expires = self.open.as_ref().and_then(|open| match &open.way {
            Way::Remote(access) => access.expires(),
            Way::Local => None,
        });
        let is_held = plane
            .metadata
            .finalizers
            .iter()
            .flatten()
            .any(|name| name == finalizers::DATA_PLANE);
        let is_going = plane.metadata.deletion_timestamp.is_some();
        if is_going && !self.around.context.world.look().is_complete() {
            // Nobody can tell yet who uses it.
            return Ok(Some(SOON));
        }
        let users = if is_going {
            self.users()
        } else {
            Users::default()
        };
        let may_go = users.are_none() || is_abandoned(plane) && !self.has_unaware_users();
        if is_going && is_held && may_go && !self.has_going_users() {
            if !users.are_none() {
                self.tell(plane, status::left(&users));
            }
            self.set_finalizer(plane, false).await?;
            return Ok(None);
        }
        if !is_going && !is_held {
            // Its change comes back by the watch, and with it the next round.
            self.set_finalizer(plane, true).await?;
            return Ok(None);
        }
        let is_cascading = is_annotated(plane, annotations::CASCADE);
        if is_going && is_cascading {
            self.remove(&users.environments).await?;
        }
        let seen = Seen {
            way: self.open.as_ref().map(|open| &open.way),
            state: self.open.as_ref().map(|open| open.state.borrow().clone()),
            problem,
            expires,
            users: is_going.then_some(users),
            is_cascading,
            now,
        };
        let Shown { status, again } = status::next(plane, &seen);
        if plane.status.as_ref() != Some(&status) {
            let patch = json!({
                "metadata": { "resourceVersion": plane.metadata.resource_version },
                "status": status::patch(&status),
            });
            let (namespace, name) = (&self.name.namespace, &self.name.name);
            let control = &self.around.context.control;
            control
                .patch::<DataPlane>(namespace, name, "status", &patch)
                .await?;
        }
        let going = is_going.then_some(LOOK_AGAIN);
        Ok([again, going].into_iter().flatten().min())
    }

    /// Who uses the plane.
    fn users(&self) -> Users {
        let world = self.around.context.world.look();
        let mut releases: Vec<String> = world
            .on_plane(&self.name)
            .filter(|facts| !facts.records.is_empty())
            .map(|facts| facts.key.to_string())
            .collect();
        releases.sort();
        Users {
            environments: world.shelves.environments_on(&self.name),
            releases,
        }
    }

    async fn remove(&self, environments: &[Found]) -> Result<(), Trouble> {
        for found in environments.iter().filter(|found| !found.is_going) {
            let Thing { kind, key } = &found.thing;
            let path = format!("{}/{}", kind.path(&key.namespace), key.name);
            self.around.context.control.delete(path, &found.uid).await?;
        }
        Ok(())
    }

    /// Whether releases that may leave their objects behind have still to do so.
    fn has_going_users(&self) -> bool {
        let world = self.around.context.world.look();
        world
            .on_plane(&self.name)
            .any(|facts| facts.deleting_since.is_some() && !facts.records.is_empty())
    }

    /// Whether somebody has something on a plane that was given up, and has not noted so yet: once it is gone, nobody
    /// else knows.
    fn has_unaware_users(&self) -> bool {
        let world = self.around.context.world.look();
        world.unaware(&self.name) + world.shelves.unaware(&self.name) > 0
    }

    fn tell(&self, plane: &DataPlane, note: String) {
        self.around.context.events.tell(Event {
            regarding: Regarding {
                kind: "DataPlane",
                namespace: self.name.namespace.clone(),
                name: self.name.name.clone(),
                uid: plane.metadata.uid.clone().unwrap_or_default(),
            },
            is_warning: true,
            reason: Reason::Abandoned.as_str(),
            action: "Delete",
            note,
        });
    }

    async fn set_finalizer(&self, plane: &DataPlane, is_held: bool) -> Result<(), Trouble> {
        let mut names = plane.metadata.finalizers.clone().unwrap_or_default();
        names.retain(|name| name != finalizers::DATA_PLANE);
        if is_held {
            names.push(finalizers::DATA_PLANE.to_owned());
        }
        let patch = json!({ "metadata": {
            "resourceVersion": plane.metadata.resource_version,
            "finalizers": names,
        }});
        let (namespace, name) = (&self.name.namespace, &self.name.name);
        let control = &self.around.context.control;
        let written = control.patch::<DataPlane>(namespace, name, "", &patch);
        written.await.map(drop)
    }
}

/// Asks the plane who it is, once when it is new, and again whenever it was in trouble, as often as its breaker lets.
async fn probe(plane: Plane) {
    let mut state = plane.state();
    loop {
        match plane.probe().await {
            Ok(_) => {
                let troubled = |state: &PlaneState| matches!(state, PlaneState::Troubled { .. });
                if state.wait_for(troubled).await.is_err() {
                    return;
                }
            }
            Err(Trouble::Paused(rest)) => sleep(rest).await,
            Err(_) => sleep(Duration::from_millis(200)).await,
        }
    }
}
