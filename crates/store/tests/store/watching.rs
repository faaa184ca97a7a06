//! Watching: history, live events, slow watchers.

use quadrille_store::{Change, Expect, Op, Options, ReadError, Revision, Store, WatchEnd};

use crate::builders::{bytes, delete, mk_store, next, put, write};

/// A store that keeps next to no events in memory, so that watches read the log.
fn mk_forgetful_store() -> Store {
    Store::in_memory(Options {
        history_events: 2,
        ..Options::default()
    })
    .unwrap()
}

#[tokio::test]
async fn a_watch_gives_each_change_under_its_prefix_once() {
    let store = mk_store();
    write(&store, put("p/a", "1")).await;
    let mut watch = store.watch(b"p/", Revision(0)).unwrap();
    write(&store, put("p/a", "2")).await;
    write(&store, put("q/a", "1")).await;
    write(&store, delete("p/a")).await;
    let created = next(&mut watch).await.unwrap();
    assert_eq!(
        (created.change, created.revision),
        (Change::Created, Revision(1))
    );
    assert_eq!(created.previous, None);
    let updated = next(&mut watch).await.unwrap();
    assert_eq!(
        (updated.change, &updated.value[..]),
        (Change::Updated, &b"2"[..])
    );
    assert_eq!(updated.previous.as_deref(), Some(&b"1"[..]));
    assert_eq!(updated.created, Revision(1));
    let deleted = next(&mut watch).await.unwrap();
    assert_eq!(
        (deleted.change, deleted.revision),
        (Change::Deleted, Revision(4))
    );
    assert_eq!(
        (&deleted.value[..], deleted.previous.as_deref()),
        (&b"2"[..], Some(&b"2"[..]))
    );
    assert!(watch.try_next().unwrap().is_none());
}

#[tokio::test]
async fn a_deletion_can_show_another_last_value() {
    for store in [mk_store(), mk_forgetful_store()] {
        write(&store, put("a", "1")).await;
        let op = Op::Delete {
            key: bytes("a"),
            expect: Expect::Any,
            last: Some(bytes("last")),
        };
        write(&store, op).await;
        for key in ["x", "y", "z"] {
            write(&store, put(key, "1")).await;
        }
        let mut watch = store.watch(b"a", Revision(1)).unwrap();
        let event = next(&mut watch).await.unwrap();
        assert_eq!(&event.value[..], b"last");
        assert_eq!(event.previous.as_deref(), Some(&b"1"[..]));
    }
}

#[tokio::test]
async fn a_watch_reads_the_log_and_then_goes_live() {
    let store = mk_forgetful_store();
    for number in 0..2000 {
        write(&store, put("a", &number.to_string())).await;
    }
    let mut watch = store.watch(b"a", Revision(5)).unwrap();
    assert_eq!(watch.progress(), Revision(5));
    for expected in 6..=2000 {
        assert_eq!(next(&mut watch).await.unwrap().revision, Revision(expected));
    }
    write(&store, put("a", "live")).await;
    assert_eq!(&next(&mut watch).await.unwrap().value[..], b"live");
}

#[tokio::test]
async fn progress_moves_on_without_matching_events() {
    let store = mk_store();
    let mut watch = store.watch(b"p/", Revision(0)).unwrap();
    assert!(watch.try_next().unwrap().is_none());
    write(&store, put("q/a", "1")).await;
    assert_eq!(watch.progress(), Revision(1));
    write(&store, put("p/a", "1")).await;
    write(&store, put("q/a", "2")).await;
    assert_eq!(watch.progress(), Revision(1));
    next(&mut watch).await.unwrap();
    assert_eq!(watch.progress(), Revision(3));
}

#[tokio::test]
async fn a_watch_from_the_future_is_refused() {
    let store = mk_store();
    let refused = store.watch(b"", Revision(1));
    assert!(matches!(
        refused,
        Err(ReadError::Future {
            newest: Revision(0)
        })
    ));
}

