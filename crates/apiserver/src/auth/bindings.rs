//! Whether what a service account token is bound to still exists, looked up in the store.

use std::sync::Arc;

use futures::future::{self, BoxFuture};
use jiff::Timestamp;
use quadrille_store::Store;
use serde::Deserialize;

use super::{
    authenticate::Bindings,
    service_account::{Binding, LEEWAY_SECONDS, Reference},
};
use crate::clock::Clock;

const INVALIDATED: &str = "service account token has been invalidated";

/// Looks objects up in a store.
#[derive(Clone)]
pub struct LookUp {
    store: Store,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for LookUp {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("LookUp").finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Stored {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    uid: String,
    deletion_timestamp: Option<Timestamp>,
}

impl LookUp {
    /// Looks into this store.
    pub fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    fn check_all(&self, binding: &Binding) -> Result<(), String> {
        let namespace = &binding.namespace;
        let Reference { name, uid } = &binding.serviceaccount;
        let account = self
            .find(&format!("serviceaccounts/{namespace}/{name}"))
            .ok_or_else(|| format!("serviceaccounts {name:?} not found"))?;
        if account.uid != *uid {
            return Err(format!(
                "service account UID ({}) does not match claim ({uid})",
                account.uid
            ));
        }
        if self.is_over(&account) {
            return Err(format!(
                "service account {namespace}/{name} has been deleted"
            ));
        }
        let node = binding.node.as_ref().filter(|_| binding.pod.is_none());
        for (what, object, folder) in [
            (
                "secret",
                binding.secret.as_ref(),
                format!("secrets/{namespace}"),
            ),
            ("pod", binding.pod.as_ref(), format!("pods/{namespace}")),
            ("node", node, "nodes".to_owned()),
        ] {
            let Some(Reference { name, uid: claimed }) = object else {
                continue;
            };
            let found = self.find(&format!("{folder}/{name}")).ok_or(INVALIDATED)?;
            if found.uid != *claimed {
                return Err(format!(
                    "{what} UID ({}) does not match service account {what} ref claim ({claimed})",
                    found.uid
                ));
            }
            if self.is_over(&found) {
                return Err(INVALIDATED.to_owned());
            }
        }
        Ok(())
    }

    /// What matters of an object; nothing when it cannot be had.
    fn find(&self, key: &str) -> Option<Metadata> {
        let record = self.store.get(key.as_bytes()).ok()??;
        let stored: Stored = serde_json::from_slice(&record.value).ok()?;
        Some(stored.metadata)
    }

    /// Whether an object should be gone by now, even if something still holds it.
    fn is_over(&self, object: &Metadata) -> bool {
        let now = self.clock.now().as_second();
        object
            .deletion_timestamp
            .is_some_and(|end| end.as_second() < now - LEEWAY_SECONDS)
    }
}

impl Bindings for LookUp {
    fn check<'a>(&'a self, binding: &'a Binding) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(future::ready(self.check_all(binding)))
    }
}

#[cfg(test)]
mod tests {
    use quadrille_store::{Expect, Op, Options};
    use serde_json::json;

    use super::*;
    use crate::clock::SystemClock;

    async fn look_up() -> LookUp {
        let store = Store::in_memory(Options::default()).unwrap();
        let put = |key: &'static str, uid: &str, gone: Option<&str>| Op::Put {
            key: key.into(),
            value: json!({ "metadata": { "uid": uid, "deletionTimestamp": gone } })
                .to_string()
                .into(),
            expect: Expect::Any,
        };
        let objects = vec![
            put("serviceaccounts/shop/builder", "u-1", None),
            put("pods/shop/web-0", "p-1", None),
            put("pods/shop/held", "p-2", Some("2020-01-01T00:00:00Z")),
        ];
        store.commit(objects).await.unwrap();
        LookUp::new(store, Arc::new(SystemClock))
    }

    fn bound(account_uid: &str, pod: Option<(&str, &str)>) -> Binding {
        let reference = |name: &str, uid: &str| Reference {
            name: name.to_owned(),
            uid: uid.to_owned(),
        };
        Binding {
            namespace: "shop".to_owned(),
            serviceaccount: reference("builder", account_uid),
            pod: pod.map(|(name, uid)| reference(name, uid)),
            ..Binding::default()
        }
    }

    #[tokio::test]
    async fn an_account_and_a_pod_that_live_are_accepted() {
        let binding = bound("u-1", Some(("web-0", "p-1")));
        assert_eq!(look_up().await.check(&binding).await, Ok(()));
    }

    #[tokio::test]
    async fn successors_gaps_and_what_should_be_gone_are_not_what_the_token_was_bound_to() {
        let look_up = look_up().await;
        for binding in [
            bound("u-0", None),
            bound("u-1", Some(("web-0", "p-0"))),
            bound("u-1", Some(("gone", "p-1"))),
            bound("u-1", Some(("held", "p-2"))),
        ] {
            assert!(look_up.check(&binding).await.is_err(), "{binding:?}");
        }
    }
}
