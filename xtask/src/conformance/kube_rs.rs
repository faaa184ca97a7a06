//! The suite `kube-rs`: the tests that kube-rs keeps inside its crates for a cluster (`#[ignore]`), out of the
//! published sources, unmodified. Only the manifests of two crates get back a development dependency on the
//! facade crate that publishing took from them.

mod harness;
mod sources;

use std::{path::PathBuf, time::Duration};

use super::{
    expectations::Expectations,
    scoreboard::{self, Outcome},
    target::Target,
};
use crate::workspace;

/// A test that waits longer than this for a cluster hangs.
const TEST_DEADLINE: Duration = Duration::from_mins(2);

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
    let folder = workspace::results("conformance")?.join("kube-rs");
    sources::prepare(&folder)?;
    let binaries = harness::build(&folder)?;
    let target = match &arguments.kubeconfig {
        Some(kubeconfig) => Target::given(kubeconfig),
        None if arguments.real => Target::real()?,
        None => Target::embedded()?,
    };
    let filter = arguments.filter.as_deref().unwrap_or_default();
    let mut outcomes = Vec::new();
    for binary in &binaries {
        for test in binary
            .ignored_tests()?
            .into_iter()
            .filter(|test| test.contains(filter))
        {
            let outcome = binary.run(&test, &target.kubeconfig(), TEST_DEADLINE)?;
            println!(
                "{} {}",
                if outcome.passed { "ok    " } else { "failed" },
                outcome.test
            );
            outcomes.push(outcome);
        }
    }
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

fn show(outcome: &Outcome) {
    println!("--- {}\n{}", outcome.test, outcome.detail);
}
