//! The judge: sees everything that is on the plane and everything that ever happened there, with a client of its own.
//! It reads nothing that the controllers say.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use futures::{StreamExt as _, TryStreamExt as _};
use kube::{
    Api, Client,
    api::{DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    core::{ApiResource, GroupVersionKind},
};
use quadrille_testkit::{ClusterKind, eventually};
use quadrille_types::Release;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    platform::Platform,
    stories::{Objects, config, foreign},
};

/// Which object: kind, namespace, name.
pub(crate) type Place = (String, String, String);

/// Something that happened to an object.
#[derive(Clone, Debug)]
pub(crate) struct Happened {
    pub(crate) revision: u64,
    pub(crate) place: Place,
    pub(crate) is_gone: bool,
}

/// The kinds of the stories, and pods, whose coming and going is watched.
const WATCHED: [(&str, &str, &str); 6] = [
    ("networking.k8s.io", "v1", "NetworkPolicy"),
    ("", "v1", "ConfigMap"),
    ("", "v1", "Service"),
    ("", "v1", "ServiceAccount"),
    ("apps", "v1", "Deployment"),
    ("", "v1", "Pod"),
];
/// Kinds that no story has: nothing of them may appear.
const UNWANTED: [(&str, &str, &str); 4] = [
    ("", "v1", "Secret"),
    ("apps", "v1", "StatefulSet"),
    ("batch", "v1", "Job"),
    ("networking.k8s.io", "v1", "Ingress"),
];

/// The judge of one run.
pub(crate) struct Judge {
    client: Client,
    pub(crate) cluster: ClusterKind,
    /// The test's own namespace, and another one.
    pub(crate) namespaces: [String; 2],
    history: Arc<Mutex<Vec<Happened>>>,
    /// What belongs to somebody else, as it was made.
    pub(crate) foreign: BTreeMap<Place, DynamicObject>,
    _watching: JoinSet<()>,
}

impl Judge {
    /// Begins to watch.
    pub(crate) async fn start(platform: &Platform) -> Self {
        let namespace = platform.namespace().to_owned();
        let namespaces = [namespace.clone(), format!("{namespace}-elsewhere")];
        let mut judge = Self {
            client: platform.client(),
            cluster: platform.cluster.kind(),
            namespaces,
            history: Arc::default(),
            foreign: BTreeMap::new(),
            _watching: JoinSet::new(),
        };
        for kind in WATCHED {
            let api = judge.all(kind);
            let from = api.list(&ListParams::default()).await.unwrap();
            let from = from.metadata.resource_version.unwrap();
            let (history, kind) = (Arc::clone(&judge.history), kind.2.to_owned());
            let namespaces = judge.namespaces.clone();
            let watch = api.watch(&WatchParams::default(), &from).await.unwrap();
            let mut watch = watch.boxed();
            judge._watching.spawn(async move {
                while let Ok(Some(event)) = watch.try_next().await {
                    let (object, is_gone) = match event {
                        WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
                        WatchEvent::Deleted(object) => (object, true),
                        WatchEvent::Bookmark(_) => continue,
                        WatchEvent::Error(error) => panic!("the judge's watch: {error:?}"),
                    };
                    let place = place(&kind, &object);
                    if namespaces.contains(&place.1) {
                        let revision = object.metadata.resource_version.unwrap();
                        history.lock().unwrap().push(Happened {
                            revision: revision.parse().unwrap(),
                            place,
                            is_gone,
                        });
                    }
                }
            });
        }
        for object in foreign() {
            judge.make_foreign(object).await;
        }
        judge
    }

    /// Somebody copies the labels of a release onto an object of their own.
    pub(crate) async fn copy_labels(&mut self, release: &Release) {
        let mut object = config("impostor");
        object["metadata"]["labels"] = json!({
            "openchoreo.dev/managed-by": "release-controller",
            "openchoreo.dev/release-uid": release.metadata.uid,
            "openchoreo.dev/release-name": release.metadata.name,
            "openchoreo.dev/release-namespace": release.metadata.namespace,
            "openchoreo.dev/release-resource-id": "first",
        });
        self.make_foreign(object).await;
    }

