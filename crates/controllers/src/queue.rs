//! What is to be done next: a queue per lane, so that a slow lane delays only itself.
//!
//! A key is never handed out twice at once: what comes in while it is worked on waits until it is done.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Urgency {
    /// A person is waiting for it.
    Person,
    /// Something in the plane is not as it should be.
    Heal,
    /// It can wait.
    Background,
}

/// The longest time that anything is put off: whatever is asked for, no moment is too late to be named.
const LONGEST: Duration = Duration::from_hours(30 * 24);

/// When to come back to what made the work on it panic.
const AFTER_PANIC: Duration = Duration::from_secs(10);

/// A queue with lanes.
pub struct Queue<Lane, Key> {
    lanes: Mutex<Lanes<Lane, Key>>,
    changed: Notify,
    at_once: usize,
}

struct Lanes<Lane, Key> {
    lines: HashMap<Lane, Line<Key>>,
    /// Where each key is, whether it waits or is worked on: a key is in one lane only.
    of_keys: HashMap<Key, Lane>,
}

struct Line<Key> {
    next: u64,
    ready: BTreeMap<(Urgency, u64), Key>,
    later: BTreeMap<(Instant, u64), Key>,
    places: HashMap<Key, Place>,
    running: HashMap<Key, Option<(Urgency, Instant)>>,
}

/// Where a key waits.
#[derive(Clone, Copy)]
enum Place {
    Ready(Urgency, u64),
    Later(Instant, u64, Urgency),
}

impl<Key> Default for Line<Key> {
    fn default() -> Self {
        Self {
            next: 0,
            ready: BTreeMap::new(),
            later: BTreeMap::new(),
            places: HashMap::new(),
            running: HashMap::new(),
        }
    }
}

impl<Key: Clone + Eq + Hash> Line<Key> {
    /// Adds a key, or moves it forward. A later or less urgent wish changes nothing.
    fn add(&mut self, key: Key, urgency: Urgency, at: Instant, now: Instant) {
        if let Some(again) = self.running.get_mut(&key) {
            let (sooner, first) = again.unwrap_or((urgency, at));
            *again = Some((sooner.min(urgency), first.min(at)));
            return;
        }
        let (urgency, at) = match self.places.remove(&key) {
            None => (urgency, at),
            Some(Place::Ready(known, number)) => {
                if known <= urgency {
                    self.places.insert(key, Place::Ready(known, number));
                    return;
                }
                self.ready.remove(&(known, number));
                (urgency, now)
            }
            Some(Place::Later(known_at, number, known)) => {
                self.later.remove(&(known_at, number));
                (known.min(urgency), known_at.min(at))
            }
        };
        let number = self.next;
        self.next += 1;
        if at <= now {
            self.ready.insert((urgency, number), key.clone());
            self.places.insert(key, Place::Ready(urgency, number));
        } else {
            self.later.insert((at, number), key.clone());
            self.places.insert(key, Place::Later(at, number, urgency));
        }
    }

    /// Takes a key out that waits.
    fn give_up(&mut self, key: &Key, now: Instant) -> Option<(Urgency, Instant)> {
        match self.places.remove(key)? {
            Place::Ready(urgency, number) => {
                self.ready.remove(&(urgency, number));
                Some((urgency, now))
            }
            Place::Later(at, number, urgency) => {
                self.later.remove(&(at, number));
                Some((urgency, at))
            }
        }
    }

    fn take(&mut self, now: Instant) -> Option<Key> {
        while let Some(due) = self
            .later
            .first_entry()
            .filter(|entry| entry.key().0 <= now)
        {
            let key = due.remove();
            if let Some(Place::Later(_, number, urgency)) = self.places.get(&key).copied() {
                self.ready.insert((urgency, number), key.clone());
                self.places.insert(key, Place::Ready(urgency, number));
            }
        }
        let (_, key) = self.ready.pop_first()?;
        self.places.remove(&key);
        self.running.insert(key.clone(), None);
        Some(key)
    }

