//! Everything that is known, in one place: what watches tell goes in, what a run needs comes out.

mod dependencies;

pub(crate) use dependencies::{End, Footing};

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};
use quadrille_engine::Site;
use quadrille_objects::{Identity, claim::Rival};
use quadrille_planes::{PlaneName, PlaneState};
use quadrille_types::release::PlaneRef;

use super::{facts::Facts, memory::Memory};
use crate::{
    chain::shelves::Chain,
    key::Key,
    platform::{
        shelves::Shelves,
        step::{Found, Kind, Thing},
    },
    system::shelves::System,
};

/// Everything that is known.
#[derive(Default)]
pub(crate) struct World {
    inner: Mutex<Inner>,
}

/// What is known, while nobody else changes it.
#[derive(Default)]
pub(crate) struct Inner {
    /// The objects of the platform's kinds.
    pub(crate) shelves: Shelves,
    /// The objects of the component chain's kinds.
    pub(crate) chain: Chain,
    /// The objects of the deployment system's kinds.
    pub(crate) system: System,
    /// Ways to data planes.
    pub(crate) planes: HashMap<PlaneName, PlaneFacts>,
    /// Releases.
    pub(crate) releases: HashMap<Key, Held>,
    by_uid: HashMap<Arc<str>, Key>,
    /// Releases whose end waits for others.
    blocked: HashSet<Key>,
    /// Which releases name another in `dependsOn`.
    dependents: HashMap<Key, BTreeSet<Key>>,
    /// What a list of releases that is under way has not shown yet.
    unlisted: HashSet<Key>,
    /// Whether all releases were read.
    pub(crate) has_releases: bool,
}

/// What is known of a plane.
pub(crate) struct PlaneFacts {
    /// Its uid.
    pub(crate) uid: Arc<str>,
    /// The way to it, if there is one.
    pub(crate) site: Option<Site>,
    /// Why there is none: a word for machines and one for people.
    pub(crate) problem: Option<(&'static str, String)>,
    /// Whether what is left there may be left.
    pub(crate) is_abandoned: bool,
    /// Whether it is on its way out.
    pub(crate) is_going: bool,
}

/// Why there is no way to a plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoWay {
    /// A word for machines.
    pub(crate) cause: &'static str,
    /// Words for people.
    pub(crate) words: String,
}

impl PlaneFacts {
    /// The way to the plane if it answers, or what is in the way; nothing while nobody has tried.
    pub(crate) fn way(&self, name: &PlaneName) -> Option<Result<Site, NoWay>> {
        match (&self.site, &self.problem) {
            (Some(site), _) => Some(match &*site.plane().state().borrow() {
                PlaneState::Troubled { reason, message } => {
                    Err(NoWay::unanswered(name, reason, message))
                }
                PlaneState::Unknown | PlaneState::Reachable(_) => Ok(site.clone()),
            }),
            (None, Some((cause, message))) => Some(Err(NoWay {
                cause,
                words: format!("DataPlane {name}: {message}"),
            })),
            (None, None) => None,
        }
    }
}

impl NoWay {
    /// A plane that does not answer.
    pub(crate) fn unanswered(name: &PlaneName, cause: &'static str, message: &str) -> Self {
        Self {
            cause,
            words: format!("DataPlane {name} does not answer: {message}"),
        }
    }
}

/// A release, and what is remembered of earlier runs.
pub(crate) struct Held {
    /// What is known of it.
    pub(crate) facts: Arc<Facts>,
    /// What is remembered.
    pub(crate) memory: Arc<Mutex<Memory>>,
    /// Whether the server itself told us so since we lead, in answer to a read or write of our own: a list may be
    /// older than what was written before.
    pub(crate) is_confirmed: bool,
    /// What is known of its end.
    end: End,
}

/// A release in short, for whoever it belongs to.
pub(crate) struct Brief<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Which one it is.
    pub(crate) found: Found,
    /// The plane that its objects are or may be on.
    pub(crate) plane: Option<String>,
}

/// Who has objects in a namespace.
pub(crate) struct Guest {
    pub(crate) organization: Arc<str>,
    pub(crate) project: Arc<str>,
    pub(crate) environment: Arc<str>,
}

impl Guest {
    pub(crate) fn of(facts: &Facts) -> Self {
        Self {
            organization: Arc::clone(&facts.key.namespace),
            project: Arc::clone(&facts.project),
            environment: Arc::clone(&facts.environment),
        }
    }
}

/// What became of news about a release.
pub(crate) enum Told {
    /// It is older than what is known.
    Old,
    /// It is new; the plane that it was on before, if another.
    New,
}

impl World {
    /// Looks at everything.
    pub(crate) fn look(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}

impl Inner {
    /// A new list of releases begins.
    pub(crate) fn begin_list(&mut self) {
        self.unlisted = self.releases.keys().cloned().collect();
    }

