//! `watch`: what changes, as it changes.
//!
//! A watch is: the state at a revision (if the client asks for it, or names no revision), then every change
//! after that revision, without gaps. Frames are one JSON object per line.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures::stream;
use quadrille_machinery::status::Status;
use quadrille_store::{Change, Event, ReadError, Record, Revision, Watch, WatchEnd};
use rand::Rng;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Request, Saved, list::Walk, object::partial_metadata, table};
use crate::{
    accept::{self, Form, MetaVersion},
    options::ListOptions,
    reply,
    resource::Resource,
    revision,
    select::Selection,
    server::Shared,
};

/// How often a bookmark tells the client how far it has seen.
const BOOKMARK_EVERY: Duration = Duration::from_mins(1);
/// How long before the end the last bookmark is sent, so that it still arrives.
const BOOKMARK_BEFORE_END: Duration = Duration::from_secs(2);
/// The shortest life of a watch whose client names none; the longest is twice that.
const DEFAULT_LIFE_SECONDS: u64 = 1800;
/// The longest life that a client gets. The next watch goes on where this one ends.
const MAX_LIFE_SECONDS: u64 = 24 * 3600;
/// How many objects of the initial state are read at a time.
const CHUNK: usize = 500;

/// Answers with a stream of events.
pub(crate) fn watch(request: &Request) -> Result<Response, Status> {
    let options = ListOptions::read(&request.query)?;
    let form = request.form;
    let mut selection_options = options.clone();
    if let Some(name) = &request.target.name {
        selection_options.field_selector = Some(format!("metadata.name={name}"));
    }
    let selection = Selection::parse(&request.resource, &selection_options)?;
    let start = Start::choose(request, &options)?;
    accept::stream(&request.headers)?;

    let life = options
        .timeout_seconds
        .and_then(|seconds| u64::try_from(seconds).ok())
        .filter(|seconds| *seconds > 0)
        .map(|seconds| seconds.min(MAX_LIFE_SECONDS));
    let life = life.unwrap_or_else(|| {
        rand::rng().random_range(DEFAULT_LIFE_SECONDS..2 * DEFAULT_LIFE_SECONDS)
    });
    let now = Instant::now();
    let state = Watching {
        encoder: Encoder {
            shared: request.shared.clone(),
            resource: request.resource.clone(),
            form,
            include: table::Include::read(&request.query)?,
            columns_sent: false,
        },
        selection: selection.clone(),
        initial: start
            .initial
            .then(|| Walk::new(request, &selection, start.after))
            .transpose()?
            .map(Walk::in_a_clients_time),
        announce_initial_end: start.announce_end && options.bookmarks,
        bookmarks: options.bookmarks,
        next_bookmark: now
            + BOOKMARK_EVERY.min(Duration::from_secs(life).saturating_sub(BOOKMARK_BEFORE_END)),
        end: now + Duration::from_secs(life),
        seen: start.after,
        live: start.watch,
        ready: VecDeque::new(),
        over: false,
    };
    let state = match start.failed {
        Some(status) => state.failed(&status),
        None => state,
    };
    let frames = stream::unfold(state, |mut state| async move {
        let frame = state.next().await?;
        Some((Ok::<_, std::io::Error>(frame), state))
    });
    let mut response = reply::json(200, Bytes::new());
    *response.body_mut() = Body::from_stream(frames);
    response.headers_mut().remove(http::header::CONTENT_LENGTH);
    Ok(response)
}

/// Where a watch begins.
struct Start {
    /// Changes after this revision are sent.
    after: Revision,
    /// Whether the state at that revision is sent first.
    initial: bool,
    /// Whether a bookmark marks the end of that state.
    announce_end: bool,
    /// The live part; `None` if it can't start.
    watch: Option<Watch>,
    /// Why it can't start: said as an event, for the answer's head is 200 by then.
    failed: Option<Status>,
}