    fn is_empty(&self) -> bool {
        self.places.is_empty() && self.running.is_empty()
    }
}

impl<Lane: Clone + Eq + Hash, Key: Clone + Eq + Hash> Queue<Lane, Key> {
    /// An empty queue; each lane has at most `at_once` keys handed out.
    pub fn new(at_once: usize) -> Self {
        Self {
            lanes: Mutex::new(Lanes {
                lines: HashMap::new(),
                of_keys: HashMap::new(),
            }),
            changed: Notify::new(),
            at_once,
        }
    }

    /// Adds a key to a lane. One that waits in another lane changes over; one that is worked on there goes on in
    /// that lane once more.
    pub fn add(&self, lane: Lane, key: Key, urgency: Urgency, after: Duration) {
        let now = Instant::now();
        let (mut urgency, mut at) = (urgency, now + after.min(LONGEST));
        let mut lanes = self.lanes.lock();
        let mut lane = lane;
        let Lanes { lines, of_keys } = &mut *lanes;
        let known = of_keys.get(&key).filter(|known| **known != lane).cloned();
        if let Some(other) = known
            && let Some(line) = lines.get_mut(&other)
        {
            if line.running.contains_key(&key) {
                lane = other;
            } else if let Some((known, known_at)) = line.give_up(&key, now) {
                (urgency, at) = (urgency.min(known), at.min(known_at));
                if line.is_empty() {
                    lines.remove(&other);
                }
            }
        }
        of_keys.insert(key.clone(), lane.clone());
        lines.entry(lane).or_default().add(key, urgency, at, now);
        drop(lanes);
        self.changed.notify_one();
    }

    /// The next key, when there is one. It must be given back by [`Self::hold`] or [`Self::done`].
    pub async fn next(&self) -> (Lane, Key) {
        loop {
            let changed = self.changed.notified();
            let wake = {
                let now = Instant::now();
                let mut lanes = self.lanes.lock();
                let mut wake: Option<Instant> = None;
                for (lane, line) in &mut lanes.lines {
                    if line.running.len() >= self.at_once {
                        continue;
                    }
                    if let Some(key) = line.take(now) {
                        return (lane.clone(), key);
                    }
                    let first = line.later.first_key_value().map(|((at, _), _)| *at);
                    wake = [wake, first].into_iter().flatten().min();
                }
                wake
            };
            match wake {
                None => changed.await,
                Some(at) => tokio::select! {
                    () = changed => {}
                    () = sleep_until(at) => {}
                },
            }
        }
    }

    /// Gives a key back when what this returns is dropped. Where the work on it panicked, it comes again after a while.
    pub fn hold<'a>(&'a self, lane: &'a Lane, key: &'a Key) -> Holding<'a, Lane, Key> {
        Holding {
            queue: self,
            lane,
            key,
        }
    }

    /// Gives a key back.
    pub fn done(&self, lane: &Lane, key: &Key) {
        let now = Instant::now();
        let mut lanes = self.lanes.lock();
        let Lanes { lines, of_keys } = &mut *lanes;
        if let Some(line) = lines.get_mut(lane) {
            match line.running.remove(key) {
                Some(Some((urgency, at))) => line.add(key.clone(), urgency, at, now),
                Some(None) => {
                    of_keys.remove(key);
                }
                None => {}
            }
            if line.is_empty() {
                lines.remove(lane);
            }
        }
        drop(lanes);
        self.changed.notify_one();
    }

    /// How many keys wait or are worked on.
    pub fn len(&self) -> usize {
        self.lanes.lock().of_keys.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A key that is worked on.
pub struct Holding<'a, Lane: Clone + Eq + Hash, Key: Clone + Eq + Hash> {
    queue: &'a Queue<Lane, Key>,
    lane: &'a Lane,
    key: &'a Key,
}

