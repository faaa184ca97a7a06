//! Opening data files: new, used, damaged, unreachable.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use quadrille_store::{OpenError, Options, ReadError, Revision, Store, WatchEnd, WriteError};
use tempfile::TempDir;

use crate::builders::{put, write};

fn open(path: &std::path::Path) -> Result<Store, OpenError> {
    Store::open(path, Options::default())
}

/// A closed store with some records in it.
async fn mk_file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let store = open(&path).unwrap();
    for number in 0..200 {
        write(&store, put(&format!("key/{number}"), &"x".repeat(2000))).await;
    }
    store.close().await;
    (folder, path)
}

#[tokio::test]
async fn a_store_finds_its_data_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("not/yet/there");
    let store = open(&path).unwrap();
    write(&store, put("a", "1")).await;
    store.close().await;
    let store = open(&path).unwrap();
    assert_eq!(store.revision(), Revision(1));
    assert_eq!(&store.get(b"a").unwrap().unwrap().value[..], b"1");
    assert_eq!(write(&store, put("a", "2")).await, Revision(2));
}

#[tokio::test]
async fn only_the_owner_may_read_the_file() {
    let (_folder, path) = mk_file().await;
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[tokio::test]
async fn an_unfinished_creation_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(folder.path().join("data.new"), vec![7; 100_000]).unwrap();
    fs::write(&path, b"").unwrap();
    let store = open(&path).unwrap();
    write(&store, put("a", "1")).await;
    assert!(!folder.path().join("data.new").exists());
}

#[tokio::test]
async fn a_second_opener_is_refused_until_the_first_closes() {
    let (_folder, path) = mk_file().await;
    let store = open(&path).unwrap();
    assert!(matches!(open(&path), Err(OpenError::InUse { .. })));
    write(&store, put("a", "1")).await;
    assert!(matches!(open(&path), Err(OpenError::InUse { .. })));
    store.close().await;
    assert_eq!(open(&path).unwrap().revision(), Revision(201));
}

#[tokio::test]
async fn a_damaged_file_is_refused_and_left_as_it_is() {
    let (_folder, path) = mk_file().await;
    let good = fs::read(&path).unwrap();
    let zeroed = |range: std::ops::Range<usize>| {
        let mut bytes = good.clone();
        bytes[range].fill(0);
        bytes
    };
    let damaged = [
        (
            "not a store at all",
            b"apiVersion: v1\nkind: Secret\n".to_vec(),
        ),
        (
            "noise",
            (0..100_000_u32)
                .map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0])
                .collect(),
        ),
        ("no header", zeroed(0..4096)),
        ("no commit slots", zeroed(64..320)),
        ("half the file", good[..good.len() / 2].to_vec()),
        ("one page", good[..4096].to_vec()),
    ];
    for (what, bytes) in damaged {
        fs::write(&path, &bytes).unwrap();
        let refused = open(&path);
        let Err(OpenError::Damaged { .. }) = refused else {
            panic!("{what}: {refused:?}");
        };
        assert!(refused.unwrap_err().to_string().contains("left untouched"));
        assert!(fs::read(&path).unwrap() == bytes, "{what} was changed");
    }
    fs::write(&path, &good).unwrap();
    assert_eq!(open(&path).unwrap().count(b"key/").unwrap(), 200);
}

#[tokio::test]
async fn damage_in_the_middle_is_noticed_where_it_is_read() {
    let (_folder, path) = mk_file().await;
    let mut bytes = fs::read(&path).unwrap();
    for byte in bytes.iter_mut().step_by(512).filter(|byte| **byte == b'x') {
        *byte = b'y';
    }
    fs::write(&path, bytes).unwrap();
    let store = open(&path).unwrap();
    assert!(matches!(store.get(b"key/7"), Err(ReadError::Io(_))));
    assert!(matches!(
        store.list(b"", None, 0, None),
        Err(ReadError::Io(_))
    ));
    let mut watch = store.watch(b"", Revision(0)).unwrap();
    assert!(matches!(watch.try_next(), Err(WatchEnd::Failed { .. })));
    let written = store.commit(vec![put("key/7", "new")]).await;
    assert!(matches!(written, Err(WriteError::Io(_))));
    assert_eq!(write(&store, put("another", "new")).await, Revision(201));
}

#[tokio::test]
async fn a_foreign_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let foreign = redb::Database::create(&path).unwrap();
    let transaction = foreign.begin_write().unwrap();
    let table: redb::TableDefinition<u64, u64> = redb::TableDefinition::new("theirs");
    transaction.open_table(table).unwrap().insert(1, 1).unwrap();
    transaction.commit().unwrap();
    drop(foreign);
    let before = fs::read(&path).unwrap();
    assert!(matches!(open(&path), Err(OpenError::Damaged { .. })));
    assert!(fs::read(&path).unwrap() == before);
}

#[tokio::test]
async fn an_unwritable_place_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"not a folder").unwrap();
    let refused = open(&file.join("data")).unwrap_err();
    assert!(
        matches!(refused, OpenError::NotWritable { .. }),
        "{refused:?}"
    );
    assert!(refused.to_string().contains("file/data"));
    let refused = open(folder.path()).unwrap_err();
    assert!(
        matches!(refused, OpenError::NotWritable { .. }),
        "{refused:?}"
    );
}
