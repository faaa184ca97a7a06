//! What people do to a cluster by hand, and what they look at.

use kube::{
    Api, Client, Resource as _, ResourceExt as _,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use quadrille_testkit::eventually;
use quadrille_types::{
    Release,
    release::{ObjectError, ObjectStatus},
};
use serde_json::{Value, json};

use crate::platform::Platform;

/// The finalizer of somebody else.
pub(crate) const FOREIGN_FINALIZER: &str = "example.com/hold";

/// The API of an object's kind, in a namespace or in the whole cluster.
pub(crate) fn api(client: Client, object: &Value, namespace: Option<&str>) -> Api<DynamicObject> {
    let (group, version) = match object["apiVersion"].as_str().unwrap().split_once('/') {
        Some((group, version)) => (group, version),
        None => ("", object["apiVersion"].as_str().unwrap()),
    };
    let kind = object["kind"].as_str().unwrap();
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    match namespace {
        Some(namespace) => Api::namespaced_with(client, namespace, &kind),
        None => Api::all_with(client, &kind),
    }
}

impl Platform {
    /// Objects of the kind of this one, in its namespace or the test's own.
    pub(crate) fn like(&self, object: &Value) -> Api<DynamicObject> {
        let namespace = object["metadata"]["namespace"].as_str();
        api(
            self.client(),
            object,
            Some(namespace.unwrap_or(self.namespace())),
        )
    }

    /// Creates an object as somebody.
    pub(crate) async fn create(&self, object: &Value) -> DynamicObject {
        let params = PostParams {
            field_manager: Some("somebody".to_owned()),
            ..PostParams::default()
        };
        let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        let value = serde_json::to_value(&object).unwrap();
        self.like(&value).create(&params, &object).await.unwrap()
    }

    /// Reads an object like this one, by its name.
    pub(crate) async fn found(&self, object: &Value) -> Option<DynamicObject> {
        let name = object["metadata"]["name"].as_str().unwrap();
        self.like(object).get_opt(name).await.unwrap()
    }

    /// The uid of an object that exists.
    pub(crate) async fn uid(&self, object: &Value) -> String {
        let found = self.found(object).await.unwrap();
        found.meta().uid.clone().unwrap()
    }

    /// Waits until something holds of an object; it gets nothing while there is none.
    pub(crate) async fn until_object(
        &self,
        what: &str,
        object: &Value,
        holds: impl Fn(Option<&Value>) -> bool,
    ) {
        eventually(what, async || {
            let found = self.found(object).await;
            let found = found.map(|found| serde_json::to_value(found).unwrap());
            if holds(found.as_ref()) {
                Ok(())
            } else {
                Err(serde_json::to_string_pretty(&found).unwrap())
            }
        })
        .await;
    }

    /// Merges a patch into an object as somebody.
    pub(crate) async fn edit(&self, object: &Value, patch: Value) {
        let name = object["metadata"]["name"].as_str().unwrap();
        let params = PatchParams {
            field_manager: Some("somebody".to_owned()),
            ..PatchParams::default()
        };
        let patch = Patch::Merge(patch);
        let api = self.like(object);
        api.patch(name, &params, &patch).await.unwrap();
    }

    /// Holds an object as somebody else's controller does.
    pub(crate) async fn hold(&self, object: &Value) {
        let finalizers = json!([FOREIGN_FINALIZER]);
        self.edit(object, json!({ "metadata": { "finalizers": finalizers } }))
            .await;
    }

    /// Lets an object go that was held.
    pub(crate) async fn let_go(&self, object: &Value) {
        self.edit(object, json!({ "metadata": { "finalizers": null } }))
            .await;
    }

    /// Deletes an object.
    pub(crate) async fn remove(&self, object: &Value) {
        let name = object["metadata"]["name"].as_str().unwrap();
        let api = self.like(object);
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Puts an annotation onto a release.
    pub(crate) async fn annotate(&self, release: &str, key: &str, value: &str) {
        let patch = Patch::Merge(json!({ "metadata": { "annotations": { key: value } } }));
        let api = self.cluster.api::<Release>();
        api.patch(release, &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    /// Waits until an object of a release has an error of this reason.
    pub(crate) async fn until_error(&self, release: &str, id: &str, reason: &str) -> ObjectError {
        let what = format!("{release}: {id} has the error {reason}");
        eventually(&what, async || {
            let found = self.read(release).await;
            let error = entry(&found, id).and_then(|entry| entry.error.clone());
            match error {
                Some(error) if error.reason == reason => Ok(error),
                _ => Err(serde_json::to_string_pretty(&found.status).unwrap()),
            }
        })
        .await
    }

    /// Waits until an event about a release has these words.
    pub(crate) async fn until_event(&self, release: &str, words: &str) -> String {
        eventually(&format!("{release}: an event says {words}"), async || {
            let events = self.events(release).await;
            let found = events.iter().find(|event| event.contains(words)).cloned();
            found.ok_or_else(|| format!("{events:#?}"))
        })
        .await
    }

    /// Names of all config maps of the test's namespace.
    pub(crate) async fn names(&self) -> Vec<String> {
        let configs = self.configs().await;
        configs.into_iter().map(|(name, _)| name).collect()
    }
}

/// What a release's status says of one of its objects.
pub(crate) fn entry<'a>(release: &'a Release, id: &str) -> Option<&'a ObjectStatus> {
    let status = release.status.as_ref()?;
    status
        .resources
        .iter()
        .find(|entry| entry.id.as_str() == id)
}

/// The name and namespace of an object, for messages.
pub(crate) fn called(object: &DynamicObject) -> String {
    format!(
        "{}/{}",
        object.namespace().unwrap_or_default(),
        object.name_any()
    )
}