impl Start {
    fn choose(request: &Request, options: &ListOptions) -> Result<Self, Status> {
        options.check_watch()?;
        let store = &request.shared.store;
        let prefix = crate::stored::prefix(&request.resource, request.namespace());
        let version = options
            .resource_version
            .as_deref()
            .map(revision::parse)
            .transpose()
            .map_err(|error| error.in_get())?;
        let wants_state = match options.send_initial_events {
            Some(wanted) => wanted,
            None => version.is_none_or(|version| version.0 == 0),
        };
        let after = match version {
            Some(version) if !wants_state && version.0 > 0 => version,
            Some(version) => {
                revision::check_not_too_large(store, version)?;
                store.revision()
            }
            None => store.revision(),
        };
        // What is not there yet is waited for: changes up to that revision are passed over.
        let (watch, failed) = match store.watch(&prefix, after.min(store.revision())) {
            Ok(watch) => (Some(watch), None),
            Err(ReadError::Compacted { floor }) => (None, Some(too_old(after, floor))),
            Err(error) => return Err(Status::internal(error)),
        };
        Ok(Self {
            after,
            initial: wants_state,
            announce_end: options.send_initial_events == Some(true),
            watch,
            failed,
        })
    }
}

fn too_old(wanted: Revision, floor: Revision) -> Status {
    Status::expired(format!("too old resource version: {wanted} ({floor})"))
}

/// A running watch.
struct Watching {
    encoder: Encoder,
    selection: Selection,
    initial: Option<Walk>,
    announce_initial_end: bool,
    bookmarks: bool,
    next_bookmark: Instant,
    end: Instant,
    seen: Revision,
    live: Option<Watch>,
    ready: VecDeque<Bytes>,
    over: bool,
}

impl Watching {
    /// A watch that only says why it can't be.
    fn failed(mut self, status: &Status) -> Self {
        self.initial = None;
        self.fail(status);
        self
    }

    fn fail(&mut self, status: &Status) {
        self.ready
            .push_back(frame("ERROR", &reply::typed_first(&status.to_value())));
        self.over = true;
    }

    /// The next piece of the body; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(self.join(frame));
            }
            if self.over {
                return None;
            }
            if self.initial.is_some() {
                self.read_initial();
            } else {
                self.read_live().await;
            }
        }
    }

    /// Everything that is ready, as one piece.
    fn join(&mut self, first: Bytes) -> Bytes {
        if self.ready.is_empty() {
            return first;
        }
        let mut all = first.to_vec();
        for frame in self.ready.drain(..) {
            all.extend_from_slice(&frame);
        }
        Bytes::from(all)
    }

    fn read_initial(&mut self) {
        let Some(walk) = self.initial.as_mut() else {
            return;
        };
        match walk.next_chunk(CHUNK) {
            Ok(Some(records)) => {
                for record in records {
                    self.send("ADDED", record);
                }
            }
            Ok(None) => {
                self.initial = None;
                if self.announce_initial_end {
                    let bookmark = self.encoder.bookmark(self.seen, true);
                    self.ready.push_back(bookmark);
                }
            }
            Err(error) => self.fail(&super::list::read_error(&error)),
        }
    }

    async fn read_live(&mut self) {
        let Some(live) = self.live.as_mut() else {
            self.over = true;
            return;
        };
        let bookmark = if self.bookmarks {
            self.next_bookmark
        } else {
            self.end
        };
        tokio::select! {
            biased;
            () = self.encoder.shared.shutdown.cancelled() => self.over = true,
            event = live.next() => match event {
                Ok(event) => self.observe(&event),
                // The client resumes from the last event that it saw.
                Err(WatchEnd::TooSlow { .. } | WatchEnd::Failed { .. } | WatchEnd::Closed) => {
                    self.over = true;
                }
                Err(WatchEnd::Compacted) => {
                    let floor = self.encoder.shared.store.floor();
                    self.fail(&too_old(self.seen, floor));
                }
            },
            () = tokio::time::sleep_until(bookmark.min(self.end)) => {
                let now = Instant::now();
                if self.bookmarks && now >= self.next_bookmark {
                    let seen = live.progress().max(self.seen);
                    self.ready.push_back(self.encoder.bookmark(seen, false));
                    let last = self.end.checked_sub(BOOKMARK_BEFORE_END).unwrap_or(self.end);
                    let next = now + BOOKMARK_EVERY;
                    self.next_bookmark = if now < last { next.min(last) } else { next };
                }
                if now >= self.end {
                    self.over = true;
                }
            }
        }
    }

    /// Turns a change of the store into what this client sees of it: an object that stops matching is
    /// deleted for it, one that starts matching is added.
    fn observe(&mut self, event: &Arc<Event>) {
        if event.revision <= self.seen {
            return;
        }
        self.seen = event.revision;
        let resource = self.encoder.resource.clone();
        let matches = |value: &Bytes| self.selection.matches(&resource, &event.key, value);
        let before = event.previous.as_ref().is_some_and(matches);
        let (name, value) = match event.change {
            Change::Deleted if matches(&event.value) || before => ("DELETED", &event.value),
            Change::Deleted => return,
            Change::Created | Change::Updated => match (before, matches(&event.value)) {
                (false, true) => ("ADDED", &event.value),
                (true, true) => ("MODIFIED", &event.value),
                (true, false) => ("DELETED", event.previous.as_ref().unwrap_or(&event.value)),
                (false, false) => return,
            },
        };
        let record = Record {
            key: event.key.clone(),
            value: value.clone(),
            created: event.revision,
            modified: event.revision,
        };
        self.send(name, record);
    }

    fn send(&mut self, name: &str, record: Record) {
        match self.encoder.encode(&Saved::from(record)) {
            Ok(body) => self.ready.push_back(frame(name, &body)),
            Err(status) => self.fail(&status),
        }
    }
}

