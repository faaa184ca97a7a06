//! The objects of one kind, as a list and a watch told them.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use kube::Resource;
use quadrille_planes::feed::{News, Told};
use quadrille_types::labels::hierarchy;
use serde::de::DeserializeOwned;

use crate::key::Key;

/// The objects of a kind.
pub(crate) struct Shelf<K> {
    objects: HashMap<Key, Arc<K>>,
    /// What a list that is under way has not shown yet.
    unlisted: HashSet<Key>,
    is_complete: bool,
    /// What an object is looked up by besides its name.
    groups_of: fn(&K) -> Vec<Key>,
    groups: HashMap<Key, BTreeSet<Key>>,
}

/// What was heard.
#[derive(Default)]
pub(crate) struct Heard {
    /// Objects that are new or changed.
    pub(crate) changed: Vec<Key>,
    /// Objects that are gone.
    pub(crate) gone: Vec<Key>,
    /// Names that labels gave these objects, now or before: others may know them by these.
    pub(crate) also_called: Vec<Key>,
    /// Whether everything is known from now on, and was not before.
    pub(crate) is_complete_now: bool,
}

impl<K> Default for Shelf<K> {
    fn default() -> Self {
        Self::grouped(|_| Vec::new())
    }
}

impl<K> Shelf<K> {
    /// A shelf whose objects are looked up by groups as well: the namespace and any word.
    pub(crate) fn grouped(groups_of: fn(&K) -> Vec<Key>) -> Self {
        Self {
            objects: HashMap::new(),
            unlisted: HashSet::new(),
            is_complete: false,
            groups_of,
            groups: HashMap::new(),
        }
    }

    /// The objects of a group, in order of their names.
    pub(crate) fn of_group<'a>(
        &'a self,
        namespace: &str,
        word: &str,
    ) -> impl Iterator<Item = &'a Arc<K>> + use<'a, K> {
        let keys = self.groups.get(&Key::new(namespace, word));
        keys.into_iter()
            .flatten()
            .filter_map(|key| self.objects.get(key))
    }

    /// Which objects a group has.
    pub(crate) fn keys_of_group(&self, namespace: &str, word: &str) -> Vec<Key> {
        let keys = self.groups.get(&Key::new(namespace, word));
        keys.into_iter().flatten().cloned().collect()
    }

    fn insert(&mut self, key: Key, object: K) {
        self.take(&key);
        for group in (self.groups_of)(&object) {
            self.groups.entry(group).or_default().insert(key.clone());
        }
        self.objects.insert(key, Arc::new(object));
    }

    fn take(&mut self, key: &Key) -> Option<Arc<K>> {
        let object = self.objects.remove(key)?;
        for group in (self.groups_of)(&object) {
            if let Some(keys) = self.groups.get_mut(&group) {
                keys.remove(key);
                if keys.is_empty() {
                    self.groups.remove(&group);
                }
            }
        }
        Some(object)
    }
}

impl<K: Resource<DynamicType = ()> + DeserializeOwned> Shelf<K> {
    /// Whether what is not here is not there.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// An object.
    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<K>> {
        self.objects.get(key)
    }

    /// An object, by its words.
    pub(crate) fn find(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        self.objects.get(&Key::new(namespace, name))
    }

    /// All objects of a namespace.
    pub(crate) fn within<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a Arc<K>> {
        let here = move |(key, _): &(&Key, _)| &*key.namespace == namespace;
        self.objects.iter().filter(here).map(|(_, object)| object)
    }

