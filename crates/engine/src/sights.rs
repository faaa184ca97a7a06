//! What is seen of a plane's objects: fed by watches, and by the answers to our own writes.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use parking_lot::{RwLock, RwLockReadGuard};
use quadrille_objects::{
    GroupKind, Identity, Live, Sight,
    health::{self, Health, Pod},
    live::Lens,
    word,
};
use quadrille_planes::feed::{Head, News, Told};
use serde::Serialize;
use serde_json::Value;

/// Called with an identity and an owner whose view of it changed.
pub type Tell = Arc<dyn Fn(&Identity, &str) + Send + Sync>;

/// How an object is doing.
#[derive(Clone, Debug)]
pub struct Doing {
    /// What is said of it.
    pub verdict: health::Verdict,
    /// Its own status, if it is short.
    pub excerpt: Option<Arc<str>>,
    /// For how long the same is said.
    pub lasts: Duration,
    /// When to look again, because a recovery is not believed yet.
    pub recheck: Option<Duration>,
}

/// What is seen of a plane.
pub struct Sights {
    lens: Lens,
    tell: Tell,
    kinds: RwLock<HashMap<GroupKind, Drawer>>,
}

/// Objects of one kind.
#[derive(Default)]
struct Drawer {
    /// Whether what is not here is not there.
    complete: bool,
    /// Counts lists, to find what a new one no longer has.
    list: u32,
    /// How far the watch has told: what is not here and was not changed since is gone.
    told: u64,
    objects: HashMap<Place, Seen>,
}

#[derive(PartialEq, Eq, Hash, Clone)]
struct Place {
    namespace: Arc<str>,
    name: Arc<str>,
}

struct Seen {
    live: Live,
    list: u32,
    /// Since when the verdict is what it is.
    since: Instant,
    /// What is needed to judge again when its pods change; only while it is in trouble.
    troubled: Option<Box<Troubled>>,
}

struct Troubled {
    /// The object without who wrote which field, as text: a tree of it takes several times as much.
    object: Box<str>,
    pods: Option<Vec<Pod>>,
    /// A recovery that is not believed before then.
    believed_from: Option<Timestamp>,
}

impl Sights {
    /// Nothing is seen yet.
    pub fn new(lens: Lens, tell: Tell) -> Self {
        Self {
            lens,
            tell,
            kinds: RwLock::default(),
        }
    }

    /// How objects are read.
    pub fn lens(&self) -> Lens {
        self.lens
    }

    /// Asks something of what is seen of an identity.
    pub fn with<T>(&self, identity: &Identity, ask: impl FnOnce(Sight<'_>) -> T) -> T {
        let kinds = self.kinds.read();
        ask(look(&kinds, identity))
    }

    /// Everything that is seen, at one moment: it does not change while this is held.
    pub fn at_once(&self) -> AtOnce<'_> {
        AtOnce(self.kinds.read())
    }

    /// Takes in the answer to a write of our own, which the watch will tell later.
    pub fn note(&self, identity: &Identity, object: &Value) -> Live {
        let live = Live::read(object, self.lens);
        let mut kinds = self.kinds.write();
        let drawer = kinds.entry(identity.kind.clone()).or_default();
        let place = Place::of(identity);
        // An answer may come after the watch has told that the object is gone.
        let is_late = live.resource_version <= drawer.told && !drawer.objects.contains_key(&place);
        if !is_late {
            drawer.put(place, live.clone(), object);
        }
        live
    }

    /// What is known of an object's health, and since when it is so.
    pub fn health(&self, identity: &Identity) -> Option<Doing> {
        let kinds = self.kinds.read();
        let seen = kinds
            .get(&identity.kind)?
            .objects
            .get(&Place::of(identity))?;
        let recheck = seen
            .troubled
            .as_ref()
            .and_then(|troubled| troubled.believed_from);
        Some(Doing {
            verdict: seen.live.verdict.clone(),
            excerpt: seen.live.excerpt.clone(),
            lasts: seen.since.elapsed(),
            recheck: recheck.map(|at| {
                let left = at.duration_since(Timestamp::now());
                Duration::try_from(left).unwrap_or_default()
            }),
        })
    }

