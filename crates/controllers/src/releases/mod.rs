//! The Release controller: planes match releases.
//!
//! ```text
//!   watches of releases, environments ──► World ──► queue, a lane per plane ──► run ──► engine ──► plane
//!   watches of planes ─────────────────────┘  ▲                                  │
//!                                             └── answers to our own writes ◄────┘──► status, events
//! ```

mod facts;
mod ground;
mod inventory;
mod looking;
mod memory;
mod mend;
mod run;
mod said;
mod status;
mod teardown;
mod world;
mod writes;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use kube::{Resource, core::ApiResource};
use parking_lot::Mutex;
use quadrille_planes::{
    PlaneName, Trouble,
    clock::Clock,
    feed::{self, News, Source},
};
use quadrille_types::Release;
use serde_json::Value;
use tokio::{sync::watch, task::JoinSet};

pub(crate) use self::{
    facts::{Facts, Written},
    world::{Brief, End, Guest, Inner, PlaneFacts, World},
};
use self::{run::Again, world::Told};
use crate::{
    Without,
    alarms::Alarms,
    chain::{self, Kitchen},
    control::Control,
    events::Events,
    key::Key,
    platform::{
        self,
        step::{Thing, ThingLane},
    },
    queue::{Queue, Urgency},
    shelf::{Heard, read},
    system,
};

/// The lane of releases without a plane.
type Lane = Option<PlaneName>;

/// What every run needs.
pub(crate) struct Context {
    pub(crate) control: Control,
    pub(crate) world: World,
    pub(crate) events: Events,
    /// Things of the platform to look at.
    pub(crate) things: Queue<ThingLane, Thing>,
    /// The revisions of things that were written last and are not heard of yet: before that, what is known of them
    /// is old.
    pub(crate) written: Mutex<HashMap<Thing, u64>>,
    /// Where components are rendered.
    pub(crate) kitchen: Kitchen,
    /// Who waits for a moment, and what time it is.
    pub(crate) alarms: Alarms,
    changes: watch::Sender<()>,
    queue: Queue<Lane, Key>,
    namespace: Option<String>,
}

/// How many releases of a plane are worked on at once.
const AT_ONCE: usize = 48;

impl Context {
    pub(crate) fn new(
        control: Control,
        namespace: Option<String>,
        clock: Arc<dyn Clock>,
        without: Without,
    ) -> Self {
        let world = World::default();
        world.look().system.is_on = !without.deployment_system;
        Self {
            events: Events::start(control.clone()),
            control,
            world,
            things: Queue::new(platform::AT_ONCE),
            written: Mutex::default(),
            kitchen: Kitchen::default(),
            alarms: Alarms::new(clock),
            changes: watch::Sender::new(()),
            queue: Queue::new(AT_ONCE),
            namespace,
        }
    }

    /// Works for ever.
    pub(crate) async fn work(self: &Arc<Self>) {
        let mut tasks = JoinSet::new();
        let releases = self.source::<Release>();
        let context = Arc::clone(self);
        tasks.spawn(feed::follow(releases, move |news| {
            context.hear_releases(news);
        }));
        let context = Arc::clone(self);
        tasks.spawn(async move { context.dispatch().await });
        // They end only with this future.
        while tasks.join_next().await.is_some() {}
    }

    /// The objects of a kind that are ours to look after.
    pub(crate) fn source<K: Resource<DynamicType = ()>>(&self) -> Source {
        let (client, kind) = (self.control.client(), ApiResource::erase::<K>(&()));
        match &self.namespace {
            Some(namespace) => Source::namespaced(client, &kind, namespace),
            None => Source::all(client, &kind),
        }
    }

    /// The objects of a kind of the whole cluster that are named as what is ours to look after.
    pub(crate) fn source_of_namespace<K: Resource<DynamicType = ()>>(&self) -> Source {
        let all = Source::all(self.control.client(), &ApiResource::erase::<K>(&()));
        match &self.namespace {
            Some(namespace) => all.fields(format!("metadata.name={namespace}")),
            None => all,
        }
    }

