//! What is seen of the cluster: every object of the kinds that matter here, kept up to date by one watch per kind
//! and by the answers to our own writes.

mod pod;
mod shelf;

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use parking_lot::RwLock;
use quadrille_planes::feed::News;
use serde_json::Value;

pub(crate) use self::{
    pod::{
        CONTROLLERS, INDEX_ANNOTATION, Phase, Pod, TRACKING_FINALIZER, Use, is_on_host, milli,
        wants_scheduling,
    },
    shelf::{Change, Kept, Shelf},
};
use crate::{kinds::Kind, kubelet::Plan, read::Place};

/// Everything that is seen.
#[derive(Default)]
pub(crate) struct Seen {
    pods: RwLock<Pods>,
    others: HashMap<Kind, RwLock<Shelf<Value>>>,
}

#[derive(Default)]
struct Pods {
    shelf: Shelf<Pod>,
    /// What is taken of each node.
    taken: HashMap<Arc<str>, Use>,
    /// The newest plan of each controller: most of its pods are run alike.
    plans: HashMap<Arc<str>, Arc<Plan>>,
    /// Those that have no node.
    unscheduled: BTreeSet<Place>,
}

/// Something changed.
pub(crate) enum Changed {
    Pod(Change<Pod>),
    Other(Kind, Change<Value>),
}

impl Seen {
    /// Nothing is seen yet.
    pub(crate) fn new() -> Self {
        let kinds = Kind::ALL.iter().filter(|kind| **kind != Kind::Pod);
        Self {
            pods: RwLock::default(),
            others: kinds.map(|kind| (*kind, RwLock::default())).collect(),
        }
    }

    fn shelf(&self, kind: Kind) -> &RwLock<Shelf<Value>> {
        self.others
            .get(&kind)
            .expect("pods have a shelf of their own")
    }

    /// Whether every kind has been listed.
    pub(crate) fn is_complete(&self) -> bool {
        self.pods.read().shelf.is_complete
            && self.others.values().all(|shelf| shelf.read().is_complete)
    }

    /// Takes in what a watch tells.
    pub(crate) fn hear(&self, kind: Kind, news: News) -> Vec<Changed> {
        if kind == Kind::Pod {
            let mut pods = self.pods.write();
            return pods.hear(news).into_iter().map(Changed::Pod).collect();
        }
        let changes = hear(&mut self.shelf(kind).write(), news);
        changes
            .into_iter()
            .map(|change| Changed::Other(kind, change))
            .collect()
    }

    /// Takes in the answer to a write of our own.
    pub(crate) fn note(&self, kind: Kind, object: &Value) -> Option<Changed> {
        if kind == Kind::Pod {
            let mut pods = self.pods.write();
            let pod = pods.read(object);
            let change = pods.shelf.noted(pod)?;
            pods.count(&change);
            return Some(Changed::Pod(change));
        }
        let change = self.shelf(kind).write().noted(trimmed(object.clone()))?;
        Some(Changed::Other(kind, change))
    }

    /// Takes in that a delete of our own ended an object.
    pub(crate) fn note_gone(&self, kind: Kind, place: &Place, uid: &str) -> Option<Changed> {
        if kind == Kind::Pod {
            let mut pods = self.pods.write();
            let change = pods.shelf.noted_gone(place, uid)?;
            pods.count(&change);
            return Some(Changed::Pod(change));
        }
        let change = self.shelf(kind).write().noted_gone(place, uid)?;
        Some(Changed::Other(kind, change))
    }

    /// An object.
    pub(crate) fn get(&self, kind: Kind, place: &Place) -> Option<Arc<Value>> {
        self.shelf(kind).read().get(place).cloned()
    }

    /// All objects of a kind in a namespace.
    pub(crate) fn within(&self, kind: Kind, namespace: &str) -> Vec<Arc<Value>> {
        self.shelf(kind).read().within(namespace).cloned().collect()
    }

    /// All objects of a kind.
    pub(crate) fn all(&self, kind: Kind) -> Vec<Arc<Value>> {
        self.shelf(kind).read().all().cloned().collect()
    }

    /// The objects of a kind that an object controls.
    pub(crate) fn of(&self, kind: Kind, uid: &str) -> Vec<Arc<Value>> {
        self.shelf(kind).read().of(uid)
    }

