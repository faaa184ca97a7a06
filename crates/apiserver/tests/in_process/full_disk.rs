//! A disk that is full for a while: what was begun goes on when there is room again.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use quadrille_store::{Options, Store};
use redb::{StorageBackend, backends::InMemoryBackend};
use serde_json::Value;

use crate::{
    asking::ask,
    halves::{DEFINITIONS, THINGS, definition, start, until},
};

/// A disk with room for so many writes; clones are the same disk.
#[derive(Clone, Debug)]
struct Disk {
    written: Arc<InMemoryBackend>,
    room: Arc<AtomicUsize>,
}

impl Disk {
    fn empty() -> Self {
        Self {
            written: Arc::new(InMemoryBackend::new()),
            room: Arc::new(AtomicUsize::new(usize::MAX)),
        }
    }

    fn has_room_for(&self, writes: usize) {
        self.room.store(writes, Ordering::SeqCst);
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.written.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.written.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.written.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.written.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let left = |room: usize| room.checked_sub(1);
        let had_room = self
            .room
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left);
        had_room.map_err(|_| io::Error::from(io::ErrorKind::StorageFull))?;
        self.written.write(offset, data)
    }
}

#[tokio::test]
async fn a_definition_is_served_when_there_is_room_again_for_its_status() {
    let mut halves = 0;
    for writes in 0.. {
        let disk = Disk::empty();
        let store = Store::with_backend(disk.clone(), Options::default()).unwrap();
        let (server, router) = start(&store).await;
        disk.has_room_for(writes);
        let (status, answer) = ask(&router, "POST", DEFINITIONS, &definition(true)).await;
        disk.has_room_for(usize::MAX);
        if status == 201 {
            break;
        }
        assert_eq!(status, 503, "{answer}");
        let path = format!("{DEFINITIONS}/things.example.com");
        let (there, _) = ask(&router, "GET", &path, &Value::Null).await;
        if there == 200 {
            halves += 1;
            until(&router, THINGS, 200).await;
        }
        server.stop().await;
    }
    assert!(halves > 0, "it was all or nothing each time");
}
