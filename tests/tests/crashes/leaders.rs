//! Two that believe they lead: the first is stopped at any of its calls, another takes over and finishes, and then
//! the first wakes up and does late what it was about to do.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Patch, PatchParams};
use quadrille_testkit::{
    eventually, real,
    wire::{Fault, Gate, Matcher, Verb, Wire},
};
use serde_json::json;

use crate::{
    controllers::Controllers,
    every::{Choice, Told, for_every_call},
    run::Run,
    stories::Story,
};

/// How often a lease is renewed here.
const SOON: Duration = Duration::from_millis(400);

/// The lease is free, whoever believes to hold it: worse than any lease allows.
async fn free_the_lease(run: &Run) {
    let leases = run.platform.cluster.api::<Lease>();
    let name = "quadrille-controller";
    let free = Patch::Merge(json!({ "spec": { "holderIdentity": null } }));
    if leases.get_opt(name).await.unwrap().is_some() {
        let freed = leases.patch(name, &PatchParams::default(), &free).await;
        freed.unwrap();
    }
}

async fn stopped(story: Story, call: Matcher) -> Told {
    let mut run = Run::cold(story).await;
    run.tell().await;
    free_the_lease(&run).await;
    let wire = Wire::default();
    let gate = Gate::closed();
    let stop = wire.inject(call, Fault::Stop(gate.clone()));
    let old = Controllers::start_as(&run.platform, wire, "old", SOON);
    run.until_struck(&stop).await;
    let told = Told::new(&stop, &old.wire);
    run.change_again().await;
    free_the_lease(&run).await;
    let new = Controllers::start_as(&run.platform, Wire::default(), "new", SOON);
    run.until_over().await;
    old.wire.forget();
    gate.open();
    eventually("the old one does not lead", async || {
        let asked = old.wire.count(&Matcher::verb(Verb::Get).resource("leases"));
        if old.have_ended() || asked > 3 {
            Ok(())
        } else {
            Err(format!("{:?}", old.wire.summary()))
        }
    })
    .await;
    drop(old);
    run.ruling(&new).await;
    told
}

#[tokio::test]
async fn an_old_leader_that_wakes_at_any_call_spoils_nothing() {
    let stories: &[Story] = if real::is_asked_for() {
        &[Story::Shrink]
    } else {
        &[Story::Create, Story::Shrink, Story::Move, Story::Delete]
    };
    for story in stories.iter().copied() {
        let choice = Choice::starting(story);
        let count = for_every_call("starting", choice, |call| stopped(story, call)).await;
        println!("{story:?}: stopped at {count} calls");
    }
}