    /// A list of releases is complete: what it lacks is gone, unless it is newer than the list. Tells whether anything is.
    pub(crate) fn end_list(&mut self, revision: u64) -> bool {
        let mut is_lost = false;
        for key in std::mem::take(&mut self.unlisted) {
            let uid = self
                .releases
                .get(&key)
                .filter(|held| held.facts.revision() <= revision)
                .map(|held| Arc::clone(&held.facts.uid));
            if let Some(uid) = uid {
                self.remove(&key, &uid);
                is_lost = true;
            }
        }
        is_lost
    }

    /// Whether a list or a watch tells nothing new of a release: most often it is what we wrote ourselves.
    pub(crate) fn knows(&mut self, key: &Key, revision: u64) -> bool {
        let held = self.releases.get(key);
        let is_known = held.is_some_and(|held| held.facts.revision() >= revision);
        if is_known {
            self.unlisted.remove(key);
        }
        is_known
    }

    /// Takes in a release that a list or a watch told.
    pub(crate) fn put(&mut self, facts: Arc<Facts>) -> Told {
        self.unlisted.remove(&facts.key);
        self.take(facts)
    }

    fn take(&mut self, facts: Arc<Facts>) -> Told {
        let known = self.releases.get_mut(&facts.key);
        if known
            .as_ref()
            .is_some_and(|held| held.facts.revision() >= facts.revision())
        {
            return Told::Old;
        }
        let depended_on = known.as_ref().map(|held| held.facts.depends_on.as_slice());
        if depended_on.unwrap_or_default() != facts.depends_on {
            let before = depended_on.unwrap_or_default().to_vec();
            self.depend(&facts.key, &before, &facts.depends_on);
        }
        match self.releases.get_mut(&facts.key) {
            Some(held) if held.facts.uid == facts.uid => held.facts = facts,
            _ => {
                self.by_uid
                    .insert(Arc::clone(&facts.uid), facts.key.clone());
                let memory = Arc::default();
                let held = Held {
                    facts: Arc::clone(&facts),
                    memory,
                    is_confirmed: false,
                    end: End::Open,
                };
                self.releases.insert(facts.key.clone(), held);
            }
        }
        Told::New
    }

    /// Takes in the answer to a read or write of ours: from then on nothing older is believed. It may come late: a
    /// release that is gone by now stays gone, and one that was made anew stays the new one.
    pub(crate) fn renew(&mut self, facts: &Arc<Facts>) {
        let held = self.releases.get_mut(&facts.key);
        if let Some(held) = held.filter(|held| held.facts.uid == facts.uid) {
            held.is_confirmed = true;
            self.take(Arc::clone(facts));
        }
    }

    /// Takes in a release that we made or changed ourselves: there is nothing newer to ask for.
    pub(crate) fn put_confirmed(&mut self, facts: &Arc<Facts>) {
        self.take(Arc::clone(facts));
        if let Some(held) = self.releases.get_mut(&facts.key) {
            held.is_confirmed |= held.facts.uid == facts.uid;
        }
    }

    /// Takes in that a release is gone.
    pub(crate) fn remove(&mut self, key: &Key, uid: &str) {
        self.by_uid.remove(uid);
        let held = self.releases.get(key).map(|held| Arc::clone(&held.facts));
        if let Some(facts) = held.filter(|facts| *facts.uid == *uid) {
            self.releases.remove(key);
            self.depend(key, &facts.depends_on, &[]);
        }
    }

    /// The release of a uid.
    pub(crate) fn by_uid(&self, uid: &str) -> Option<&Held> {
        self.releases.get(self.by_uid.get(uid)?)
    }

    /// The plane that a release's environment is on.
    pub(crate) fn plane_of(&self, facts: &Facts) -> Option<PlaneName> {
        let context = self
            .shelves
            .environment(&facts.key.namespace, &facts.environment);
        context.ok().map(|context| context.plane_name)
    }

    /// The lane that a release is worked on in: its plane's.
    pub(crate) fn lane(&self, facts: &Facts) -> Option<PlaneName> {
        match &facts.said.plane {
            Some(plane) => Some(name_of(plane)),
            None => self.plane_of(facts),
        }
    }

    /// Another release on the same plane that asks for an object.
    pub(crate) fn claimant(
        &self,
        plane: &PlaneName,
        identity: &Identity,
        not: &Key,
    ) -> Option<Key> {
        self.releases
            .values()
            .map(|held| &held.facts)
            .filter(|facts| facts.key != *not && facts.deleting_since.is_none())
            .filter(|facts| {
                let desired = facts.desired.as_deref().unwrap_or_default();
                desired.iter().any(|object| object.identity == *identity)
            })
            .find(|facts| self.lane(facts).as_ref() == Some(plane))
            .map(|facts| facts.key.clone())
    }

