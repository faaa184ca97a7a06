//! A watch over everything that a component becomes, from its releases to the objects on the plane. Revisions are those
//! of the whole store, so the watches of all kinds come to one order of events, and each is judged at its moment.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::{
    Api, Resource,
    api::{DynamicObject, ListParams, WatchEvent, WatchParams},
    core::ApiResource,
};
use quadrille_testkit::eventually;
use quadrille_types::{
    Approval, ComponentRelease, Release, ReleaseBinding, annotations, labels::tracking,
};
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::shop::Shop;

/// The environment where somebody has to agree.
const GUARDED: &str = "prod";

/// Something that was seen to happen.
#[derive(Clone, Debug)]
pub(crate) struct Sight {
    pub(crate) revision: u64,
    pub(crate) kind: String,
    pub(crate) is_gone: bool,
    pub(crate) object: Value,
}

impl Sight {
    fn of(kind: &str, object: &DynamicObject, is_gone: bool) -> Self {
        let revision = object.metadata.resource_version.as_deref();
        Self {
            revision: revision.unwrap_or_default().parse().unwrap(),
            kind: kind.to_owned(),
            is_gone,
            object: serde_json::to_value(object).unwrap(),
        }
    }

    fn meta(&self, field: &str) -> &str {
        self.object["metadata"][field].as_str().unwrap_or_default()
    }

    pub(crate) fn name(&self) -> &str {
        self.meta("name")
    }

    pub(crate) fn namespace(&self) -> &str {
        self.meta("namespace")
    }

    fn annotation(&self, key: &str) -> &str {
        let annotations = &self.object["metadata"]["annotations"];
        annotations[key].as_str().unwrap_or_default()
    }

    fn key(&self) -> (String, String, String) {
        let (namespace, name) = (self.namespace(), self.name());
        (self.kind.clone(), namespace.to_owned(), name.to_owned())
    }
}

/// One kind, and where it is watched.
struct Post {
    kind: String,
    api: Api<DynamicObject>,
    watching: JoinHandle<()>,
}

impl Drop for Post {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

/// A watch that goes on until it is relieved.
pub(crate) struct Guard {
    seen: Arc<Mutex<Vec<Sight>>>,
    posts: Vec<Post>,
}

impl Guard {
    /// Watches nothing yet.
    pub(crate) fn new() -> Self {
        Self {
            seen: Arc::default(),
            posts: Vec::new(),
        }
    }

    /// Watches everything of the chain in an organization, and what its components become.
    pub(crate) async fn over(shop: &Shop) -> Self {
        let mut guard = Self::new();
        let here = Some(shop.org.as_str());
        guard.post::<ComponentRelease>(shop, here).await;
        guard.post::<ReleaseBinding>(shop, here).await;
        guard.post::<Approval>(shop, here).await;
        guard.post::<Release>(shop, here).await;
        guard.post::<ConfigMap>(shop, None).await;
        guard.post::<Service>(shop, None).await;
        guard
    }

    /// Watches a kind from now on, in a namespace or everywhere.
    pub(crate) async fn post<K: Resource<DynamicType = ()>>(
        &mut self,
        shop: &Shop,
        namespace: Option<&str>,
    ) {
        let resource = ApiResource::erase::<K>(&());
        let client = shop.stage.client();
        let api: Api<DynamicObject> = match namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &resource),
            None => Api::all_with(client, &resource),
        };
        let kind = resource.kind;
        let list = api.list(&ListParams::default()).await.unwrap();
        let there = list.items.iter().map(|one| Sight::of(&kind, one, false));
        self.seen.lock().unwrap().extend(there);
        let from = list.metadata.resource_version.unwrap();
        let watched = api.watch(&WatchParams::default(), &from).await.unwrap();
        let (seen, of) = (Arc::clone(&self.seen), kind.clone());
        let watching = tokio::spawn(async move {
            let mut watched = watched.boxed();
            while let Some(event) = watched.next().await {
                let sight = match event {
                    Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)) => {
                        Sight::of(&of, &object, false)
                    }
                    Ok(WatchEvent::Deleted(object)) => Sight::of(&of, &object, true),
                    Ok(WatchEvent::Bookmark(_)) => continue,
                    other => panic!("the watch of {of} broke: {other:?}"),
                };
                seen.lock().unwrap().push(sight);
            }
        });
        self.posts.push(Post {
            kind,
            api,
            watching,
        });
    }

    /// Everything that was seen, in order, once it is known that nothing was missed.
    pub(crate) async fn relieve(self) -> Vec<Sight> {
        for post in &self.posts {
            let kind = &post.kind;
            eventually(&format!("all of {kind} was seen"), async || {
                let list = post.api.list(&ListParams::default()).await.unwrap();
                let there: BTreeSet<u64> = list
                    .items
                    .iter()
                    .map(|one| Sight::of(kind, one, false).revision)
                    .collect();
                let seen = self.present(kind);
                if seen == there {
                    Ok(())
                } else {
                    Err(format!("{seen:?} of {there:?}"))
                }
            })
            .await;
        }
        let mut seen = self.seen.lock().unwrap().clone();
        seen.sort_by_key(|sight| sight.revision);
        seen
    }

    /// The revisions of what is there, as far as was seen.
    fn present(&self, kind: &str) -> BTreeSet<u64> {
        let seen = self.seen.lock().unwrap();
        let mut present = BTreeMap::new();
        for sight in seen.iter().filter(|sight| sight.kind == kind) {
            if sight.is_gone {
                present.remove(&sight.key());
            } else {
                present.insert(sight.key(), sight.revision);
            }
        }
        present.into_values().collect()
    }
}

