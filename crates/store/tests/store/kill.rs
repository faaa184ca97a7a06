//! `kill -9` of a real process that writes to a real file, at random moments.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use quadrille_store::{Change, OpenError, Options, Store};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::{
    builders::put,
    history::{History, Seen},
};

const KILLS: usize = 50;
const WRITERS: usize = 4;
/// Tells the process to be the one that gets killed.
const FILE: &str = "STORE_TO_WRITE_UNTIL_KILLED";

/// Not a test by itself: the body of the child process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_until_killed() {
    let Ok(path) = std::env::var(FILE) else {
        return;
    };
    let store = Store::open(Path::new(&path), Options::default()).unwrap();
    let run = std::process::id();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for number in 0.. {
                    let key = format!("{writer}/{}", number % 50);
                    let value = format!("{run}-{number}-{}", "x".repeat(number * 97 % 3000));
                    let revision = store.commit(vec![put(&key, &value)]).await.unwrap()[0];
                    // One call per line, so that lines are never torn.
                    let line = format!("\nack {revision} {key} {value}\n");
                    std::io::stdout().write_all(line.as_bytes()).unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
}

fn spawn_writer(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["kill::write_until_killed", "--exact", "--nocapture"])
        .env(FILE, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Reads acknowledgements; kills after some of them; returns all that were made.
fn kill_after(mut child: Child, acks: usize, delay: Duration) -> BTreeMap<u64, (String, String)> {
    let mut acknowledged = BTreeMap::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut take = |line: &str| {
        let mut words = line.split(' ');
        if let (Some("ack"), Some(revision), Some(key), Some(value)) =
            (words.next(), words.next(), words.next(), words.next())
        {
            let written = (key.to_owned(), value.to_owned());
            acknowledged.insert(revision.parse().unwrap(), written);
        }
        acknowledged.len()
    };
    while let Some(Ok(line)) = lines.next() {
        if take(&line) >= acks {
            break;
        }
    }
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    // What is still in the pipe was acknowledged before the end. The last line may be cut.
    let rest: Vec<_> = lines.map_while(Result::ok).collect();
    for line in &rest[..rest.len().saturating_sub(1)] {
        take(line);
    }
    acknowledged
}

#[tokio::test]
async fn killing_the_writer_fifty_times_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let mut random = StdRng::seed_from_u64(3);
    let mut history = History::default();
    let mut acknowledged = BTreeMap::new();
    let options = Options {
        retain_revisions: u64::MAX,
        ..Options::default()
    };
    for kill in 0..KILLS {
        let child = spawn_writer(&path);
        // From the very start of the process to some way into its work.
        let acks = random.random_range(0..60);
        let delay = Duration::from_micros(random.random_range(0..3000));
        let acks = kill_after(child, acks, delay);
        let store = Store::open(&path, options.clone()).unwrap();
        assert!(matches!(
            Store::open(&path, options.clone()),
            Err(OpenError::InUse { .. })
        ));
        for (revision, (key, value)) in acks {
            let known = store
                .get_at(key.as_bytes(), revision.into())
                .unwrap()
                .unwrap();
            assert_eq!(known.modified, revision.into(), "kill {kill}");
            let change = if known.created == known.modified {
                Change::Created
            } else {
                Change::Updated
            };
            let seen = Seen {
                change,
                key: key.into_bytes(),
                value: value.into_bytes(),
            };
            assert!(
                acknowledged.insert(revision, seen).is_none(),
                "revision {revision} came twice"
            );
        }
        history.check(&store, &acknowledged);
        store.close().await;
    }
    assert!(
        acknowledged.len() > KILLS,
        "only {} writes",
        acknowledged.len()
    );
}

#[tokio::test]
async fn a_file_that_another_process_writes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let mut child = spawn_writer(&path);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let started = lines.any(|line| line.unwrap().starts_with("ack "));
    assert!(started, "the other process never wrote");
    let refused = Store::open(&path, Options::default());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        matches!(refused, Err(OpenError::InUse { .. })),
        "{refused:?}"
    );
}
