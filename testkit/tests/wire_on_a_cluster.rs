//! The wire's faults on a cluster: what a client sees, and what has happened.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    api::{PostParams, WatchParams},
    runtime::{WatchStreamExt as _, watcher},
};
use quadrille_testkit::{
    Cluster,
    builders::mk_config_map,
    eventually, eventually_object,
    wire::{Failure, Fault, Matcher, Verb, WatchEnd},
};

#[tokio::test]
async fn a_create_that_times_out_after_its_effect_has_happened() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    cluster.wire().inject(
        Matcher::verb(Verb::Create).resource("configmaps"),
        Fault::FailAfterEffect(Failure::timeout()),
    );
    let answer = api
        .create(&PostParams::default(), &mk_config_map("a", &[]))
        .await;
    assert!(matches!(answer, Err(kube::Error::Api(status)) if status.code == 504));
    assert!(api.get_opt("a").await?.is_some());
    Ok(())
}

#[tokio::test]
async fn a_watcher_lives_through_every_way_a_watch_can_end() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    let (reader, writer) = kube::runtime::reflector::store();
    let stream = watcher(api.clone(), watcher::Config::default()).default_backoff();
    let reflector = tokio::spawn(stream.reflect(writer).for_each(|_| std::future::ready(())));
    reader.wait_until_ready().await?;

    let ends = [WatchEnd::Expired, WatchEnd::Closed, WatchEnd::Cut];
    for (name, end) in ["one", "two", "three"].into_iter().zip(ends) {
        cluster.wire().end_watches(end);
        api.create(&PostParams::default(), &mk_config_map(name, &[]))
            .await?;
        eventually(&format!("{name} is seen"), async || {
            let seen: Vec<_> = reader
                .state()
                .iter()
                .map(|one| one.metadata.name.clone())
                .collect();
            if seen.contains(&Some(name.to_owned())) {
                Ok(())
            } else {
                Err(format!("{seen:?}"))
            }
        })
        .await;
    }
    reflector.abort();
    Ok(())
}

#[tokio::test]
async fn a_failed_watch_is_seen_by_a_plain_watcher_as_an_event() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    api.create(&PostParams::default(), &mk_config_map("a", &[]))
        .await?;
    let mut watch = api.watch(&WatchParams::default(), "0").await?.boxed();
    cluster.wire().end_watches(WatchEnd::Expired);
    let mut last = None;
    while let Some(event) = watch.try_next().await? {
        last = Some(event);
    }
    assert!(
        matches!(&last, Some(kube::api::WatchEvent::Error(status)) if status.code == 410),
        "{last:?}"
    );
    Ok(())
}

#[tokio::test]
async fn namespaces_keep_tests_apart() -> anyhow::Result<()> {
    let (one, other) = (Cluster::start().await?, Cluster::start().await?);
    assert_ne!(one.namespace(), other.namespace());
    let object = mk_config_map("a", &[("k", "v")]);
    one.api().create(&PostParams::default(), &object).await?;
    assert!(other.api::<ConfigMap>().get_opt("a").await?.is_none());
    let found = eventually_object(&one.api::<ConfigMap>(), "a", "it exists", |a| a.is_some()).await;
    assert_eq!(found.and_then(|found| found.data), object.data);
    Ok(())
}
