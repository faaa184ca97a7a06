//! What a controller of other projects' kinds sees: every object of the kinds that matter to it, kept by one watch each.
//!
//! ```text
//!   one watch per kind ─► World ─► whoever asks for changes looks at all of it, and decides
//! ```
//!
//! A cluster need not have all the kinds: one that can't be listed is taken for empty.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    sync::Arc,
};

use http::{Method, Request, header};
use kube::{
    Client,
    core::{ApiResource, GroupVersionKind},
};
use parking_lot::Mutex;
use quadrille_planes::{
    Trouble,
    feed::{self, News, Source, Told},
};
use serde_json::{Value, json};
use tokio::{sync::Notify, task::JoinSet};

use crate::read::Place;

/// The kinds that matter to a controller.
pub(crate) trait Kinds: Copy + Debug + Ord + Send + 'static {
    /// All of them.
    const ALL: &'static [Self];

    /// Group, version, kind and plural.
    fn parts(self) -> (&'static str, &'static str, &'static str, &'static str);

    /// Whether its metadata is all that matters of it.
    fn is_known_by_metadata(self) -> bool;

    /// Drops what nobody looks at: what is kept, is kept as long as the object lives.
    fn trim(self, object: &mut Value);

    /// Its name in objects.
    fn name(self) -> &'static str {
        self.parts().2
    }

    /// Its group.
    fn group(self) -> &'static str {
        self.parts().0
    }

    /// As the API client names it.
    fn resource(self) -> ApiResource {
        let (group, version, kind, plural) = self.parts();
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural)
    }
}

/// Leaves what is at a place in an object only these fields.
pub(crate) fn retain(object: &mut Value, place: &str, fields: &[&str]) {
    if let Some(Value::Object(object)) = object.pointer_mut(place) {
        object.retain(|field, _| fields.contains(&field.as_str()));
    }
}

type Objects = BTreeMap<Place, Value>;

/// Everything that is seen.
pub(crate) struct World<K> {
    objects: BTreeMap<K, Objects>,
    /// Lists that are under way.
    listing: BTreeMap<K, Objects>,
    /// Kinds that were listed, or can't be.
    known: BTreeSet<K>,
}

impl<K> Default for World<K> {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            listing: BTreeMap::new(),
            known: BTreeSet::new(),
        }
    }
}

impl<K: Kinds> World<K> {
    /// Takes in what a watch tells; says whether that may change anything.
    pub(crate) fn hear(&mut self, kind: K, news: News) -> bool {
        match news {
            News::Listing => {
                self.listing.insert(kind, Objects::new());
                return false;
            }
            News::Listed(objects) => {
                let listing = self.listing.entry(kind).or_default();
                listing.extend(objects.iter().map(|told| read(kind, told)));
                return false;
            }
            News::Complete(_) => {
                let listed = self.listing.remove(&kind).unwrap_or_default();
                self.objects.insert(kind, listed);
                self.known.insert(kind);
            }
            News::Changed(told) => {
                let (place, object) = read(kind, &told);
                let objects = self.objects.entry(kind).or_default();
                // What changed may be nothing that is kept.
                if objects.get(&place) == Some(&object) {
                    return false;
                }
                objects.insert(place, object);
            }
            News::Gone(told) => {
                let objects = self.objects.entry(kind).or_default();
                objects.remove(&Place::of(&told.value()));
            }
            News::Failed(_) => return self.known.insert(kind),
        }
        true
    }

    /// Whether everything was looked at once.
    fn is_known(&self) -> bool {
        self.known.len() == K::ALL.len()
    }

    /// All objects of a kind.
    pub(crate) fn all(&self, kind: K) -> impl Iterator<Item = (&Place, &Value)> {
        self.objects.get(&kind).into_iter().flatten()
    }

    /// An object.
    pub(crate) fn get(&self, kind: K, namespace: &str, name: &str) -> Option<&Value> {
        self.objects.get(&kind)?.get(&Place::new(namespace, name))
    }
}

fn read<K: Kinds>(kind: K, told: &Told) -> (Place, Value) {
    let mut object = told.value();
    kind.trim(&mut object);
    (Place::of(&object), object)
}

/// A world that is kept up to date until dropped.
pub(crate) struct Sight<K> {
    world: Arc<Mutex<World<K>>>,
    changed: Arc<Notify>,
    /// The watches; they end with this value.
    _watches: JoinSet<()>,
}

impl<K: Kinds> Sight<K> {
    /// Begins to watch.
    pub(crate) fn open(client: &Client) -> Self {
        let world = Arc::new(Mutex::new(World::default()));
        let changed = Arc::new(Notify::new());
        let mut watches = JoinSet::new();
        for &kind in K::ALL {
            let (world, changed) = (world.clone(), changed.clone());
            let mut source = Source::all(client.clone(), &kind.resource());
            if kind.is_known_by_metadata() {
                source = source.metadata_only();
            }
            watches.spawn(feed::follow(source, move |news| {
                if world.lock().hear(kind, news) {
                    changed.notify_one();
                }
            }));
        }
        Self {
            world,
            changed,
            _watches: watches,
        }
    }

    /// Waits for a change and looks.
    pub(crate) async fn changed<T>(&self, look: impl Fn(&World<K>) -> T) -> T {
        loop {
            self.changed.notified().await;
            let world = self.world.lock();
            if world.is_known() {
                return look(&world);
            }
        }
    }

    /// Looks at what is seen now.
    pub(crate) fn now<T>(&self, look: impl FnOnce(&World<K>) -> T) -> T {
        look(&self.world.lock())
    }
}

/// Writes the status of an object.
pub(crate) async fn write_status<K: Kinds>(
    client: &Client,
    writer: &str,
    kind: K,
    place: &Place,
    status: &Value,
) -> Result<(), Trouble> {
    let Place { namespace, name } = place;
    let namespace = Some(&**namespace).filter(|namespace| !namespace.is_empty());
    let path = feed::url_path(&kind.resource(), namespace);
    let url = format!("{path}/{name}/status?fieldManager={writer}");
    let body = json!({ "status": status });
    send(
        client,
        Method::PATCH,
        url,
        "application/merge-patch+json",
        &body,
    )
    .await
}

/// Sends what is to be written.
pub(crate) async fn send(
    client: &Client,
    method: Method,
    url: String,
    content_type: &str,
    body: &Value,
) -> Result<(), Trouble> {
    let request = Request::builder()
        .method(method)
        .uri(url)
        .header(header::CONTENT_TYPE, content_type)
        .body(body.to_string().into_bytes())
        .map_err(kube::Error::HttpError)?;
    client.request::<Value>(request).await?;
    Ok(())
}
