//! Calls to a plane: what faults do to it, and what they don't.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt as _, future::join_all};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{ListParams, PostParams},
};
use quadrille_planes::{
    Call, Connected, Plane, PlaneName, PlaneState, Settings, Trouble, VersionSkew,
    breaker::BreakerSettings,
};
use quadrille_testkit::{
    Cluster, DEADLINE,
    builders::mk_config_map,
    eventually,
    wire::{Failure, Fault, Gate, Matcher, Verb},
};

/// Passes as soon as nothing is waited for any more.
const AT_ONCE: Duration = Duration::from_millis(1);

/// A plane over a test's cluster, which is left alone for so long after faults.
fn plane(cluster: &Cluster, pause: Duration) -> Plane {
    let name = PlaneName {
        namespace: "acme".to_owned(),
        name: "plane".to_owned(),
    };
    let settings = Settings {
        breaker: BreakerSettings {
            first_pause: pause,
            longest_pause: pause,
            ..BreakerSettings::default()
        },
        ..Settings::default()
    };
    cluster.wire().forget();
    Plane::new(name, Arc::new(Connected::over(cluster.client())), settings)
}

fn for_ever(cluster: &Cluster) -> Plane {
    plane(cluster, Duration::from_hours(1))
}

async fn list(plane: &Plane, deadline: Duration) -> Result<usize, Trouble> {
    let api = Api::<ConfigMap>::default_namespaced(plane.client());
    let work = async { api.list(&ListParams::default()).await };
    let list = plane.call(Call::Read, deadline, work).await?;
    Ok(list.items.len())
}

/// The reasons of so many calls in a row, and how many of them went out.
async fn reasons(cluster: &Cluster, plane: &Plane, count: usize) -> (Vec<&'static str>, usize) {
    let before = cluster.wire().calls().len();
    let mut reasons = vec![];
    for _ in 0..count {
        let result = list(plane, DEADLINE).await;
        reasons.push(result.map_or_else(|trouble| trouble.reason(), |_| "fine"));
    }
    (reasons, cluster.wire().calls().len() - before)
}

fn troubled(plane: &Plane) -> Option<&'static str> {
    match &*plane.state().borrow() {
        PlaneState::Troubled { reason, .. } => Some(reason),
        _ => None,
    }
}

#[tokio::test]
async fn a_probe_tells_the_version() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let plane = for_ever(&cluster);
    let mut states = plane.state();
    assert_eq!(*states.borrow_and_update(), PlaneState::Unknown);
    let probe = plane.probe().await?;
    assert_eq!(
        VersionSkew::of(&probe.version),
        VersionSkew::Supported,
        "{probe:?}"
    );
    let reachable = PlaneState::Reachable(Some(probe));
    assert_eq!(*states.borrow_and_update(), reachable);
    // A call that works says nothing new; it may be made from anywhere.
    let same = plane.clone();
    tokio::spawn(async move { list(&same, DEADLINE).await }).await??;
    assert!(!states.has_changed()?);
    Ok(())
}

#[tokio::test]
async fn a_plane_with_faults_is_left_alone() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let plane = for_ever(&cluster);
    cluster.wire().inject(Matcher::any(), Fault::Disconnect);
    let (seen, sent) = reasons(&cluster, &plane, 4).await;
    assert_eq!((seen, sent), (vec!["Unreachable"; 4], 4));
    assert_eq!(troubled(&plane), None, "a few faults may pass");
    let (seen, sent) = reasons(&cluster, &plane, 3).await;
    assert_eq!((seen, sent), (vec!["Unreachable", "Paused", "Paused"], 1));
    assert_eq!(troubled(&plane), Some("Unreachable"));
    assert_eq!(plane.probe().await.unwrap_err().reason(), "Paused");
    // Somebody's watch sees something: it is back.
    cluster.wire().heal();
    plane.heard();
    assert_eq!(*plane.state().borrow(), PlaneState::Reachable(None));
    assert_eq!(reasons(&cluster, &plane, 1).await, (vec!["fine"], 1));
    Ok(())
}

#[tokio::test]
async fn a_plane_that_is_back_is_found_by_itself() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let plane = plane(&cluster, AT_ONCE);
    cluster.wire().inject(Matcher::any(), Fault::Disconnect);
    let (_, sent) = reasons(&cluster, &plane, 5).await;
    assert_eq!((sent, troubled(&plane)), (5, Some("Unreachable")));
    cluster.wire().heal();
    eventually("a call works", async || list(&plane, DEADLINE).await).await;
    assert_eq!(*plane.state().borrow(), PlaneState::Reachable(None));
    Ok(())
}

#[tokio::test]
async fn refused_credentials_stop_calls_at_once() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let plane = for_ever(&cluster);
    let refusal = Fault::Fail(Failure::new(401, "Unauthorized"));
    cluster.wire().inject(Matcher::any(), refusal);
    let (seen, sent) = reasons(&cluster, &plane, 2).await;
    assert_eq!((seen, sent), (vec!["CredentialsInvalid", "Paused"], 1));
    assert_eq!(troubled(&plane), Some("CredentialsInvalid"));
    Ok(())
}

#[tokio::test]
async fn what_is_wrong_with_requests_is_not_held_against_the_plane() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let plane = for_ever(&cluster);
    for failure in [
        Failure::new(403, "Forbidden"),
        Failure::conflict(),
        Failure::expired(),
        Failure::new(422, "Invalid"),
        Failure::internal_error(),
    ] {
        cluster.wire().inject(Matcher::any(), Fault::Fail(failure));
        let (_, sent) = reasons(&cluster, &plane, 10).await;
        assert_eq!((sent, troubled(&plane)), (10, None));
        cluster.wire().heal();
    }
    assert_eq!(plane.limit(), 16);
    Ok(())
}

