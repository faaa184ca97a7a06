//! Writes down what a watch tells about an object, until the story is over.

use std::pin::pin;

use futures::StreamExt as _;
use kube::{
    Api,
    api::{DynamicObject, ListParams, WatchEvent, WatchParams},
    core::{ApiResource, GroupVersionKind},
};
use quadrille_testkit::{Cluster, DEADLINE, real};
use serde_json::Value;

/// Objects of a kind in the test's namespace, as JSON.
pub(crate) fn dynamic(cluster: &Cluster, group: &str, kind: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(group, "v1", kind);
    let resource = ApiResource::from_gvk(&kind);
    Api::namespaced_with(cluster.client(), cluster.namespace(), &resource)
}

/// Where the cluster is: what happens from here on can be watched, whenever the watch begins.
pub(crate) async fn now(cluster: &Cluster) -> anyhow::Result<String> {
    let api = dynamic(cluster, "", "ConfigMap");
    let list = api.list(&ListParams::default()).await?;
    Ok(list.metadata.resource_version.unwrap_or_default())
}

/// Watches objects from a moment on and writes down what `read` makes of each event, until `is_over`. What says
/// the same as the line before is left out.
pub(crate) async fn record(
    api: Api<DynamicObject>,
    from: &str,
    mut read: impl FnMut(&str, &Value) -> Vec<String>,
    is_over: impl Fn(&[String]) -> bool,
) -> anyhow::Result<Vec<String>> {
    let params = WatchParams::default();
    let mut lines: Vec<String> = Vec::new();
    let listening = async {
        let mut events = pin!(api.watch(&params, from).await?);
        while let Some(event) = events.next().await {
            let (what, object) = match event? {
                WatchEvent::Added(object) => ("added", object),
                WatchEvent::Modified(object) => ("modified", object),
                WatchEvent::Deleted(object) => ("deleted", object),
                WatchEvent::Bookmark(_) => continue,
                WatchEvent::Error(status) => anyhow::bail!("the watch failed: {status:?}"),
            };
            let object = serde_json::to_value(&object)?;
            for line in read(what, &object) {
                if lines.last() != Some(&line) {
                    lines.push(line);
                }
            }
            if is_over(&lines) {
                return Ok(());
            }
        }
        anyhow::bail!("the watch ended")
    };
    match tokio::time::timeout(DEADLINE, listening).await {
        Ok(Ok(())) => Ok(lines),
        Ok(Err(error)) => Err(error.context(format!("so far: {lines:#?}"))),
        Err(_) => anyhow::bail!("waited in vain; so far: {lines:#?}"),
    }
}

/// Tells a story on the embedded cluster, and on a real one if the test run asks for it.
pub(crate) async fn told_alike(
    story: impl AsyncFn(&Cluster) -> anyhow::Result<Vec<String>>,
    expected: &[&str],
) -> anyhow::Result<()> {
    let embedded = story(&Cluster::with_node().await?).await?;
    assert_eq!(embedded, expected, "on the embedded cluster");
    if real::is_asked_for() {
        let real = story(&Cluster::real().await?).await?;
        assert_eq!(real, expected, "on a real cluster");
    }
    Ok(())
}

/// `Type=Status/Reason` of a condition, if it is there.
pub(crate) fn condition(object: &Value, kind: &str) -> Option<String> {
    let conditions = object["status"]["conditions"].as_array()?;
    let found = conditions
        .iter()
        .find(|condition| condition["type"] == kind)?;
    let text = |field: &str| found[field].as_str().unwrap_or_default().to_owned();
    Some(format!("{kind}={}/{}", text("status"), text("reason")))
}
