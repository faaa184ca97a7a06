//! A disk without room, and one that fails.

use quadrille_store::{Options, Revision, Store, WatchEnd, WriteError};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    builders::{next, put, write},
    simulated_disk::{Disk, Room},
};

fn options() -> Options {
    Options {
        cache_bytes: 64 << 10,
        ..Options::default()
    }
}

/// Writes until there is no room; returns how many writes made it.
async fn fill(store: &Store) -> u64 {
    let value = "x".repeat(3000);
    let mut written = 0;
    loop {
        match store
            .commit(vec![put(&format!("fill/{written}"), &value)])
            .await
        {
            Ok(_) => written += 1,
            Err(WriteError::Full) => return written,
            Err(other) => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn a_full_disk_fails_the_write_and_not_the_store() {
    let disk = Disk::default();
    let store = Store::with_backend(disk.clone(), options()).unwrap();
    write(&store, put("a", "before")).await;
    let mut watch = store.watch(b"a", store.revision()).unwrap();
    disk.set_room(Room::Full);
    fill(&store).await;
    assert!(matches!(
        store.commit(vec![put("b", &"x".repeat(9000))]).await,
        Err(WriteError::Full)
    ));
    let at_full = store.revision();
    assert_eq!(&store.get(b"a").unwrap().unwrap().value[..], b"before");
    assert_eq!(store.count(b"fill/").unwrap(), at_full.0 - 1);

    disk.set_room(Room::Plenty);
    assert_eq!(
        write(&store, put("a", "after")).await,
        Revision(at_full.0 + 1)
    );
    assert_eq!(&next(&mut watch).await.unwrap().value[..], b"after");
    store.close().await;
    let store = Store::with_backend(
        disk.after_power_loss(&mut StdRng::seed_from_u64(1)),
        options(),
    );
    let store = store.unwrap();
    assert_eq!(store.revision(), Revision(at_full.0 + 1));
    assert_eq!(&store.get(b"a").unwrap().unwrap().value[..], b"after");
}

#[tokio::test]
async fn reading_goes_on_while_nothing_at_all_can_be_written() {
    let disk = Disk::default();
    let store = Store::with_backend(disk.clone(), options()).unwrap();
    for number in 0..100 {
        write(&store, put(&format!("fill/{number}"), &"x".repeat(3000))).await;
    }
    let view = store.view().unwrap();
    disk.set_room(Room::None);
    for _ in 0..3 {
        assert!(matches!(
            store.commit(vec![put("a", "1")]).await,
            Err(WriteError::Full)
        ));
        assert_eq!(
            store.list(b"fill/", None, 0, None).unwrap().records.len(),
            100
        );
    }
    assert_eq!(
        view.list(b"fill/", None, 0, None).unwrap().records.len(),
        100
    );
    disk.set_room(Room::Plenty);
    assert_eq!(write(&store, put("a", "1")).await, Revision(101));
}

#[tokio::test]
async fn after_a_failed_sync_nothing_unsure_is_shown_or_built_upon() {
    let disk = Disk::default();
    let store = Store::with_backend(disk.clone(), options()).unwrap();
    write(&store, put("a", "1")).await;
    let mut watch = store.watch(b"a", Revision(1)).unwrap();
    disk.let_syncs_fail(true);
    assert!(matches!(
        store.commit(vec![put("a", "2")]).await,
        Err(WriteError::Io(_))
    ));
    disk.let_syncs_fail(false);
    assert!(matches!(
        store.commit(vec![put("a", "3")]).await,
        Err(WriteError::Io(_))
    ));
    assert_eq!(store.revision(), Revision(1));
    assert_eq!(&store.get(b"a").unwrap().unwrap().value[..], b"1");
    assert_eq!(
        store.list(b"", None, 0, None).unwrap().revision,
        Revision(1)
    );
    assert!(watch.try_next().unwrap().is_none());
    store.close().await;
    assert_eq!(next(&mut watch).await.unwrap_err(), WatchEnd::Closed);
}