    async fn dispatch(self: &Arc<Self>) {
        let mut runs = JoinSet::new();
        loop {
            let (lane, key) = tokio::select! {
                next = self.queue.next() => next,
                Some(_) = runs.join_next() => continue,
            };
            let context = Arc::clone(self);
            runs.spawn(async move {
                let again = {
                    let _holding = context.queue.hold(&lane, &key);
                    run::run(&context, &key).await
                };
                if let Some(Again { after, urgency }) = again {
                    context.wake_after(&key, urgency, after);
                }
            });
        }
    }

    /// Runs over a release soon.
    pub(crate) fn wake(&self, key: &Key, urgency: Urgency) {
        self.wake_after(key, urgency, Duration::ZERO);
    }

    fn wake_after(&self, key: &Key, urgency: Urgency, after: Duration) {
        let lane = {
            let world = self.world.look();
            let Some(held) = world.releases.get(key) else {
                return;
            };
            world.lane(&held.facts)
        };
        self.queue.add(lane, key.clone(), urgency, after);
    }

    /// Takes in a release that we made or changed ourselves, and runs over it at once.
    pub(crate) fn release_written(&self, facts: &Arc<Facts>) {
        self.take_answer(facts, |world| world.put_confirmed(facts));
        self.wake(&facts.key, Urgency::Person);
    }

    /// Takes in what is known of a release's end, and wakes whom that concerns.
    pub(crate) fn set_end(&self, facts: &Facts, end: End) {
        self.with_dependents(&facts.key, |world| world.set_end(facts, end));
    }

    /// Changes something of a release, and wakes who depends on it if they go by that.
    fn with_dependents(&self, key: &Key, change: impl FnOnce(&mut Inner)) {
        let mut dependents: Vec<Key> = Vec::new();
        {
            let mut world = self.world.look();
            let before = world.footing(key);
            change(&mut world);
            if before != world.footing(key) {
                dependents.extend(world.dependents(key).map(|facts| facts.key.clone()));
            }
        }
        for other in dependents {
            self.wake(&other, Urgency::Person);
        }
    }

    /// Something of a release changed on its plane.
    pub(crate) fn saw(&self, owner: &str) {
        let key = self
            .world
            .look()
            .by_uid(owner)
            .map(|held| held.facts.key.clone());
        if let Some(key) = key {
            self.wake(&key, Urgency::Heal);
        }
    }

    /// All releases of a plane have something to look at.
    pub(crate) fn plane_changed(&self, plane: &PlaneName) {
        let keys: Vec<Key> = {
            let world = self.world.look();
            let on_plane: Vec<Key> = world
                .on_plane(plane)
                .map(|facts| facts.key.clone())
                .collect();
            for held in on_plane.iter().filter_map(|key| world.releases.get(key)) {
                // What failed because of the plane is tried again at once.
                let mut memory = held.memory.lock();
                memory
                    .standing
                    .retain(|_, standing| !standing.failure.is_about_plane);
            }
            on_plane
        };
        for key in keys {
            self.wake(&key, Urgency::Background);
        }
    }

    /// All releases have something to look at.
    pub(crate) fn everything_changed(&self) {
        let keys: Vec<Key> = self.world.look().releases.keys().cloned().collect();
        for key in keys {
            self.wake(&key, Urgency::Background);
        }
    }

    /// A list was read whole for the first time. The last one, whichever it is, brings everything to be looked at that
    /// waited until all is known.
    pub(crate) fn list_is_whole(&self) {
        let things = {
            let world = self.world.look();
            if !world.is_known() {
                return;
            }
            system::wake::everything(&world)
        };
        for thing in things {
            self.look_at(thing, Urgency::Background, Duration::ZERO);
        }
    }

    /// Takes in a release as the server has it.
    fn take_in(&self, release: Value) -> Result<Arc<Facts>, Trouble> {
        let release: Written = serde_json::from_value(release)
            .map_err(|error| Trouble::Unreadable(error.to_string()))?;
        let facts = Arc::new(Facts::read(release));
        self.renew(&facts);
        Ok(facts)
    }

    /// Takes in what the server told us on our own asking.
    fn renew(&self, facts: &Arc<Facts>) {
        self.take_answer(facts, |world| world.renew(facts));
    }

