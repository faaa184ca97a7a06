//! The controllers are killed after every single call that they make, and start anew.

use std::{collections::BTreeSet, future::Future};

use futures::StreamExt as _;
use quadrille_testkit::wire::{Call, Fault, Injected, Matcher, Verb, Wire};

use crate::{controllers::Controllers, run::Run, stories::Story};

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

/// Controllers that start after the story has begun die before this call; others start and finish it.
async fn killed(story: Story, call: Matcher) -> Told {
    let mut run = Run::cold(story).await;
    run.tell().await;
    let wire = Wire::default();
    let death = wire.inject(call, Fault::Die);
    let doomed = Controllers::start(&run.platform, wire);
    finish(run, doomed, death).await
}

/// The same with controllers that were there before the story began.
async fn killed_at_work(story: Story, call: Matcher) -> Told {
    let (mut run, doomed) = Run::warm(story).await;
    doomed.wire.forget();
    let death = doomed.wire.inject(call, Fault::Die);
    run.tell().await;
    finish(run, doomed, death).await
}

async fn finish(run: Run, doomed: Controllers, death: Injected) -> Told {
    run.until_struck(&death).await;
    let told = Told::new(&death, &doomed.wire);
    doomed.kill().await;
    let next = Controllers::start(&run.platform, Wire::default());
    run.ruling(&next).await;
    told
}

#[tokio::test]
async fn a_creation_survives_a_kill_after_every_call() {
    kill_everywhere(Story::Create).await;
}

#[tokio::test]
async fn a_change_with_prune_survives_a_kill_after_every_call() {
    kill_everywhere(Story::Shrink).await;
}

#[tokio::test]
async fn a_move_survives_a_kill_after_every_call() {
    kill_everywhere(Story::Move).await;
}

#[tokio::test]
async fn a_deletion_survives_a_kill_after_every_call() {
    kill_everywhere(Story::Delete).await;
}

async fn kill_everywhere(story: Story) {
    let cold = for_every_call("starting", 1, |call| killed(story, call)).await;
    let warm = for_every_call("at work", 1, |call| killed_at_work(story, call)).await;
    println!("{story:?}: {cold} calls from the start, {warm} calls at work");
}
