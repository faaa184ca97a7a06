//! Sends hostile input to everything that reads what strangers send, for a bounded time.
//!
//! ```text
//!   parent ──► child per target: input = f(seed, number) ──► target, with a deadline and a memory budget
//! ```
//!
//! An input is made from a seed and a number alone, so whatever breaks a target is replayed by naming both. A
//! target runs in a process of its own: an input that exhausts the stack ends that process, not the run.

mod child;
mod mutate;
mod targets;

use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitCode},
    time::Duration,
};

use anyhow::{Context, bail};
use clap::Parser;
use peak_alloc::PeakAlloc;

use self::targets::Target;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Fuzzes what reads input of strangers.
#[derive(Parser)]
struct Arguments {
    /// Seconds for each target.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Only this target.
    #[arg(long)]
    target: Option<Target>,
    /// Where random inputs start.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the input of this number: replays a failure.
    #[arg(long)]
    number: Option<u64>,
    /// Run in this process and write the number of each input to a file: what the parent starts.
    #[arg(long, hide = true)]
    progress: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let (Some(target), Some(number)) = (arguments.target, arguments.number) {
        println!("{}", child::replay(target, arguments.seed, number)?);
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(target), Some(progress)) = (arguments.target, &arguments.progress) {
        let time = Duration::from_secs(arguments.seconds);
        child::run(target, arguments.seed, time, progress)?;
        return Ok(ExitCode::SUCCESS);
    }
    let wanted = Target::ALL
        .iter()
        .filter(|target| arguments.target.is_none_or(|only| only == **target));
    let mut failures = Vec::new();
    for target in wanted {
        if let Err(error) = run(*target, &arguments) {
            println!("{target:<12} FAILED");
            failures.push(format!("{error:#}"));
        }
    }
    if !failures.is_empty() {
        bail!("{}", failures.join("\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs one target in a child, and tells which input broke it.
fn run(target: Target, arguments: &Arguments) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let progress = folder.path().join("progress");
    let output = Command::new(std::env::current_exe()?)
        .args(["--target", &target.to_string()])
        .args(["--seed", &arguments.seed.to_string()])
        .args(["--seconds", &arguments.seconds.to_string()])
        .arg("--progress")
        .arg(&progress)
        .output()
        .context("start a child")?;
    if output.status.success() {
        print!("{}", String::from_utf8_lossy(&output.stdout));
        return Ok(());
    }
    let number = fs::read_to_string(&progress).unwrap_or_default();
    let words = String::from_utf8_lossy(&output.stderr);
    bail!(
        "{target}: input {number} of seed {seed} broke it ({status}):\n{words}\n\
         replay: cargo run -p quadrille-fuzz -- --target {target} --seed {seed} --number {number}",
        seed = arguments.seed,
        status = output.status,
    )
}
