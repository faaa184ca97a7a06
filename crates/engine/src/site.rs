//! A plane as the engine works on it: calls, watches, what is seen, which namespaces are there.

use std::{
    collections::{HashMap, HashSet},
    future::Future,
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use quadrille_objects::{
    GroupKind, Identity, Sight, Version,
    health::{self, PodSelector},
    live::{Lens, finalizers},
};
use quadrille_planes::{
    Plane, Served, Trouble,
    feed::{self, News, Source},
};
use serde_json::Value;
use tokio::{sync::Notify, task::JoinHandle};

use crate::{
    fence::Fence,
    guarded::{DEADLINE, Guarded},
    pods,
    requests::{self, Propagation},
    sights::{Sights, Tell},
};

/// How many workloads of a plane have their pods watched at once.
const MOST_POD_WATCHES: usize = 40;
/// When to ask again for a kind that the plane does not serve: soon at first, since definitions come with what they define,
/// and ever more seldom while nobody comes back to it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// How objects of ours are told from others.
#[derive(Clone, Debug)]
pub struct Marks {
    /// How objects are read.
    pub lens: Lens,
    /// Selects the objects to be watched.
    pub selector: String,
    /// The labels with the namespace and the name of whoever an object belongs to.
    pub name_labels: [&'static str; 2],
}

impl Marks {
    /// Whose an object is, for people.
    pub(crate) fn owner_of(&self, object: &Value) -> String {
        let label = |key: &str| object["metadata"]["labels"][key].as_str();
        let [namespace, name] = self.name_labels.map(label);
        match (namespace, name, label(self.lens.owner_label)) {
            (Some(namespace), Some(name), _) => format!("Release {namespace}/{name}"),
            (_, _, Some(uid)) => format!("another release (uid {uid})"),
            _ => "somebody else".to_owned(),
        }
    }
}

/// A plane, and everything that is remembered about it. Clones are the same.
#[derive(Clone)]
pub struct Site(Arc<Inner>);

struct Inner {
    guarded: Guarded,
    marks: Marks,
    sights: Arc<Sights>,
    /// Namespaces that were there when we last had to do with them.
    namespaces: Mutex<HashSet<Arc<str>>>,
    making_namespaces: tokio::sync::Mutex<()>,
    watches: Mutex<HashMap<GroupKind, Watch>>,
    /// Pods of workloads that are in trouble.
    pods: Mutex<HashMap<Identity, JoinHandle<()>>>,
}

/// A kind that is watched, or will be as soon as the plane serves it.
struct Watch {
    version: Version,
    /// Somebody has to do with the kind.
    asked: Arc<Notify>,
    work: JoinHandle<()>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let watches = self.watches.get_mut().drain().map(|(_, watch)| watch.work);
        let pods = self.pods.get_mut().drain().map(|(_, watch)| watch);
        for watch in watches.chain(pods) {
            watch.abort();
        }
    }
}

/// What a deletion came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// The object is gone.
    Gone,
    /// It is on its way out; these finalizers hold it.
    Going(Vec<String>),
}

impl Site {
    /// Begins to work on a plane. `tell` hears of changes to what is seen.
    pub fn new(plane: Plane, marks: Marks, fence: Fence, tell: Tell) -> Self {
        let sights = Arc::new(Sights::new(marks.lens, tell));
        Self(Arc::new(Inner {
            guarded: Guarded::new(plane, fence),
            marks,
            sights,
            namespaces: Mutex::default(),
            making_namespaces: tokio::sync::Mutex::default(),
            watches: Mutex::default(),
            pods: Mutex::default(),
        }))
    }

    /// The plane.
    pub fn plane(&self) -> &Plane {
        self.0.guarded.plane()
    }

    pub(crate) fn guarded(&self) -> &Guarded {
        &self.0.guarded
    }

    pub(crate) fn marks(&self) -> &Marks {
        &self.0.marks
    }

    /// What is seen of it.
    pub fn sights(&self) -> &Sights {
        &self.0.sights
    }

