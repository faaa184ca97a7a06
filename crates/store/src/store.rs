//! The handle that everybody holds.

use std::{
    path::Path,
    sync::{Arc, mpsc},
};

use bytes::Bytes;
use redb::{StorageBackend, backends::InMemoryBackend};
use tokio::sync::{Semaphore, oneshot};

use crate::{
    Fault, Op, OpenError, Options, Page, ReadError, Record, Revision, View, Watch, WriteError,
    backend::Guarded, engine, file, group::Request, hub::Hub, writer,
};

/// How many transactions may wait for the writer before `commit` waits for a place.
const QUEUE: usize = 1024;
const MAX_VALUE: usize = 1 << 30;
const IN_MEMORY_CACHE: usize = 2 << 20;

/// A durable, ordered revision log with watch. Cloning gives another handle to the same store.
///
/// Reading and watching from history read the data file on the calling thread; that is quick as a
/// rule (pages are cached), but very long lists belong on a blocking thread.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    hub: Arc<Hub>,
    queue: mpsc::Sender<Request>,
    places: Arc<Semaphore>,
}

impl Store {
    /// Opens the data file, or creates it together with its folder.
    pub fn open(path: &Path, options: Options) -> Result<Self, OpenError> {
        file::create_if_missing(path, &options)?;
        Self::start(&file::open(path)?, path, options)
    }

    /// A store that lives in memory, for tests and throw-away clusters.
    pub fn in_memory(mut options: Options) -> Result<Self, OpenError> {
        // Everything is in memory already, so there is not much to cache.
        options.cache_bytes = options.cache_bytes.min(IN_MEMORY_CACHE);
        Self::with_backend(InMemoryBackend::new(), options)
    }

    /// A store on any storage; an empty one becomes a new store.
    pub fn with_backend(backend: impl StorageBackend, options: Options) -> Result<Self, OpenError> {
        let storage = Guarded::new(Box::new(backend));
        Self::start(&storage, Path::new("(storage)"), options)
    }

    fn start(storage: &Arc<Guarded>, path: &Path, options: Options) -> Result<Self, OpenError> {
        let engine = engine::open_staged(storage, &options)
            .and_then(|engine| storage.release().map(|()| engine).map_err(Fault::from))
            .map_err(|fault| file::failed(path, fault))?;
        let (queue, requests) = mpsc::channel();
        let storage = Arc::clone(storage);
        let hub = writer::spawn(engine, storage, requests, options)
            .map_err(|error| file::failed(path, error.into()))?;
        Ok(Self {
            inner: Arc::new(Inner {
                hub,
                queue,
                places: Arc::new(Semaphore::new(QUEUE)),
            }),
        })
    }

    /// The newest revision that is durable and visible.
    pub fn revision(&self) -> Revision {
        Revision(self.inner.hub.published())
    }

    /// The oldest revision that can still be read, and watched from.
    pub fn floor(&self) -> Revision {
        let snapshot = self.inner.hub.snapshot();
        snapshot.map_or_else(|_| self.revision(), |snapshot| Revision(snapshot.floor))
    }

    /// The record of a key, as it is now.
    pub fn get(&self, key: &[u8]) -> Result<Option<Record>, ReadError> {
        self.inner.hub.read(|snapshot| snapshot.get(key, None))
    }

    /// The record of a key, as it was at a revision.
    pub fn get_at(&self, key: &[u8], at: Revision) -> Result<Option<Record>, ReadError> {
        self.inner.hub.read(|snapshot| snapshot.get(key, Some(at)))
    }

    /// The records whose keys start with `prefix` and come after `start_after`, in key order.
    ///
    /// A `limit` of 0 means no limit; with one, a page of very large records ends earlier. Without `at` the newest state
    /// is read; the page says which revision that was.
    pub fn list(
        &self,
        prefix: &[u8],
        start_after: Option<&[u8]>,
        limit: usize,
        at: Option<Revision>,
    ) -> Result<Page, ReadError> {
        self.inner
            .hub
            .read(|snapshot| snapshot.list(prefix, start_after, limit, at))
    }

    /// Holds on to the newest state, to read it piece by piece.
    pub fn view(&self) -> Result<View, ReadError> {
        View::new(Arc::clone(&self.inner.hub))
    }

    /// How many records there are under a prefix now.
    pub fn count(&self, prefix: &[u8]) -> Result<u64, ReadError> {
        self.inner
            .hub
            .read(|snapshot| snapshot.count(prefix, None, None))
    }

    /// How many records under a prefix come after a key. It walks them all: whoever reads page by page counts once, and
    /// goes on from there.
    pub fn remaining_after(
        &self,
        prefix: &[u8],
        start_after: &[u8],
        at: Option<Revision>,
    ) -> Result<u64, ReadError> {
        self.inner
            .hub
            .read(|snapshot| snapshot.count(prefix, Some(start_after), at))
    }

    /// Makes all changes of a transaction, or none, and returns when they are on disk.
    ///
    /// Each change gets its own revision, one after the other. Dropping the future does not take
    /// the transaction back.
    pub async fn commit(&self, ops: Vec<Op>) -> Result<Vec<Revision>, WriteError> {
        if ops.is_empty() {
            return Ok(Vec::new());
        }
        if ops.iter().any(|op| op.size() > MAX_VALUE) {
            return Err(WriteError::Io(Fault::too_large()));
        }
        let (reply, answer) = oneshot::channel();
        let place = Arc::clone(&self.inner.places).acquire_owned().await;
        let place = place.map_err(|_| WriteError::Closed)?;
        self.send(Request::Commit { ops, reply, place })?;
        answer.await.unwrap_or(Err(WriteError::Closed))
    }

    /// Every change under a prefix after a revision, without gaps.
    pub fn watch(&self, prefix: &[u8], after: Revision) -> Result<Watch, ReadError> {
        let newest = self.revision();
        if after > newest {
            return Err(ReadError::Future { newest });
        }
        let floor = Revision(self.inner.hub.snapshot()?.floor);
        if after < floor {
            return Err(ReadError::Compacted { floor });
        }
        let prefix = Bytes::copy_from_slice(prefix);
        Ok(Watch::new(Arc::clone(&self.inner.hub), prefix, after.0))
    }

    /// Forgets the history before a revision; the state at the revision itself stays readable.
    /// Revisions that are compacted already or do not exist yet change nothing or mean the newest.
    pub async fn compact(&self, to: Revision) -> Result<(), WriteError> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Compact { to: to.0, reply })?;
        answer.await.unwrap_or(Err(WriteError::Closed))
    }

    /// Finishes what is queued, ends all watches and closes the data file.
    ///
    /// When it returns the file may be opened again. Other handles then get `Closed`.
    pub async fn close(&self) {
        let (reply, done) = oneshot::channel();
        if self.send(Request::Close { reply }).is_ok() {
            // An error means that the writer is gone already, which is what we want.
            let _gone = done.await;
        }
    }

    fn send(&self, request: Request) -> Result<(), WriteError> {
        let sent = self.inner.queue.send(request);
        sent.map_err(|_| WriteError::Closed)
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("revision", &self.revision())
            .field("floor", &self.floor())
            .finish_non_exhaustive()
    }
}
