//! Controllers are killed after every call, and those that come next are shown releases as they were before.

use bytes::Bytes;
use http::Request;
use quadrille_testkit::{
    eventually,
    wire::{Fault, Gate, Injected, Matcher, Verb, Wire},
};

use crate::{
    controllers::Controllers,
    every::{Choice, Told, for_every_call, is_for_the_embedded_alone},
    run::Run,
    stories::Story,
};

/// What a server would have said of the releases now.
async fn recorded(run: &Run) -> Bytes {
    let namespace = run.platform.namespace();
    let path = format!("/apis/openchoreo.dev/v1alpha1/namespaces/{namespace}/releases");
    let request = Request::get(path).body(Vec::new()).unwrap();
    let text = run.platform.client().request_text(request).await.unwrap();
    Bytes::from(text)
}

/// Controllers die at this call. Those that come next see an old list, and nothing newer by their watch until they
/// have looked at the plane and had every chance to act upon what they believe.
async fn killed(story: Story, call: Matcher) -> Told {
    let mut run = Run::cold(story).await;
    let old = recorded(&run).await;
    run.tell().await;
    let old = match story {
        // Not there yet would be nothing to believe: there, but nothing done.
        Story::Create => recorded(&run).await,
        _ => old,
    };
    let wire = Wire::default();
    let death = wire.inject(call, Fault::Die);
    let doomed = Controllers::start(&run.platform, wire);
    run.until_struck(&death).await;
    let told = Told::new(&death, &doomed.wire);
    doomed.kill().await;
    let wire = Wire::default();
    let list = Matcher::verb(Verb::List).resource("releases").first(1);
    wire.inject(list, Fault::Answer(old));
    let gate = Gate::closed();
    let watch = Matcher::verb(Verb::Watch).resource("releases");
    let held = wire.inject(watch, Fault::Hold(gate.clone()));
    let next = Controllers::start(&run.platform, wire);
    until_misled(&next.wire, &held).await;
    gate.open();
    run.ruling(&next).await;
    told
}

/// Waits until the controllers believe what they were shown, and see all kinds of the plane.
async fn until_misled(wire: &Wire, held: &Injected) {
    eventually("the plane is seen", async || {
        let is_seen = ["networkpolicies", "configmaps", "services", "deployments"]
            .iter()
            .all(|kind| wire.count(&Matcher::verb(Verb::Watch).resource(kind)) > 0);
        if held.hits() > 0 && is_seen {
            Ok(())
        } else {
            Err(format!("{:?}", wire.summary()))
        }
    })
    .await;
    // Everything runs on this thread: so many turns are enough for what they want to do to be on its way.
    for _ in 0..300 {
        tokio::task::yield_now().await;
    }
}

async fn kill_and_mislead_everywhere(story: Story) {
    if is_for_the_embedded_alone() {
        return;
    }
    let count = for_every_call("starting", Choice::starting(story), |call| {
        killed(story, call)
    })
    .await;
    println!("{story:?}: {count} calls, then an old list");
}

#[tokio::test]
async fn a_creation_survives_kills_and_an_old_list() {
    kill_and_mislead_everywhere(Story::Create).await;
}

#[tokio::test]
async fn a_change_with_prune_survives_kills_and_an_old_list() {
    kill_and_mislead_everywhere(Story::Shrink).await;
}

#[tokio::test]
async fn a_move_survives_kills_and_an_old_list() {
    kill_and_mislead_everywhere(Story::Move).await;
}

#[tokio::test]
async fn a_deletion_survives_kills_and_an_old_list() {
    kill_and_mislead_everywhere(Story::Delete).await;
}