    /// What the release of a uid has to do with an object. One that is going, or that nobody can understand,
    /// does not hand over what it has.
    pub(crate) fn rival(&self, uid: &str, identity: &Identity) -> Rival {
        let Some(held) = self.by_uid(uid) else {
            return Rival::Unknown;
        };
        match &held.facts.desired {
            Ok(desired)
                if held.facts.deleting_since.is_none()
                    && !desired.iter().any(|object| object.identity == *identity) =>
            {
                Rival::GivenUp
            }
            _ => Rival::Wants,
        }
    }

    /// Whether the plane that a release has objects on is about to go without them.
    pub(crate) fn is_given_up(&self, facts: &Facts) -> bool {
        let plane = facts.said.plane.as_deref().map(name_of);
        let plane = plane.and_then(|name| self.planes.get(&name));
        plane.is_some_and(|plane| plane.is_going && plane.is_abandoned)
    }

    /// Releases with objects on a plane that is about to go without them, and that have not noted so yet.
    pub(crate) fn unaware(&self, plane: &PlaneName) -> usize {
        self.on_plane(plane)
            .filter(|facts| !facts.records.is_empty() && !facts.is_left())
            .count()
    }

    /// Releases that have objects on a plane.
    pub(crate) fn on_plane<'a>(
        &'a self,
        plane: &'a PlaneName,
    ) -> impl Iterator<Item = &'a Arc<Facts>> {
        self.releases
            .values()
            .map(|held| &held.facts)
            .filter(move |facts| self.lane(facts).as_ref() == Some(plane))
    }

    /// Whether everything was read that says who uses what.
    pub(crate) fn is_complete(&self) -> bool {
        self.has_releases && self.shelves.are_complete()
    }

    /// Whether every list was read. Before that, whatever stands on others is not looked at: what is not known might
    /// still be there.
    pub(crate) fn is_known(&self) -> bool {
        self.is_complete() && self.chain.is_complete() && self.system.is_complete()
    }

    /// The releases of a namespace that are asked for, in short.
    pub(crate) fn briefs(
        &self,
        namespace: &str,
        is_asked: impl Fn(&Facts) -> bool,
    ) -> Vec<Brief<'_>> {
        let mut briefs: Vec<Brief<'_>> = self
            .releases
            .values()
            .map(|held| &held.facts)
            .filter(|facts| *facts.key.namespace == *namespace && is_asked(facts))
            .map(|facts| Brief {
                name: &facts.key.name,
                found: Found {
                    thing: Thing {
                        kind: Kind::Release,
                        key: facts.key.clone(),
                    },
                    uid: Arc::clone(&facts.uid),
                    is_going: facts.deleting_since.is_some(),
                },
                plane: facts.said.plane.as_ref().map(|plane| plane.name.clone()),
            })
            .collect();
        briefs.sort_by_key(|brief| brief.name);
        briefs
    }

    /// The way to a plane that answers, or what is in the way.
    pub(crate) fn way_to(&self, name: &PlaneName) -> Result<Site, String> {
        let Some(plane) = self.planes.get(name) else {
            return Err(format!("DataPlane {name} is gone: create it again"));
        };
        match plane.way(name) {
            Some(way) => way.map_err(|why| why.words),
            None => Err(format!("DataPlane {name} was not reached yet")),
        }
    }

    /// Whoever has objects in a namespace of a plane: the first by name.
    pub(crate) fn guest(&self, plane: &PlaneName, namespace: &str) -> Option<Guest> {
        let guests = self.guests(plane, namespace, &Key::new("", ""));
        let facts = &self.releases.get(guests.iter().min()?)?.facts;
        Some(Guest::of(facts))
    }

    /// Other releases with objects in a namespace of a plane, whichever `DataPlane` leads them to that cluster.
    pub(crate) fn guests(&self, plane: &PlaneName, namespace: &str, not: &Key) -> Vec<Key> {
        self.releases
            .values()
            .map(|held| &held.facts)
            .filter(|facts| facts.key != *not)
            .filter(|facts| {
                facts
                    .records
                    .iter()
                    .any(|record| *record.identity.namespace == *namespace)
            })
            .filter(|facts| {
                let lane = self.lane(facts);
                lane.is_some_and(|lane| self.are_one_cluster(&lane, plane))
            })
            .map(|facts| facts.key.clone())
            .collect()
    }

    fn are_one_cluster(&self, one: &PlaneName, other: &PlaneName) -> bool {
        let site = |name: &PlaneName| self.planes.get(name)?.site.as_ref();
        one == other
            || match (site(one), site(other)) {
                (Some(one), Some(other)) => one.plane().is_same_cluster(other.plane()),
                _ => false,
            }
    }
}

/// The name of a plane that was written down.
pub(crate) fn name_of(plane: &PlaneRef) -> PlaneName {
    PlaneName {
        namespace: plane.namespace.clone().unwrap_or_default(),
        name: plane.name.clone(),
    }
}
