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
mod memory;
mod run;
mod status;
mod teardown;
mod world;
mod writes;

use std::{sync::Arc, time::Duration};

use kube::{Resource, core::ApiResource};
use quadrille_objects::{live::revision, word};
use quadrille_planes::{
    PlaneName, Trouble,
    feed::{self, News, Source},
};
use quadrille_types::{Environment, Release};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::JoinSet;

use self::{
    facts::Facts,
    run::Again,
    world::{EnvironmentFacts, Heard},
};
pub(crate) use self::{
    facts::Key,
    world::{PlaneFacts, World},
};
use crate::{
    control::Control,
    events::Events,
    queue::{Queue, Urgency},
};

/// The lane of releases without a plane.
type Lane = Option<PlaneName>;

/// What every run needs.
pub(crate) struct Context {
    pub(crate) control: Control,
    pub(crate) world: World,
    pub(crate) events: Events,
    queue: Queue<Lane, Key>,
    namespace: Option<String>,
}

/// How many releases of a plane are worked on at once.
const AT_ONCE: usize = 48;

impl Context {
    pub(crate) fn new(control: Control, namespace: Option<String>) -> Self {
        Self {
            events: Events::start(control.clone()),
            control,
            world: World::default(),
            queue: Queue::new(AT_ONCE),
            namespace,
        }
    }