impl<Lane: Clone + Eq + Hash, Key: Clone + Eq + Hash> Drop for Holding<'_, Lane, Key> {
    fn drop(&mut self) {
        if thread::panicking() {
            let (lane, key) = (self.lane.clone(), self.key.clone());
            self.queue.add(lane, key, Urgency::Background, AFTER_PANIC);
        }
        self.queue.done(self.lane, self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    const NOW: Duration = Duration::ZERO;

    #[tokio::test(start_paused = true)]
    async fn people_come_first_and_a_full_lane_delays_only_itself() {
        let queue = Queue::new(1);
        queue.add("slow", 1, Urgency::Background, NOW);
        queue.add("slow", 2, Urgency::Person, NOW);
        assert_eq!(queue.next().await, ("slow", 2));
        queue.add("other", 3, Urgency::Background, NOW);
        assert_eq!(queue.next().await, ("other", 3));
        queue.done(&"slow", &2);
        assert_eq!(queue.next().await, ("slow", 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_never_handed_out_twice_at_once() {
        let queue = Queue::new(8);
        queue.add("a", 1, Urgency::Background, NOW);
        assert_eq!(queue.next().await, ("a", 1));
        queue.add("a", 1, Urgency::Person, NOW);
        queue.add("a", 2, Urgency::Background, NOW);
        assert_eq!(queue.next().await, ("a", 2));
        queue.done(&"a", &1);
        assert_eq!(
            queue.next().await,
            ("a", 1),
            "what came in between is not lost"
        );
        queue.done(&"a", &1);
        queue.done(&"a", &2);
        assert!(queue.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_that_changes_lanes_is_still_one_key() {
        let queue = Queue::new(8);
        queue.add("a", 1, Urgency::Background, NOW);
        queue.add("b", 1, Urgency::Background, NOW);
        assert_eq!(queue.len(), 1);
        assert_eq!(queue.next().await, ("b", 1));
        queue.add("c", 1, Urgency::Person, NOW);
        queue.add("c", 2, Urgency::Background, NOW);
        assert_eq!(queue.next().await, ("c", 2), "1 is still worked on");
        queue.done(&"b", &1);
        assert_eq!(queue.next().await, ("b", 1));
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_panics_gives_its_place_back_and_is_done_again() {
        let queue = Queue::new(1);
        let begun = Instant::now();
        queue.add("a", 1, Urgency::Background, NOW);
        let (lane, key) = queue.next().await;
        let work = AssertUnwindSafe(|| {
            let _holding = queue.hold(&lane, &key);
            panic!("as asked");
        });
        assert!(catch_unwind(work).is_err());
        queue.add("a", 2, Urgency::Background, NOW);
        assert_eq!(queue.next().await, ("a", 2));
        queue.done(&"a", &2);
        assert_eq!(begun.elapsed(), Duration::ZERO);
        assert_eq!(queue.next().await, ("a", 1));
        assert_eq!(begun.elapsed(), AFTER_PANIC);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_put_off_for_ever_comes_all_the_same() {
        let queue = Queue::new(1);
        queue.add("a", 1, Urgency::Background, Duration::MAX);
        assert_eq!(queue.next().await, ("a", 1));
    }

    #[tokio::test(start_paused = true)]
    async fn the_earliest_and_most_urgent_wish_counts() {
        let queue = Queue::new(8);
        let begun = Instant::now();
        queue.add("a", 1, Urgency::Background, Duration::from_hours(1));
        queue.add("a", 1, Urgency::Background, Duration::from_secs(5));
        queue.add("a", 1, Urgency::Background, Duration::from_mins(30));
        queue.add("a", 2, Urgency::Background, Duration::from_secs(9));
        assert_eq!(queue.next().await, ("a", 1));
        assert_eq!(begun.elapsed(), Duration::from_secs(5));
        queue.add("a", 2, Urgency::Person, NOW);
        assert_eq!(queue.next().await, ("a", 2));
        assert_eq!(begun.elapsed(), Duration::from_secs(5));
    }
}
