//! Follows the objects of a kind: lists them, then watches from there, for ever.
//!
//! Unlike an ordinary reflector it tells the revision of each complete list, so that whoever listens can tell
//! an object that is gone from one that was made after the list was taken. Objects are told as the text that they
//! are: one that cannot be understood is the listener's to skip, and stops nothing.

use std::{pin::pin, time::Duration};

use futures::StreamExt as _;
use http::{Request, header};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use kube::{
    Client,
    core::{ApiResource, WatchEvent},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::trouble::Trouble;

/// What to follow.
#[derive(Clone)]
pub struct Source {
    client: Client,
    path: String,
    selectors: Vec<(&'static str, String)>,
    metadata_only: bool,
}

/// An object as the server wrote it, not read yet: most are told again only because we wrote them ourselves.
#[derive(Clone, Debug)]
pub struct Told {
    text: Box<RawValue>,
    head: Head,
}

/// As much of an object as tells which it is, and how new.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Head {
    /// Its namespace; empty for an object of the whole cluster.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Its revision.
    pub resource_version: String,
}

impl Head {
    /// The revision as a number. Servers count up; one that doesn't is taken for the newest.
    pub fn revision(&self) -> u64 {
        self.resource_version.parse().unwrap_or(u64::MAX)
    }
}

impl Told {
    fn new(text: Box<RawValue>) -> Self {
        #[derive(Deserialize)]
        struct Headed {
            #[serde(default)]
            metadata: Head,
        }
        let headed = serde_json::from_str::<Headed>(text.get());
        let head = headed.map_or_else(|_| Head::default(), |it| it.metadata);
        Self { text, head }
    }

    /// Which object this is; nothing can be told of what is none.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Reads it.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.text.get())
    }

    /// The object as a tree.
    pub fn value(&self) -> Value {
        self.read().unwrap_or_default()
    }
}

impl From<Value> for Told {
    fn from(object: Value) -> Self {
        let text = object.to_string();
        Self::new(RawValue::from_string(text).expect("a value is JSON"))
    }
}

impl<'de> Deserialize<'de> for Told {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::new)
    }
}

/// What is told.
#[derive(Debug)]
pub enum News {
    /// A list begins; what was told before may be out of date.
    Listing,
    /// Some objects of the list.
    Listed(Vec<Told>),
    /// The list is complete as of this revision.
    Complete(u64),
    /// An object is new or changed.
    Changed(Told),
    /// An object is gone; this is what it last was.
    Gone(Told),
    /// Listing or watching failed and is tried again.
    Failed(Trouble),
}

#[derive(Deserialize)]
struct Page {
    metadata: ListMeta,
    items: Option<Vec<Told>>,
}

/// Objects per page of a list: few, because a page is read as a whole and takes ten times its size while it is.
const PAGE: u32 = 100;
/// The same where only metadata is read.
const METADATA_PAGE: u32 = 500;
/// How long a page may take, or the answer to a watch before its first event.
const PAGE_DEADLINE: Duration = Duration::from_mins(1);
/// How long a server may hold a watch open; a new one follows at once.
const WATCH_SECONDS: u64 = 290;
/// A watch that says nothing for longer than this is dead, whatever the connection says.
const SILENCE: Duration = Duration::from_secs(WATCH_SECONDS + 15);
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

impl Source {
    /// All objects of a kind, whatever their namespace.
    pub fn all(client: Client, kind: &ApiResource) -> Self {
        Self::at(client, kind, None)
    }

    /// The objects of a kind in one namespace.
    pub fn namespaced(client: Client, kind: &ApiResource, namespace: &str) -> Self {
        Self::at(client, kind, Some(namespace))
    }

    fn at(client: Client, kind: &ApiResource, namespace: Option<&str>) -> Self {
        Self {
            client,
            path: url_path(kind, namespace),
            selectors: Vec::new(),
            metadata_only: false,
        }
    }

    /// Only those with these labels.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.selectors.push(("labelSelector", selector.into()));
        self
    }

    /// Only those with these fields.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.selectors.push(("fieldSelector", selector.into()));
        self
    }

    /// Only their metadata: what is told has nothing but `metadata` that means something.
    #[must_use]
    pub fn metadata_only(mut self) -> Self {
        self.metadata_only = true;
        self
    }

    fn request(
        &self,
        query: &[(&str, &str)],
        shape: &str,
    ) -> Result<Request<Vec<u8>>, kube::Error> {
        let mut url = form_urlencoded::Serializer::new(format!("{}?", self.path));
        for (key, value) in &self.selectors {
            url.append_pair(key, value);
        }
        url.extend_pairs(query);
        let accept = if self.metadata_only {
            format!("application/json;as={shape};g=meta.k8s.io;v=v1")
        } else {
            "application/json".to_owned()
        };
        Request::get(url.finish())
            .header(header::ACCEPT, accept)
            .body(Vec::new())
            .map_err(kube::Error::HttpError)
    }
}