    /// Takes in the answer to a request of ours, and wakes who waits for it: to the watch it is old news.
    fn take_answer(&self, facts: &Facts, take: impl FnOnce(&mut Inner)) {
        self.with_dependents(&facts.key, take);
        self.tell_owners(facts, false);
    }

    fn hear_releases(&self, news: News) {
        match news {
            News::Listing => self.world.look().begin_list(),
            News::Listed(objects) => {
                for object in &objects {
                    self.hear_release(object);
                }
            }
            News::Complete(revision) => {
                let (is_first, is_lost) = {
                    let mut world = self.world.look();
                    let is_lost = world.end_list(revision);
                    (!std::mem::replace(&mut world.has_releases, true), is_lost)
                };
                if is_first {
                    self.list_is_whole();
                }
                if is_first || is_lost {
                    self.everything_changed();
                }
                // What the list lacked may have held something back.
                let things = {
                    let world = self.world.look();
                    if is_lost {
                        system::wake::everything(&world)
                    } else {
                        world.shelves.everything()
                    }
                };
                for thing in things {
                    self.look_at(thing, Urgency::Background, Duration::ZERO);
                }
                self.platform_changed();
            }
            News::Changed(object) => self.hear_release(&object),
            News::Gone(object) => self.lose_release(&object),
            News::Failed(error) => tracing::warn!(%error, "releases cannot be watched"),
        }
    }

    fn hear_release(&self, object: &feed::Told) {
        let which = object.head();
        if self.world.look().knows(&Key::told(which), which.revision()) {
            return;
        }
        let Some(release) = read::<Written>(object) else {
            return;
        };
        let revision = release.metadata.resource_version.clone();
        let facts = Arc::new(Facts::read(release));
        let key = facts.key.clone();
        let (heard, urgency, dependents) = {
            let mut world = self.world.look();
            let footing = world.footing(&key);
            let before = world
                .releases
                .get(&key)
                .map(|held| (held.facts.generation, held.facts.deleting_since.is_some()));
            let waits_as_before = world
                .releases
                .get(&key)
                .is_some_and(|held| held.facts.depends_on == facts.depends_on);
            let after = (facts.generation, facts.deleting_since.is_some());
            let is_settled = facts.said.observed_generation == Some(facts.generation);
            let urgency = match before {
                Some(before) if before != after => Urgency::Person,
                None if !is_settled || after.1 => Urgency::Person,
                _ => Urgency::Background,
            };
            let heard = world.put(Arc::clone(&facts));
            let dependents = match heard {
                // It may have closed or opened a circle, which concerns all in it.
                Told::New if !waits_as_before => world.all_dependents(&key),
                Told::New if footing != world.footing(&key) => {
                    let dependents = world.dependents(&key);
                    dependents.map(|facts| facts.key.clone()).collect()
                }
                Told::New | Told::Old => Vec::new(),
            };
            (heard, urgency, dependents)
        };
        tracing::trace!(release = %key, ?revision, "heard");
        if matches!(heard, Told::New) {
            self.wake(&key, urgency);
            self.tell_owners(&facts, false);
        }
        for other in dependents {
            self.wake(&other, Urgency::Person);
        }
    }

    fn lose_release(&self, object: &feed::Told) {
        let which = object.head();
        let (key, uid) = (Key::told(which), which.uid.as_str());
        let (facts, others) = {
            let mut world = self.world.look();
            let held = world.releases.get(&key).map(|held| Arc::clone(&held.facts));
            world.remove(&key, uid);
            (held, world.waiting_for(&key))
        };
        match facts {
            Some(facts) => self.tell_owners(&facts, true),
            None => self.platform_changed(),
        }
        for other in others {
            self.wake(&other, Urgency::Background);
        }
    }

    /// Releases of these environments have something to look at.
    pub(crate) fn environments_changed(&self, heard: &Heard) {
        if heard.is_complete_now {
            self.everything_changed();
            return;
        }
        self.owners_changed(heard, |facts| &facts.environment);
    }

