//! The suite `oracle`: random questions to the libraries that Kubernetes is made of, and to ours. Any
//! difference is a failing seed, which replays (`--seed N`) and is shown as small as it can be made.

mod custom;
mod process;
mod replay;
mod rules;
mod sequence;
mod shape;
mod shrink;
mod strategic;
mod value;

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    thread,
};

use anyhow::bail;
use rand::{SeedableRng, rngs::StdRng};
use serde_json::Value;

use self::process::Oracle;

/// Options of `cargo xtask conformance oracle`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many sequences of writes to compare; as many custom resources and patches come on top, one for
    /// every four.
    #[arg(long, default_value_t = 20_000)]
    sequences: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// Only this seed, shown in full when it fails.
    #[arg(long)]
    seed: Option<u64>,
    /// Only this family of questions.
    #[arg(long)]
    only: Option<Family>,
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            sequences: 20_000,
            from: 1,
            seed: None,
            only: None,
        }
    }
}

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Family {
    /// Writes by several managers to one object.
    Sequence,
    /// Objects of custom resources against their schema.
    Custom,
    /// Strategic merge patches.
    Strategic,
}

impl Family {
    /// The family of a seed: every fourth is about something else than sequences.
    fn of(seed: u64) -> Self {
        match seed % 8 {
            0 => Self::Strategic,
            4 => Self::Custom,
            _ => Self::Sequence,
        }
    }

    fn question(self, seed: u64) -> Value {
        let random = &mut StdRng::seed_from_u64(seed);
        match self {
            Self::Sequence => sequence::question(random),
            Self::Custom => custom::question(random),
            Self::Strategic => strategic::question(random),
        }
    }

    /// What differs between the oracle's answer and ours; `None` if nothing does.
    fn difference(self, question: &Value, answer: &Value) -> Option<String> {
        match self {
            Self::Sequence => replay::difference(&question["sequence"], answer),
            Self::Custom => custom::difference(&question["custom"], answer),
            Self::Strategic => strategic::difference(&question["strategic"], answer),
        }
    }
}

/// How many failing seeds end a run.
const ENOUGH: usize = 20;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let program = process::ensure()?;
    if let Some(seed) = arguments.seed {
        let family = arguments.only.unwrap_or(Family::of(seed));
        let mut oracle = Oracle::start(&program)?;
        let question = family.question(seed);
        let answer = oracle.ask(&question)?;
        return match family.difference(&question, &answer) {
            None => {
                println!("oracle: 1/1");
                Ok(())
            }
            Some(difference) => {
                let small = shrink::shrink(family, question, &mut oracle)?;
                println!("{difference}\n{}", serde_json::to_string_pretty(&small)?);
                println!("oracle: 0/1");
                bail!("seed {seed} differs")
            }
        };
    }
    // Three seeds of four are sequences.
    let seeds = match arguments.only {
        Some(_) => arguments.sequences,
        None => arguments.sequences * 4 / 3,
    };
    let next = AtomicU64::new(arguments.from);
    let end = arguments.from + seeds;
    let (passed, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || -> anyhow::Result<()> {
        let mut oracle = Oracle::start(&program)?;
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end || failed.load(Ordering::Relaxed) >= ENOUGH {
                return Ok(());
            }
            let family = arguments.only.unwrap_or(Family::of(seed));
            let question = family.question(seed);
            let answer = oracle.ask(&question)?;
            let Some(difference) = family.difference(&question, &answer) else {
                passed.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            failed.fetch_add(1, Ordering::Relaxed);
            let small = shrink::shrink(family, question, &mut oracle)?;
            let answer = oracle.ask(&small)?;
            let small_difference = family.difference(&small, &answer).unwrap_or(difference);
            println!("seed {seed} ({family:?}) differs: {small_difference}\n  {small}");
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    let (passed, failed) = (passed.into_inner(), failed.into_inner());
    println!("oracle: {passed}/{}", passed + failed);
    if failed > 0 {
        bail!("oracle: {failed} seed(s) differ; replay one with --seed N");
    }
    Ok(())
}
