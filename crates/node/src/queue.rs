//! What is to be looked at next. A key waits once, is never handed out twice at once, and can be put off.
//!
//! Putting off goes by the clock that is handed in, so that a test can move it; trying again after a failure goes by
//! real time, so that it can't get stuck on a clock that stands still.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    time::Duration,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

use crate::{
    clock::{Clock, after},
    read::Place,
};

/// Who looks at something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Task {
    Schedule,
    Kubelet,
    ReplicaSet,
    ReplicationController,
    Deployment,
    StatefulSet,
    DaemonSet,
    Job,
    CronJob,
    Endpoints,
    Claim,
    Volume,
    Autoscaler,
    Budget,
}

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) task: Task,
    pub(crate) place: Place,
}

/// The queue.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Something can be taken.
    ready: Notify,
    /// The earliest time has changed.
    timers: Notify,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Key>,
    waiting: HashSet<Key>,
    /// Those handed out, and whether they are to be looked at again.
    running: HashMap<Key, bool>,
    later: Timers<Timestamp>,
    retries: Timers<Instant>,
    failures: HashMap<Key, u32>,
    /// Nothing is handed out before everything was seen once.
    is_open: bool,
}

struct Timers<T> {
    number: u64,
    times: BTreeMap<(T, u64), Key>,
    keys: HashMap<Key, (T, u64)>,
}

impl<T: Ord + Copy> Default for Timers<T> {
    fn default() -> Self {
        Self {
            number: 0,
            times: BTreeMap::new(),
            keys: HashMap::new(),
        }
    }
}

impl<T: Ord + Copy> Timers<T> {
    /// Sets the time of a key, unless it has an earlier one.
    fn set(&mut self, key: Key, at: T) {
        if let Some(known) = self.keys.get(&key) {
            if known.0 <= at {
                return;
            }
            self.times.remove(&known.clone());
        }
        self.number += 1;
        self.times.insert((at, self.number), key.clone());
        self.keys.insert(key, (at, self.number));
    }

    fn clear(&mut self, key: &Key) {
        if let Some(known) = self.keys.remove(key) {
            self.times.remove(&known);
        }
    }

    fn first(&self) -> Option<T> {
        self.times.first_key_value().map(|((at, _), _)| *at)
    }

    fn due(&mut self, now: T) -> Vec<Key> {
        let mut due = Vec::new();
        while let Some(first) = self
            .times
            .first_entry()
            .filter(|entry| entry.key().0 <= now)
        {
            let key = first.remove();
            self.keys.remove(&key);
            due.push(key);
        }
        due
    }
}

const FIRST_RETRY: Duration = Duration::from_millis(5);
const LAST_RETRY: Duration = Duration::from_secs(30);

impl Queue {
    /// Begins to hand out keys.
    pub(crate) fn open(&self) {
        self.state.lock().is_open = true;
        self.ready.notify_one();
    }

    /// Whether keys are handed out.
    pub(crate) fn is_open(&self) -> bool {
        self.state.lock().is_open
    }

    /// Has a key looked at.
    pub(crate) fn add(&self, key: Key) {
        if self.state.lock().add(key) {
            self.ready.notify_one();
        }
    }

    /// Has a key looked at when the clock shows that time.
    pub(crate) fn add_at(&self, key: Key, at: Timestamp) {
        self.state.lock().later.set(key, at);
        self.timers.notify_one();
    }

    /// Has a key looked at after so long.
    pub(crate) fn add_after(&self, key: Key, clock: &dyn Clock, wait: Duration) {
        self.add_at(key, after(clock.now(), wait));
    }

    /// The next key. It must be given back by [`Self::done`].
    pub(crate) async fn next(&self) -> Key {
        loop {
            let notified = self.ready.notified();
            if let Some(key) = self.take() {
                return key;
            }
            notified.await;
        }
    }

    fn take(&self) -> Option<Key> {
        let mut state = self.state.lock();
        if !state.is_open {
            return None;
        }
        let key = state.ready.pop_front()?;
        state.waiting.remove(&key);
        state.running.insert(key.clone(), false);
        if !state.ready.is_empty() {
            self.ready.notify_one();
        }
        Some(key)
    }

    /// Gives a key back; one that failed is tried again, later each time.
    pub(crate) fn done(&self, key: Key, failed: bool) {
        let mut state = self.state.lock();
        let again = state.running.remove(&key) == Some(true);
        if failed {
            let failures = state.failures.entry(key.clone()).or_default();
            let wait = FIRST_RETRY * 2_u32.saturating_pow((*failures).min(12));
            *failures += 1;
            state
                .retries
                .set(key.clone(), Instant::now() + wait.min(LAST_RETRY));
            self.timers.notify_one();
        } else {
            state.failures.remove(&key);
            state.retries.clear(&key);
        }
        if again && state.add(key) {
            self.ready.notify_one();
        }
    }

    /// Brings what was put off, when its time has come, until dropped.
    pub(crate) async fn keep_time(&self, clock: &dyn Clock) {
        loop {
            let changed = self.timers.notified();
            let (later, retry) = {
                let mut state = self.state.lock();
                let mut due = state.later.due(clock.now());
                due.extend(state.retries.due(Instant::now()));
                for key in due {
                    if state.add(key) {
                        self.ready.notify_one();
                    }
                }
                (state.later.first(), state.retries.first())
            };
            let by_clock = async {
                match later {
                    Some(at) => clock.sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let by_retry = async {
                match retry {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = changed => {}
                () = by_clock => {}
                () = by_retry => {}
            }
        }
    }
}

impl State {
    /// Whether there is one more to take.
    fn add(&mut self, key: Key) -> bool {
        if let Some(again) = self.running.get_mut(&key) {
            *again = true;
            return false;
        }
        if !self.waiting.insert(key.clone()) {
            return false;
        }
        self.ready.push_back(key);
        true
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn key(name: &str) -> Key {
        Key {
            task: Task::Job,
            place: Place::new("n", name),
        }
    }

    #[test]
    fn a_key_is_handed_out_once_and_comes_again_if_it_was_added_meanwhile() {
        let queue = Queue::default();
        queue.open();
        queue.add(key("a"));
        queue.add(key("a"));
        assert_eq!(queue.next().now_or_never(), Some(key("a")));
        assert_eq!(queue.next().now_or_never(), None);
        queue.add(key("a"));
        assert_eq!(queue.next().now_or_never(), None, "it is being looked at");
        queue.done(key("a"), false);
        assert_eq!(queue.next().now_or_never(), Some(key("a")));
    }

    #[tokio::test]
    async fn a_failed_key_comes_back_by_itself() {
        let queue = Queue::default();
        queue.open();
        queue.add(key("a"));
        let taken = queue.next().await;
        queue.done(taken, true);
        tokio::select! {
            () = queue.keep_time(&crate::clock::SystemClock) => {}
            taken = queue.next() => assert_eq!(taken, key("a")),
        }
    }
}
