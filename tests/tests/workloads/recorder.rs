//! Writes down what a watch tells about an object, until the story is over.

use std::pin::pin;

use futures::StreamExt as _;
use kube::{
    Api,
    api::{DynamicObject, WatchEvent, WatchParams},
    core::{ApiResource, GroupVersionKind},
};
use quadrille_testkit::{Cluster, DEADLINE};
use serde_json::Value;

/// Objects of a kind in the test's namespace, as JSON.
pub(crate) fn dynamic(cluster: &Cluster, group: &str, kind: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(group, "v1", kind);
    let resource = ApiResource::from_gvk(&kind);
    Api::namespaced_with(cluster.client(), cluster.namespace(), &resource)
}

/// Watches objects from the beginning and writes down what `read` makes of each event, until `is_over`. What says
/// the same as the line before is left out.
pub(crate) async fn record(
    api: Api<DynamicObject>,
    selector: &str,
    mut read: impl FnMut(&str, &Value) -> Vec<String>,
    is_over: impl Fn(&[String]) -> bool,
) -> anyhow::Result<Vec<String>> {
    let mut params = WatchParams::default();
    if !selector.is_empty() {
        params = params.labels(selector);
    }
    let mut lines: Vec<String> = Vec::new();
    let listening = async {
        let mut events = pin!(api.watch(&params, "0").await?);
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

/// `Type=Status/Reason` of a condition, if it is there.
pub(crate) fn condition(object: &Value, kind: &str) -> Option<String> {
    let conditions = object["status"]["conditions"].as_array()?;
    let found = conditions
        .iter()
        .find(|condition| condition["type"] == kind)?;
    let text = |field: &str| found[field].as_str().unwrap_or_default().to_owned();
    Some(format!("{kind}={}/{}", text("status"), text("reason")))
}