    /// Takes in the pods of a workload that is in trouble; without any, judges again with those that are known.
    pub fn hear_pods(&self, identity: &Identity, pods: Option<Vec<Pod>>) {
        let mut owner = None;
        {
            let mut kinds = self.kinds.write();
            let drawer = kinds.get_mut(&identity.kind);
            let seen = drawer.and_then(|drawer| drawer.objects.get_mut(&Place::of(identity)));
            if let Some(seen) = seen
                && let Some(troubled) = &mut seen.troubled
            {
                if pods.is_some() {
                    troubled.pods = pods;
                }
                let object: Value =
                    serde_json::from_str(&troubled.object).expect("it was written here");
                let mut live = seen.live.clone();
                live.verdict = health::of(&object);
                if seen.renew(live, &object) {
                    owner.clone_from(&seen.live.owner);
                }
            }
        }
        if let Some(owner) = owner {
            (self.tell)(identity, &owner);
        }
    }

    /// Takes in that an object is gone for sure.
    pub fn note_gone(&self, identity: &Identity, uid: &str) {
        let mut kinds = self.kinds.write();
        if let Some(drawer) = kinds.get_mut(&identity.kind) {
            drawer.take(&Place::of(identity), uid, u64::MAX);
        }
    }

    /// Takes in news of a kind.
    pub fn hear(&self, kind: &GroupKind, api_version: &str, news: News) {
        let mut told = Vec::new();
        {
            let mut kinds = self.kinds.write();
            let drawer = kinds.entry(kind.clone()).or_default();
            match news {
                News::Listing => drawer.list += 1,
                News::Listed(objects) => {
                    for object in &objects {
                        drawer.see(kind, api_version, object, self.lens, &mut told);
                    }
                }
                News::Complete(revision) => {
                    drawer.has_told(revision);
                    drawer.complete(revision, &mut told);
                }
                News::Changed(object) => {
                    drawer.has_told(object.head().revision());
                    drawer.see(kind, api_version, &object, self.lens, &mut told);
                }
                News::Gone(object) => {
                    let head = object.head();
                    drawer.has_told(head.revision());
                    let place = Place::told(head);
                    let gone = drawer.take(&place, &head.uid, head.revision());
                    told.extend(gone.map(|live| (place, live.owner)));
                }
                News::Failed(_) => {}
            }
        }
        for (place, owner) in told {
            if let Some(owner) = owner {
                (self.tell)(&place.identity(kind), &owner);
            }
        }
    }

    /// Forgets a kind that is no longer watched: nothing is known about it any more.
    pub fn forget(&self, kind: &GroupKind) {
        self.kinds.write().remove(kind);
    }
}

/// Everything that is seen, at one moment.
pub struct AtOnce<'a>(RwLockReadGuard<'a, HashMap<GroupKind, Drawer>>);

impl AtOnce<'_> {
    /// What is seen of an identity.
    pub fn look(&self, identity: &Identity) -> Sight<'_> {
        look(&self.0, identity)
    }
}

fn look<'a>(kinds: &'a HashMap<GroupKind, Drawer>, identity: &Identity) -> Sight<'a> {
    let Some(drawer) = kinds.get(&identity.kind) else {
        return Sight::Unknown;
    };
    match drawer.objects.get(&Place::of(identity)) {
        Some(seen) => Sight::Present(&seen.live),
        None if drawer.complete => Sight::Absent,
        None => Sight::Unknown,
    }
}

/// What came of a sight.
enum Put {
    /// It is older than what is known, or says the same.
    Nothing,
    /// It matters; whose the object was before, if somebody's.
    News { former: Option<Arc<str>> },
}

impl Drawer {
    /// The watch has told everything up to this revision.
    fn has_told(&mut self, revision: u64) {
        // Revisions that are no numbers can't be compared.
        if revision != u64::MAX {
            self.told = self.told.max(revision);
        }
    }

    /// Puts a sight where an older one was.
    fn put(&mut self, place: Place, live: Live, object: &Value) -> Put {
        match self.objects.get_mut(&place) {
            Some(known) => {
                if known.live.resource_version > live.resource_version {
                    return Put::Nothing;
                }
                let former = known.live.owner.clone();
                if known.renew(live, object) {
                    Put::News { former }
                } else {
                    Put::Nothing
                }
            }
            None => {
                let mut seen = Seen {
                    live: Live::default(),
                    // Only a list can say that it has it.
                    list: self.list.wrapping_sub(1),
                    since: Instant::now(),
                    troubled: None,
                };
                seen.renew(live, object);
                self.objects.insert(place, seen);
                Put::News { former: None }
            }
        }
    }