    /// Which objects there are.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.objects.keys()
    }

    /// Takes in news. What cannot be understood is skipped, and said.
    pub(crate) fn hear(&mut self, news: News) -> Heard {
        let mut heard = Heard::default();
        match news {
            // Until the list is complete, what is known is still there.
            News::Listing => self.unlisted = self.objects.keys().cloned().collect(),
            News::Listed(objects) => {
                for object in &objects {
                    self.put(object, &mut heard);
                }
            }
            News::Complete(_) => {
                for key in std::mem::take(&mut self.unlisted) {
                    self.lose(key, &mut heard);
                }
                heard.is_complete_now = !std::mem::replace(&mut self.is_complete, true);
            }
            News::Changed(object) => self.put(&object, &mut heard),
            News::Gone(object) => self.lose(Key::told(object.head()), &mut heard),
            News::Failed(error) => {
                let kinds = K::plural(&());
                tracing::warn!(%error, %kinds, "they cannot be watched");
            }
        }
        heard
    }

    fn put(&mut self, object: &Told, heard: &mut Heard) {
        let key = Key::told(object.head());
        self.unlisted.remove(&key);
        let Some(mut object) = read::<K>(object) else {
            return;
        };
        // Who wrote which field is most of many objects, and nobody's business here.
        object.meta_mut().managed_fields = None;
        let before = self.objects.get(&key);
        heard
            .also_called
            .extend(before.and_then(|before| alias(&key, &**before)));
        heard.also_called.extend(alias(&key, &object));
        self.insert(key.clone(), object);
        heard.changed.push(key);
    }

    fn lose(&mut self, key: Key, heard: &mut Heard) {
        if let Some(lost) = self.take(&key) {
            heard.also_called.extend(alias(&key, &*lost));
            heard.gone.push(key);
        }
    }
}

/// The name that a label gives an object besides its own.
fn alias(key: &Key, object: &impl Resource) -> Option<Key> {
    let labels = object.meta().labels.as_ref()?;
    let name = labels.get(hierarchy::NAME)?;
    (**name != *key.name).then(|| Key::new(&key.namespace, name))
}

/// Reads an object of ours; one that cannot be understood is skipped, and said.
pub(crate) fn read<K: DeserializeOwned>(object: &Told) -> Option<K> {
    match object.read() {
        Ok(object) => Some(object),
        Err(error) => {
            let name = &object.head().name;
            tracing::warn!(%name, %error, "an object cannot be understood and is left alone");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use quadrille_types::Organization;
    use serde_json::json;

    use super::*;

    fn organization(name: &str) -> Told {
        Told::from(json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Organization",
            "metadata": { "name": name },
        }))
    }

    #[test]
    fn what_a_list_lacks_is_gone_once_it_is_complete() {
        let mut shelf = Shelf::<Organization>::default();
        shelf.hear(News::Listing);
        shelf.hear(News::Listed(vec![organization("a"), organization("b")]));
        assert!(!shelf.is_complete());
        assert!(shelf.hear(News::Complete(1)).is_complete_now);
        shelf.hear(News::Listing);
        shelf.hear(News::Listed(vec![organization("b")]));
        assert!(
            shelf.find("", "a").is_some(),
            "the list is not complete yet"
        );
        let heard = shelf.hear(News::Complete(2));
        assert_eq!(heard.gone, [Key::new("", "a")]);
        assert!(!heard.is_complete_now && shelf.find("", "a").is_none());
        assert_eq!(
            shelf.hear(News::Gone(organization("b"))).gone,
            [Key::new("", "b")]
        );
        assert_eq!(shelf.keys().count(), 0);
    }

    #[test]
    fn the_names_that_labels_give_are_told_as_well() {
        let labelled = |name: &str| {
            Told::from(json!({
                "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Organization",
                "metadata": { "name": "a", "labels": { "openchoreo.dev/name": name } },
            }))
        };
        let key = |name: &str| Key::new("", name);
        let mut shelf = Shelf::<Organization>::default();
        let mut also_called = |news| shelf.hear(news).also_called;
        assert_eq!(also_called(News::Changed(labelled("a"))), []);
        assert_eq!(also_called(News::Changed(labelled("b"))), [key("b")]);
        let both = [key("b"), key("c")];
        assert_eq!(also_called(News::Changed(labelled("c"))), both);
        assert_eq!(also_called(News::Gone(labelled("c"))), [key("c")]);
    }
}
