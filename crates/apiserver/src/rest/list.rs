//! `list`: many objects, at one revision, in pages if asked.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, response::Response};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use futures::stream;
use parking_lot::Mutex;
use quadrille_machinery::{decode, status::Status};
use quadrille_store::{ReadError, Record, Revision, Store, View};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Request, Saved, table};
use crate::{
    accept::Form, options::ListOptions, reply, resource::Resource, revision, select::Selection,
    stored,
};

/// How many records are read from the store at a time.
const CHUNK: usize = 500;
/// A page that somebody asked for ends before its limit when it has become so large.
const PAGE_BYTES: usize = 32 << 20;
/// How long a walk that depends on a client's reading holds on to the state that it began with.
const HOLD: Duration = Duration::from_mins(1);

/// What a continue token says: where the next page starts, and at which revision.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Token {
    #[serde(rename = "v")]
    version: String,
    #[serde(rename = "rv")]
    revision: i64,
    start: String,
    /// How many objects follow. A list stays at its revision, so they need to be counted only once.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u64>,
}

/// The token's format.
const TOKEN_VERSION: &str = "meta.k8s.io/v1";

/// Where a list starts and what it sees.
struct Cut {
    at: Revision,
    after: Option<Bytes>,
    /// How many objects follow, if the page before knew it.
    left: Option<u64>,
}

/// A walk through the selected records of a resource at one revision. It holds on to the state that it
/// began with, so that no compaction ends a list halfway.
pub(crate) struct Walk {
    store: Store,
    /// Nothing once it was held for too long: then the walk goes on through history, as far as there is any.
    view: Arc<Mutex<Option<View>>>,
    resource: Arc<Resource>,
    selection: Selection,
    prefix: Bytes,
    after: Option<Bytes>,
    at: Revision,
    done: bool,
}

impl Walk {
    /// A walk from the start, at a revision.
    pub(crate) fn new(
        request: &Request,
        selection: &Selection,
        at: Revision,
    ) -> Result<Self, Status> {
        let store = request.shared.store.clone();
        let view = store.view().map_err(Status::internal)?;
        Ok(Self {
            store,
            view: Arc::new(Mutex::new(Some(view))),
            resource: request.resource.clone(),
            selection: selection.clone(),
            prefix: stored::prefix(&request.resource, request.namespace()),
            after: None,
            at,
            done: false,
        })
    }

    /// The same for somebody who may take any time to read, or stop reading: the space of what changes meanwhile is not
    /// kept for ever.
    pub(crate) fn in_a_clients_time(self) -> Self {
        let view = Arc::downgrade(&self.view);
        tokio::spawn(async move {
            tokio::time::sleep(HOLD).await;
            if let Some(view) = view.upgrade() {
                view.lock().take();
            }
        });
        self
    }

    /// The next selected records; none at the end. May give an empty chunk before the end.
    pub(crate) fn next_chunk(&mut self, limit: usize) -> Result<Option<Vec<Record>>, ReadError> {
        if self.done {
            return Ok(None);
        }
        let (after, at) = (self.after.as_deref(), Some(self.at));
        let page = match &*self.view.lock() {
            Some(view) => view.list(&self.prefix, after, limit, at)?,
            None => self.store.list(&self.prefix, after, limit, at)?,
        };
        self.done = !page.more;
        self.after = page
            .records
            .last()
            .map(|record| record.key.clone())
            .or(self.after.take());
        let mut records = page.records;
        if !self.selection.is_everything() {
            records.retain(|record| {
                self.selection
                    .matches(&self.resource, &record.key, &record.value)
            });
        }
        Ok(Some(records))
    }
}

/// Answers with the selected objects.
pub(crate) fn list(request: &Request) -> Result<Response, Status> {
    let options = ListOptions::read(&request.query)?;
    let form = request.form;
    if matches!(form, Form::Metadata { list: false, .. }) {
        return Err(wrong_form(request, "PartialObjectMetadata", true));
    }
    let selection = Selection::parse(&request.resource, &options)?;
    let cut = cut(request, &options)?;
    let mut walk = Walk::new(request, &selection, cut.at)?;
    walk.after = cut.after;
    match (form, options.limit) {
        (Form::Object, None) => stream(request, walk),
        (form, limit) => {
            let known = cut.left.filter(|_| selection.is_everything());
            collect(request, walk, form, limit, known, &selection)
        }
    }
}

