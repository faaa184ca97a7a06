//! A run of named steps: each is announced and timed, the first failure ends the run, and what was skipped is
//! said loudly at the end.

use std::time::{Duration, Instant};

use anyhow::Context;

use crate::jobs::{self, Job};

/// The steps so far.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<(String, Duration)>,
    skipped: Vec<(String, String)>,
}

impl Steps {
    /// Runs one step.
    pub(crate) fn run(
        &mut self,
        name: &str,
        step: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        println!("==> {name}");
        let start = Instant::now();
        step().with_context(|| name.to_owned())?;
        self.done.push((name.to_owned(), start.elapsed()));
        Ok(())
    }

    /// Runs programs in lanes beside each other; each is a step.
    pub(crate) fn run_lanes(&mut self, lanes: Vec<Vec<Job>>) -> anyhow::Result<()> {
        jobs::run_lanes(lanes, |ended| {
            println!("==> {}\n{}", ended.name, ended.text);
            match &ended.trouble {
                None => self.done.push((ended.name.clone(), ended.time)),
                Some(trouble) => println!("==> {}: FAILED, {trouble}", ended.name),
            }
        })
    }

    /// Notes a step that can't run here.
    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        println!("==> {name}: SKIPPED, {why}");
        self.skipped.push((name.to_owned(), why.to_owned()));
    }

    /// Prints what was done, how long it took, and what was not.
    pub(crate) fn summary(&self) {
        println!("==> summary");
        for (name, time) in &self.done {
            println!("ok       {:>5} s  {name}", time.as_secs());
        }
        for (name, why) in &self.skipped {
            println!("SKIPPED           {name}: {why}");
        }
    }
}

/// Whether nothing may be skipped: `CI=true`.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}
