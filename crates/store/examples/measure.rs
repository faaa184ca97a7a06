//! Measures the store on a real disk: `cargo run --release -p quadrille-store --example measure --
//! FOLDER [RECORDS [CACHE-MIB]]`. Prints throughput of commits, times of lists, memory and start times.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use bytes::Bytes;
use quadrille_store::{Expect, Op, Options, Revision, Store};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("the first argument names a folder");
    let records = arguments.next().map_or(100_000, |number| {
        number.parse().expect("a number of records")
    });
    let mut options = Options::default();
    if let Some(mebibytes) = arguments.next() {
        options.cache_bytes = mebibytes.parse::<usize>().expect("a size in MiB") << 20;
    }
    let path = Path::new(&folder).join("measure.redb");
    println!("memory at start          {:>10} KiB", resident());
    let start = Instant::now();
    for _ in 0..100 {
        Store::in_memory(Options::default()).expect("a store in memory");
    }
    println!("new in-memory store      {:>10.2?}", start.elapsed() / 100);
    let memory = Store::in_memory(Options::default()).expect("a store in memory");
    report_writes(&memory, "commits in memory", 1, 1).await;
    report_watchers(&memory).await;
    drop(memory);
    let start = Instant::now();
    let store = Store::open(&path, options.clone()).expect("a store on disk");
    println!("new store on disk        {:>10.2?}", start.elapsed());
    println!(
        "raw write + sync 4 KiB   {:>10.2?}",
        raw_sync(Path::new(&folder))
    );

    report_writes(&store, "commits, 1 writer", 1, 3).await;
    report_writes(&store, "commits, 32 writers", 32, 3).await;
    let start = Instant::now();
    fill(&store, records).await;
    println!("fill {records} records     {:>10.2?}", start.elapsed());
    println!("memory when filled       {:>10} KiB", resident());
    println!("file size                {:>10} KiB", size(&path));

    time("list 500 of all", || {
        store
            .list(b"fill/", None, 500, None)
            .expect("a list")
            .records
            .len()
    });
    time("list 10k of all", || {
        store
            .list(b"fill/", None, 10_000, None)
            .expect("a list")
            .records
            .len()
    });
    let at = Some(Revision(store.revision().0 - 5_000));
    time("list 10k at -5000", || {
        store
            .list(b"fill/", None, 10_000, at)
            .expect("a list")
            .records
            .len()
    });
    time("count all", || store.count(b"fill/").expect("a count"));
    time("get", || {
        store.get(&key(records / 2)).expect("a read").is_some()
    });
    report_writes(&store, "commits when filled, 1", 1, 3).await;
    report_writes(&store, "commits when filled, 32", 32, 3).await;
    println!("memory after reading     {:>10} KiB", resident());

    let crashed = Path::new(&folder).join("crashed.redb");
    std::fs::copy(&path, &crashed).expect("a copy as a crash would leave it");
    let (start, processor) = (Instant::now(), on_processor());
    let copy = Store::open(&crashed, options.clone()).expect("a store after a crash");
    let processor = on_processor().saturating_sub(processor);
    let clock = start.elapsed();
    println!("start after a crash      {clock:>10.2?}   (processor {processor:.2?})");
    copy.close().await;
    store.close().await;
    let start = Instant::now();
    let store = Store::open(&path, options).expect("a store after a clean stop");
    println!("start after a clean stop {:>10.2?}", start.elapsed());
    store.close().await;
}

fn key(number: u64) -> Bytes {
    Bytes::from(format!("fill/namespace-{}/object-{number:08}", number % 10))
}

async fn report_writes(store: &Store, what: &str, writers: usize, seconds: u64) {
    let (commits, took) = write_for(store, writers, Duration::from_secs(seconds)).await;
    let rate = f64::from(commits) / took.as_secs_f64();
    println!("{what:<24} {rate:>10.0} /s");
}

/// A hundred watchers that see every change.
async fn report_watchers(store: &Store) {
    let watchers: Vec<_> = (0..100)
        .map(|_| {
            let mut watch = store.watch(b"", store.revision()).expect("a watch");
            tokio::spawn(async move {
                let mut events = 0u32;
                while watch
                    .next()
                    .await
                    .is_ok_and(|event| &event.value[..] != b"end")
                {
                    events += 1;
                }
                events
            })
        })
        .collect();
    let (commits, took) = write_for(store, 4, Duration::from_secs(1)).await;
    let end = Op::Put {
        key: Bytes::from_static(b"end"),
        value: Bytes::from_static(b"end"),
        expect: Expect::Any,
    };
    store.commit(vec![end]).await.expect("a commit");
    let mut complete = 0;
    for watcher in watchers {
        complete += u32::from(watcher.await.expect("a watcher") == commits);
    }
    let rate = f64::from(commits) / took.as_secs_f64();
    println!("same with 100 watchers   {rate:>10.0} /s   ({complete} saw everything)");
}

/// Single-change transactions as fast as the writers can, one after the other each.
async fn write_for(store: &Store, writers: usize, time: Duration) -> (u32, Duration) {
    let start = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut commits = 0u32;
                while start.elapsed() < time {
                    let key = format!("bench/{writer}/{}", commits % 100);
                    let op = Op::Put {
                        key: Bytes::from(key),
                        value: Bytes::from(vec![b'x'; 1024]),
                        expect: Expect::Any,
                    };
                    store.commit(vec![op]).await.expect("a commit");
                    commits += 1;
                }
                commits
            })
        })
        .collect();
    let mut commits = 0;
    for task in tasks {
        commits += task.await.expect("a writer");
    }
    (commits, start.elapsed())
}

async fn fill(store: &Store, records: u64) {
    for chunk in (0..records).collect::<Vec<_>>().chunks(500) {
        let ops = chunk.iter().map(|number| Op::Put {
            key: key(*number),
            value: Bytes::from(vec![b'x'; 1024]),
            expect: Expect::Any,
        });
        store.commit(ops.collect()).await.expect("a commit");
    }
}

/// Prints the time of a call: on the clock, and of the processor alone, which other load on the
/// machine does not change.
fn time<T: std::fmt::Debug>(what: &str, run: impl Fn() -> T) {
    let answer = run();
    let (clock, processor) = (Instant::now(), on_processor());
    for _ in 0..20 {
        run();
    }
    let (clock, processor) = (
        clock.elapsed() / 20,
        on_processor().saturating_sub(processor) / 20,
    );
    println!("{what:<24} {clock:>10.2?}   (processor {processor:.2?}, answer {answer:?})");
}

/// How long this thread has been running on a processor.
fn on_processor() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

fn raw_sync(folder: &Path) -> Duration {
    use std::os::unix::fs::FileExt;
    let path = folder.join("raw");
    let file = std::fs::File::create(&path).expect("a file");
    file.write_all_at(&vec![1; 65536], 0).expect("a write");
    file.sync_all().expect("a sync");
    let start = Instant::now();
    for round in 0..100 {
        file.write_all_at(&[2; 4096], round % 16 * 4096)
            .expect("a write");
        file.sync_data().expect("a sync");
    }
    let took = start.elapsed() / 100;
    std::fs::remove_file(&path).expect("removed");
    took
}

/// Memory of this process in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len() / 1024)
}