/// 406: metadata was asked for in the form of the other number.
pub(crate) fn wrong_form(request: &Request, form: &str, is_list: bool) -> Status {
    let resource = &request.resource;
    let package = resource.group.split('.').next().unwrap_or_default();
    let package = if package.is_empty() { "core" } else { package };
    let message = if is_list {
        format!(
            "you requested {form}, but the requested object is a list (*{package}.{})",
            resource.list_kind
        )
    } else {
        format!(
            "you requested {form}, but the requested object is not a list (*{package}.{})",
            resource.kind
        )
    };
    Status::not_acceptable(message)
}

/// A whole list as a stream: memory stays bounded by a chunk, however many objects there are.
fn stream(request: &Request, walk: Walk) -> Result<Response, Status> {
    let resource = request.resource.clone();
    // Lists of custom resources say even that they don't go on.
    let whole = if resource.is_built_in() {
        ""
    } else {
        r#""continue":"","#
    };
    let head = format!(
        r#"{{"kind":"{}","apiVersion":"{}","metadata":{{{whole}"resourceVersion":"{}"}},"items":["#,
        resource.list_kind,
        resource.api_version(),
        walk.at
    );
    let mut state = Streaming {
        walk,
        resource,
        first: true,
    };
    let Some(mut body) = state.next(head.into_bytes())? else {
        return Err(Status::internal("list ended before it began"));
    };
    if state.walk.done {
        body.extend_from_slice(b"]}\n");
        return Ok(reply::json(200, body));
    }
    state.walk = state.walk.in_a_clients_time();
    let rest = stream::unfold(Some(state), |state| async move {
        let mut state = state?;
        match state.next(Vec::with_capacity(64 * 1024)) {
            Ok(Some(chunk)) => Some((Ok(Bytes::from(chunk)), Some(state))),
            Ok(None) => Some((Ok(Bytes::from_static(b"]}\n")), None)),
            // The head is out: all that is left is to break the body off, so that nobody takes it for whole.
            Err(status) => Some((Err(std::io::Error::other(status.message)), None)),
        }
    });
    let first = stream::once(async move { Ok(Bytes::from(body)) });
    let mut response = reply::json(200, Bytes::new());
    *response.body_mut() = Body::from_stream(futures::StreamExt::chain(first, rest));
    Ok(response)
}

struct Streaming {
    walk: Walk,
    resource: Arc<Resource>,
    first: bool,
}

impl Streaming {
    /// Appends the next chunk to `out`; `None` at the end.
    fn next(&mut self, mut out: Vec<u8>) -> Result<Option<Vec<u8>>, Status> {
        let chunk = self
            .walk
            .next_chunk(CHUNK)
            .map_err(|error| read_error(&error))?;
        let Some(records) = chunk else {
            return Ok(None);
        };
        for record in records {
            if !std::mem::take(&mut self.first) {
                out.push(b',');
            }
            let typed = !self.resource.is_built_in();
            // Writing fails only for a record that cannot be read; leaving it out would hide it.
            Saved::from(record).write(&self.resource, typed, &mut out)?;
        }
        Ok(Some(out))
    }
}

