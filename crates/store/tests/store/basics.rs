//! Writing, reading, listing, compacting.

use quadrille_store::{Expect, Op, Options, ReadError, Revision, Store, WriteError};

use crate::builders::{bytes, delete, mk_store, put, put_if, write};

fn keys(store: &Store, prefix: &str, at: Option<Revision>) -> Vec<String> {
    let page = store.list(prefix.as_bytes(), None, 0, at).unwrap();
    let text = |record: &quadrille_store::Record| {
        let value = String::from_utf8(record.value.to_vec()).unwrap();
        format!(
            "{}={value}",
            String::from_utf8(record.key.to_vec()).unwrap()
        )
    };
    page.records.iter().map(text).collect()
}

#[tokio::test]
async fn every_change_gets_the_next_revision() {
    let store = mk_store();
    assert_eq!(store.revision(), Revision(0));
    assert_eq!(write(&store, put("a", "1")).await, Revision(1));
    let revisions = store
        .commit(vec![put("a", "2"), put("b", "1"), delete("a")])
        .await;
    assert_eq!(revisions.unwrap(), [Revision(2), Revision(3), Revision(4)]);
    assert_eq!(store.revision(), Revision(4));
}

#[tokio::test]
async fn a_record_knows_when_it_was_created_and_modified() {
    let store = mk_store();
    write(&store, put("a", "1")).await;
    write(&store, put("a", "2")).await;
    let record = store.get(b"a").unwrap().unwrap();
    assert_eq!(
        (record.created, record.modified),
        (Revision(1), Revision(2))
    );
    write(&store, delete("a")).await;
    assert_eq!(store.get(b"a").unwrap(), None);
    write(&store, put("a", "3")).await;
    let record = store.get(b"a").unwrap().unwrap();
    assert_eq!(
        (record.created, record.modified),
        (Revision(4), Revision(4))
    );
}

#[tokio::test]
async fn a_transaction_whose_expectation_fails_changes_nothing() {
    let store = mk_store();
    write(&store, put("a", "1")).await;
    let ops = vec![put("b", "1"), put_if("a", "2", Expect::At(Revision(7)))];
    let Err(WriteError::Mismatch { index: 1, current }) = store.commit(ops).await else {
        panic!("a mismatch was due");
    };
    assert_eq!(current.unwrap().modified, Revision(1));
    assert_eq!(store.get(b"b").unwrap(), None);
    assert_eq!(store.revision(), Revision(1));
}

#[tokio::test]
async fn expectations_are_checked_against_the_key() {
    let store = mk_store();
    let refused = async |op| {
        let result = store.commit(vec![op]).await;
        matches!(result, Err(WriteError::Mismatch { index: 0, .. }))
    };
    assert!(refused(put_if("a", "1", Expect::Present)).await);
    assert!(refused(put_if("a", "1", Expect::At(Revision(0)))).await);
    assert!(refused(delete("a")).await);
    write(&store, put_if("a", "1", Expect::Absent)).await;
    assert!(refused(put_if("a", "1", Expect::Absent)).await);
    write(&store, put_if("a", "2", Expect::At(Revision(1)))).await;
    write(&store, put_if("a", "3", Expect::Present)).await;
    write(&store, delete("a")).await;
    assert!(refused(put_if("a", "1", Expect::At(Revision(4)))).await);
    write(&store, put_if("a", "1", Expect::Absent)).await;
}

#[tokio::test]
async fn changes_of_one_transaction_see_each_other() {
    let store = mk_store();
    let ops = vec![
        put_if("a", "1", Expect::Absent),
        put_if("a", "2", Expect::At(Revision(1))),
        Op::Delete {
            key: bytes("a"),
            expect: Expect::At(Revision(2)),
            last: None,
        },
        put_if("a", "3", Expect::Absent),
    ];
    store.commit(ops).await.unwrap();
    let record = store.get(b"a").unwrap().unwrap();
    assert_eq!(
        (record.created, record.modified),
        (Revision(4), Revision(4))
    );
    assert_eq!(keys(&store, "", Some(Revision(2))), ["a=2"]);
    assert!(keys(&store, "", Some(Revision(3))).is_empty());
}

#[tokio::test]
async fn the_state_at_an_older_revision_stays_readable() {
    let store = mk_store();
    for op in [
        put("a", "1"),
        put("b", "1"),
        put("a", "2"),
        delete("b"),
        put("b", "2"),
    ] {
        write(&store, op).await;
    }
    assert_eq!(keys(&store, "", None), ["a=2", "b=2"]);
    assert!(keys(&store, "", Some(Revision(0))).is_empty());
    assert_eq!(keys(&store, "", Some(Revision(2))), ["a=1", "b=1"]);
    assert_eq!(keys(&store, "", Some(Revision(4))), ["a=2"]);
    let old = store.get_at(b"b", Revision(3)).unwrap().unwrap();
    assert_eq!((old.created, old.modified), (Revision(2), Revision(2)));
    let future = store.get_at(b"a", Revision(6));
    assert!(matches!(
        future,
        Err(ReadError::Future {
            newest: Revision(5)
        })
    ));
}

