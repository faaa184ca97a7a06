//! What a watch of objects with conditions shows: who is applied, who is ready, who is gone, and when that was seen.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde::Deserialize;
use tokio::{sync::watch, task::JoinHandle};

use crate::wire::{Connection, Endpoint};

/// How long anything may take.
const DEADLINE: Duration = Duration::from_mins(10);

/// What is known of the objects of one collection.
pub(super) struct Board {
    seen: Arc<Mutex<HashMap<String, State>>>,
    changed: watch::Receiver<u64>,
    task: JoinHandle<Result<()>>,
}

impl Drop for Board {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What is known of one of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// Its generation.
    pub(super) generation: i64,
    /// Whether that generation is applied.
    pub(super) is_applied: bool,
    /// Whether all of it is well.
    pub(super) is_ready: bool,
    /// When this was seen.
    pub(super) at: Option<Instant>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    object: Seen,
}

#[derive(Deserialize)]
struct Seen {
    metadata: Metadata,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
    #[serde(default)]
    generation: i64,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(default)]
    observed_generation: i64,
    #[serde(default)]
    conditions: Vec<Condition>,
}

#[derive(Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

impl Board {
    /// Watches the collection of a path from now on, beginning with what there is.
    pub(super) async fn open(endpoint: &Endpoint, path: &str) -> Result<Self> {
        let seen = Arc::new(Mutex::new(HashMap::new()));
        let (tell, changed) = watch::channel(0);
        let mut body = open_watch(endpoint, path).await?;
        let (shared, endpoint, path) = (Arc::clone(&seen), endpoint.clone(), path.to_owned());
        let task = tokio::spawn(async move {
            loop {
                read(body, &shared, &tell).await?;
                // A server ends the watches of a kind whose definition it takes in again.
                tokio::time::sleep(Duration::from_millis(100)).await;
                body = open_watch(&endpoint, &path).await?;
            }
        });
        Ok(Self {
            seen,
            changed,
            task,
        })
    }

    /// How many of them satisfy something.
    pub(super) fn count(&self, wanted: impl Fn(&State) -> bool) -> usize {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.values().filter(|state| wanted(state)).count()
    }

    /// What is known of one, by its name.
    pub(super) fn state(&self, name: &str) -> Option<State> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(name).copied()
    }

    /// Waits until something holds.
    pub(super) async fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) -> Result<()> {
        let began = Instant::now();
        loop {
            self.changed.borrow_and_update();
            if holds(self) {
                return Ok(());
            }
            let left = DEADLINE
                .checked_sub(began.elapsed())
                .with_context(|| format!("waited in vain: {what}"))?;
            if let Ok(changed) = tokio::time::timeout(left, self.changed.changed()).await {
                changed.context("the watch ended")?;
            }
        }
    }
}

/// Opens a watch that begins with what there is.
async fn open_watch(endpoint: &Endpoint, path: &str) -> Result<(Connection, Incoming)> {
    let mut connection = endpoint.connect().await?;
    let target = format!("{path}?watch=true&resourceVersion=0");
    let headers = [("Accept", "application/json"), ("User-Agent", "bench/1.0")];
    let answer = connection
        .open(Method::GET, &target, &headers, Bytes::new())
        .await?;
    Ok((connection, answer.into_body()))
}

/// Reads a watch to its end.
async fn read(
    (_connection, mut body): (Connection, Incoming),
    seen: &Mutex<HashMap<String, State>>,
    tell: &watch::Sender<u64>,
) -> Result<()> {
    let mut unread: Vec<u8> = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        unread.extend_from_slice(&data);
        let Some(end) = unread.iter().rposition(|byte| *byte == b'\n') else {
            continue;
        };
        let rest = unread.split_off(end + 1);
        for line in unread
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            // An error ends the watch: a server may still be taking in the kind's definition.
            if line.starts_with(br#"{"type":"ERROR""#) {
                return Ok(());
            }
            put(seen, line)?;
        }
        unread = rest;
        tell.send_modify(|count| *count += 1);
    }
    Ok(())
}

fn put(seen: &Mutex<HashMap<String, State>>, line: &[u8]) -> Result<()> {
    let event: Event = serde_json::from_slice(line).context("read an event")?;
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let Seen { metadata, status } = event.object;
    match event.kind.as_str() {
        "DELETED" => {
            seen.remove(&metadata.name);
        }
        "ADDED" | "MODIFIED" => {
            let holds = |kind: &str| {
                let found = status
                    .conditions
                    .iter()
                    .find(|condition| condition.kind == kind);
                status.observed_generation == metadata.generation
                    && found.is_some_and(|condition| condition.status == "True")
            };
            let state = State {
                generation: metadata.generation,
                is_applied: holds("ResourcesApplied"),
                is_ready: holds("Ready"),
                at: Some(Instant::now()),
            };
            // The moment that counts is when it was first seen to be applied.
            let before = seen.insert(metadata.name.clone(), state);
            if let Some(before) = before
                && before.generation == state.generation
                && before.is_applied
                && let Some(known) = seen.get_mut(&metadata.name)
            {
                known.at = before.at;
            }
        }
        _ => {}
    }
    Ok(())
}