#[tokio::test]
async fn a_plane_that_throttles_gets_fewer_calls() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let plane = for_ever(&cluster);
    let fault = Fault::Fail(Failure::too_many_requests(3600));
    cluster.wire().inject(Matcher::any(), fault);
    let (seen, _) = reasons(&cluster, &plane, 1).await;
    assert_eq!((seen, plane.limit()), (vec!["Throttled"], 8));
    // It asked for a pause; who can't wait that long is not sent.
    let trouble = list(&plane, AT_ONCE).await.unwrap_err();
    assert_eq!(trouble.reason(), "Crowded");
    assert_eq!(cluster.wire().calls().len(), 1);
    assert_eq!(troubled(&plane), None);
    // A probe does not stand in line.
    cluster.wire().heal();
    plane.probe().await?;
    Ok(())
}

#[tokio::test]
async fn a_write_without_an_answer_in_time_may_have_happened() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let plane = for_ever(&cluster);
    let creates = Matcher::verb(Verb::Create);
    cluster
        .wire()
        .inject(creates, Fault::HoldAnswer(Gate::closed()));
    let api = Api::<ConfigMap>::default_namespaced(plane.client());
    let (params, config) = (PostParams::default(), mk_config_map("written", &[]));
    // The answer never comes, so no deadline is too short.
    let held = plane.call(Call::Write, AT_ONCE, api.create(&params, &config));
    let trouble = held.await.unwrap_err();
    assert!(
        matches!(trouble, Trouble::Deadline { writes: true, .. }),
        "{trouble}"
    );
    assert!(trouble.is_retryable());
    Ok(())
}

#[tokio::test]
async fn calls_beyond_the_limit_wait_and_are_not_sent_after_their_deadline() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let plane = for_ever(&cluster);
    let gate = Gate::closed();
    cluster
        .wire()
        .inject(Matcher::any(), Fault::Hold(gate.clone()));
    let many = join_all((0..16).map(|_| list(&plane, DEADLINE)));
    let late = async {
        gate.reached_by(16).await;
        let late = list(&plane, AT_ONCE).await;
        gate.open();
        late
    };
    let (many, late) = tokio::join!(many, late);
    assert!(many.into_iter().all(|one| one.is_ok()));
    assert_eq!(late.unwrap_err().reason(), "Crowded");
    assert_eq!(cluster.wire().calls().len(), 16);
    Ok(())
}

#[tokio::test]
async fn a_call_that_waited_is_not_sent_to_a_plane_that_failed_meanwhile() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let plane = for_ever(&cluster);
    let gate = Gate::closed();
    cluster
        .wire()
        .inject(Matcher::any(), Fault::Hold(gate.clone()));
    let mut held = Box::pin(join_all((0..16).map(|_| list(&plane, DEADLINE))));
    tokio::select! {
        _ = &mut held => panic!("the gate is closed"),
        () = gate.reached_by(16) => {}
    }
    let mut late = Box::pin(list(&plane, DEADLINE));
    assert!((&mut late).now_or_never().is_none());
    plane.failed(&Trouble::CertificateExpired("over".to_owned()));
    drop(held);
    assert_eq!(late.await.unwrap_err().reason(), "Paused");
    assert_eq!(cluster.wire().calls().len(), 16);
    Ok(())
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_its_turn_and_the_probe_to_the_next() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let plane = plane(&cluster, Duration::ZERO);
    let refusal = Fault::Fail(Failure::new(401, "Unauthorized"));
    cluster.wire().inject(Matcher::any(), refusal);
    assert!(list(&plane, DEADLINE).await.is_err());
    cluster.wire().heal();
    let never = std::future::pending::<Result<(), Trouble>>();
    let probe = plane.call(Call::Read, DEADLINE, never);
    let mut probe = Box::pin(probe);
    assert!((&mut probe).now_or_never().is_none());
    assert_eq!(list(&plane, DEADLINE).await.unwrap_err().reason(), "Paused");
    drop(probe);
    list(&plane, DEADLINE).await?;
    Ok(())
}

#[tokio::test]
async fn kinds_are_found_through_the_plane() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let plane = for_ever(&cluster);
    cluster.wire().inject(Matcher::any(), Fault::Disconnect);
    for _ in 0..5 {
        let trouble = plane
            .resolve(DEADLINE, "openchoreo.dev", "v1alpha1", "DataPlane")
            .await;
        assert_eq!(trouble.unwrap_err().reason(), "Unreachable");
    }
    let paused = plane
        .resolve(DEADLINE, "openchoreo.dev", "v1alpha1", "DataPlane")
        .await;
    assert_eq!(paused.unwrap_err().reason(), "Paused");
    // What needs no request works all the same.
    assert!(plane.resolve(DEADLINE, "", "v1", "ConfigMap").await.is_ok());
    Ok(())
}

#[tokio::test]
async fn a_watch_that_fails_counts_like_a_call() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let plane = for_ever(&cluster);
    for _ in 0..5 {
        plane.failed(&Trouble::Unreachable("the watch broke".to_owned()));
    }
    // What was not even sent is no sign of life.
    plane.failed(&Trouble::Paused(AT_ONCE));
    plane.failed(&Trouble::Crowded(AT_ONCE));
    assert_eq!(troubled(&plane), Some("Unreachable"));
    assert_eq!(reasons(&cluster, &plane, 1).await, (vec!["Paused"], 0));
    Ok(())
}
