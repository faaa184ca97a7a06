//! The suite `kube-rs`: the tests that kube-rs keeps inside its crates for a cluster (`#[ignore]`), out of the
//! published sources, unmodified. Only the manifests of two crates get back a development dependency on the
//! facade crate that publishing took from them.

mod harness;
mod sources;

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use anyhow::anyhow;

use self::harness::TestBinary;
use super::{
    expectations::Expectations,
    scoreboard::{self, Outcome},
    target::Target,
};
use crate::workspace;

/// A test that waits longer than this for a cluster hangs.
const TEST_DEADLINE: Duration = Duration::from_secs(75);
/// How many tests run at once.
const LANES: usize = 4;

/// Options of `cargo xtask conformance kube-rs`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Run against the real control plane instead of `quad up`.
    #[arg(long, conflicts_with = "kubeconfig")]
    real: bool,
    /// Run against the cluster of this kubeconfig.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Only tests whose name contains this; prints no score.
    #[arg(value_name = "FILTER")]
    filter: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let binaries = build()?;
    let target = match &arguments.kubeconfig {
        Some(kubeconfig) => Target::given(kubeconfig),
        None if arguments.real => Target::real()?,
        None => Target::embedded()?,
    };
    let filter = arguments.filter.as_deref().unwrap_or_default();
    let mut tests = Vec::new();
    for binary in &binaries {
        let names = binary.ignored_tests()?;
        let wanted = names.into_iter().filter(|test| test.contains(filter));
        tests.extend(wanted.map(|test| (binary, test)));
    }
    let outcomes = run_side_by_side(&tests, &target.kubeconfig())?;
    if arguments.filter.is_some() {
        outcomes.iter().for_each(show);
        return Ok(());
    }
    let suite = if arguments.real {
        "kube-rs-real"
    } else {
        "kube-rs"
    };
    let path = workspace::root().join(format!("tests/conformance/{suite}.yaml"));
    scoreboard::finish(suite, &outcomes, &Expectations::read(&path)?)
}

/// Builds the tests, if need be.
pub(crate) fn build() -> anyhow::Result<Vec<TestBinary>> {
    let folder = workspace::results("conformance")?.join("kube-rs");
    sources::prepare(&folder)?;
    harness::build(&folder)
}

/// Runs tests in a few lanes, as the harness of kube-rs would: most of their time is waiting for the cluster.
fn run_side_by_side(
    tests: &[(&TestBinary, String)],
    kubeconfig: &Path,
) -> anyhow::Result<Vec<Outcome>> {
    let next = AtomicUsize::new(0);
    let lane = || {
        let mut outcomes = Vec::new();
        while let Some((binary, test)) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = binary.run(test, kubeconfig, TEST_DEADLINE)?;
            let mark = if outcome.passed { "ok    " } else { "failed" };
            println!("{mark} {}", outcome.test);
            outcomes.push(outcome);
        }
        anyhow::Ok(outcomes)
    };
    let lanes: Vec<_> = thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
        lanes
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect()
    });
    let mut outcomes = Vec::new();
    for lane in lanes {
        outcomes.extend(lane.map_err(|_| anyhow!("a lane of tests panicked"))??);
    }
    outcomes.sort_by(|one, other| one.test.cmp(&other.test));
    Ok(outcomes)
}

fn show(outcome: &Outcome) {
    println!("--- {}\n{}", outcome.test, outcome.detail);
}
