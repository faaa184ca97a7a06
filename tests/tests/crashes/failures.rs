//! Every single call fails once, in every way that a call can fail, and nobody starts anew.

use quadrille_testkit::wire::{Failure, Fault, Matcher, Wire};

use crate::{
    controllers::Controllers,
    every::{Choice, Told, for_every_call, is_for_the_embedded_alone},
    run::Run,
    stories::Story,
};

/// One call of controllers that start after the story has begun fails; they finish it all the same.
async fn failed(story: Story, call: Matcher, fault: Fault) -> Told {
    let mut run = Run::cold(story).await;
    run.tell().await;
    let wire = Wire::default();
    let failure = wire.inject(call, fault);
    let controllers = Controllers::start(&run.platform, wire.clone());
    run.until_over().await;
    let told = Told::new(&failure, &wire);
    run.ruling(&controllers).await;
    told
}

/// The same with controllers that were there before: only what the story itself asks of them fails.
async fn failed_at_work(story: Story, call: Matcher, fault: Fault) -> Told {
    let (mut run, controllers) = Run::warm(story).await;
    controllers.wire.forget();
    let failure = controllers.wire.inject(call, fault);
    run.tell().await;
    run.until_over().await;
    let told = Told::new(&failure, &controllers.wire);
    run.ruling(&controllers).await;
    told
}

/// Every call at work fails, every write of a start, and of the lists and watches of a start each third from this one on: the
/// nine ways to fail share them.
async fn fail_everywhere(what: &str, fault: Fault, from: usize) {
    if is_for_the_embedded_alone() {
        return;
    }
    let mut counts = Vec::new();
    for story in [Story::Create, Story::Shrink, Story::Move, Story::Delete] {
        // Starting is the same for all stories.
        if story == Story::Shrink {
            let run = |call| failed(story, call, fault.clone());
            let choice = Choice::writes_and_each(3, from);
            counts.push(for_every_call(what, choice, run).await);
        }
        let run = |call| failed_at_work(story, call, fault.clone());
        counts.push(for_every_call(what, Choice::ALL, run).await);
    }
    println!("{what}: {counts:?} calls");
}

#[tokio::test]
async fn every_call_may_meet_a_conflict_once() {
    fail_everywhere("409", Fault::Fail(Failure::conflict()), 1).await;
}

#[tokio::test]
async fn every_call_may_be_sent_away_once_with_a_time_to_come_again() {
    fail_everywhere("429", Fault::Fail(Failure::too_many_requests(1)), 2).await;
}

#[tokio::test]
async fn every_call_may_meet_an_internal_error_once() {
    fail_everywhere("500", Fault::Fail(Failure::internal_error()), 3).await;
}

#[tokio::test]
async fn every_call_may_meet_an_unavailable_server_once() {
    fail_everywhere("503", Fault::Fail(Failure::unavailable()), 1).await;
}

#[tokio::test]
async fn every_call_may_time_out_once_after_it_took_effect() {
    let fault = Fault::FailAfterEffect(Failure::timeout());
    fail_everywhere("504 after the effect", fault, 2).await;
}

#[tokio::test]
async fn every_connection_may_break_once_before_the_call_takes_effect() {
    fail_everywhere("cut before the effect", Fault::Disconnect, 3).await;
}

#[tokio::test]
async fn every_connection_may_break_once_after_the_call_took_effect() {
    fail_everywhere("cut after the effect", Fault::DisconnectAfterEffect, 1).await;
}

#[tokio::test]
async fn every_answer_may_break_off_once() {
    fail_everywhere("cut within the answer", Fault::CutBody(20), 2).await;
}

#[tokio::test]
async fn every_call_may_come_twice() {
    fail_everywhere("twice", Fault::Duplicate, 3).await;
}