/// Objects as frames of one client's form.
struct Encoder {
    shared: Arc<Shared>,
    resource: Arc<Resource>,
    form: Form,
    include: table::Include,
    /// A table's columns are described in its first frame only.
    columns_sent: bool,
}

impl Encoder {
    fn encode(&mut self, saved: &Saved) -> Result<Vec<u8>, Status> {
        match self.form {
            Form::Object => {
                let mut body = Vec::with_capacity(saved.value.len() + 160);
                saved.write(&self.resource, true, &mut body)?;
                Ok(body)
            }
            Form::Metadata { version, .. } => {
                let mut body = Vec::with_capacity(saved.value.len());
                saved.write_metadata(version, &mut body);
                Ok(body)
            }
            Form::Table(version) => {
                let object = saved.object(&self.resource)?;
                Ok(self.table(version, &object, saved.revision))
            }
        }
    }

    /// A table of one row; its columns are described in the first frame.
    fn table(&mut self, version: MetaVersion, object: &Value, revision: Revision) -> Vec<u8> {
        let mut table = table::build(
            &self.resource,
            version,
            std::slice::from_ref(object),
            &json!({ "resourceVersion": revision.to_string() }),
            self.include,
            self.shared.clock.now(),
        );
        if self.columns_sent {
            table["columnDefinitions"] = Value::Null;
        }
        self.columns_sent = true;
        reply::typed_first(&table)
    }

    fn bookmark(&mut self, seen: Revision, initial_end: bool) -> Bytes {
        let mut metadata = json!({ "resourceVersion": seen.to_string() });
        if initial_end {
            metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
        }
        let mut object = json!({
            "kind": self.resource.kind,
            "apiVersion": self.resource.api_version(),
            "metadata": metadata,
        });
        let body = match self.form {
            Form::Object => {
                if self.resource.is_built_in() {
                    quadrille_machinery::builtin::encoding::encode(
                        self.resource.schema.root(),
                        &mut object,
                    );
                }
                reply::typed_first(&object)
            }
            Form::Metadata { version, .. } => {
                reply::typed_first(&partial_metadata(&object, version))
            }
            Form::Table(version) => self.table(version, &object, seen),
        };
        frame("BOOKMARK", &body)
    }
}

fn frame(name: &str, object: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(object.len() + 40);
    out.extend_from_slice(br#"{"type":""#);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(br#"","object":"#);
    out.extend_from_slice(object);
    out.extend_from_slice(b"}\n");
    Bytes::from(out)
}