    /// A pod.
    pub(crate) fn pod(&self, place: &Place) -> Option<Arc<Pod>> {
        self.pods.read().shelf.get(place).cloned()
    }

    /// The pods in a namespace that are wanted.
    pub(crate) fn pods_within(
        &self,
        namespace: &str,
        wanted: impl Fn(&Pod) -> bool,
    ) -> Vec<Arc<Pod>> {
        let pods = self.pods.read();
        let found = pods.shelf.within(namespace).filter(|pod| wanted(pod));
        found.cloned().collect()
    }

    /// Pods that have no node.
    pub(crate) fn unscheduled(&self) -> Vec<Arc<Pod>> {
        let pods = self.pods.read();
        let waiting = pods.unscheduled.iter();
        waiting
            .filter_map(|place| pods.shelf.get(place).cloned())
            .collect()
    }

    /// The pods that an object controls.
    pub(crate) fn pods_of(&self, uid: &str) -> Vec<Arc<Pod>> {
        self.pods.read().shelf.of(uid)
    }

    /// What pods take of a node.
    pub(crate) fn taken(&self, node: &str) -> Use {
        self.pods
            .read()
            .taken
            .get(node)
            .copied()
            .unwrap_or_default()
    }
}

impl Pods {
    fn read(&mut self, object: &Value) -> Pod {
        let mut pod = Pod::read(object);
        if let (Some(owner), Some(plan)) = (&pod.controller, &mut pod.plan) {
            match self.plans.get(&owner.uid) {
                Some(known) if known == plan => *plan = known.clone(),
                _ => {
                    self.plans.insert(owner.uid.clone(), plan.clone());
                }
            }
        }
        pod
    }

    fn hear(&mut self, news: News) -> Vec<Change<Pod>> {
        let changes: Vec<_> = match news {
            News::Listing => {
                self.shelf.begin_list();
                Vec::new()
            }
            News::Listed(objects) => objects
                .iter()
                .filter_map(|object| {
                    let pod = self.read(&object.value());
                    self.shelf.listed(pod)
                })
                .collect(),
            News::Complete(revision) => self.shelf.end_list(revision),
            News::Changed(object) => {
                let pod = self.read(&object.value());
                self.shelf.changed(pod).into_iter().collect()
            }
            News::Gone(object) => self
                .shelf
                .gone(&Pod::read(&object.value()))
                .into_iter()
                .collect(),
            News::Failed(_) => Vec::new(),
        };
        for change in &changes {
            self.count(change);
        }
        changes
    }

    /// Keeps the books of what is taken of each node.
    fn count(&mut self, (before, after): &Change<Pod>) {
        for (pod, sign) in [(before, -1), (after, 1)] {
            if let Some(pod) = pod
                && let Some(node) = &pod.node
                && !pod.is_over()
            {
                self.taken
                    .entry(node.clone())
                    .or_default()
                    .add(pod.use_of, sign);
            }
        }
        for pod in [before, after].into_iter().flatten() {
            let is_waiting = after.is_some() && pod.unscheduled.is_some();
            if is_waiting {
                self.unscheduled.insert(pod.place.clone());
            } else {
                self.unscheduled.remove(&pod.place);
            }
        }
        if let (Some(before), None) = (before, after)
            && let Some(owner) = before.owner()
            && !self.shelf.has_of(&owner)
        {
            self.plans.remove(&owner);
        }
    }
}

fn hear(objects: &mut Shelf<Value>, news: News) -> Vec<Change<Value>> {
    match news {
        News::Listing => {
            objects.begin_list();
            Vec::new()
        }
        News::Listed(listed) => listed
            .into_iter()
            .filter_map(|object| objects.listed(trimmed(object.value())))
            .collect(),
        News::Complete(revision) => objects.end_list(revision),
        News::Changed(object) => objects
            .changed(trimmed(object.value()))
            .into_iter()
            .collect(),
        News::Gone(object) => objects.gone(&object.value()).into_iter().collect(),
        News::Failed(_) => Vec::new(),
    }
}

/// An object without what nobody here reads.
fn trimmed(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    object
}
