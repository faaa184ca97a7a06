//! Moments that objects name: when a word ends, when a promotion is due. Whoever waits for one is looked at again then.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use parking_lot::Mutex;
use quadrille_planes::clock::Clock;
use tokio::sync::Notify;

use crate::platform::step::Thing;

/// Who is looked at when.
pub(crate) struct Alarms {
    clock: Arc<dyn Clock>,
    set: Mutex<Set>,
    changed: Notify,
}

#[derive(Default)]
struct Set {
    in_order: BTreeSet<(Timestamp, Thing)>,
    moments: HashMap<Thing, Timestamp>,
}

impl Set {
    fn put(&mut self, thing: &Thing, moment: Option<Timestamp>) {
        if let Some(before) = self.moments.remove(thing) {
            self.in_order.remove(&(before, thing.clone()));
        }
        if let Some(moment) = moment {
            self.moments.insert(thing.clone(), moment);
            self.in_order.insert((moment, thing.clone()));
        }
    }

    fn take_due(&mut self, now: Timestamp) -> Vec<Thing> {
        let mut due = Vec::new();
        while let Some((_, thing)) = self.in_order.first().filter(|(at, _)| *at <= now) {
            let thing = thing.clone();
            self.put(&thing, None);
            due.push(thing);
        }
        due
    }
}

/// A time as exactly as a status can say it: what is written is what is remembered.
pub(crate) fn noted(time: Timestamp) -> Time {
    Time(Timestamp::from_second(time.as_second()).unwrap_or(time))
}

impl Alarms {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            set: Mutex::default(),
            changed: Notify::new(),
        }
    }

    /// Now.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Waits until so much time has passed.
    pub(crate) async fn pass(&self, time: SignedDuration) {
        self.clock.sleep_until(self.now() + time).await;
    }

    /// A thing is looked at again at this moment, and at none that was said before.
    pub(crate) fn set(&self, thing: &Thing, moment: Option<Timestamp>) {
        let mut set = self.set.lock();
        if set.moments.get(thing).copied() == moment {
            return;
        }
        set.put(thing, moment);
        drop(set);
        self.changed.notify_one();
    }

    /// Those whose moment has come, when it has.
    pub(crate) async fn due(&self) -> Vec<Thing> {
        loop {
            let changed = self.changed.notified();
            let first = {
                let mut set = self.set.lock();
                let due = set.take_due(self.clock.now());
                if !due.is_empty() {
                    return due;
                }
                set.in_order.first().map(|(at, _)| *at)
            };
            match first {
                None => changed.await,
                Some(at) => tokio::select! {
                    () = changed => {}
                    () = self.clock.sleep_until(at) => {}
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt as _;
    use quadrille_testkit::clock::ManualClock;

    use super::*;
    use crate::{key::Key, platform::step::Kind};

    fn thing(name: &str) -> Thing {
        Thing {
            kind: Kind::ReleaseBinding,
            key: Key::new("acme", name),
        }
    }

    #[tokio::test]
    async fn each_is_called_at_the_last_moment_that_was_said() {
        let clock = ManualClock::default();
        let alarms = Alarms::new(Arc::new(clock.clone()));
        let in_minutes =
            |minutes: i64| Some(clock.now() + jiff::SignedDuration::from_mins(minutes));
        alarms.set(&thing("early"), in_minutes(1));
        alarms.set(&thing("late"), in_minutes(1));
        alarms.set(&thing("late"), in_minutes(3));
        alarms.set(&thing("never"), in_minutes(2));
        alarms.set(&thing("never"), None);
        assert!(alarms.due().now_or_never().is_none());
        clock.advance(Duration::from_secs(59));
        assert!(alarms.due().now_or_never().is_none());
        clock.advance(Duration::from_secs(1));
        assert_eq!(alarms.due().await, [thing("early")]);
        let waiting = alarms.due();
        clock.advance(Duration::from_mins(2));
        assert_eq!(waiting.await, [thing("late")]);
    }
}
