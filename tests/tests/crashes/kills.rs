//! The controllers are killed after every single call that they make, and start anew.

use quadrille_testkit::{
    real,
    wire::{Fault, Injected, Matcher, Wire},
};

use crate::{
    controllers::Controllers,
    every::{Choice, Told, for_every_call},
    run::Run,
    stories::Story,
};

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

/// Controllers die before this call, and then the story is taken back: what was applied and is not asked for any more
/// can only be found by what was written down before.
async fn killed_and_taken_back(story: Story, call: Matcher) -> Told {
    let (mut run, doomed) = Run::warm(story).await;
    doomed.wire.forget();
    let death = doomed.wire.inject(call, Fault::Die);
    run.tell().await;
    run.until_struck(&death).await;
    let told = Told::new(&death, &doomed.wire);
    doomed.kill().await;
    run.take_back().await;
    let next = Controllers::start(&run.platform, Wire::default());
    run.ruling(&next).await;
    told
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
    // On a real cluster, starting is tried with one story: it is much the same for all.
    if !real::is_asked_for() || story == Story::Shrink {
        let choice = Choice::starting(story);
        let count = for_every_call("starting", choice, |call| killed(story, call)).await;
        println!("{story:?}: {count} calls from the start");
    }
    let choice = Choice::at_work();
    let count = for_every_call("at work", choice, |call| killed_at_work(story, call)).await;
    println!("{story:?}: {count} calls at work");
}

#[tokio::test]
async fn what_was_begun_can_be_taken_back_after_a_kill_at_every_call() {
    let stories: &[Story] = if real::is_asked_for() {
        &[Story::Move]
    } else {
        &[Story::Create, Story::Shrink, Story::Move]
    };
    for story in stories.iter().copied() {
        let run = |call| killed_and_taken_back(story, call);
        let choice = Choice::at_work();
        let count = for_every_call("at work", choice, run).await;
        println!("{story:?}: {count} calls, then taken back");
    }
}
