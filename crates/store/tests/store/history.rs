//! What an outsider knows about a store: every change it saw and every write that was
//! acknowledged. After a crash the store must agree with all of it.

use std::collections::BTreeMap;

use quadrille_store::{Change, Event, Revision, Store, Watch};

/// A change, without the revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) change: Change,
    pub(crate) key: Vec<u8>,
    pub(crate) value: Vec<u8>,
}

impl From<&Event> for Seen {
    fn from(event: &Event) -> Self {
        Self {
            change: event.change,
            key: event.key.to_vec(),
            value: event.value.to_vec(),
        }
    }
}

/// The knowledge that outlives crashes of the store.
#[derive(Debug, Default)]
pub(crate) struct History {
    seen: BTreeMap<u64, Seen>,
}

impl History {
    /// The last change that was seen.
    pub(crate) fn last(&self) -> Revision {
        Revision(self.seen.keys().next_back().copied().unwrap_or(0))
    }

    /// Adds a change that a watch gave: it must be the next one.
    pub(crate) fn see(&mut self, event: &Event) {
        assert_eq!(
            event.revision.0,
            self.last().0 + 1,
            "each change comes exactly once"
        );
        self.seen.insert(event.revision.0, event.into());
    }

    /// Takes everything that a watch has ready.
    pub(crate) fn drain(&mut self, watch: &mut Watch) {
        while let Ok(Some(event)) = watch.try_next() {
            self.see(&event);
        }
    }

    /// Checks a store that came back: it knows all that was seen (and more, perhaps), a watch
    /// resumed after the last seen change gives each further one once, and every acknowledged
    /// write is there.
    pub(crate) fn check(&mut self, store: &Store, acknowledged: &BTreeMap<u64, Seen>) {
        let newest = store.revision();
        assert!(
            newest >= self.last(),
            "the store went back from {} to {newest}",
            self.last()
        );
        let mut from_start = store.watch(b"", Revision(0)).unwrap();
        for (revision, seen) in &self.seen {
            let event = from_start
                .try_next()
                .unwrap()
                .expect("a change that was seen");
            assert_eq!((event.revision.0, &Seen::from(&*event)), (*revision, seen));
        }
        let mut resumed = store.watch(b"", self.last()).unwrap();
        self.drain(&mut resumed);
        assert_eq!(self.last(), newest);
        for (revision, written) in acknowledged {
            assert_eq!(
                self.seen.get(revision),
                Some(written),
                "revision {revision} is lost"
            );
        }
        self.check_state(store);
    }

    /// The records must be what the changes add up to.
    fn check_state(&self, store: &Store) {
        let mut state = BTreeMap::new();
        for seen in self.seen.values() {
            match seen.change {
                Change::Deleted => state.remove(&seen.key),
                Change::Created | Change::Updated => state.insert(&seen.key, &seen.value),
            };
        }
        let page = store.list(b"", None, 0, None).unwrap();
        let records = page
            .records
            .iter()
            .map(|r| (r.key.to_vec(), r.value.to_vec()));
        let expected = state.into_iter().map(|(k, v)| (k.clone(), v.clone()));
        assert_eq!(records.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}
