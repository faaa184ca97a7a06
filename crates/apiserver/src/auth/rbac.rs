//! Decides by the roles and bindings in the store.
//!
//! What they say is kept as an index that follows the store's events: every question first takes in what was written
//! since the last one, so a binding holds as soon as its writer hears that it is written.

use std::fmt;

use parking_lot::Mutex;
use quadrille_machinery::{
    rbac::{self, Asker, Policy, RoleRef, Rule},
    status::Status,
};
use quadrille_store::{Change, Event, Store, Watch};

use super::{Attributes, Authorizer, Decision, MASTERS, User};
use crate::stored;

/// The kinds that say who may what, by their plural names.
const KINDS: [&str; 4] = [
    "clusterroles",
    "clusterrolebindings",
    "roles",
    "rolebindings",
];

/// Role-based access control over a store.
pub struct Rbac {
    store: Store,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// One for each of [`KINDS`]; none before the first question.
    watches: Vec<Watch>,
    policy: Policy,
}

impl fmt::Debug for Rbac {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Rbac").finish_non_exhaustive()
    }
}

impl Rbac {
    /// Follows this store.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            known: Mutex::default(),
        }
    }

    /// All rules that hold for a user in a namespace (empty: in the whole cluster), and what is wrong with the user's
    /// bindings, if anything.
    pub(crate) fn rules(
        &self,
        user: &User,
        namespace: &str,
    ) -> Result<(Vec<Rule>, String), Status> {
        self.ask(|policy| policy.rules(asker(user), namespace))
    }

    /// The rules of a role, if it exists. `namespace` is that of the binding.
    pub(crate) fn role(
        &self,
        role: &RoleRef,
        namespace: &str,
    ) -> Result<Option<Vec<Rule>>, Status> {
        self.ask(|policy| policy.role(role, namespace).map(<[Rule]>::to_vec))
    }

    fn ask<T>(&self, question: impl FnOnce(&Policy) -> T) -> Result<T, Status> {
        let mut known = self.known.lock();
        if !known.take_in() {
            *known = Known::load(&self.store)?;
        }
        Ok(question(&known.policy))
    }
}

pub(crate) fn asker(user: &User) -> Asker<'_> {
    Asker {
        name: &user.name,
        groups: &user.groups,
    }
}

impl Known {
    /// Reads everything.
    fn load(store: &Store) -> Result<Self, Status> {
        let mut known = Self::default();
        // Watching begins before reading, so that nothing falls in between.
        let now = store.revision();
        for plural in KINDS {
            let watch = store.watch(prefix(plural).as_bytes(), now);
            known.watches.push(watch.map_err(Status::internal)?);
        }
        for plural in KINDS {
            for record in stored::scan(store, prefix(plural)) {
                let record = record?;
                known.put(plural, &record.key, &record.value)?;
            }
        }
        Ok(known)
    }

    /// Takes in what happened since the last time; `false` if that can't be told.
    fn take_in(&mut self) -> bool {
        let mut watches = std::mem::take(&mut self.watches);
        let mut is_known = watches.len() == KINDS.len();
        for (watch, plural) in watches.iter_mut().zip(KINDS) {
            loop {
                match watch.try_next() {
                    Ok(None) => break,
                    Ok(Some(event)) if self.follow(plural, &event).is_ok() => {}
                    Ok(Some(_)) | Err(_) => {
                        is_known = false;
                        break;
                    }
                }
            }
        }
        self.watches = watches;
        is_known
    }

    fn follow(&mut self, plural: &str, event: &Event) -> Result<(), Status> {
        if event.change != Change::Deleted {
            return self.put(plural, &event.key, &event.value);
        }
        let (namespace, name) = place(plural, &event.key);
        self.policy.remove(plural, namespace, name);
        Ok(())
    }

    fn put(&mut self, plural: &str, key: &[u8], value: &[u8]) -> Result<(), Status> {
        let object = serde_json::from_slice(value).map_err(Status::internal)?;
        let (namespace, name) = place(plural, key);
        self.policy.put(plural, namespace, name, &object);
        Ok(())
    }
}

fn prefix(plural: &str) -> String {
    format!("{plural}.{}/", rbac::GROUP)
}

/// The namespace (empty for those of the whole cluster) and the name in a key.
fn place<'a>(plural: &str, key: &'a [u8]) -> (&'a str, &'a str) {
    let key = std::str::from_utf8(key).unwrap_or_default();
    let rest = key.get(prefix(plural).len()..).unwrap_or_default();
    if plural.starts_with("cluster") {
        ("", rest)
    } else {
        rest.split_once('/').unwrap_or_default()
    }
}

impl Authorizer for Rbac {
    fn authorize(&self, attributes: &Attributes<'_>) -> Decision {
        let Attributes {
            user,
            verb,
            group,
            resource,
            subresource,
            namespace,
            name,
            path,
            ..
        } = *attributes;
        if user.is_in(MASTERS) {
            return Decision::allow();
        }
        let is_resource = attributes.is_resource_request();
        let allows = |rule: &Rule| {
            if is_resource {
                rule.allows(verb, group, resource, subresource, name)
            } else {
                rule.allows_path(verb, path)
            }
        };
        match self.ask(|policy| policy.decide(asker(user), namespace, allows)) {
            Ok(Ok(source)) => Decision::Allow {
                reason: format!("RBAC: allowed by {source}"),
            },
            Ok(Err(wrong)) if wrong.is_empty() => Decision::deny(),
            Ok(Err(wrong)) => Decision::Deny {
                reason: format!("RBAC: {wrong}"),
            },
            Err(status) => Decision::Deny {
                reason: format!("RBAC: {}", status.message),
            },
        }
    }
}

#[cfg(test)]
mod tests;