/// A page, or a list in another form, built in memory.
fn collect(
    request: &Request,
    mut walk: Walk,
    form: Form,
    limit: Option<i64>,
    known: Option<u64>,
    selection: &Selection,
) -> Result<Response, Status> {
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let mut records: Vec<Record> = Vec::new();
    let mut bytes = 0;
    let mut last = walk.after.clone();
    loop {
        let room = limit.map_or(CHUNK, |limit| (limit - records.len()).min(CHUNK));
        if room == 0 || (limit.is_some() && bytes >= PAGE_BYTES) {
            break;
        }
        match walk.next_chunk(room).map_err(|error| read_error(&error))? {
            Some(chunk) => {
                bytes += chunk.iter().map(|one| one.value.len()).sum::<usize>();
                records.extend(chunk);
            }
            None => break,
        }
        last.clone_from(&walk.after);
    }
    let mut metadata = json!({ "resourceVersion": walk.at.to_string() });
    if !request.resource.is_built_in() && form == Form::Object {
        metadata["continue"] = json!("");
    }
    if !walk.done
        && let Some(last) = last
    {
        let left = if selection.is_everything() {
            Some(left(request, &walk, &last, known, records.len())?)
        } else {
            None
        };
        metadata["continue"] = json!(token(request, walk.at, &last, left));
        if let Some(left) = left {
            metadata["remainingItemCount"] = json!(left);
        }
    }
    let resource = &request.resource;
    let saved = records.into_iter().map(Saved::from);
    match form {
        Form::Object => {
            let mut body = format!(
                r#"{{"kind":"{}","apiVersion":"{}","metadata":{metadata},"items":["#,
                resource.list_kind,
                resource.api_version(),
            )
            .into_bytes();
            for (at, saved) in saved.enumerate() {
                if at > 0 {
                    body.push(b',');
                }
                saved.write(resource, !resource.is_built_in(), &mut body)?;
            }
            body.extend_from_slice(b"]}\n");
            Ok(reply::json(200, body))
        }
        Form::Metadata { version, .. } => {
            let mut body = format!(
                r#"{{"kind":"PartialObjectMetadataList","apiVersion":"{}","metadata":{metadata},"items":["#,
                version.api_version(),
            )
            .into_bytes();
            for (at, saved) in saved.enumerate() {
                if at > 0 {
                    body.push(b',');
                }
                saved.write_metadata(version, &mut body);
            }
            body.extend_from_slice(b"]}\n");
            Ok(reply::json(200, body))
        }
        Form::Table(version) => {
            let objects: Vec<Value> = saved
                .map(|saved| saved.object(resource))
                .collect::<Result<_, _>>()?;
            Ok(reply::value(
                200,
                &table::of_objects(request, version, &objects, &metadata)?,
            ))
        }
    }
}

/// How many objects follow a page.
fn left(
    request: &Request,
    walk: &Walk,
    last: &[u8],
    known: Option<u64>,
    shown: usize,
) -> Result<u64, Status> {
    let shown = u64::try_from(shown).unwrap_or(u64::MAX);
    if let Some(left) = known.and_then(|known| known.checked_sub(shown)) {
        return Ok(left);
    }
    let store = &request.shared.store;
    let counted = store.remaining_after(&walk.prefix, last, Some(walk.at));
    counted.map_err(|error| read_error(&error))
}