    /// Our field manager.
    pub fn manager(&self) -> &'static str {
        self.0.marks.lens.manager
    }

    /// Watches a kind from now on, if it is not watched already.
    pub fn watch(&self, kind: &GroupKind, version: &Version) {
        let mut watches = self.0.watches.lock();
        let known = watches.get(kind);
        if let Some(known) = known.filter(|known| !known.work.is_finished()) {
            known.asked.notify_one();
            return;
        }
        let inner = &self.0;
        let asked = Arc::new(Notify::new());
        let work = watch_kind(
            self.plane().clone(),
            Arc::clone(&inner.sights),
            inner.marks.selector.clone(),
            kind.clone(),
            Arc::clone(version),
            Arc::clone(&asked),
        );
        let watch = Watch {
            version: Arc::clone(version),
            asked,
            work: tokio::spawn(work),
        };
        watches.insert(kind.clone(), watch);
    }

    /// The kinds that are watched.
    pub(crate) fn watched(&self) -> Vec<(GroupKind, Version)> {
        let watches = self.0.watches.lock();
        let kinds = watches.iter();
        kinds
            .map(|(kind, watch)| (kind.clone(), Arc::clone(&watch.version)))
            .collect()
    }

    /// How many watches are open.
    pub fn watches(&self) -> usize {
        self.0.watches.lock().len()
    }

    /// Follows the pods of a workload that is in trouble, until it is not: then without a selector.
    pub fn follow_pods(&self, identity: &Identity, selector: Option<&PodSelector>) {
        let mut pods = self.0.pods.lock();
        let Some(selector) = selector else {
            if let Some(watch) = pods.remove(identity) {
                watch.abort();
            }
            return;
        };
        if pods.contains_key(identity) {
            return;
        }
        if pods.len() >= MOST_POD_WATCHES {
            // Of one that is gone, whoever had to do with it may be gone as well.
            let seen = self.0.sights.at_once();
            let gone = pods.extract_if(|identity, _| matches!(seen.look(identity), Sight::Absent));
            gone.for_each(|(_, watch)| watch.abort());
        }
        // Streams to a plane are few; who comes late is judged without pods.
        if pods.len() >= MOST_POD_WATCHES {
            return;
        }
        let client = self.plane().client();
        let sights = Arc::clone(&self.0.sights);
        let work = pods::follow(client, sights, identity.clone(), selector.clone());
        pods.insert(identity.clone(), tokio::spawn(work));
    }

    pub(crate) async fn resolve(
        &self,
        identity: &Identity,
        version: &str,
    ) -> Result<Served, Trouble> {
        let kind = &identity.kind;
        self.plane()
            .resolve(DEADLINE, &kind.group, version, &kind.kind)
            .await
    }

    /// Asks for something of a kind in the version that was written down, and in another one if that is gone: what is stored
    /// is the same in all. [`Trouble::NotServed`] says that the kind went, and its objects with it.
    pub(crate) async fn in_any_version<T, F>(
        &self,
        kind: &GroupKind,
        version: &str,
        ask: impl Fn(Served) -> F,
    ) -> Result<T, Trouble>
    where
        F: Future<Output = Result<T, Trouble>>,
    {
        let plane = self.plane();
        let (group, name) = (&kind.group, &kind.kind);
        let known = match plane.resolve(DEADLINE, group, version, name).await {
            Ok(served) => ask(served).await,
            Err(trouble) => Err(trouble),
        };
        if !matches!(known, Err(Trouble::NotServed(_))) {
            return known;
        }
        let served = plane.resolve_anew(DEADLINE, group, version, name).await?;
        match ask(served).await {
            Err(Trouble::NotServed(_)) => Err(contradicted(kind)),
            answer => answer,
        }
    }

    /// Reads an object.
    pub(crate) async fn get(
        &self,
        served: &Served,
        identity: &Identity,
    ) -> Result<Option<Value>, Trouble> {
        let request = requests::get(served, identity)?;
        self.0.guarded.read(request).await
    }

    /// Applies an object and remembers what came of it.
    pub(crate) async fn apply(
        &self,
        served: &Served,
        identity: &Identity,
        object: &Value,
    ) -> Result<Value, Trouble> {
        let request = requests::apply(served, identity, object, self.manager())?;
        self.0.guarded.write(request).await
    }

    /// Tries whether an object could be made under another name, without making it.
    pub(crate) async fn rehearse(
        &self,
        served: &Served,
        identity: &Identity,
        object: &Value,
    ) -> Result<Value, Trouble> {
        let request = requests::rehearse(served, identity, object, self.manager())?;
        self.0.guarded.write(request).await
    }

    /// Deletes exactly this object: another one of the same name stays.
    pub(crate) async fn delete(
        &self,
        served: &Served,
        identity: &Identity,
        uid: &str,
        propagation: Propagation,
    ) -> Result<Deleted, Trouble> {
        let request = requests::delete(served, identity, uid, propagation)?;
        match self.0.guarded.write::<Value>(request).await {
            Ok(answer) if answer["kind"] == "Status" => {
                self.sights().note_gone(identity, uid);
                Ok(Deleted::Gone)
            }
            Ok(object) => {
                self.sights().note(identity, &object);
                Ok(Deleted::Going(finalizers(&object).into_vec()))
            }
            Err(Trouble::NotFound(_)) => {
                self.sights().note_gone(identity, uid);
                Ok(Deleted::Gone)
            }
            // Another object by now, or only a bad moment: a conflict does not say which.
            Err(trouble @ Trouble::Conflict(_)) => match self.get(served, identity).await? {
                Some(found) if found["metadata"]["uid"] == *uid => Err(trouble),
                _ => {
                    self.sights().note_gone(identity, uid);
                    Ok(Deleted::Gone)
                }
            },
            Err(trouble) => Err(trouble),
        }
    }

    /// Sees to it that a namespace is there. It is made with these labels if it is not, and left as it is if it
    /// is. Who may not make namespaces finds out with the objects in it.
    pub(crate) async fn ensure_namespace(
        &self,
        name: &Arc<str>,
        labels: &[(&str, &str)],
    ) -> Result<(), Trouble> {
        if self.0.namespaces.lock().contains(name) {
            return Ok(());
        }
        // One after the other: the first one makes it, the others find it made.
        let _making = self.0.making_namespaces.lock().await;
        if self.0.namespaces.lock().contains(name) {
            return Ok(());
        }
        let request = requests::create_namespace(name, labels, self.manager())?;
        match self.0.guarded.write::<Value>(request).await {
            Ok(_) | Err(Trouble::AlreadyExists(_) | Trouble::Forbidden(_)) => {
                self.has_namespace(name);
                Ok(())
            }
            Err(trouble) => Err(trouble),
        }
    }

    pub(crate) fn has_namespace(&self, name: &Arc<str>) {
        self.0.namespaces.lock().insert(Arc::clone(name));
    }

    pub(crate) fn lost_namespace(&self, name: &str) {
        self.0.namespaces.lock().remove(name);
    }
}

