//! What everybody here shares, and how they write: every answer is seen at once, so that nobody acts twice on
//! something that the watch has not told yet.

use std::{sync::Arc, time::Duration};

use http::{Request, header};
use jiff::Timestamp;
use kube::Client;
use quadrille_machinery::patch::merge;
use quadrille_planes::Trouble;
use serde_json::{Value, json};

use crate::{
    clock::Clock,
    events::Events,
    kinds::Kind,
    kubelet::Kubelet,
    queue::{Key, Queue, Task},
    read::{self, Place},
    route,
    seen::{Changed, Seen},
};

/// Who a write is by, as objects remember it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manager {
    Controllers,
    Scheduler,
    Kubelet,
}

impl Manager {
    fn name(self) -> &'static str {
        match self {
            Self::Controllers => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kubelet => "kubelet",
        }
    }
}

/// What everybody shares.
pub(crate) struct Hands {
    client: Client,
    pub(crate) seen: Seen,
    pub(crate) queue: Queue,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) kubelet: Kubelet,
    pub(crate) events: Events,
}

/// What came of looking at something.
pub(crate) type Outcome = Result<(), Trouble>;

/// How an object is deleted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ending {
    pub(crate) grace_seconds: Option<i64>,
    pub(crate) propagation: Option<&'static str>,
}

impl Hands {
    pub(crate) fn new(client: Client, clock: Arc<dyn Clock>, kubelet: Kubelet) -> Self {
        Self {
            client,
            seen: Seen::new(),
            queue: Queue::default(),
            clock,
            kubelet,
            events: Events::default(),
        }
    }

    /// Now.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Has something looked at again after so long.
    pub(crate) fn again(&self, task: Task, place: &Place, wait: Duration) {
        let key = Key {
            task,
            place: place.clone(),
        };
        self.queue.add_after(key, &*self.clock, wait);
    }

    /// Tells whoever it concerns that something changed.
    pub(crate) fn tell(&self, changed: &Changed) {
        route::wake(self, changed);
    }

    /// Creates an object.
    pub(crate) async fn create(&self, kind: Kind, object: &Value) -> Result<Value, Trouble> {
        let path = kind.path(read::namespace(object), "");
        let created = self.create_path(&path, object).await?;
        self.note(kind, &created);
        Ok(created)
    }

    /// Merges a patch into an object, or into one of its subresources.
    pub(crate) async fn merge(
        &self,
        kind: Kind,
        place: &Place,
        subresource: &str,
        patch: &Value,
    ) -> Result<Value, Trouble> {
        self.patch(
            kind,
            place,
            subresource,
            patch,
            "merge",
            Manager::Controllers,
        )
        .await
    }

    /// Patches an object by one of the ways there are.
    pub(crate) async fn patch(
        &self,
        kind: Kind,
        place: &Place,
        subresource: &str,
        patch: &Value,
        way: &str,
        manager: Manager,
    ) -> Result<Value, Trouble> {
        let mut url_path = kind.path(&place.namespace, &place.name);
        if !subresource.is_empty() {
            url_path = format!("{url_path}/{subresource}");
        }
        let content = if way == "strategic" {
            "application/strategic-merge-patch+json"
        } else {
            "application/merge-patch+json"
        };
        let request = Request::patch(url(&url_path, manager))
            .header(header::CONTENT_TYPE, content)
            .body(patch.to_string().into_bytes());
        let patched = self.send(request).await?;
        if subresource != "scale" {
            self.note(kind, &patched);
        }
        Ok(patched)
    }

    /// Brings an object's status to what it should be; nothing is sent if it is so already. What somebody else wrote
    /// in between is not overwritten: then this is a conflict, and the object is looked at again.
    pub(crate) async fn set_status(&self, kind: Kind, object: &Value, status: &Value) -> Outcome {
        let Some(change) = merge::between(&object["status"], status) else {
            return Ok(());
        };
        let patch = json!({
            "metadata": { "resourceVersion": object["metadata"]["resourceVersion"] },
            "status": change,
        });
        self.merge(kind, &Place::of(object), "status", &patch)
            .await
            .map(drop)
    }

