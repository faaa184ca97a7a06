//! One target, input after input, until the time is over.

use std::{
    fs::File,
    io::{Seek as _, Write as _},
    path::Path,
    process,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{anyhow, ensure};

use crate::{MEMORY, mutate, targets::Target};

/// An input that takes longer has no bound.
const DEADLINE: Duration = Duration::from_secs(20);
/// What one input may take; the largest is a few dozen KiB.
const BUDGET_MIB: f32 = 256.0;
/// The stack that an async runtime gives its workers.
const STACK: usize = 2 << 20;

/// Runs until the time is over. The number of the input at hand is kept in a file, for whoever finds us dead.
pub(crate) fn run(
    target: Target,
    seed: u64,
    time: Duration,
    progress: &Path,
) -> anyhow::Result<()> {
    let done = Arc::new(AtomicU64::new(0));
    watch(done.clone());
    let mut file = File::create(progress)?;
    let end = Instant::now() + time;
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        let mut number = 0;
        while Instant::now() < end {
            file.rewind()?;
            write!(file, "{number}")?;
            attempt(target, seed, number)?;
            number += 1;
            done.store(number, Ordering::Relaxed);
        }
        anyhow::Ok(number)
    })?;
    let count = worker.join().map_err(|_| anyhow!("it panicked"))??;
    println!("{target:<12} {count} inputs");
    Ok(())
}

/// Runs one input again; tells what it is.
pub(crate) fn replay(target: Target, seed: u64, number: u64) -> anyhow::Result<String> {
    let input = mutate::input(target.seeds(), target.words(), seed, number);
    let shown = String::from_utf8_lossy(&input).into_owned();
    println!("{shown}");
    let worker = thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || attempt(target, seed, number))?;
    worker.join().map_err(|_| anyhow!("it panicked"))??;
    Ok(format!("{target}: input {number} of seed {seed} is fine"))
}

fn attempt(target: Target, seed: u64, number: u64) -> anyhow::Result<()> {
    let input = mutate::input(target.seeds(), target.words(), seed, number);
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage_as_mb();
    target.run(&input);
    let taken = MEMORY.peak_usage_as_mb() - before;
    ensure!(taken <= BUDGET_MIB, "it took {taken:.0} MiB");
    Ok(())
}

/// Ends the process when one input takes too long.
fn watch(done: Arc<AtomicU64>) {
    thread::spawn(move || {
        loop {
            let before = done.load(Ordering::Relaxed);
            thread::sleep(DEADLINE);
            if done.load(Ordering::Relaxed) == before {
                eprintln!("no end after {} s", DEADLINE.as_secs());
                process::exit(3);
            }
        }
    });
}