    async fn make_foreign(&mut self, object: Value) {
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        let types = object.types.clone().unwrap();
        let kind = ApiResource::from_gvk(&GroupVersionKind::try_from(&types).unwrap());
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &self.namespaces[0], &kind);
        let made = api.create(&PostParams::default(), &object).await.unwrap();
        self.foreign.insert(place(&types.kind, &made), made);
    }

    fn all(&self, (group, version, kind): (&str, &str, &str)) -> Api<DynamicObject> {
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        Api::all_with(self.client.clone(), &kind)
    }

    /// Everything in both namespaces, except pods and what the cluster itself puts into every namespace.
    pub(crate) async fn everything(&self) -> BTreeMap<Place, DynamicObject> {
        let mut found = BTreeMap::new();
        for kind in WATCHED.into_iter().chain(UNWANTED) {
            if kind.2 == "Pod" {
                continue;
            }
            let list = self.all(kind).list(&ListParams::default()).await.unwrap();
            let objects = list.items.into_iter();
            found.extend(objects.map(|object| (place(kind.2, &object), object)));
        }
        found.retain(|place, _| self.namespaces.contains(&place.1));
        found.retain(|place, _| !is_of_the_cluster(place));
        found
    }

    /// Where the objects of a release belong.
    pub(crate) fn places(&self, objects: &Objects) -> BTreeMap<Place, Value> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        objects
            .iter()
            .map(|(_, object)| {
                let metadata = &object["metadata"];
                let namespace = metadata.get("namespace");
                let namespace = namespace.map_or_else(|| self.namespaces[0].clone(), text);
                let place = (text(&object["kind"]), namespace, text(&metadata["name"]));
                // Items of lists don't say what they are.
                let mut asked = object.clone();
                asked
                    .as_object_mut()
                    .unwrap()
                    .retain(|key, _| key != "apiVersion" && key != "kind");
                (place, asked)
            })
            .collect()
    }

    /// Everything that happened, in the order in which it did: revisions count for all kinds together. A bell that is
    /// rung in every kind tells when the watches have caught up.
    pub(crate) async fn history(&self) -> Vec<Happened> {
        let mut bells = Vec::new();
        for kind in WATCHED {
            let Some((place, _)) = self.foreign.iter().find(|(place, _)| place.0 == kind.2) else {
                continue;
            };
            let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(kind.0, kind.1, kind.2));
            let api: Api<DynamicObject> =
                Api::namespaced_with(self.client.clone(), &place.1, &resource);
            let ring = Patch::Merge(json!({ "metadata": { "annotations": { "bell": "rung" } } }));
            let rung = api.patch(&place.2, &PatchParams::default(), &ring).await;
            let revision: u64 = rung
                .unwrap()
                .metadata
                .resource_version
                .unwrap()
                .parse()
                .unwrap();
            bells.push((place.clone(), revision));
        }
        let mut history = eventually("the judge has heard everything", async || {
            let history = self.history.lock().unwrap().clone();
            let is_heard = |(place, revision): &(Place, u64)| {
                history
                    .iter()
                    .any(|one| one.place == *place && one.revision >= *revision)
            };
            if bells.iter().all(is_heard) {
                Ok(history)
            } else {
                Err("a bell is not heard")
            }
        })
        .await;
        let first_bell = bells.iter().map(|(_, revision)| *revision).min().unwrap();
        history.retain(|one| one.revision < first_bell);
        history.sort_by_key(|one| one.revision);
        history
    }
}

/// Whether every namespace of a cluster has it.
pub(crate) fn is_of_the_cluster(place: &Place) -> bool {
    matches!(
        (place.0.as_str(), place.2.as_str()),
        ("ConfigMap", "kube-root-ca.crt") | ("ServiceAccount", "default")
    )
}

fn place(kind: &str, object: &DynamicObject) -> Place {
    let metadata = &object.metadata;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    (
        kind.to_owned(),
        text(&metadata.namespace),
        text(&metadata.name),
    )
}
