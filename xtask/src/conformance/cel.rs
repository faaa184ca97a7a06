//! The suite `cel`: the language's own conformance vectors, as far as a Kubernetes server uses the language.
//! What it leaves out is counted by its reason; what the reference implementation fails as well is named.

use std::{collections::BTreeMap, fs};

use quadrille_expr::conformance::{self, DIFFERS_TOO};

use super::{
    expectations::Expectations,
    scoreboard::{self, Outcome},
};
use crate::{assets, workspace};

/// Options of `cargo xtask conformance cel`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> anyhow::Result<()> {
    let folder = assets::cel_vectors()?;
    let mut files: Vec<_> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<anyhow::Result<_>>()?;
    files.sort();
    let mut outcomes = Vec::new();
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    for path in files {
        let file = serde_json::from_slice(&fs::read(&path)?)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let report = conformance::run(&file);
        println!(
            "{name}: {} of {}, {} left out",
            report.passed,
            report.total(),
            report.skipped.len()
        );
        outcomes.extend((1..=report.passed).map(|at| Outcome::passed(format!("{name}/{at}"))));
        for (test, why) in report.failed {
            outcomes.push(Outcome::failed(format!("{name}/{test}"), why));
        }
        for (test, why) in report.skipped {
            if why == DIFFERS_TOO {
                outcomes.push(Outcome::failed(format!("{name}/{test}"), why));
            } else {
                *left_out.entry(why).or_default() += 1;
            }
        }
    }
    for (why, count) in left_out {
        println!("left out, {count}: {why}");
    }
    let expectations = Expectations::read(&workspace::root().join("tests/conformance/cel.yaml"))?;
    scoreboard::finish_briefly("cel", &outcomes, &expectations)
}
