//! Events: what a person should read about an object. The same one again is counted, not written anew.

use std::collections::HashMap;

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{
    clock::shown,
    hands::Hands,
    kinds::Kind,
    read::{self, Place},
};

/// How many events are remembered, to count them up.
const REMEMBERED: usize = 256;

/// Events that were written.
#[derive(Default)]
pub(crate) struct Events {
    known: Mutex<HashMap<u64, (Place, i64)>>,
}

/// Whom an event is about.
pub(crate) struct About<'a> {
    pub(crate) kind: Kind,
    pub(crate) place: &'a Place,
    pub(crate) uid: &'a str,
}

impl Hands {
    /// Writes an event about an object.
    pub(crate) async fn event(&self, kind: Kind, object: &Value, words: (&str, &str, &str)) {
        let place = Place::of(object);
        let about = About {
            kind,
            place: &place,
            uid: read::uid(object),
        };
        self.event_about(&about, words).await;
    }

    /// Writes an event: `Normal` or `Warning`, a reason, a message. A failure is only logged: whoever watches events
    /// loses one, and nothing else depends on it.
    pub(crate) async fn event_about(&self, about: &About<'_>, words: (&str, &str, &str)) {
        let key = key(about, words);
        let known = self.events.known.lock().get(&key).cloned();
        let written = match known {
            Some((place, count)) => self.count_up(&place, count + 1).await,
            None => None,
        };
        let written = match written {
            Some(written) => Some(written),
            None => self.write_event(about, words).await,
        };
        let mut known = self.events.known.lock();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        match written {
            Some(written) => known.insert(key, written),
            None => known.remove(&key),
        };
    }

    async fn count_up(&self, place: &Place, count: i64) -> Option<(Place, i64)> {
        let path = format!("{}/{}", collection(&place.namespace), place.name);
        let count_up = json!({ "count": count, "lastTimestamp": shown(self.now()) });
        // One that has expired meanwhile is written anew.
        let patched = self.merge_path(&path, &count_up).await;
        patched.is_ok().then(|| (place.clone(), count))
    }

    async fn write_event(
        &self,
        about: &About<'_>,
        (kind, reason, message): (&str, &str, &str),
    ) -> Option<(Place, i64)> {
        let now = self.now();
        let place = about.place;
        // Cluster-wide objects have their events in `default`.
        let namespace = match &*place.namespace {
            "" => "default",
            namespace => namespace,
        };
        let name = format!("{}.{:x}", place.name, now.as_nanosecond());
        let event = json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": { "name": name, "namespace": namespace },
            "involvedObject": {
                "apiVersion": about.kind.api_version(),
                "kind": about.kind.name(),
                "namespace": &*place.namespace,
                "name": &*place.name,
                "uid": about.uid,
            },
            "type": kind,
            "reason": reason,
            "message": message,
            "count": 1,
            "firstTimestamp": shown(now),
            "lastTimestamp": shown(now),
            "source": { "component": "quadrille-node" },
        });
        match self.create_path(&collection(namespace), &event).await {
            Ok(_) => Some((Place::new(namespace, &name), 1)),
            Err(trouble) => {
                tracing::debug!(reason, message, %trouble, "an event was not written");
                None
            }
        }
    }
}

fn collection(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/events")
}

fn key(about: &About<'_>, (kind, reason, message): (&str, &str, &str)) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    (about.uid, kind, reason, message).hash(&mut hasher);
    hasher.finish()
}
