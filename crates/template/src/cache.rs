//! What was compiled lately, by a key: few are kept, the one used longest ago goes first.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// A bounded cache. Values are shared; compiling happens outside of its lock.
#[derive(Debug)]
pub struct Cache<K, V> {
    most: usize,
    clock: AtomicU64,
    entries: Mutex<HashMap<K, Entry<V>>>,
}

#[derive(Debug)]
struct Entry<V> {
    value: Arc<V>,
    used: u64,
}

impl<K: Hash + Eq + Clone, V> Cache<K, V> {
    /// A cache of so many values.
    pub fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            clock: AtomicU64::new(0),
            entries: Mutex::default(),
        }
    }

    /// The value of a key, made if it is not known. When two make it at once, one of theirs stays.
    pub fn get_or_make<E>(
        &self,
        key: &K,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<Arc<V>, E> {
        if let Some(known) = self.get(key) {
            return Ok(known);
        }
        let value = Arc::new(make()?);
        let used = self.tick();
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= self.most && !entries.contains_key(key) {
            let oldest = entries.iter().min_by_key(|(_, entry)| entry.used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                entries.remove(&oldest);
            }
        }
        let entry = entries
            .entry(key.clone())
            .or_insert_with(|| Entry { value, used });
        Ok(entry.value.clone())
    }

    /// The value of a key, if it is known.
    pub fn get(&self, key: &K) -> Option<Arc<V>> {
        let used = self.tick();
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get_mut(key)?;
        entry.used = used;
        Some(entry.value.clone())
    }

    /// How many values are kept.
    pub fn len(&self) -> usize {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_used_longest_ago_goes_first() {
        let cache = Cache::new(2);
        let make = |key: u32| cache.get_or_make(&key, || Ok::<u32, ()>(key * 10)).unwrap();
        make(1);
        make(2);
        assert_eq!(*make(1), 10);
        make(3);
        assert_eq!(cache.len(), 2);
        assert!(cache.get(&2).is_none());
        assert!(cache.get(&1).is_some());
    }

    #[test]
    fn what_cannot_be_made_is_not_kept() {
        let cache: Cache<u32, u32> = Cache::new(2);
        assert_eq!(cache.get_or_make(&1, || Err("no")), Err("no"));
        assert!(cache.is_empty());
    }
}
