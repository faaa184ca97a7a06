//! A run of named steps: each is announced and timed, the first failure ends the run, and what was skipped is
//! said loudly at the end.

use std::{
    fs::File,
    io::{Read as _, Seek as _},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

/// The steps so far.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<(String, Duration)>,
    skipped: Vec<(String, String)>,
}

/// A task that runs beside others; it ends with this value.
pub(crate) struct Started {
    name: String,
    child: Child,
    output: File,
    start: Instant,
}

impl Started {
    /// Starts a task of ours in a process of its own. What it prints is shown when it is awaited: two steps that
    /// mostly wait may do so at once, and be read one after the other.
    pub(crate) fn new(task: &[&str]) -> anyhow::Result<Self> {
        let name = task.join(" ");
        println!("==> {name}: started beside what follows");
        let output = tempfile::tempfile()?;
        let child = Command::new(std::env::current_exe()?)
            .args(task)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .spawn()
            .with_context(|| format!("start {name}"))?;
        Ok(Self {
            name,
            child,
            output,
            start: Instant::now(),
        })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It has ended already, unless another step failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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

    /// Waits for a started task and shows what it printed.
    pub(crate) fn finish(&mut self, mut started: Started) -> anyhow::Result<()> {
        let status = started.child.wait()?;
        let mut text = String::new();
        started.output.rewind()?;
        started.output.read_to_string(&mut text)?;
        let name = &started.name;
        println!("==> {name}\n{text}");
        ensure!(status.success(), "{name}: {status}");
        self.done.push((name.clone(), started.start.elapsed()));
        Ok(())
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
