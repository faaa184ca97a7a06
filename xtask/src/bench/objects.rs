//! Objects of the platform in a bench: made, and waited for.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::Method;
use serde_json::Value;

use super::{engine::phases, load::Call};
use crate::wire::Connection;

/// Where `quad up` puts what it brings.
pub(super) const OURS: &str = "/apis/openchoreo.dev/v1alpha1/namespaces/default";
/// How long anything may take.
const DEADLINE: Duration = Duration::from_mins(5);

/// A call that creates an object.
pub(super) fn creation(path: &str, document: &Value) -> Call {
    Call {
        method: Method::POST,
        target: path.to_owned(),
        content_type: "application/json",
        body: document.to_string().into(),
    }
}

/// Creates an object.
pub(super) async fn create(
    connection: &mut Connection,
    path: &str,
    document: &Value,
) -> Result<()> {
    phases::send(connection, creation(path, document)).await?;
    Ok(())
}

/// Waits until an object is Ready.
pub(super) async fn until_ready(connection: &mut Connection, path: &str) -> Result<()> {
    until(connection, path, |object| holds(object, "Ready")).await?;
    Ok(())
}

/// Whether a condition of an object holds.
pub(super) fn holds(object: &Value, kind: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    conditions.is_some_and(|conditions| {
        conditions
            .iter()
            .any(|condition| condition["type"] == kind && condition["status"] == "True")
    })
}

/// Asks for an object until it is as it should be, and gives it.
pub(super) async fn until(
    connection: &mut Connection,
    path: &str,
    holds: impl Fn(&Value) -> bool,
) -> Result<Value> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let answer = connection
            .send(Method::GET, path, &[], Bytes::new())
            .await?;
        let object: Value = serde_json::from_slice(&answer.body).context("an answer is no JSON")?;
        if holds(&object) {
            return Ok(object);
        }
        if Instant::now() > deadline {
            bail!("{path} does not get there: {}", object["status"]);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