/// The path of a kind's collection.
pub fn url_path(kind: &ApiResource, namespace: Option<&str>) -> String {
    let root = if kind.group.is_empty() {
        "/api"
    } else {
        "/apis"
    };
    let space = namespace.map(|name| format!("/namespaces/{name}"));
    let space = space.unwrap_or_default();
    format!("{root}/{}{space}/{}", kind.api_version, kind.plural)
}

/// Follows a source until the future is dropped.
pub async fn follow(source: Source, mut tell: impl FnMut(News) + Send) {
    let mut pause = FIRST_PAUSE;
    loop {
        let mut revision = match list(&source, &mut tell).await {
            Ok(revision) => revision,
            Err(error) => {
                tell(News::Failed(error.into()));
                wait(&mut pause).await;
                continue;
            }
        };
        pause = FIRST_PAUSE;
        // From here on until the server has forgotten our revision.
        loop {
            match watch(&source, &mut revision, &mut tell).await {
                Ok(Ended::InTime) => pause = FIRST_PAUSE,
                Ok(Ended::Expired) => break,
                Err(error) => {
                    tell(News::Failed(error.into()));
                    wait(&mut pause).await;
                }
            }
        }
    }
}

async fn wait(pause: &mut Duration) {
    sleep(pause.mul_f64(rand::random_range(0.5..1.0))).await;
    *pause = (*pause * 2).min(LONGEST_PAUSE);
}

/// Lists everything. While a page is told, the next one is on its way.
async fn list(
    source: &Source,
    tell: &mut (impl FnMut(News) + Send),
) -> Result<String, kube::Error> {
    tell(News::Listing);
    let mut page = fetch(source.clone(), None).await?;
    loop {
        let next = page.metadata.continue_.filter(|token| !token.is_empty());
        // Ends with this future, whoever drops it.
        let mut ahead = JoinSet::new();
        if let Some(token) = next {
            ahead.spawn(fetch(source.clone(), Some(token)));
        }
        tell(News::Listed(page.items.unwrap_or_default()));
        match ahead.join_next().await {
            Some(Ok(fetched)) => page = fetched?,
            Some(Err(error)) => return Err(kube::Error::Service(error.into())),
            None => {
                let revision = page.metadata.resource_version.unwrap_or_default();
                tell(News::Complete(revision.parse().unwrap_or(u64::MAX)));
                return Ok(revision);
            }
        }
    }
}

async fn fetch(source: Source, token: Option<String>) -> Result<Page, kube::Error> {
    let limit = if source.metadata_only {
        METADATA_PAGE
    } else {
        PAGE
    };
    let limit = limit.to_string();
    let mut query = vec![("limit", limit.as_str())];
    if let Some(token) = &token {
        query.push(("continue", token));
    }
    let request = source.request(&query, "PartialObjectMetadataList")?;
    let page = source.client.request::<Page>(request);
    timeout(PAGE_DEADLINE, page).await.map_err(too_slow)?
}

/// How a watch ended.
enum Ended {
    /// The server closed it, as it should now and then.
    InTime,
    /// The server no longer knows our revision.
    Expired,
}

async fn watch(
    source: &Source,
    revision: &mut String,
    tell: &mut (impl FnMut(News) + Send),
) -> Result<Ended, kube::Error> {
    let seconds = WATCH_SECONDS.to_string();
    let query = [
        ("watch", "1"),
        ("allowWatchBookmarks", "true"),
        ("timeoutSeconds", &seconds),
        ("resourceVersion", revision),
    ];
    let request = source.request(&query, "PartialObjectMetadata")?;
    // A server that takes the request and says nothing at all must not hold us for ever.
    let opening = timeout(PAGE_DEADLINE, source.client.request_events::<Told>(request));
    let events = match opening.await.map_err(too_slow)? {
        Ok(events) => events,
        Err(kube::Error::Api(status)) if status.code == 410 => return Ok(Ended::Expired),
        Err(error) => return Err(error),
    };
    let mut events = pin!(events);
    loop {
        let Ok(event) = timeout(SILENCE, events.next()).await else {
            return Ok(Ended::InTime);
        };
        match event {
            None => return Ok(Ended::InTime),
            Some(Ok(WatchEvent::Added(object) | WatchEvent::Modified(object))) => {
                note(&object, revision);
                tell(News::Changed(object));
            }
            Some(Ok(WatchEvent::Deleted(object))) => {
                note(&object, revision);
                tell(News::Gone(object));
            }
            Some(Ok(WatchEvent::Bookmark(bookmark))) => {
                *revision = bookmark.metadata.resource_version;
            }
            Some(Ok(WatchEvent::Error(status))) if status.code == 410 => return Ok(Ended::Expired),
            Some(Ok(WatchEvent::Error(status))) => return Err(kube::Error::Api(status)),
            Some(Err(error)) => return Err(error),
        }
    }
}

fn note(object: &Told, revision: &mut String) {
    let newer = &object.head().resource_version;
    if !newer.is_empty() {
        revision.clone_from(newer);
    }
}

fn too_slow(_: tokio::time::error::Elapsed) -> kube::Error {
    let words = format!("there was no answer within {} s", PAGE_DEADLINE.as_secs());
    kube::Error::Service(std::io::Error::new(std::io::ErrorKind::TimedOut, words).into())
}
