//! Short words for the tests.

use std::time::Duration;

use bytes::Bytes;
use quadrille_store::{Event, Expect, Op, Options, Revision, Store, Watch, WatchEnd};
use std::sync::Arc;

pub(crate) fn mk_store() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

pub(crate) fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

pub(crate) fn put(key: &str, value: &str) -> Op {
    put_if(key, value, Expect::Any)
}

pub(crate) fn put_if(key: &str, value: &str, expect: Expect) -> Op {
    Op::Put {
        key: bytes(key),
        value: bytes(value),
        expect,
    }
}

pub(crate) fn delete(key: &str) -> Op {
    Op::Delete {
        key: bytes(key),
        expect: Expect::Any,
        last: None,
    }
}

/// Commits one change and returns its revision.
pub(crate) async fn write(store: &Store, op: Op) -> Revision {
    store.commit(vec![op]).await.unwrap()[0]
}

/// The next event, or a failed test if none comes.
pub(crate) async fn next(watch: &mut Watch) -> Result<Arc<Event>, WatchEnd> {
    tokio::time::timeout(Duration::from_secs(20), watch.next())
        .await
        .expect("an event within the deadline")
}
