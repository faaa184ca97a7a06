//! The Secrets that a plane's credentials are in: each followed by its name, so that nothing else has to be read.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::{Client, core::ApiResource};
use parking_lot::Mutex;
use quadrille_planes::{
    SecretName,
    feed::{self, News, Source, Told},
};
use tokio::{sync::Notify, task::JoinHandle};

type Data = BTreeMap<String, ByteString>;

/// What is known of the Secrets.
#[derive(Default)]
struct Known {
    /// Nothing for one that does not exist; missing for one that was not read yet.
    data: HashMap<SecretName, Option<Data>>,
    /// Why one cannot be read.
    refused: HashMap<SecretName, String>,
}

/// The Secrets of one plane.
#[derive(Default)]
pub(super) struct Secrets {
    known: Arc<Mutex<Known>>,
    changed: Arc<Notify>,
    following: HashMap<SecretName, JoinHandle<()>>,
}

impl Drop for Secrets {
    fn drop(&mut self) {
        for (_, task) in self.following.drain() {
            task.abort();
        }
    }
}

impl Secrets {
    /// Follows exactly these from now on.
    pub(super) fn follow(&mut self, client: &Client, names: &[SecretName]) {
        self.following.retain(|name, task| {
            let stays = names.contains(name);
            if !stays {
                task.abort();
                let mut known = self.known.lock();
                known.data.remove(name);
                known.refused.remove(name);
            }
            stays
        });
        for name in names {
            if self.following.contains_key(name) {
                continue;
            }
            let kind = ApiResource::erase::<Secret>(&());
            let source = Source::namespaced(client.clone(), &kind, &name.namespace)
                .fields(format!("metadata.name={}", name.name));
            let (known, changed) = (Arc::clone(&self.known), Arc::clone(&self.changed));
            let of = name.clone();
            let work = feed::follow(source, move |news| hear(&known, &changed, &of, news));
            self.following.insert(name.clone(), tokio::spawn(work));
        }
    }

    /// Waits until something changed.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Asks something of the Secrets, once all were read; before that, tells why one can't be, if so.
    pub(super) fn with<T>(
        &self,
        names: &[SecretName],
        ask: impl FnOnce(&HashMap<SecretName, Option<Data>>) -> T,
    ) -> Result<T, Option<String>> {
        let known = self.known.lock();
        for name in names {
            if !known.data.contains_key(name) {
                return Err(known.refused.get(name).cloned());
            }
        }
        Ok(ask(&known.data))
    }
}

fn hear(known: &Mutex<Known>, changed: &Notify, name: &SecretName, news: News) {
    let mut known = known.lock();
    match news {
        News::Listing => return,
        News::Listed(objects) => {
            if let Some(object) = objects.first() {
                known.data.insert(name.clone(), Some(data(object)));
            }
        }
        News::Complete(_) => {
            known.refused.remove(name);
            known.data.entry(name.clone()).or_insert(None);
        }
        News::Changed(object) => {
            known.data.insert(name.clone(), Some(data(&object)));
        }
        News::Gone(_) => {
            known.data.insert(name.clone(), None);
        }
        News::Failed(trouble) => {
            let words = format!("Secret {name} cannot be read: {}", trouble.message());
            known.refused.insert(name.clone(), words);
        }
    }
    changed.notify_one();
}

fn data(object: &Told) -> Data {
    let secret: Secret = object.read().unwrap_or_default();
    secret.data.unwrap_or_default()
}