    fn see(
        &mut self,
        kind: &GroupKind,
        api_version: &str,
        object: &Told,
        lens: Lens,
        told: &mut Vec<(Place, Option<Arc<str>>)>,
    ) {
        let head = object.head();
        if head.name.is_empty() {
            return;
        }
        let place = Place::told(head);
        // Most often it is the echo of what we wrote ourselves.
        if let Some(seen) = self.objects.get_mut(&place)
            && seen.live.resource_version == head.revision()
            && seen.live.resource_version != u64::MAX
            && *seen.live.uid == *head.uid
        {
            seen.list = self.list;
            return;
        }
        let mut object = object.value();
        // Items of lists, and metadata alone, don't say what they are.
        object["apiVersion"] = api_version.into();
        object["kind"] = (*kind.kind).into();
        let live = Live::read(&object, lens);
        let owner = live.owner.clone();
        let put = self.put(place.clone(), live, &object);
        if let Some(seen) = self.objects.get_mut(&place) {
            seen.list = self.list;
        }
        if let Put::News { former } = put {
            if former != owner {
                told.push((place.clone(), former));
            }
            told.push((place, owner));
        }
    }

    fn complete(&mut self, revision: u64, told: &mut Vec<(Place, Option<Arc<str>>)>) {
        let current = self.list;
        // What was written after the list was taken can't be in it.
        let gone = self
            .objects
            .extract_if(|_, seen| seen.list != current && seen.live.resource_version <= revision);
        told.extend(gone.map(|(place, seen)| (place, seen.live.owner)));
        self.complete = true;
    }

    fn take(&mut self, place: &Place, uid: &str, revision: u64) -> Option<Live> {
        let known = self.objects.get(place)?;
        if *known.live.uid != *uid || known.live.resource_version > revision {
            return None;
        }
        self.objects.remove(place).map(|seen| seen.live)
    }
}

impl Seen {
    /// Takes in a newer sight. Tells whether it differs in what anybody acts upon.
    fn renew(&mut self, mut live: Live, object: &Value) -> bool {
        let pods = self.troubled.take().and_then(|troubled| troubled.pods);
        let needs_pods = live.verdict.pods.is_some();
        if let (true, Some(pods)) = (needs_pods, &pods) {
            live.verdict = health::with_pods(object, pods);
        }
        // Whoever crashes again and again looks well for a moment each time.
        let was_degraded = self.live.verdict.health == Health::Degraded;
        let believed_from = pods
            .as_deref()
            .filter(|_| was_degraded && live.verdict.health == Health::Healthy)
            .and_then(|pods| health::steady_from(object, pods))
            .filter(|at| *at > Timestamp::now());
        if believed_from.is_some() {
            live.verdict = self.live.verdict.clone();
        }
        if needs_pods || believed_from.is_some() {
            self.troubled = Some(Box::new(Troubled {
                object: without_managers(object),
                pods,
                believed_from,
            }));
        }
        if self.live.verdict != live.verdict {
            self.since = Instant::now();
        }
        let differs = self.live.differs(&live);
        self.live = live;
        differs
    }
}

/// The text of an object without who wrote which field, which is most of it.
fn without_managers(object: &Value) -> Box<str> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Part<'a> {
        Metadata(BTreeMap<&'a String, &'a Value>),
        Other(&'a Value),
    }
    let mut parts = BTreeMap::new();
    for (key, part) in object.as_object().into_iter().flatten() {
        let part = match part {
            Value::Object(fields) if key == "metadata" => {
                let kept = fields.iter().filter(|(key, _)| *key != "managedFields");
                Part::Metadata(kept.collect())
            }
            _ => Part::Other(part),
        };
        parts.insert(key, part);
    }
    let text = serde_json::to_string(&parts).expect("a value is JSON");
    text.into()
}

impl Place {
    fn of(identity: &Identity) -> Self {
        Self {
            namespace: Arc::clone(&identity.namespace),
            name: Arc::clone(&identity.name),
        }
    }

    fn told(head: &Head) -> Self {
        Self {
            namespace: word(&head.namespace),
            name: head.name.as_str().into(),
        }
    }

    fn identity(&self, kind: &GroupKind) -> Identity {
        Identity {
            kind: kind.clone(),
            namespace: Arc::clone(&self.namespace),
            name: Arc::clone(&self.name),
        }
    }
}

#[cfg(test)]
mod tests;
