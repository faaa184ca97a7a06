//! What passes between a client and its cluster. A [`Wire`] logs every call, and fails, delays, doubles or cuts
//! those that a test chooses. It stands on the client's side, so it works the same on both kinds of cluster.

mod call;
mod fault;
mod gate;
mod matcher;
mod transport;
mod watch_body;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kube::Client;
use tokio::sync::watch;

pub use call::{Call, Verb};
pub use fault::{Disturbance, Failure, Fault, WatchEnd};
pub use gate::Gate;
pub use matcher::Matcher;

/// The wire of one or more clients; clones are the same wire.
#[derive(Debug, Clone, Default)]
pub struct Wire {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    log: Mutex<Vec<Call>>,
    rules: Mutex<Vec<Rule>>,
    /// What strikes every call since the process died or was stopped.
    end: Mutex<Option<Fault>>,
    /// Counts up with every order to end watches; open watches listen.
    end_watches: watch::Sender<Option<WatchEnd>>,
    /// What happens to events; open watches look at it with each one.
    disturbance: watch::Sender<Option<Disturbance>>,
}

#[derive(Debug)]
struct Rule {
    matcher: Matcher,
    fault: Fault,
    seen: usize,
    struck: Arc<Mutex<Vec<Call>>>,
}

/// A fault that was laid on the wire.
#[derive(Debug, Clone)]
pub struct Injected {
    struck: Arc<Mutex<Vec<Call>>>,
}

impl Injected {
    /// How many calls it has struck.
    pub fn hits(&self) -> usize {
        lock(&self.struck).len()
    }

    /// The first call that it has struck.
    pub fn first(&self) -> Option<Call> {
        lock(&self.struck).first().cloned()
    }
}

impl Wire {
    /// A client whose calls pass this wire on their way through `direct`. It does not retry.
    pub fn attach(&self, direct: Client, default_namespace: &str) -> Client {
        transport::client(self.clone(), direct, default_namespace)
    }

    /// Lays a fault on calls that match. The first rule that strikes a call is the only one.
    pub fn inject(&self, matcher: Matcher, fault: Fault) -> Injected {
        let struck = Arc::default();
        let rule = Rule {
            matcher,
            fault,
            seen: 0,
            struck: Arc::clone(&struck),
        };
        lock(&self.state.rules).push(rule);
        Injected { struck }
    }

    /// Takes all faults away.
    pub fn heal(&self) {
        lock(&self.state.rules).clear();
        lock(&self.state.end).take();
    }

    /// Ends all watches that are open now, in the given way. New ones are not affected.
    pub fn end_watches(&self, end: WatchEnd) {
        self.state.end_watches.send_replace(Some(end));
    }

    /// From now on, events of watches that are open or will be suffer this; nothing any more without one.
    pub fn disturb_watches(&self, disturbance: Option<Disturbance>) {
        self.state.disturbance.send_replace(disturbance);
    }

    /// All calls so far, in the order they were sent.
    pub fn calls(&self) -> Vec<Call> {
        lock(&self.state.log).clone()
    }

    /// How many calls of the log match, whatever count the matcher asks for.
    pub fn count(&self, matcher: &Matcher) -> usize {
        lock(&self.state.log)
            .iter()
            .filter(|call| matcher.fits(call))
            .count()
    }

    /// How many calls there were by verb and resource, such as `patch configmaps`.
    pub fn summary(&self) -> BTreeMap<String, usize> {
        let mut summary = BTreeMap::new();
        for call in lock(&self.state.log).iter() {
            *summary
                .entry(format!("{} {}", call.verb, call.resource))
                .or_default() += 1;
        }
        summary
    }

    /// Forgets the log, so that a test can count from here.
    pub fn forget(&self) {
        lock(&self.state.log).clear();
    }

    /// Logs a call and finds the fault that strikes it.
    fn pass(&self, call: Call) -> Option<Fault> {
        let mut struck = None;
        for rule in lock(&self.state.rules).iter_mut() {
            if !rule.matcher.fits(&call) {
                continue;
            }
            rule.seen += 1;
            if struck.is_none() && rule.matcher.strikes(rule.seen) {
                lock(&rule.struck).push(call.clone());
                struck = Some(rule.fault.clone());
            }
        }
        lock(&self.state.log).push(call);
        let mut end = lock(&self.state.end);
        if let Some(fault @ (Fault::Die | Fault::Stop(_))) = &struck {
            end.get_or_insert_with(|| fault.clone());
        }
        end.clone().or(struck)
    }

    fn disturbance(&self) -> watch::Receiver<Option<Disturbance>> {
        self.state.disturbance.subscribe()
    }

    fn watch_ends(&self) -> watch::Receiver<Option<WatchEnd>> {
        self.state.end_watches.subscribe()
    }
}

/// A test that panicked while holding the lock has failed already; the others may go on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