/// Goes through everything that was seen; tells what should never have been.
pub(crate) fn faults(seen: &[Sight], cell: &str) -> Vec<String> {
    let mut judge = Judge {
        cell,
        ..Judge::default()
    };
    for sight in seen {
        judge.look(sight);
    }
    judge.faults
}

/// What is known at a moment.
#[derive(Default)]
struct Judge<'a> {
    /// The namespace where nothing may be that nobody agreed to.
    cell: &'a str,
    /// Releases that somebody agreed to.
    agreed: BTreeSet<String>,
    snapshots: BTreeMap<String, Value>,
    /// What each Release asked for last, and of which uid it was.
    releases: BTreeMap<String, (String, i64, Value)>,
    /// The uids of objects on planes.
    placed: BTreeMap<(String, String, String), String>,
    faults: Vec<String>,
}

impl Judge<'_> {
    fn fault(&mut self, sight: &Sight, words: &str) {
        let (revision, kind, name) = (sight.revision, &sight.kind, sight.name());
        self.faults
            .push(format!("at {revision}: {kind} {name}: {words}"));
    }

    fn look(&mut self, sight: &Sight) {
        match sight.kind.as_str() {
            "ComponentRelease" => self.snapshot(sight),
            "ReleaseBinding" if !sight.is_gone => self.binding(sight),
            "Approval" if !sight.is_gone => {
                let spec = &sight.object["spec"];
                if spec["decision"] != "Reject" && spec["environment"] == GUARDED {
                    let release = spec["releaseName"].as_str().unwrap();
                    self.agreed.insert(release.to_owned());
                }
            }
            "Release" if !sight.is_gone => self.release(sight),
            "ConfigMap" | "Service" if !sight.is_gone => self.placed(sight),
            _ => {}
        }
    }

    fn snapshot(&mut self, sight: &Sight) {
        if sight.is_gone {
            self.snapshots.remove(sight.name());
            return;
        }
        let spec = sight.object["spec"].clone();
        let twin = self
            .snapshots
            .iter()
            .find(|(name, known)| *name != sight.name() && **known == spec);
        if let Some((name, _)) = twin {
            let words = format!("the same as {name}");
            self.fault(sight, &words);
        }
        self.snapshots.insert(sight.name().to_owned(), spec);
    }

    fn binding(&mut self, sight: &Sight) {
        let asked = &sight.object["spec"]["releaseName"];
        let runs = &sight.object["status"]["currentRelease"];
        for release in [asked, runs].into_iter().filter_map(Value::as_str) {
            if !self.snapshots.contains_key(release) {
                let words = format!("it points at {release}, which is not there");
                self.fault(sight, &words);
            }
        }
    }

    fn release(&mut self, sight: &Sight) {
        let spec = &sight.object["spec"];
        let metadata = &sight.object["metadata"];
        let snapshot = sight.annotation(annotations::COMPONENT_RELEASE);
        let is_component = spec["owner"]["componentName"].is_string();
        if is_component && !self.snapshots.contains_key(snapshot) {
            let words = format!("it runs {snapshot:?}, which is not there");
            self.fault(sight, &words);
        }
        let is_guarded = spec["environmentName"] == GUARDED;
        if is_component && is_guarded && !self.agreed.contains(snapshot) {
            let words = format!("nobody agreed to {snapshot:?}");
            self.fault(sight, &words);
        }
        let uid = sight.meta("uid").to_owned();
        let generation = metadata["generation"].as_i64().unwrap_or_default();
        if let Some((before, last, asked)) = self.releases.get(sight.name()) {
            let (is_anew, is_again) = (*before != uid, generation > *last && asked == spec);
            if is_anew {
                self.fault(sight, "it was made a second time");
            }
            if is_again {
                self.fault(sight, "it was written again with the same content");
            }
        }
        let known = (uid, generation, spec.clone());
        self.releases.insert(sight.name().to_owned(), known);
    }

    fn placed(&mut self, sight: &Sight) {
        let labels = &sight.object["metadata"]["labels"];
        if !labels[tracking::RELEASE_NAME].is_string() {
            return;
        }
        let uid = sight.meta("uid").to_owned();
        let before = self.placed.insert(sight.key(), uid.clone());
        if before.is_some_and(|before| before != uid) {
            self.fault(sight, "it was made a second time");
        }
        if sight.namespace() != self.cell {
            return;
        }
        let image = &sight.object["data"]["image"];
        let is_agreed = self.agreed.iter().any(|release| {
            let snapshot = self.snapshots.get(release);
            let runs = snapshot.map(|spec| &spec["workload"]["container"]["image"]);
            image.is_null() || runs == Some(image)
        });
        if !is_agreed {
            let words = format!("nobody agreed to {image}");
            self.fault(sight, &words);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sight(revision: u64, kind: &str, name: &str, rest: &Value) -> Sight {
        let mut object = json!({ "metadata": { "name": name, "uid": name } });
        let parts = rest.as_object().cloned().unwrap();
        for (field, value) in parts {
            match field.as_str() {
                "metadata" => {
                    let more = value.as_object().cloned().unwrap();
                    object["metadata"].as_object_mut().unwrap().extend(more);
                }
                _ => object[field] = value,
            }
        }
        Sight {
            revision,
            kind: kind.to_owned(),
            is_gone: false,
            object,
        }
    }

    fn snapshot(revision: u64, name: &str, image: &str) -> Sight {
        let spec = json!({ "workload": { "container": { "image": image } } });
        sight(revision, "ComponentRelease", name, &json!({ "spec": spec }))
    }

    fn release(revision: u64, generation: i64, of: &str) -> Sight {
        let rest = json!({
            "metadata": {
                "generation": generation, "annotations": { annotations::COMPONENT_RELEASE: of },
            },
            "spec": { "owner": { "componentName": "c" }, "environmentName": "prod", "of": of },
        });
        sight(revision, "Release", "c-prod", &rest)
    }

    fn word(revision: u64, release: &str) -> Sight {
        let spec = json!({ "environment": "prod", "releaseName": release });
        sight(revision, "Approval", "w", &json!({ "spec": spec }))
    }

    fn placed(revision: u64, image: &str) -> Sight {
        let rest = json!({
            "metadata": { "namespace": "cell", "labels": { tracking::RELEASE_NAME: "c-prod" } },
            "data": { "image": image },
        });
        sight(revision, "ConfigMap", "c", &rest)
    }

    #[test]
    fn what_is_in_order_is_no_fault() {
        let seen = [
            snapshot(1, "r1", "one"),
            word(2, "r1"),
            release(3, 1, "r1"),
            placed(4, "one"),
        ];
        assert_eq!(faults(&seen, "cell"), Vec::<String>::new());
    }

    #[test]
    fn every_fault_is_seen() {
        let asks = sight(
            9,
            "ReleaseBinding",
            "b",
            &json!({ "spec": { "releaseName": "r9" } }),
        );
        let cases = [
            (
                vec![snapshot(1, "r1", "one"), release(2, 1, "r1")],
                "nobody agreed",
            ),
            (
                vec![snapshot(1, "r1", "one"), release(2, 1, "r1"), word(3, "r1")],
                "nobody agreed",
            ),
            (
                vec![snapshot(1, "r1", "one"), word(2, "r1"), placed(3, "two")],
                "nobody agreed",
            ),
            (vec![asks], "points at r9"),
            (
                vec![word(1, "r1"), release(2, 1, "r1")],
                "which is not there",
            ),
            (
                vec![snapshot(1, "r1", "one"), snapshot(2, "r2", "one")],
                "the same as r1",
            ),
            (
                vec![
                    snapshot(1, "r1", "one"),
                    word(2, "r1"),
                    release(3, 1, "r1"),
                    release(4, 2, "r1"),
                ],
                "same content",
            ),
        ];
        for (seen, words) in cases {
            let found = faults(&seen, "cell");
            assert!(found.iter().any(|one| one.contains(words)), "{found:?}");
        }
    }
}