/// What is to be thought of a plane that says of the same kind that it serves it and that it does not: nothing. Whether an
/// object is still there it has not said.
fn contradicted(kind: &GroupKind) -> Trouble {
    Trouble::Unreadable(format!(
        "the plane names {kind} among the kinds that it serves, and knows none when asked for it"
    ))
}

/// Watches a kind: first waits until the plane serves it, then for ever; in another version, when its own is dropped.
/// Objects are the same in all versions.
async fn watch_kind(
    plane: Plane,
    sights: Arc<Sights>,
    selector: String,
    kind: GroupKind,
    version: Version,
    asked: Arc<Notify>,
) {
    let mut pause = FIRST_PAUSE;
    let mut served = loop {
        match resolve_in_any(&plane, &kind, &version).await {
            Ok(served) => break served,
            Err(trouble) => {
                let reason = trouble.reason();
                tracing::debug!(plane = %plane.name(), %kind, reason, "not watched yet");
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    // Not at once: whoever asks has just been answered the same.
                    () = asked.notified() => tokio::time::sleep(FIRST_PAUSE).await,
                }
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    };
    loop {
        let is_missed = Notify::new();
        let following = follow(&plane, &sights, &selector, &kind, &served, &is_missed);
        served = tokio::select! {
            () = following => return,
            other = moved(&plane, &kind, &served, &is_missed) => other,
        };
    }
}

/// How the plane serves a kind, in the version that somebody named first or, where that one is gone, in another.
async fn resolve_in_any(plane: &Plane, kind: &GroupKind, version: &str) -> Result<Served, Trouble> {
    let (group, name) = (&kind.group, &kind.kind);
    match plane.resolve(DEADLINE, group, version, name).await {
        Err(Trouble::NotServed(_)) => plane.resolve_anew(DEADLINE, group, version, name).await,
        answer => answer,
    }
}

/// Follows a kind for ever. `is_missed` is told when the plane does not know it: now and then, as long as that lasts.
async fn follow(
    plane: &Plane,
    sights: &Sights,
    selector: &str,
    kind: &GroupKind,
    served: &Served,
    is_missed: &Notify,
) {
    let mut source = Source::all(plane.client(), &served.resource).labels(selector.to_owned());
    if !health::needs_status(&kind.group, &kind.kind) {
        source = source.metadata_only();
    }
    let api_version = &served.resource.api_version;
    feed::follow(source, |news| {
        match &news {
            News::Failed(trouble) => {
                plane.failed(trouble);
                if matches!(trouble, Trouble::NotServed(_)) {
                    is_missed.notify_one();
                }
            }
            // The plane has only been asked.
            News::Listing => {}
            _ => plane.heard(),
        }
        sights.hear(kind, api_version, news);
    })
    .await;
}

/// Waits until a kind is served in another version than it was.
async fn moved(plane: &Plane, kind: &GroupKind, served: &Served, is_missed: &Notify) -> Served {
    let version = &served.resource.version;
    loop {
        is_missed.notified().await;
        let (group, name) = (&kind.group, &kind.kind);
        match plane.resolve_anew(DEADLINE, group, version, name).await {
            Ok(other) if other != *served => return other,
            Ok(_) => {}
            Err(trouble) => {
                let reason = trouble.reason();
                tracing::debug!(plane = %plane.name(), %kind, reason, "no longer watched");
            }
        }
    }
}
