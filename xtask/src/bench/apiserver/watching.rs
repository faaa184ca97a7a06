//! Watchers: how long after a write was sent does each of them see it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt;
use tokio::task::JoinSet;

use super::super::load::{Call, Seen, Until, drive};
use crate::wire::Endpoint;

/// The key of a written object under which the moment of sending stands.
pub(super) const SENT: &str = "sent-microseconds";

/// How long the last event may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Opens `watchers` watches on `path`, lets one client send `writes` requests, and returns the delays of all
/// events at all watchers. `call` gets the time since `origin` to put under [`SENT`].
pub(super) async fn deliver(
    endpoint: &Endpoint,
    path: &str,
    watchers: usize,
    writes: usize,
    call: impl Fn(usize, Duration) -> Call + Clone + Send + 'static,
) -> Result<Seen> {
    let origin = Instant::now();
    let mut tasks = JoinSet::new();
    let revision = revision(endpoint, path).await?;
    let target = format!("{path}?watch=true&resourceVersion={revision}");
    for _ in 0..watchers {
        let mut connection = endpoint.connect().await?;
        let answer = connection
            .open(
                Method::GET,
                &target,
                &[("Accept", "application/json")],
                Bytes::new(),
            )
            .await?;
        ensure!(
            answer.status() == 200,
            "a watch is refused: {}",
            answer.status()
        );
        tasks.spawn(async move {
            // The connection lives as long as its answer is read.
            let _connection = connection;
            tokio::time::timeout(PATIENCE, delays(answer.into_body(), origin, writes))
                .await
                .context("a watcher did not see all events")?
        });
    }
    let began = Instant::now();
    drive(endpoint, 1, Until::Sent(writes), move |_, count| {
        call(count, origin.elapsed())
    })
    .await?;
    let mut all = Vec::new();
    while let Some(task) = tasks.join_next().await {
        all.append(&mut task??);
    }
    Ok(Seen::new(all, began.elapsed()))
}

async fn revision(endpoint: &Endpoint, path: &str) -> Result<String> {
    let target = format!("{path}?limit=1");
    let answer = endpoint
        .connect()
        .await?
        .send(
            Method::GET,
            &target,
            &[("Accept", "application/json")],
            Bytes::new(),
        )
        .await?;
    let list: serde_json::Value = serde_json::from_slice(&answer.body)?;
    let revision = list["metadata"]["resourceVersion"].as_str();
    Ok(revision.context("a list without a revision")?.to_owned())
}

async fn delays(
    mut body: hyper::body::Incoming,
    origin: Instant,
    wanted: usize,
) -> Result<Vec<Duration>> {
    let marker = format!("\"{SENT}\":\"");
    let mut delays = Vec::with_capacity(wanted);
    let mut unread = Vec::new();
    while delays.len() < wanted {
        let frame = body.frame().await.context("the server ended a watch")??;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        unread.extend_from_slice(&data);
        let now = origin.elapsed();
        while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = unread.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let sent = line
                .split_once(&marker)
                .and_then(|(_, rest)| rest.split_once('"'))
                .and_then(|(digits, _)| digits.parse().ok());
            if let Some(sent) = sent {
                delays.push(now.saturating_sub(Duration::from_micros(sent)));
            }
        }
    }
    Ok(delays)
}
