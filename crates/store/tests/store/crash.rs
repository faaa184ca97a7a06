//! The power goes off at random moments, under load.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
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
    for _ in 0..POWER_LOSSES_PER_DISK {
        disk.power_off_after(random.random_range(0..150));
        // Opening may already fail: that is a moment like any other.
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

/// Several writers and a watcher, until the disk is gone.
fn work_until_the_end(
    store: &Store,
    history: &mut History,
    acknowledged: &mut BTreeMap<u64, Seen>,
    random: &mut StdRng,
) {
    let mut watch = store.watch(b"", history.last()).unwrap();
    let log = Arc::new(Mutex::new(BTreeMap::new()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let random = StdRng::seed_from_u64(random.random());
                tokio::spawn(write_until_it_fails(
                    writer,
                    store.clone(),
                    random,
                    Arc::clone(&log),
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
    store: Store,
    mut random: StdRng,
    acknowledged: Arc<Mutex<BTreeMap<u64, Seen>>>,
) {
    loop {
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