#[tokio::test]
async fn a_slow_watcher_is_cut_off_and_resumes_without_gaps() {
    let store = Store::in_memory(Options {
        watcher_buffer_events: 10,
        history_events: 50,
        ..Options::default()
    })
    .unwrap();
    let mut watch = store.watch(b"a", Revision(0)).unwrap();
    assert!(watch.try_next().unwrap().is_none());
    write(&store, put("a", "first")).await;
    assert_eq!(next(&mut watch).await.unwrap().revision, Revision(1));
    for number in 0..100 {
        write(&store, put("a", &number.to_string())).await;
    }
    let end = next(&mut watch).await.unwrap_err();
    assert_eq!(
        end,
        WatchEnd::TooSlow {
            resume_after: Revision(1)
        }
    );
    assert_eq!(next(&mut watch).await.unwrap_err(), end);
    let mut resumed = store.watch(b"a", Revision(1)).unwrap();
    for expected in 2..=101 {
        assert_eq!(
            next(&mut resumed).await.unwrap().revision,
            Revision(expected)
        );
    }
}

#[tokio::test]
async fn a_slow_watcher_is_cut_off_by_bytes_too() {
    let store = Store::in_memory(Options {
        watcher_buffer_bytes: 1000,
        ..Options::default()
    })
    .unwrap();
    let mut watch = store.watch(b"", Revision(0)).unwrap();
    assert!(watch.try_next().unwrap().is_none());
    let large = "x".repeat(5000);
    write(&store, put("a", &large)).await;
    assert_eq!(next(&mut watch).await.unwrap().value.len(), 5000);
    write(&store, put("a", "1")).await;
    write(&store, put("a", &large)).await;
    let end = next(&mut watch).await.unwrap_err();
    assert_eq!(
        end,
        WatchEnd::TooSlow {
            resume_after: Revision(1)
        }
    );
}

#[tokio::test]
async fn a_replay_overtaken_by_compaction_says_so() {
    let store = mk_forgetful_store();
    for number in 0..3000 {
        write(&store, put("a", &number.to_string())).await;
    }
    let mut watch = store.watch(b"a", Revision(0)).unwrap();
    assert_eq!(next(&mut watch).await.unwrap().revision, Revision(1));
    store.compact(Revision(2990)).await.unwrap();
    let mut last = Revision(1);
    let end = loop {
        match next(&mut watch).await {
            Ok(event) => {
                assert_eq!(event.revision.0, last.0 + 1);
                last = event.revision;
            }
            Err(end) => break end,
        }
    };
    assert_eq!(end, WatchEnd::Compacted);
    assert!(last < Revision(2990));
}

#[tokio::test]
async fn closing_the_store_ends_its_watches() {
    let store = mk_store();
    let mut watch = store.watch(b"", Revision(0)).unwrap();
    assert!(watch.try_next().unwrap().is_none());
    write(&store, put("a", "1")).await;
    store.close().await;
    assert_eq!(next(&mut watch).await.unwrap().revision, Revision(1));
    assert_eq!(next(&mut watch).await.unwrap_err(), WatchEnd::Closed);
}

#[tokio::test]
async fn dropping_every_handle_ends_the_watches() {
    let store = mk_store();
    let mut watch = store.watch(b"", Revision(0)).unwrap();
    drop(store);
    assert_eq!(next(&mut watch).await.unwrap_err(), WatchEnd::Closed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_watchers_see_the_same_changes() {
    const CHANGES: u64 = 300;
    let store = mk_store();
    let watchers: Vec<_> = (0..100)
        .map(|_| {
            let mut watch = store.watch(b"a", Revision(0)).unwrap();
            tokio::spawn(async move {
                for expected in 1..=CHANGES {
                    let event = next(&mut watch).await.unwrap();
                    assert_eq!(event.revision, Revision(expected));
                    assert_eq!(event.value, format!("{:03}", expected - 1));
                }
            })
        })
        .collect();
    for number in 0..CHANGES {
        write(&store, put("a", &format!("{number:03}"))).await;
    }
    for watcher in watchers {
        watcher.await.unwrap();
    }
}
