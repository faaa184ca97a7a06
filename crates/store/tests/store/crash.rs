//! The power goes off at random moments, under load.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use quadrille_store::{Change, Options, Store};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::{
    builders::{delete, put},
    history::{History, Seen},
    simulated_disk::Disk,
};

const DISKS: u64 = 20;
const POWER_LOSSES_PER_DISK: u64 = 10;
const WRITERS: u64 = 4;

fn options() -> Options {
    Options {
        history_events: 20,
        // Small enough that pages are written before their commit, too.
        cache_bytes: 64 << 10,
        ..Options::default()
    }
}

#[test]
fn power_loss_at_two_hundred_moments_loses_nothing_acknowledged() {
    let mut losses = 0;
    for seed in 0..DISKS {
        losses += lose_power_again_and_again(seed);
    }
    assert_eq!(losses, DISKS * POWER_LOSSES_PER_DISK);
}

/// Returns how often the power went off while something was being written.
fn lose_power_again_and_again(seed: u64) -> u64 {
    let mut random = StdRng::seed_from_u64(seed);
    let mut disk = Disk::default();
    let mut history = History::default();
    let mut acknowledged = BTreeMap::new();
    // A data file is created in one step (see `opening`), so the power goes off only later.
    close(&Store::with_backend(disk.clone(), options()).unwrap());
    let mut losses = 0;
    while losses < POWER_LOSSES_PER_DISK {
        disk.power_off_after(random.random_range(0..150));
        // Opening may already fail, and closing too: moments like any other.
        if let Ok(store) = Store::with_backend(disk.clone(), options()) {
            work_until_the_end(&store, &mut history, &mut acknowledged, &mut random);
            close(&store);
        }
        losses += u64::from(disk.is_off());
        disk = disk.after_power_loss(&mut random);
        let store = Store::with_backend(disk.clone(), options()).unwrap();
        history.check(&store, &acknowledged);
        close(&store);
    }
    losses
}

/// Several writers and a watcher, until the disk is gone or (sometimes) they have enough.
fn work_until_the_end(
    store: &Store,
    history: &mut History,
    acknowledged: &mut BTreeMap<u64, Seen>,
    random: &mut StdRng,
) {
    let enough = if random.random_bool(0.3) {
        random.random_range(0..10)
    } else {
        usize::MAX
    };
    let mut watch = store.watch(b"", history.last()).unwrap();
    let log = Arc::new(Mutex::new(BTreeMap::new()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let random = StdRng::seed_from_u64(random.random());
                let log = Arc::clone(&log);
                tokio::spawn(write_until_it_fails(
                    writer,
                    enough,
                    store.clone(),
                    random,
                    log,
                ))
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
    });
    history.drain(&mut watch);
    acknowledged.append(&mut log.lock().unwrap());
}

async fn write_until_it_fails(
    writer: u64,
    enough: usize,
    store: Store,
    mut random: StdRng,
    acknowledged: Arc<Mutex<BTreeMap<u64, Seen>>>,
) {
    for _ in 0..enough {
        let key = format!("{writer}/{}", random.random_range(0..5));
        let value = format!(
            "{}-{}",
            random.random::<u64>(),
            "x".repeat(random.random_range(0..6000))
        );
        let exists = store.get(key.as_bytes()).ok().flatten();
        let (op, change) = match exists {
            Some(_) if random.random_bool(0.3) => (delete(&key), Change::Deleted),
            Some(_) => (put(&key, &value), Change::Updated),
            None => (put(&key, &value), Change::Created),
        };
        let Ok(revisions) = store.commit(vec![op]).await else {
            return;
        };
        let shown = match (change, exists) {
            (Change::Deleted, Some(record)) => record.value.to_vec(),
            _ => value.into_bytes(),
        };
        let seen = Seen {
            change,
            key: key.into_bytes(),
            value: shown,
        };
        acknowledged.lock().unwrap().insert(revisions[0].0, seen);
    }
}

/// Closes the store and waits until the disk is released.
fn close(store: &Store) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(store.close());
}

/// Whether opening the disk after the power went off now means a walk through all of it. Such a
/// repair ends with a commit of its own; opening as such syncs no more than twice.
fn needs_repair(disk: &Disk) -> bool {
    let disk = disk.after_power_loss(&mut StdRng::seed_from_u64(0));
    let store = Store::with_backend(disk.clone(), options()).unwrap();
    let syncs = disk.syncs();
    close(&store);
    syncs > 2
}

fn fill(store: &Store) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for number in 0..500 {
        let op = put(&format!("fill/{number}"), &"x".repeat(3000));
        runtime.block_on(store.commit(vec![op])).unwrap();
    }
}

#[test]
fn a_store_that_came_to_rest_opens_quickly_after_a_crash() {
    let disk = Disk::default();
    let store = Store::with_backend(disk.clone(), options()).unwrap();
    fill(&store);
    let deadline = Instant::now() + Duration::from_secs(20);
    while needs_repair(&disk) {
        assert!(Instant::now() < deadline, "the store does not come to rest");
        std::thread::yield_now();
    }
    close(&store);
}

#[test]
fn a_large_store_opens_quickly_after_a_crash_at_any_time() {
    let disk = Disk::default();
    let options = Options {
        one_sync_up_to_bytes: 0,
        ..options()
    };
    let store = Store::with_backend(disk.clone(), options).unwrap();
    fill(&store);
    assert!(!needs_repair(&disk));
    close(&store);
}