    /// Releases of these projects that are on their way out have something to look at.
    pub(crate) fn projects_changed(&self, heard: &Heard) {
        self.owners_changed(heard, |facts| match facts.deleting_since {
            Some(_) => &facts.project,
            None => "",
        });
    }

    fn owners_changed(&self, heard: &Heard, owner: impl Fn(&Facts) -> &str) {
        let changed: HashSet<(&str, &str)> = heard
            .changed
            .iter()
            .chain(&heard.gone)
            .map(|key| (&*key.namespace, &*key.name))
            .collect();
        if changed.is_empty() {
            return;
        }
        let affected: Vec<Key> = {
            let world = self.world.look();
            let facts = world.releases.values().map(|held| &held.facts);
            facts
                .filter(|facts| changed.contains(&(&*facts.key.namespace, owner(facts))))
                .map(|facts| facts.key.clone())
                .collect()
        };
        for key in affected {
            self.wake(&key, Urgency::Background);
        }
    }

    /// Looks at a thing of the platform soon.
    pub(crate) fn look_at(&self, thing: Thing, urgency: Urgency, after: Duration) {
        self.things.add(thing.lane(), thing, urgency, after);
    }

    /// Something of the platform changed, or a release came or went: who waits for an end looks again.
    pub(crate) fn platform_changed(&self) {
        self.changes.send_replace(());
    }

    /// Hears whenever something of the platform changes, or a release comes or goes.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Lets a release's environment and project know what matters to them: that they are used, and that it is gone.
    pub(crate) fn tell_owners(&self, facts: &Facts, is_gone: bool) {
        let rendered_for = {
            let world = self.world.look();
            let mut found = chain::wake::release(&world, facts);
            found.extend(system::wake::release(&world, facts));
            found
        };
        for thing in rendered_for {
            self.look_at(thing, Urgency::Person, Duration::ZERO);
        }
        let concerned: Vec<Thing> = {
            let world = self.world.look();
            let (namespace, shelves) = (&facts.key.namespace, &world.shelves);
            let environment = shelves.environments.find(namespace, &facts.environment);
            let project = shelves.projects.find(namespace, &facts.project);
            let plane = facts.said.plane.as_ref().map(|plane| &plane.name);
            let is_new_to_environment = environment.is_some_and(|environment| {
                let status = environment.status.as_ref();
                environment.metadata.deletion_timestamp.is_some()
                    || plane.is_some() && status.is_none_or(|status| status.used != Some(true))
            });
            let is_new_to_project = project.is_some_and(|project| {
                let known = project.status.iter().flat_map(|status| &status.planes);
                project.metadata.deletion_timestamp.is_some()
                    || plane.is_some_and(|plane| !known.into_iter().any(|known| known == plane))
            });
            let [its_environment, its_project] =
                platform::owners(namespace, &facts.environment, &facts.project);
            let environment = is_new_to_environment.then_some(its_environment);
            let project = is_new_to_project.then_some(its_project);
            environment.into_iter().chain(project).collect()
        };
        // A plane that was given up waits until everybody has noted so.
        if is_gone || facts.is_left() || !concerned.is_empty() {
            self.platform_changed();
        }
        for thing in concerned {
            self.look_at(thing, Urgency::Person, Duration::ZERO);
        }
    }

    /// What to do when a run could not finish.
    async fn after_trouble(&self, key: &Key, trouble: &Trouble) -> Option<Again> {
        match trouble {
            // Somebody wrote in between: look at what is there now, and go on.
            Trouble::Conflict(_) => {
                match self.control.get::<Release>(&key.namespace, &key.name).await {
                    Ok(Some(found)) => {
                        let _ = self.take_in(found);
                        Some(Again::at_once())
                    }
                    Ok(None) => None,
                    Err(_) => Some(Again::after(Duration::from_secs(1))),
                }
            }
            Trouble::NotFound(_) => None,
            Trouble::Paused(rest) => Some(Again::after(*rest)),
            trouble => {
                let asked = trouble.retry_after().unwrap_or_default();
                let pause = Duration::from_millis(rand::random_range(200..1000));
                Some(Again::after(pause.max(asked)))
            }
        }
    }
}
