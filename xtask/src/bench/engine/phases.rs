//! What is done to the engine, and how long it takes.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::Method;
use http_body_util::BodyExt as _;
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{
    super::{
        board::Board,
        load::{Call, Seen},
    },
    fixture::{self, NAMESPACE, path},
};
use crate::wire::{Connection, Endpoint};

/// Writes in flight at once.
pub(in crate::bench) const CLIENTS: usize = 32;

const HEADERS: [(&str, &str); 2] = [("Accept", "application/json"), ("User-Agent", "bench/1.0")];

/// Sends a call; anything but a success is an error.
pub(in crate::bench) async fn send(connection: &mut Connection, call: Call) -> Result<Bytes> {
    let headers = [HEADERS[0], HEADERS[1], ("Content-Type", call.content_type)];
    let target = call.target;
    let answer = connection
        .send(call.method, &target, &headers, call.body)
        .await?;
    ensure!(
        (200..300).contains(&answer.status),
        "{target}: {} {}",
        answer.status,
        String::from_utf8_lossy(&answer.body)
    );
    Ok(answer.body)
}

/// Sends the calls of many items with [`CLIENTS`] items in flight; those of one item follow each other.
pub(in crate::bench) async fn send_all(
    endpoint: &Endpoint,
    items: usize,
    calls: impl Fn(usize) -> Vec<Call> + Sync,
) -> Result<Duration> {
    let mut connections = Vec::new();
    for _ in 0..CLIENTS {
        connections.push(endpoint.connect().await?);
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    let (next, calls) = (&next, &calls);
    let began = Instant::now();
    let workers = connections.into_iter().map(|mut connection| async move {
        loop {
            let item = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if item >= items {
                return Ok::<_, anyhow::Error>(());
            }
            for call in calls(item) {
                send(&mut connection, call).await?;
            }
        }
    });
    let done: Vec<Result<()>> = stream::iter(workers)
        .buffer_unordered(CLIENTS)
        .collect()
        .await;
    done.into_iter().collect::<Result<()>>()?;
    Ok(began.elapsed())
}

/// The name of the n-th release.
pub(in crate::bench) fn name(index: usize) -> String {
    format!("cart-{index:05}")
}

/// Creates releases, and waits until all are applied and say so.
pub(in crate::bench) async fn create(
    endpoint: &Endpoint,
    board: &mut Board,
    from: usize,
    to: usize,
) -> Result<Duration> {
    let began = Instant::now();
    send_all(endpoint, to - from, |index| {
        vec![fixture::create(NAMESPACE, &name(from + index))]
    })
    .await?;
    let wanted = to;
    board
        .until("all releases are applied", |board| {
            board.count(|state| state.is_applied) >= wanted
        })
        .await?;
    Ok(began.elapsed())
}

/// Changes one object of each release, and waits until all are applied and say so.
pub(in crate::bench) async fn change(
    endpoint: &Endpoint,
    board: &mut Board,
    count: usize,
) -> Result<Duration> {
    let began = Instant::now();
    send_all(endpoint, count, |index| {
        vec![fixture::change(&name(index), 2)]
    })
    .await?;
    board
        .until("all changes are applied", |board| {
            board.count(|state| state.generation >= 2 && state.is_applied) >= count
        })
        .await?;
    Ok(began.elapsed())
}

/// Deletes releases, and waits until they are gone.
pub(in crate::bench) async fn delete(
    endpoint: &Endpoint,
    board: &mut Board,
    from: usize,
    to: usize,
) -> Result<Duration> {
    let began = Instant::now();
    let left = board.count(|_| true) - (to - from);
    send_all(endpoint, to - from, |index| {
        vec![fixture::delete(&name(from + index))]
    })
    .await?;
    board
        .until("they are gone", |board| board.count(|_| true) <= left)
        .await?;
    Ok(began.elapsed())
}

/// One release after the other on an idle system: from its creation until it says that it is applied.
pub(in crate::bench) async fn singles(
    endpoint: &Endpoint,
    board: &mut Board,
    count: usize,
) -> Result<Seen> {
    let mut connection = endpoint.connect().await?;
    let began = Instant::now();
    let mut latencies = Vec::new();
    for index in 0..count {
        let name = format!("single-{index:03}");
        let sent = Instant::now();
        send(&mut connection, fixture::create(NAMESPACE, &name)).await?;
        let is_applied = |board: &Board| board.state(&name).is_some_and(|state| state.is_applied);
        board.until("one release is applied", is_applied).await?;
        let at = board
            .state(&name)
            .and_then(|state| state.at)
            .context("it was seen")?;
        latencies.push(at.duration_since(sent));
    }
    let seen = Seen::new(latencies, began.elapsed());
    for index in 0..count {
        let name = format!("single-{index:03}");
        send(&mut connection, fixture::delete(&name)).await?;
    }
    board
        .until("all of them are gone", |board| board.count(|_| true) == 0)
        .await?;
    Ok(seen)
}

/// Makes everything healthy: says of all Deployments that they are available.
pub(in crate::bench) async fn all_healthy(
    endpoint: &Endpoint,
    board: &mut Board,
    count: usize,
) -> Result<()> {
    send_all(endpoint, count, |index| {
        vec![fixture::available(&name(index))]
    })
    .await?;
    board
        .until("all are ready", |board| {
            board.count(|state| state.is_ready) >= count
        })
        .await
}

/// Harms objects one after the other, and measures how long each stays harmed.
pub(in crate::bench) async fn drift(
    endpoint: &Endpoint,
    releases: usize,
    count: usize,
) -> Result<Seen> {
    let mut random = StdRng::seed_from_u64(7);
    let mut connection = endpoint.connect().await?;
    let began = Instant::now();
    let mut latencies = Vec::new();
    for _ in 0..count {
        let of = name(random.random_range(0..releases));
        let (kind, object) = match random.random_range(0..4) {
            0 => ("Service", of),
            1 => ("ServiceAccount", of),
            _ => ("ConfigMap", format!("{of}-env")),
        };
        let target = path(NAMESPACE, kind, &object);
        let before = get(&mut connection, &target)
            .await?
            .context("it was there")?;
        let harm = if kind == "ConfigMap" && random.random_bool(0.5) {
            let patch = json!({ "data": { "value": "harmed" } });
            Call {
                method: Method::PATCH,
                target: target.clone(),
                content_type: "application/merge-patch+json",
                body: patch.to_string().into(),
            }
        } else {
            Call {
                method: Method::DELETE,
                target: target.clone(),
                content_type: "application/json",
                body: Bytes::new(),
            }
        };
        let is_edit = harm.method == Method::PATCH;
        let sent = Instant::now();
        send(&mut connection, harm).await?;
        loop {
            let now = get(&mut connection, &target).await?;
            let is_mended = now.is_some_and(|now| {
                if is_edit {
                    now["data"] == before["data"]
                } else {
                    now["metadata"]["uid"] != before["metadata"]["uid"]
                }
            });
            if is_mended {
                latencies.push(sent.elapsed());
                break;
            }
            ensure!(
                sent.elapsed() < Duration::from_mins(1),
                "{target} is not mended"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    Ok(Seen::new(latencies, began.elapsed()))
}

async fn get(connection: &mut Connection, target: &str) -> Result<Option<Value>> {
    let answer = connection
        .send(Method::GET, target, &HEADERS, Bytes::new())
        .await?;
    match answer.status {
        200 => Ok(Some(serde_json::from_slice(&answer.body)?)),
        404 => Ok(None),
        other => anyhow::bail!("{target}: {other}"),
    }
}

/// What the engine wrote about a release.
pub(in crate::bench) async fn status(endpoint: &Endpoint, name: &str) -> Result<Value> {
    let target = format!("{}/{name}", fixture::releases(NAMESPACE));
    let release = get(&mut endpoint.connect().await?, &target).await?;
    Ok(release.context("there is no such release")?["status"].take())
}

/// As many watches as the controllers have; they end with this value.
pub(in crate::bench) struct Watches {
    _reading: JoinSet<()>,
}

impl Watches {
    pub(in crate::bench) async fn open(endpoint: &Endpoint) -> Result<Self> {
        let mut reading = JoinSet::new();
        for (target, is_metadata_only) in fixture::watches() {
            let mut connection = endpoint.connect().await?;
            let metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
            let accept = if is_metadata_only {
                ("Accept", metadata)
            } else {
                HEADERS[0]
            };
            let answer = connection
                .open(Method::GET, &target, &[accept, HEADERS[1]], Bytes::new())
                .await?;
            reading.spawn(async move {
                let _connection = connection;
                let mut body = answer.into_body();
                while let Some(Ok(_)) = body.frame().await {}
            });
        }
        Ok(Self { _reading: reading })
    }
}

/// The same writes by a bare client that has nothing to think about.
pub(in crate::bench) async fn bare(
    endpoint: &Endpoint,
    from: usize,
    to: usize,
    status: &Value,
) -> Result<Duration> {
    send_all(endpoint, to - from, |index| {
        fixture::bare_writes(&name(from + index), status)
    })
    .await
}
