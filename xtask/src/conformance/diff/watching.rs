//! An open watch: events are read in the background and handed out when a script collects them.

use std::time::Duration;

use anyhow::Result;
use http::Response;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    time::timeout,
};

use super::written::written;

/// How long the next event may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A watch that is open, or has ended.
pub(super) struct Watching {
    events: UnboundedReceiver<Value>,
}

impl Watching {
    /// Begins to read; an answer other than 200 is read whole and is no watch.
    pub(super) async fn start(answer: Response<Incoming>) -> Result<(Option<Self>, Value)> {
        let (head, body) = answer.into_parts();
        if head.status != 200 {
            let body = body.collect().await?.to_bytes();
            return Ok((None, written(head.status.as_u16(), &head.headers, &body)));
        }
        let (sender, events) = mpsc::unbounded_channel();
        tokio::spawn(read(body, sender));
        let mut result = written(200, &head.headers, b"null");
        result["body"] = json!("<events>");
        Ok((Some(Self { events }), result))
    }

    /// The next `wanted` events, or all until the server ends the watch.
    pub(super) async fn collect(&mut self, wanted: Option<usize>, bookmarks: bool) -> Value {
        let mut collected = Vec::new();
        let mut ending = "";
        while wanted.is_none_or(|wanted| collected.len() < wanted) {
            match timeout(PATIENCE, self.events.recv()).await {
                Ok(Some(event)) if bookmarks || matters(&event) => collected.push(event),
                Ok(Some(_)) => {}
                Ok(None) => {
                    ending = "the server ended the watch";
                    break;
                }
                Err(_) => {
                    ending = "no further event";
                    break;
                }
            }
        }
        json!({"events": collected, "ending": ending})
    }
}

/// Periodic bookmarks come when the server likes; the one after the initial events is a promise.
fn matters(event: &Value) -> bool {
    event["type"] != "BOOKMARK" || event.to_string().contains("k8s.io/initial-events-end")
}

async fn read(mut body: Incoming, sender: UnboundedSender<Value>) {
    let mut unread = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else {
            continue;
        };
        unread.extend_from_slice(&data);
        while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = unread.drain(..=end).collect();
            let event = serde_json::from_slice(&line)
                .unwrap_or_else(|_| json!({"not JSON": String::from_utf8_lossy(&line)}));
            if sender.send(event).is_err() {
                return;
            }
        }
    }
}