/// Which revision the list shows, by the rules for `resourceVersion`, its match rule and `continue`.
fn cut(request: &Request, options: &ListOptions) -> Result<Cut, Status> {
    let store = &request.shared.store;
    let version = options.resource_version.as_deref();
    options.check_list()?;
    if let Some(text) = &options.continue_token {
        if version.is_some_and(|version| version != "0") {
            return Err(Status::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        return resume(request, text);
    }
    let current = store.revision();
    let Some(version) = version else {
        return Ok(Cut {
            at: current,
            after: None,
            left: None,
        });
    };
    let wanted = revision::parse(version).map_err(|error| error.in_list())?;
    // A page of a list at a revision is a page of that revision, unless the client says otherwise.
    let is_page = options.limit.is_some() && wanted.0 > 0;
    match options.version_match.as_deref() {
        rule if rule == Some("Exact") || (rule.is_none() && is_page) => {
            revision::check_not_too_large(store, wanted)?;
            if wanted < store.floor() {
                return Err(expired(wanted));
            }
            Ok(Cut {
                at: wanted,
                after: None,
                left: None,
            })
        }
        _ => {
            revision::check_not_too_large(store, wanted)?;
            Ok(Cut {
                at: current,
                after: None,
                left: None,
            })
        }
    }
}

fn token(request: &Request, at: Revision, last: &[u8], left: Option<u64>) -> String {
    let prefix = stored::prefix(&request.resource, request.namespace());
    let start = String::from_utf8_lossy(last.get(prefix.len()..).unwrap_or_default());
    let token = Token {
        version: TOKEN_VERSION.to_owned(),
        revision: i64::try_from(at.0).unwrap_or(i64::MAX),
        start: format!("{start}\u{0}"),
        left,
    };
    URL_SAFE_NO_PAD.encode(serde_json::to_string(&token).unwrap_or_default())
}

fn resume(request: &Request, text: &str) -> Result<Cut, Status> {
    let invalid = |why: String| {
        Status::bad_request(format!(
            "invalid continue token: continue key is not valid: {why}"
        ))
    };
    let bytes = URL_SAFE_NO_PAD
        .decode(text.trim_end_matches('='))
        .map_err(|error| invalid(illegal_base64(text, &error)))?;
    let token = decode::json(&bytes)
        .map_err(|error| invalid(error.to_string()))?
        .value;
    let token: Token = serde_json::from_value(token).map_err(|error| invalid(error.to_string()))?;
    if token.version != TOKEN_VERSION {
        let version = token.version;
        return Err(invalid(format!(
            "server does not recognize this encoded version {version}"
        )));
    }
    if token.revision == 0 {
        return Err(invalid(format!(
            "incorrect encoded start resourceVersion (version {TOKEN_VERSION})"
        )));
    }
    if token.start.is_empty() {
        return Err(invalid(format!(
            "encoded start key empty (version {TOKEN_VERSION})"
        )));
    }
    let start = token.start.trim_end_matches('\u{0}');
    let start = start.strip_prefix('/').unwrap_or(start);
    if start.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(invalid(token.start));
    }
    let prefix = stored::prefix(&request.resource, request.namespace());
    let mut after = prefix.to_vec();
    after.extend_from_slice(start.as_bytes());
    let store = &request.shared.store;
    // A negative revision means: carry on at the newest, consistency given up knowingly.
    let at = u64::try_from(token.revision).map_or_else(|_| store.revision(), Revision);
    if at < store.floor() {
        return Err(continue_expired(&after, &prefix));
    }
    Ok(Cut {
        at: at.min(store.revision()),
        after: Some(Bytes::from(after)),
        // What went on at another revision was counted at another one.
        left: token.left.filter(|_| token.revision > 0),
    })
}

fn expired(wanted: Revision) -> Status {
    Status::expired(format!(
        "The resourceVersion for the provided list is too old: {wanted}"
    ))
}

/// 410 with a token that carries on at the newest revision.
fn continue_expired(after: &[u8], prefix: &[u8]) -> Status {
    let start = String::from_utf8_lossy(&after[prefix.len()..]).into_owned();
    let token = Token {
        version: TOKEN_VERSION.to_owned(),
        revision: -1,
        start: format!("{start}\u{0}"),
        left: None,
    };
    let token = URL_SAFE_NO_PAD.encode(serde_json::to_string(&token).unwrap_or_default());
    let mut status = Status::expired(
        "The provided continue parameter is too old to display a consistent list result. You can \
         start a new list without the continue parameter, or use the continue token in this response \
         to retrieve the remainder of the results. Continuing with the provided token results in an \
         inconsistent list - objects that were created, modified, or deleted between the time the \
         first chunk was returned and now may show up in the list.",
    );
    status.list_continue = Some(token);
    status
}

/// Where a token stops being base64, in Go's words.
fn illegal_base64(text: &str, error: &base64::DecodeError) -> String {
    let at = match error {
        base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => {
            *at
        }
        _ => text.len(),
    };
    format!("illegal base64 data at input byte {at}")
}

/// A failed read as a refusal.
pub(crate) fn read_error(error: &ReadError) -> Status {
    match error {
        ReadError::Compacted { .. } => {
            Status::expired("The resourceVersion for the provided list is too old.")
        }
        other => Status::internal(other),
    }
}
