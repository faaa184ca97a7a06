//! One run for every call that a story makes, with a fault at that call.

use std::{collections::BTreeSet, future::Future};

use futures::StreamExt as _;
use quadrille_testkit::{
    real,
    wire::{Call, Injected, Matcher, Verb, Wire},
};

/// A server with everything in it is made for every run, hundreds of times: about a fifth of that is memory taken and
/// given back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// So many runs at once: they wait now and then. More have no more to do, and need more memory than is near.
const AT_ONCE: usize = 6;

/// Whether this is not repeated on a real cluster: the same calls meet the same faults, and each takes its time there.
pub(crate) fn is_for_the_embedded_alone() -> bool {
    real::is_asked_for()
}

/// Which call: its verb, resource and name.
type Which = (Verb, String, Option<String>);

/// What a run with a fault at one of its calls tells.
pub(crate) struct Told {
    /// What was struck; nothing where the story was over before.
    struck: Option<Which>,
    /// Everything that was called.
    calls: BTreeSet<Which>,
    /// How often.
    count: usize,
}

impl Told {
    pub(crate) fn new(fault: &Injected, wire: &Wire) -> Self {
        let which = |call: &Call| (call.verb, call.resource.clone(), call.name.clone());
        let calls = wire.calls();
        Self {
            struck: fault.first().as_ref().map(which),
            count: calls.len(),
            calls: calls.iter().map(which).collect(),
        }
    }
}

/// Which calls of a story are struck.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    /// The number of the first one.
    pub(crate) first: usize,
    /// From there on, each so-many-th.
    pub(crate) step: usize,
    /// What is struck by its name if it was left out.
    pub(crate) by_name: fn(Verb) -> bool,
}

impl Choice {
    /// All of them.
    pub(crate) const ALL: Self = Self {
        first: 1,
        step: 1,
        by_name: |_| true,
    };
}

/// Runs a story with a fault at its k-th call, for every k that is chosen, until no call is left. Calls overlap, so the k-th
/// is not always the same: what was never struck is then struck by its name. Tells how many calls were struck.
pub(crate) async fn for_every_call<F: Future<Output = Told>>(
    what: &str,
    choice: Choice,
    run: impl Fn(Matcher) -> F,
) -> usize {
    // Undisturbed first, to know how many there are.
    let undisturbed = run(Matcher::any().nth(usize::MAX)).await;
    let mut calls = undisturbed.calls;
    let mut struck = BTreeSet::new();
    let mut count = 0;
    let Choice {
        first,
        step,
        by_name,
    } = choice;
    let mut runs = futures::stream::iter((first..=undisturbed.count).step_by(step))
        .map(|k| run(Matcher::any().nth(k)))
        .buffer_unordered(AT_ONCE);
    while let Some(told) = runs.next().await {
        match told.struck {
            Some(call) => {
                count += 1;
                struck.insert(call);
            }
            None => calls.extend(told.calls),
        }
    }
    drop(runs);
    // Calls overlap, so one run may be a little longer than another.
    for k in (undisturbed.count + 1..).take_while(|_| step == 1) {
        match run(Matcher::any().nth(k)).await.struck {
            Some(call) => struck.insert(call),
            None => break,
        };
        count += 1;
    }
    let missed = calls.difference(&struck).cloned();
    let missed: Vec<Which> = missed.filter(|(verb, ..)| by_name(*verb)).collect();
    let mut runs = futures::stream::iter(missed)
        .map(|which| {
            let matcher = Matcher::verb(which.0).resource(&which.1);
            let matcher = match &which.2 {
                Some(name) => matcher.name(name),
                None => matcher,
            };
            let run = run(matcher.nth(1));
            async move { (which, run.await) }
        })
        .buffered(AT_ONCE);
    while let Some((which, told)) = runs.next().await {
        let is_covered = told.struck.is_some() || !told.calls.contains(&which);
        assert!(is_covered, "{what}: {which:?} was never struck");
    }
    assert!(count * step >= 5, "{what}: only {count} calls");
    count
}
