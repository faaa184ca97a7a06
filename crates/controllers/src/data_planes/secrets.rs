//! The Secrets that a plane's credentials are in: each followed by its name, so that nothing else has to be read.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
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
    /// Those that a list which is under way has not shown yet.
    unlisted: HashSet<SecretName>,
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
                known.unlisted.remove(name);
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
        News::Listing => {
            known.unlisted.insert(name.clone());
            return;
        }
        News::Listed(objects) => {
            if let Some(object) = objects.first() {
                known.unlisted.remove(name);
                known.data.insert(name.clone(), Some(data(object)));
            }
        }
        News::Complete(_) => {
            known.refused.remove(name);
            if known.unlisted.remove(name) {
                known.data.insert(name.clone(), None);
            }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_that_a_new_list_lacks_is_gone() {
        let name = SecretName {
            namespace: "acme".to_owned(),
            name: "token".to_owned(),
        };
        let secret = Told::from(json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": { "name": "token", "namespace": "acme" }, "data": { "token": "eA==" },
        }));
        let (known, changed) = (Mutex::default(), Notify::new());
        let tell = |news| {
            hear(&known, &changed, &name, news);
            let known = known.lock().data.get(&name).cloned();
            known.map(|data| data.is_some())
        };
        assert_eq!(tell(News::Listing), None);
        assert_eq!(tell(News::Complete(1)), Some(false), "there is none");
        tell(News::Listing);
        assert_eq!(tell(News::Listed(vec![secret])), Some(true));
        assert_eq!(tell(News::Complete(2)), Some(true));
        assert_eq!(tell(News::Listing), Some(true), "until the list is whole");
        assert_eq!(tell(News::Listed(Vec::new())), Some(true));
        assert_eq!(tell(News::Complete(3)), Some(false));
    }
}