    /// Works for ever.
    pub(crate) async fn work(self: &Arc<Self>) {
        let mut tasks = JoinSet::new();
        let releases = self.source::<Release>();
        let environments = self.source::<Environment>();
        let context = Arc::clone(self);
        tasks.spawn(feed::follow(releases, move |news| {
            context.hear_releases(news);
        }));
        let context = Arc::clone(self);
        tasks.spawn(feed::follow(environments, move |news| {
            context.hear_environments(news);
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

    async fn dispatch(self: &Arc<Self>) {
        let mut runs = JoinSet::new();
        loop {
            let (lane, key) = tokio::select! {
                next = self.queue.next() => next,
                Some(_) = runs.join_next() => continue,
            };
            let context = Arc::clone(self);
            runs.spawn(async move {
                let again = run::run(&context, &key).await;
                context.queue.done(&lane, &key);
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

    /// Takes in a release as the server has it.
    fn take_in(&self, release: Value) -> Result<Arc<Facts>, Trouble> {
        let release: Release = serde_json::from_value(release)
            .map_err(|error| Trouble::Unreadable(error.to_string()))?;
        let facts = Arc::new(Facts::read(release));
        self.renew(&facts);
        Ok(facts)
    }

    /// Takes in what the server told us on our own asking, and wakes who waits for it.
    fn renew(&self, facts: &Arc<Facts>) {
        let dependents: Vec<Key> = {
            let mut world = self.world.look();
            let held = world.releases.get(&facts.key);
            let was_applied = held.map(|held| held.facts.is_applied());
            match world.renew(Arc::clone(facts)) {
                Heard::New if was_applied != Some(facts.is_applied()) => {
                    let dependents = world.dependents(&facts.key);
                    dependents.map(|facts| facts.key.clone()).collect()
                }
                Heard::New | Heard::Old => Vec::new(),
            }
        };
        for other in dependents {
            self.wake(&other, Urgency::Person);
        }
    }

    fn hear_releases(&self, news: News) {
        match news {
            News::Listing => self.world.look().begin_list(),
            News::Listed(objects) => {
                for object in objects {
                    self.hear_release(object);
                }
            }
            News::Complete(revision) => {
                let is_first = {
                    let mut world = self.world.look();
                    world.end_list(revision);
                    !std::mem::replace(&mut world.has_releases, true)
                };
                if is_first {
                    self.everything_changed();
                }
            }
            News::Changed(object) => self.hear_release(object),
            News::Gone(object) => self.lose_release(&object),
            News::Failed(error) => tracing::warn!(%error, "releases cannot be watched"),
        }
    }

    fn hear_release(&self, object: Value) {
        if self.world.look().knows(&key_of(&object), revision(&object)) {
            return;
        }
        let Some(release) = read::<Release>(object) else {
            return;
        };
        let revision = release.metadata.resource_version.clone();
        let facts = Arc::new(Facts::read(release));
        let (key, was_applied) = (facts.key.clone(), facts.is_applied());
        let (heard, urgency, dependents) = {
            let mut world = self.world.look();
            let before = world.releases.get(&key).map(|held| {
                let facts = &held.facts;
                (
                    facts.generation,
                    facts.deleting_since.is_some(),
                    facts.is_applied(),
                )
            });
            let waits_as_before = world
                .releases
                .get(&key)
                .is_some_and(|held| held.facts.depends_on == facts.depends_on);
            let after = (facts.generation, facts.deleting_since.is_some());
            let is_settled = facts.said.observed_generation == Some(facts.generation);
            let urgency = match before {
                Some((generation, deleting, _)) if (generation, deleting) != after => {
                    Urgency::Person
                }
                None if !is_settled || after.1 => Urgency::Person,
                _ => Urgency::Background,
            };
            let heard = world.put(facts);
            let changed = before.is_none_or(|(_, _, applied)| applied != was_applied);
            let dependents = match heard {
                // It may have closed or opened a circle, which concerns all in it.
                Heard::New if !waits_as_before => world.all_dependents(&key),
                Heard::New if changed => {
                    let dependents = world.dependents(&key);
                    dependents.map(|facts| facts.key.clone()).collect()
                }
                Heard::New | Heard::Old => Vec::new(),
            };
            (heard, urgency, dependents)
        };
        tracing::trace!(release = %key, ?revision, "heard");
        if matches!(heard, Heard::New) {
            self.wake(&key, urgency);
        }
        for other in dependents {
            self.wake(&other, Urgency::Person);
        }
    }

    fn lose_release(&self, object: &Value) {
        let key = key_of(object);
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        let others: Vec<Key> = {
            let mut world = self.world.look();
            world.remove(&key, uid);
            world.waiting_for(&key)
        };
        for other in others {
            self.wake(&other, Urgency::Background);
        }
    }

    fn hear_environments(&self, news: News) {
        let mut changed = Vec::new();
        {
            let mut world = self.world.look();
            let mut put = |object: Value| {
                if let Some(environment) = read::<Environment>(object) {
                    let metadata = &environment.metadata;
                    let text = |value: &Option<String>| value.as_deref().unwrap_or_default().into();
                    let key = (text(&metadata.namespace), text(&metadata.name));
                    let facts = EnvironmentFacts::read(&environment);
                    world.put_environment(key.clone(), facts);
                    changed.push(key);
                }
            };
            match news {
                News::Listing => world.begin_environments(),
                News::Listed(objects) => objects.into_iter().for_each(put),
                News::Changed(object) => put(object),
                News::Gone(object) => {
                    let metadata = &object["metadata"];
                    let text = |key: &str| metadata[key].as_str().unwrap_or_default().into();
                    let key = (text("namespace"), text("name"));
                    world.environments.remove(&key);
                    changed.push(key);
                }
                News::Complete(_) => {
                    changed.extend(world.end_environments());
                    if !std::mem::replace(&mut world.has_environments, true) {
                        drop(world);
                        self.everything_changed();
                        return;
                    }
                }
                News::Failed(error) => tracing::warn!(%error, "environments cannot be watched"),
            }
        }
        let affected: Vec<Key> = {
            let world = self.world.look();
            let is_affected = |facts: &Facts| {
                changed.iter().any(|(namespace, name)| {
                    facts.key.namespace == *namespace && facts.environment == *name
                })
            };
            world
                .releases
                .values()
                .filter(|held| is_affected(&held.facts))
                .map(|held| held.facts.key.clone())
                .collect()
        };
        for key in affected {
            self.wake(&key, Urgency::Background);
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

/// Which release this is.
fn key_of(object: &Value) -> Key {
    let metadata = &object["metadata"];
    let text = |key: &str| metadata[key].as_str().unwrap_or_default();
    Key {
        namespace: word(text("namespace")),
        name: text("name").into(),
    }
}

/// Reads an object of ours; one that cannot be understood is skipped, and said.
pub(crate) fn read<K: DeserializeOwned>(object: Value) -> Option<K> {
    let name = object["metadata"]["name"].to_string();
    match serde_json::from_value(object) {
        Ok(object) => Some(object),
        Err(error) => {
            tracing::warn!(%name, %error, "an object cannot be understood and is left alone");
            None
        }
    }
}