#[tokio::test]
async fn a_list_goes_page_by_page_through_one_state() {
    let store = mk_store();
    for key in ["p/a", "p/b", "p/c", "p/d", "q/a"] {
        write(&store, put(key, "1")).await;
    }
    let first = store.list(b"p/", None, 2, None).unwrap();
    assert!(first.more);
    let at = Some(first.revision);
    assert_eq!(store.remaining_after(b"p/", b"p/b", at).unwrap(), 2);
    write(&store, delete("p/c")).await;
    write(&store, put("p/bb", "1")).await;
    let second = store.list(b"p/", Some(b"p/b"), 1, at).unwrap();
    assert_eq!(&second.records[0].key[..], b"p/c");
    assert!(second.more);
    assert_eq!(store.remaining_after(b"p/", b"p/c", at).unwrap(), 1);
    let third = store.list(b"p/", Some(b"p/c"), 2, at).unwrap();
    assert_eq!(&third.records[0].key[..], b"p/d");
    assert!(!third.more);
    assert_eq!(store.count(b"p/").unwrap(), 4);
    assert_eq!(store.remaining_after(b"p/", b"p/", None).unwrap(), 4);
}

#[tokio::test]
async fn a_view_outlives_changes_and_compaction() {
    let store = mk_store();
    for key in ["a", "b", "c"] {
        write(&store, put(key, "1")).await;
    }
    let view = store.view().unwrap();
    let first = view.list(b"", None, 1, None).unwrap();
    assert_eq!((first.revision, first.more), (Revision(3), true));
    for op in [put("b", "2"), delete("c"), put("d", "1")] {
        write(&store, op).await;
    }
    store.compact(store.revision()).await.unwrap();
    let rest = view.list(b"", Some(b"a"), 0, None).unwrap();
    let values = rest
        .records
        .iter()
        .map(|record| (&record.key[..], &record.value[..]));
    assert_eq!(
        values.collect::<Vec<_>>(),
        [(&b"b"[..], &b"1"[..]), (b"c", b"1")]
    );
    assert_eq!(view.get(b"d").unwrap(), None);
    assert_eq!(view.revision(), Revision(3));
}

#[tokio::test]
async fn a_prefix_of_high_bytes_has_an_end() {
    let store = mk_store();
    let key = |bytes: &[u8]| bytes::Bytes::copy_from_slice(bytes);
    for raw in [
        &[0xff_u8, 0xff][..],
        &[0xff, 0xff, 1],
        &[0xfe, 0xff],
        &[0xff],
    ] {
        let op = Op::Put {
            key: key(raw),
            value: key(raw),
            expect: Expect::Any,
        };
        write(&store, op).await;
    }
    assert_eq!(store.count(&[0xff, 0xff]).unwrap(), 2);
    assert_eq!(store.count(&[0xfe]).unwrap(), 1);
    assert_eq!(store.count(&[]).unwrap(), 4);
}

#[tokio::test]
async fn compaction_forgets_history_but_no_record() {
    let store = mk_store();
    for op in [
        put("a", "1"),
        put("b", "1"),
        put("a", "2"),
        delete("b"),
        put("c", "1"),
    ] {
        write(&store, op).await;
    }
    store.compact(Revision(4)).await.unwrap();
    assert_eq!(store.floor(), Revision(4));
    assert_eq!(store.revision(), Revision(5));
    assert_eq!(keys(&store, "", None), ["a=2", "c=1"]);
    assert_eq!(keys(&store, "", Some(Revision(4))), ["a=2"]);
    let old = store.list(b"", None, 0, Some(Revision(3)));
    assert!(matches!(
        old,
        Err(ReadError::Compacted { floor: Revision(4) })
    ));
    assert!(matches!(
        store.watch(b"", Revision(3)),
        Err(ReadError::Compacted { floor: Revision(4) })
    ));
    store.compact(Revision(2)).await.unwrap();
    assert_eq!(store.floor(), Revision(4));
    store.compact(Revision(99)).await.unwrap();
    assert_eq!(store.floor(), Revision(5));
    assert_eq!(write(&store, put("b", "2")).await, Revision(6));
}

#[tokio::test]
async fn history_is_cut_without_being_asked() {
    let store = Store::in_memory(Options {
        retain_revisions: 10,
        retain_for: std::time::Duration::ZERO,
        ..Options::default()
    })
    .unwrap();
    for number in 0..2000 {
        write(&store, put("a", &number.to_string())).await;
    }
    let kept = store.revision().0 - store.floor().0;
    assert!((10..1000).contains(&kept), "{kept} revisions are kept");
    assert_eq!(keys(&store, "", None), ["a=1999"]);
}

#[tokio::test]
async fn a_long_history_is_compacted_in_one_call() {
    let store = mk_store();
    for _ in 0..10 {
        let ops = (0..1000).map(|number| put(&format!("{}", number % 7), "1"));
        store.commit(ops.collect()).await.unwrap();
    }
    store.compact(Revision(9_990)).await.unwrap();
    assert_eq!(store.floor(), Revision(9_990));
    assert_eq!(store.count(b"").unwrap(), 7);
    assert_eq!(
        store
            .get_at(b"3", Revision(9_990))
            .unwrap()
            .unwrap()
            .created,
        Revision(4)
    );
}

#[tokio::test]
async fn the_first_revision_can_be_chosen() {
    let store = Store::in_memory(Options {
        first_revision: 100,
        ..Options::default()
    })
    .unwrap();
    assert_eq!(store.revision(), Revision(99));
    assert_eq!(write(&store, put("a", "1")).await, Revision(100));
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let store = mk_store();
    write(&store, put("a", "1")).await;
    store.close().await;
    assert!(matches!(store.get(b"a"), Err(ReadError::Closed)));
    assert!(matches!(
        store.commit(vec![put("a", "2")]).await,
        Err(WriteError::Closed)
    ));
    store.close().await;
}