    /// Reads an object from the API, past what is seen.
    pub(crate) async fn get(&self, kind: Kind, place: &Place) -> Result<Option<Value>, Trouble> {
        let request = Request::get(kind.path(&place.namespace, &place.name)).body(Vec::new());
        found(self.send(request).await)
    }

    /// Reads an object of any path.
    pub(crate) async fn get_path(&self, path: &str) -> Result<Option<Value>, Trouble> {
        found(self.send(Request::get(path).body(Vec::new())).await)
    }

    /// Creates an object of any path.
    pub(crate) async fn create_path(&self, path: &str, object: &Value) -> Result<Value, Trouble> {
        let request = Request::post(url(path, Manager::Controllers))
            .header(header::CONTENT_TYPE, "application/json")
            .body(object.to_string().into_bytes());
        self.send(request).await
    }

    /// Patches an object of any path.
    pub(crate) async fn merge_path(&self, path: &str, changes: &Value) -> Result<Value, Trouble> {
        let request = Request::patch(url(path, Manager::Controllers))
            .header(header::CONTENT_TYPE, "application/merge-patch+json")
            .body(changes.to_string().into_bytes());
        self.send(request).await
    }

    /// Binds a pod to a node.
    pub(crate) async fn bind(&self, pod: &Place, uid: &str, node: &str) -> Outcome {
        let path = format!("{}/binding", Kind::Pod.path(&pod.namespace, &pod.name));
        let binding = json!({
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": { "name": &*pod.name, "namespace": &*pod.namespace, "uid": uid },
            "target": { "apiVersion": "v1", "kind": "Node", "name": node },
        });
        let request = Request::post(url(&path, Manager::Scheduler))
            .header(header::CONTENT_TYPE, "application/json")
            .body(binding.to_string().into_bytes());
        self.send(request).await.map(drop)
    }

    /// Deletes an object, if it is still the one of that uid. One that is gone already is gone.
    pub(crate) async fn delete(
        &self,
        kind: Kind,
        place: &Place,
        uid: &str,
        how: Ending,
    ) -> Outcome {
        let mut options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": { "uid": uid },
        });
        if let Some(grace) = how.grace_seconds {
            options["gracePeriodSeconds"] = json!(grace);
        }
        if let Some(propagation) = how.propagation {
            options["propagationPolicy"] = json!(propagation);
        }
        let request = Request::delete(kind.path(&place.namespace, &place.name))
            .header(header::CONTENT_TYPE, "application/json")
            .body(options.to_string().into_bytes());
        match self.send(request).await {
            Ok(answer)
                if answer["kind"] == kind.name()
                    && read::is_deleting(&answer)
                    && is_held(&answer) =>
            {
                self.note(kind, &answer);
                Ok(())
            }
            Ok(_) | Err(Trouble::NotFound(_)) => {
                if let Some(changed) = self.seen.note_gone(kind, place, uid) {
                    self.tell(&changed);
                }
                Ok(())
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// Takes in an answer.
    fn note(&self, kind: Kind, object: &Value) {
        if let Some(changed) = self.seen.note(kind, object) {
            self.tell(&changed);
        }
    }

    async fn send(&self, request: http::Result<Request<Vec<u8>>>) -> Result<Value, Trouble> {
        let request = request.map_err(|error| Trouble::Unsendable(error.to_string()))?;
        Ok(self.client.request::<Value>(request).await?)
    }
}

/// Whether an object stays for a while although it is deleted.
fn is_held(object: &Value) -> bool {
    !read::list(&object["metadata"]["finalizers"]).is_empty()
        || read::int(&object["metadata"]["deletionGracePeriodSeconds"]) > 0
}

fn found(answer: Result<Value, Trouble>) -> Result<Option<Value>, Trouble> {
    match answer {
        Ok(object) => Ok(Some(object)),
        Err(Trouble::NotFound(_)) => Ok(None),
        Err(trouble) => Err(trouble),
    }
}

fn url(path: &str, manager: Manager) -> String {
    format!("{path}?fieldManager={}", manager.name())
}
