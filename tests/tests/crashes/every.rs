//! One run for every call that a story makes, with a fault at that call.

use std::{collections::BTreeSet, future::Future};

use futures::StreamExt as _;
use quadrille_testkit::wire::{Call, Injected, Matcher, Verb, Wire};

/// So many runs at once.
const AT_ONCE: usize = 8;

/// Which call: its verb, resource and name.
type Which = (Verb, String, Option<String>);

/// What a run with a fault at one of its calls tells.
pub(crate) struct Told {
    /// What was struck; nothing where the story was over before.
    struck: Option<Which>,
    /// Everything that was called.
    calls: BTreeSet<Which>,
}

impl Told {
    pub(crate) fn new(fault: &Injected, wire: &Wire) -> Self {
        let which = |call: &Call| (call.verb, call.resource.clone(), call.name.clone());
        Self {
            struck: fault.first().as_ref().map(which),
            calls: wire.calls().iter().map(which).collect(),
        }
    }
}

/// Runs a story with a fault at its k-th call, for every k, until no call is left. Calls overlap, so the k-th is not
/// always the same: what was never struck is then struck by its name. Tells how many calls there are.
pub(crate) async fn for_every_call<F: Future<Output = Told>>(
    what: &str,
    step: usize,
    run: impl Fn(Matcher) -> F,
) -> usize {
    let mut struck = BTreeSet::new();
    let mut calls = BTreeSet::new();
    let mut runs = futures::stream::iter((1..).step_by(step))
        .map(|k| run(Matcher::any().nth(k)))
        .buffered(AT_ONCE);
    let (mut count, mut through) = (0, 0);
    while through < AT_ONCE / 2 {
        let told = runs.next().await.unwrap();
        match told.struck {
            Some(call) => {
                count += through + 1;
                through = 0;
                struck.insert(call);
            }
            None => {
                through += 1;
                calls.extend(told.calls);
            }
        }
    }
    drop(runs);
    let missed: Vec<Which> = calls.difference(&struck).cloned().collect();
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
