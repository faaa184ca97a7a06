//! Watches: nothing is missed, nothing is seen twice.

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    runtime::{WatchStreamExt as _, watcher},
};
use quadrille_testkit::{
    Cluster,
    builders::mk_config_map,
    eventually,
    wire::{Matcher, Verb, WatchEnd},
};
use serde_json::json;

/// Reads that many events of a watch from a revision, as `TYPE name`.
async fn events(api: &Api<ConfigMap>, from: &str, count: usize) -> anyhow::Result<Vec<String>> {
    let params = WatchParams::default().fields("metadata.name!=kube-root-ca.crt");
    let watch = api.watch(&params, from).await?;
    let events: Vec<_> = watch.take(count).try_collect().await?;
    Ok(events
        .iter()
        .map(|event| match event {
            WatchEvent::Added(object) => format!("ADDED {}", object.name_any()),
            WatchEvent::Modified(object) => format!("MODIFIED {}", object.name_any()),
            WatchEvent::Deleted(object) => format!("DELETED {}", object.name_any()),
            other => format!("{other:?}"),
        })
        .collect())
}

#[tokio::test]
async fn a_watch_from_a_revision_sees_every_later_change_once() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    let list = api.list(&ListParams::default()).await?;
    let start = list.metadata.resource_version.unwrap_or_default();

    let a = api
        .create(&PostParams::default(), &mk_config_map("a", &[]))
        .await?;
    api.create(&PostParams::default(), &mk_config_map("b", &[]))
        .await?;
    let patch = Patch::Merge(json!({ "data": { "k": "v" } }));
    api.patch("a", &PatchParams::default(), &patch).await?;
    api.delete("b", &DeleteParams::default()).await?;

    let all = ["ADDED a", "ADDED b", "MODIFIED a", "DELETED b"];
    assert_eq!(events(&api, &start, 4).await?, all);
    let after_a = a.metadata.resource_version.unwrap_or_default();
    assert_eq!(events(&api, &after_a, 3).await?, all[1..]);
    Ok(())
}

#[tokio::test]
async fn a_selected_watch_sees_objects_come_into_and_leave_its_selection() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    api.create(&PostParams::default(), &mk_config_map("a", &[]))
        .await?;
    let list = api.list(&ListParams::default()).await?;
    let start = list.metadata.resource_version.unwrap_or_default();
    for value in [json!("yes"), json!("no")] {
        let patch = Patch::Merge(json!({ "metadata": { "labels": { "pick": value } } }));
        api.patch("a", &PatchParams::default(), &patch).await?;
    }
    let params = WatchParams::default().labels("pick=yes");
    let watch = api.watch(&params, &start).await?;
    let events: Vec<_> = watch.take(2).try_collect().await?;
    assert!(matches!(&events[0], WatchEvent::Added(_)), "{events:?}");
    assert!(matches!(&events[1], WatchEvent::Deleted(_)), "{events:?}");
    Ok(())
}

#[tokio::test]
async fn a_cache_follows_its_objects_through_every_way_a_watch_can_end() -> anyhow::Result<()> {
    for config in [
        watcher::Config::default(),
        watcher::Config::default().streaming_lists(),
    ] {
        let cluster = Cluster::start().await?;
        let api = cluster.api::<ConfigMap>();
        let (reader, writer) = kube::runtime::reflector::store();
        let stream = watcher(api.clone(), config).default_backoff();
        let reflector = tokio::spawn(stream.reflect(writer).for_each(|_| std::future::ready(())));
        reader.wait_until_ready().await?;
        let ends = [WatchEnd::Expired, WatchEnd::Closed, WatchEnd::Cut];
        for (name, end) in ["one", "two", "three"].into_iter().zip(ends) {
            cluster.wire().end_watches(end);
            api.create(&PostParams::default(), &mk_config_map(name, &[]))
                .await?;
            eventually(&format!("{name} is in the cache"), async || {
                let seen: Vec<_> = reader.state().iter().map(|one| one.name_any()).collect();
                if seen.iter().any(|seen| seen == name) {
                    Ok(())
                } else {
                    Err(seen.join(", "))
                }
            })
            .await;
        }
        assert!(
            cluster
                .wire()
                .count(&Matcher::verb(Verb::Watch).resource("configmaps"))
                >= 4
        );
        reflector.abort();
    }
    Ok(())
}
