//! Events: what a person should read. Never for success, never twice the same within a while, and never at the
//! cost of anything else: when too many wait, new ones are dropped.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use serde_json::json;
use tokio::sync::mpsc;

use crate::control::Control;

/// What an event is about.
#[derive(Clone, Debug)]
pub struct Regarding {
    /// The kind of the object.
    pub kind: &'static str,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
}

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// What it is about.
    pub regarding: Regarding,
    /// Whether something is wrong.
    pub is_warning: bool,
    /// Why, for machines.
    pub reason: &'static str,
    /// What was done.
    pub action: &'static str,
    /// What happened, for people.
    pub note: String,
}

/// Where events go.
#[derive(Clone)]
pub struct Events(mpsc::Sender<Event>);

/// How many events wait at most.
const MOST: usize = 1000;
/// For how long the same event is not told again.
const SILENCE: Duration = Duration::from_mins(2);

impl Events {
    /// Events are written by a task that ends with the last clone.
    pub fn start(control: Control) -> Self {
        let (sender, receiver) = mpsc::channel(MOST);
        tokio::spawn(write_all(control, receiver));
        Self(sender)
    }

    /// Tells an event.
    pub fn tell(&self, event: Event) {
        if self.0.try_send(event).is_err() {
            tracing::debug!("an event was dropped: too many wait");
        }
    }
}

async fn write_all(control: Control, mut events: mpsc::Receiver<Event>) {
    let mut told: HashMap<(String, &'static str, String), Instant> = HashMap::new();
    while let Some(event) = events.recv().await {
        told.retain(|_, at| at.elapsed() < SILENCE);
        let what = (
            event.regarding.uid.clone(),
            event.reason,
            event.note.clone(),
        );
        if told.contains_key(&what) {
            continue;
        }
        if let Err(trouble) = write(&control, &event).await {
            tracing::debug!(reason = trouble.reason(), "an event could not be written");
        }
        told.insert(what, Instant::now());
    }
}

async fn write(control: &Control, event: &Event) -> Result<(), quadrille_planes::Trouble> {
    let about = &event.regarding;
    let unique: u64 = rand::random();
    let note: String = event.note.chars().take(1000).collect();
    let name: String = about.name.chars().take(200).collect();
    let object = json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {
            "namespace": about.namespace,
            "name": format!("{}.{unique:016x}", name.trim_end_matches(['.', '-'])),
        },
        "eventTime": format!("{:.6}", Timestamp::now()),
        "reportingController": "openchoreo.dev/quadrille",
        "reportingInstance": "quadrille",
        "action": event.action,
        "reason": event.reason,
        "type": if event.is_warning { "Warning" } else { "Normal" },
        "note": note,
        "regarding": {
            "apiVersion": "openchoreo.dev/v1alpha1",
            "kind": about.kind,
            "namespace": about.namespace,
            "name": about.name,
            "uid": about.uid,
        },
    });
    let path = format!(
        "/apis/events.k8s.io/v1/namespaces/{}/events",
        about.namespace
    );
    control.create(path, &object).await.map(drop)
}
