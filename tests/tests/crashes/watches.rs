//! Watches end, lose, double and swap what they tell, in the middle of every story.

use quadrille_testkit::wire::{Disturbance, Fault, Gate, Matcher, WatchEnd};

use crate::{
    every::{Choice, Told, for_every_call, is_for_the_embedded_alone},
    run::Run,
    stories::Story,
};

const STORIES: [Story; 4] = [Story::Create, Story::Shrink, Story::Move, Story::Delete];

/// All watches end in this way while this call is under way.
async fn ended(story: Story, call: Matcher, end: WatchEnd) -> Told {
    let (mut run, controllers) = Run::warm(story).await;
    controllers.wire.forget();
    let gate = Gate::closed();
    let held = controllers.wire.inject(call, Fault::Hold(gate.clone()));
    run.tell().await;
    run.until_struck(&held).await;
    controllers.wire.end_watches(end);
    gate.open();
    run.until_over().await;
    let told = Told::new(&held, &controllers.wire);
    run.ruling(&controllers).await;
    told
}

async fn end_everywhere(end: WatchEnd, stories: &[Story]) {
    if is_for_the_embedded_alone() {
        return;
    }
    for story in stories.iter().copied() {
        for_every_call("at work", Choice::ALL, |call| ended(story, call, end)).await;
    }
}

#[tokio::test]
async fn watches_may_expire_during_every_call() {
    end_everywhere(WatchEnd::Expired, &STORIES).await;
}

#[tokio::test]
async fn watches_may_close_during_every_call() {
    end_everywhere(WatchEnd::Closed, &[Story::Shrink, Story::Delete]).await;
}

#[tokio::test]
async fn watches_may_break_during_every_call() {
    end_everywhere(WatchEnd::Cut, &[Story::Shrink, Story::Delete]).await;
}

#[tokio::test]
async fn events_that_come_twice_change_nothing() {
    for story in STORIES {
        let (mut run, controllers) = Run::warm(story).await;
        controllers.wire.disturb_watches(Some(Disturbance::Double));
        run.tell().await;
        run.ruling(&controllers).await;
    }
}

#[tokio::test]
async fn events_that_are_lost_or_swapped_are_made_up_for_by_the_next_list() {
    for story in STORIES {
        for disturbance in [Disturbance::Lose, Disturbance::Swap] {
            let (mut run, controllers) = Run::warm(story).await;
            controllers.wire.disturb_watches(Some(disturbance));
            run.tell().await;
            run.touch().await;
            controllers.wire.disturb_watches(None);
            controllers.wire.end_watches(WatchEnd::Expired);
            run.ruling(&controllers).await;
        }
    }
}
