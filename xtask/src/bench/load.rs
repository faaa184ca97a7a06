//! Clients that send one request after the other for a while, and what they saw.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use bytes::Bytes;
use http::Method;
use serde_json::json;
use tokio::task::JoinSet;

use crate::wire::Endpoint;

/// One request.
pub(super) struct Call {
    /// Its method.
    pub(super) method: Method,
    /// Path and query.
    pub(super) target: String,
    /// Content type of the body.
    pub(super) content_type: &'static str,
    /// The body.
    pub(super) body: Bytes,
}

/// The creation of a namespace.
pub(super) fn create_namespace(name: &str) -> Call {
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    Call {
        method: Method::POST,
        target: "/api/v1/namespaces".to_owned(),
        content_type: "application/json",
        body: body.to_string().into(),
    }
}

/// How long clients go on.
#[derive(Clone, Copy)]
pub(super) enum Until {
    /// For this time.
    Elapsed(Duration),
    /// This many requests per client.
    Sent(usize),
}

/// Latencies of all clients together, and how long it took.
pub(super) struct Seen {
    /// Sorted.
    latencies: Vec<Duration>,
    took: Duration,
}

impl Seen {
    /// From latencies in any order.
    pub(super) fn new(mut latencies: Vec<Duration>, took: Duration) -> Self {
        latencies.sort_unstable();
        Self { latencies, took }
    }

    /// Throughput and latency as named numbers.
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    pub(super) fn numbers(&self) -> BTreeMap<&'static str, f64> {
        BTreeMap::from([
            (
                "per second",
                self.latencies.len() as f64 / self.took.as_secs_f64(),
            ),
            ("p50 ms", self.percentile(50)),
            ("p99 ms", self.percentile(99)),
        ])
    }

    /// A percentile in milliseconds.
    pub(super) fn percentile(&self, percent: usize) -> f64 {
        let index =
            (self.latencies.len() * percent / 100).min(self.latencies.len().saturating_sub(1));
        self.latencies
            .get(index)
            .map_or(f64::NAN, |latency| latency.as_secs_f64() * 1000.0)
    }
}

/// Lets `clients` clients send what `call` makes of client and count; any answer but a success ends it.
pub(super) async fn drive(
    endpoint: &Endpoint,
    clients: usize,
    until: Until,
    call: impl Fn(usize, usize) -> Call + Clone + Send + 'static,
) -> Result<Seen> {
    let mut connections = Vec::new();
    for _ in 0..clients {
        connections.push(endpoint.connect().await?);
    }
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for (client, mut connection) in connections.into_iter().enumerate() {
        let call = call.clone();
        tasks.spawn(async move {
            let mut latencies = Vec::new();
            loop {
                let done = match until {
                    Until::Elapsed(time) => began.elapsed() >= time,
                    Until::Sent(count) => latencies.len() >= count,
                };
                if done {
                    return Ok::<_, anyhow::Error>(latencies);
                }
                let Call {
                    method,
                    target,
                    content_type,
                    body,
                } = call(client, latencies.len());
                let headers = [
                    ("Accept", "application/json"),
                    ("Content-Type", content_type),
                    ("User-Agent", "bench/1.0"),
                ];
                let sent = Instant::now();
                let answer = connection.send(method, &target, &headers, body).await?;
                latencies.push(sent.elapsed());
                ensure!(
                    answer.status < 300,
                    "{target}: {} {}",
                    answer.status,
                    String::from_utf8_lossy(&answer.body)
                );
            }
        });
    }
    let mut latencies = Vec::new();
    while let Some(task) = tasks.join_next().await {
        latencies.append(&mut task??);
    }
    Ok(Seen::new(latencies, began.elapsed()))
}
