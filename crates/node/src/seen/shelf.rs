//! Objects of one kind as they were last seen, by place and by what controls them.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use serde_json::Value;

use super::Pod;
use crate::read::{self, Place};

/// What can be kept.
pub(crate) trait Kept {
    fn place(&self) -> Place;
    fn uid(&self) -> &str;
    fn version(&self) -> u64;
    /// The uid of what controls it.
    fn owner(&self) -> Option<Arc<str>>;
}

impl Kept for Pod {
    fn place(&self) -> Place {
        self.place.clone()
    }
    fn uid(&self) -> &str {
        &self.uid
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn owner(&self) -> Option<Arc<str>> {
        self.controller.as_ref().map(|owner| owner.uid.clone())
    }
}

impl Kept for Value {
    fn place(&self) -> Place {
        Place::of(self)
    }
    fn uid(&self) -> &str {
        read::uid(self)
    }
    fn version(&self) -> u64 {
        read::version(self)
    }
    fn owner(&self) -> Option<Arc<str>> {
        read::controller(self).map(|owner| owner.uid)
    }
}

/// Objects of one kind.
#[derive(Debug)]
pub(crate) struct Shelf<T> {
    objects: BTreeMap<Place, Arc<T>>,
    owned: HashMap<Arc<str>, BTreeSet<Place>>,
    /// How far the watch has told: what is not here and is not newer is gone.
    told: u64,
    /// Places that the list under way has named.
    listing: Option<BTreeSet<Place>>,
    pub(crate) is_complete: bool,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            owned: HashMap::new(),
            told: 0,
            listing: None,
            is_complete: false,
        }
    }
}

/// What a change was: before and after, nothing where there is no object.
pub(crate) type Change<T> = (Option<Arc<T>>, Option<Arc<T>>);

impl<T: Kept> Shelf<T> {
    pub(crate) fn get(&self, place: &Place) -> Option<&Arc<T>> {
        self.objects.get(place)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<T>> {
        self.objects.values()
    }

    /// Those in a namespace.
    pub(crate) fn within<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a Arc<T>> {
        self.objects
            .range(Place::new(namespace, "")..)
            .take_while(move |(place, _)| &*place.namespace == namespace)
            .map(|(_, object)| object)
    }

    /// Those that an object controls.
    pub(crate) fn of(&self, uid: &str) -> Vec<Arc<T>> {
        let places = self.owned.get(uid).into_iter().flatten();
        places
            .filter_map(|place| self.objects.get(place).cloned())
            .collect()
    }

    /// Whether an object controls any.
    pub(crate) fn has_of(&self, uid: &str) -> bool {
        self.owned.contains_key(uid)
    }

    /// A list begins.
    pub(crate) fn begin_list(&mut self) {
        self.listing = Some(BTreeSet::new());
    }

    /// A list names an object.
    pub(crate) fn listed(&mut self, object: T) -> Option<Change<T>> {
        if let Some(listing) = &mut self.listing {
            listing.insert(object.place());
        }
        self.put(object)
    }

    /// A list is complete: what it did not name, and was not made since, is gone.
    pub(crate) fn end_list(&mut self, revision: u64) -> Vec<Change<T>> {
        self.told = self.told.max(revision);
        self.is_complete = true;
        let Some(listed) = self.listing.take() else {
            return Vec::new();
        };
        let gone: Vec<Place> = self
            .objects
            .iter()
            .filter(|(place, object)| !listed.contains(*place) && object.version() <= revision)
            .map(|(place, _)| place.clone())
            .collect();
        gone.into_iter()
            .filter_map(|place| self.take(&place))
            .collect()
    }

    /// The watch tells of a change.
    pub(crate) fn changed(&mut self, object: T) -> Option<Change<T>> {
        self.told = self.told.max(object.version());
        self.put(object)
    }

    /// The watch tells of an end.
    pub(crate) fn gone(&mut self, object: &T) -> Option<Change<T>> {
        self.told = self.told.max(object.version());
        let place = object.place();
        self.objects
            .get(&place)
            .filter(|known| known.uid() == object.uid())?;
        self.take(&place)
    }

    /// The answer to a write of our own, which the watch will tell later, or has told already.
    pub(crate) fn noted(&mut self, object: T) -> Option<Change<T>> {
        let is_known = self.objects.contains_key(&object.place());
        if !is_known && object.version() <= self.told {
            return None;
        }
        self.put(object)
    }

    /// A delete of our own ended the object at once.
    pub(crate) fn noted_gone(&mut self, place: &Place, uid: &str) -> Option<Change<T>> {
        self.objects.get(place).filter(|known| known.uid() == uid)?;
        self.take(place)
    }

    fn put(&mut self, object: T) -> Option<Change<T>> {
        let place = object.place();
        if let Some(known) = self.objects.get(&place)
            && known.version() >= object.version()
        {
            return None;
        }
        let object = Arc::new(object);
        let before = self.objects.insert(place.clone(), object.clone());
        let owner = object.owner();
        let former = before.as_ref().and_then(|before| before.owner());
        if former != owner {
            self.disown(former, &place);
        }
        if let Some(owner) = owner {
            self.owned.entry(owner).or_default().insert(place);
        }
        Some((before, Some(object)))
    }

    fn take(&mut self, place: &Place) -> Option<Change<T>> {
        let before = self.objects.remove(place)?;
        self.disown(before.owner(), place);
        Some((Some(before), None))
    }

    fn disown(&mut self, owner: Option<Arc<str>>, place: &Place) {
        let Some(owner) = owner else { return };
        if let Some(places) = self.owned.get_mut(&owner) {
            places.remove(place);
            if places.is_empty() {
                self.owned.remove(&owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(name: &str, version: u64, owner: &str) -> Value {
        json!({ "metadata": {
            "name": name, "namespace": "n", "uid": name, "resourceVersion": version.to_string(),
            "ownerReferences": [{ "controller": true, "kind": "Job", "uid": owner }],
        }})
    }

    #[test]
    fn an_answer_that_comes_after_the_end_brings_nothing_back() {
        let mut shelf = Shelf::default();
        shelf.changed(object("a", 1, "x"));
        shelf.gone(&object("a", 3, "x"));
        assert!(shelf.noted(object("a", 2, "x")).is_none());
        assert!(shelf.noted(object("a", 4, "x")).is_some());
    }

    #[test]
    fn what_is_older_changes_nothing_and_owners_are_followed() {
        let mut shelf = Shelf::default();
        shelf.changed(object("a", 5, "x"));
        assert!(shelf.changed(object("a", 4, "y")).is_none());
        assert_eq!(shelf.of("x").len(), 1);
        shelf.changed(object("a", 6, "y"));
        assert_eq!((shelf.of("x").len(), shelf.of("y").len()), (0, 1));
    }

    #[test]
    fn what_a_list_does_not_name_is_gone_unless_it_is_newer() {
        let mut shelf = Shelf::default();
        shelf.changed(object("a", 1, "x"));
        shelf.noted(object("b", 9, "x"));
        shelf.begin_list();
        shelf.listed(object("c", 2, "x"));
        let gone = shelf.end_list(5);
        assert_eq!(gone.len(), 1);
        let names: Vec<_> = shelf.all().map(|object| object.place().name).collect();
        assert_eq!(
            names.iter().map(|name| &**name).collect::<Vec<_>>(),
            ["b", "c"]
        );
    }
}
