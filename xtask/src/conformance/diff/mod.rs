//! The differential suite: request scripts run against a real kube-apiserver and against the embedded one,
//! and whatever differs after renumbering is a failure. This decides what "faithful" means.
//!
//! ```text
//! tests/conformance/diff/<group>/<name>.yaml ─ script ─► run ×2 ─► renumber ×2 ─► compare ─► scoreboard
//! ```

use std::{fmt::Write as _, path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use futures::{StreamExt as _, stream};
use serde_json::Value;
use tokio::time::timeout;

use self::{
    compare::differences,
    run::Record,
    script::{Reach, Script, load},
    servers::Servers,
};
use super::{
    expectations::Expectations,
    scoreboard::{Outcome, finish},
};
use crate::{wire::Endpoint, workspace};

mod compare;
mod embedded;
pub(super) mod places;
mod refusal;
mod renumber;
mod run;
mod script;
pub(super) mod servers;
mod watching;
mod written;

/// How long one script may take on one server.
const DEADLINE: Duration = Duration::from_mins(2);
/// How many scripts that only know their own namespace run at once.
const LANES: usize = 4;
/// How many differences of one script are shown.
const SHOWN: usize = 30;

/// Options of `cargo xtask conformance diff` and `kubectl`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Only scripts whose name (`group/name`) contains this.
    #[arg(long, value_name = "TEXT")]
    pub(super) only: Option<String>,
    /// Print what both servers answered, renumbered.
    #[arg(long)]
    pub(super) show: bool,
    /// Use a running real server, reached by this kubeconfig, instead of starting one.
    #[arg(long, value_name = "KUBECONFIG")]
    pub(super) real: Option<PathBuf>,
    /// Compare with the server of this kubeconfig instead of an embedded one: `quad up`, or a second real
    /// server (which must show no difference at all).
    #[arg(long, value_name = "KUBECONFIG")]
    pub(super) with: Option<PathBuf>,
}

/// Runs the suite.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    tokio::runtime::Runtime::new()?.block_on(compare_servers(arguments))
}

async fn compare_servers(arguments: &Arguments) -> Result<()> {
    let root = workspace::root();
    let folder = root.join("tests/conformance");
    let scripts = load(&folder.join("diff"), arguments.only.as_deref())?;
    let servers = Servers::start(arguments.real.as_deref(), arguments.with.as_deref()).await?;
    let outcomes = outcomes(&scripts, &servers, arguments.show).await;
    eprintln!();
    servers.stop().await;
    let mut expectations = Expectations::read(&folder.join("diff.yaml"))?;
    if arguments.only.is_some() {
        expectations.limit_to(|name| scripts.iter().any(|script| script.name == name));
    }
    finish("diff", &outcomes, &expectations)
}

/// Runs all scripts. Most of a script's time is waiting (for a controller, for the next second), so those that
/// can't meet run side by side; those that look at the whole server run last, alone.
async fn outcomes(scripts: &[Script], servers: &Servers, show: bool) -> Vec<Outcome> {
    let with_reach = |reach: Reach| {
        let scripts = scripts.iter().filter(move |script| script.reach() == reach);
        stream::iter(scripts).map(move |script| outcome(script, servers, show))
    };
    let (private, defining) = tokio::join!(
        with_reach(Reach::Namespace)
            .buffer_unordered(LANES)
            .collect::<Vec<_>>(),
        with_reach(Reach::Definitions)
            .buffer_unordered(1)
            .collect::<Vec<_>>(),
    );
    let whole = with_reach(Reach::Server)
        .buffer_unordered(1)
        .collect::<Vec<_>>();
    let mut outcomes = [private, defining, whole.await].concat();
    outcomes.sort_by(|one, other| one.test.cmp(&other.test));
    outcomes
}

async fn outcome(script: &Script, servers: &Servers, show: bool) -> Outcome {
    let (real, ours) = tokio::join!(
        transcript(script, &servers.real, servers),
        transcript(script, &servers.ours, servers),
    );
    if show {
        println!("== {}: {}", script.name, script.content.description);
        print_transcript("real", real.as_deref().unwrap_or_default());
        print_transcript("ours", ours.as_deref().unwrap_or_default());
    }
    let detail = match (real, ours) {
        (Ok(real), Ok(_)) if real.iter().any(Record::gave_up) => {
            "the real server never fulfilled what the script waits for".to_owned()
        }
        (Ok(real), Ok(ours)) => detail(&real, &ours),
        (Err(error), _) => format!("on the real server: {error:#}"),
        (_, Err(error)) => format!("on ours: {error:#}"),
    };
    eprint!("{}", if detail.is_empty() { '.' } else { 'F' });
    if detail.is_empty() {
        Outcome::passed(&script.name)
    } else {
        Outcome::failed(
            &script.name,
            format!("{}\n{detail}", script.content.description),
        )
    }
}

async fn transcript(script: &Script, server: &Endpoint, servers: &Servers) -> Result<Vec<Record>> {
    let mut records = timeout(DEADLINE, run::run(script, server, &servers.run))
        .await
        .with_context(|| format!("not done within {DEADLINE:?}"))??;
    renumber::renumber(&mut records, &script.text, script.content.clock);
    // Managers are sorted by time first: where a second may end anywhere in a script, their order is chance.
    if !script.content.steps.iter().any(|step| step.tick) {
        for record in &mut records {
            sort_managers(&mut record.result);
        }
    }
    Ok(records)
}

fn detail(real: &[Record], ours: &[Record]) -> String {
    let mut text = String::new();
    let mut left = SHOWN;
    for (real, ours) in real.iter().zip(ours) {
        let found = differences(&real.result, &ours.result);
        if found.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{}", real.title);
        for difference in found.iter().take(left) {
            let _ = writeln!(text, "  {}", difference.place);
            for (name, side) in [("real", &difference.real), ("ours", &difference.ours)] {
                let _ = writeln!(text, "    {name}: {}", side.as_deref().unwrap_or("nothing"));
            }
        }
        if found.len() > left {
            let _ = writeln!(text, "  … and {} more", found.len() - left);
            break;
        }
        left -= found.len();
    }
    text
}

fn print_transcript(name: &str, records: &[Record]) {
    for record in records {
        let result = serde_json::to_string_pretty(&record.result).unwrap_or_default();
        println!("-- {name} {}\n{result}", record.title);
    }
}

/// Sorts `managedFields` wherever they are.
fn sort_managers(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::Array(entries) if name == "managedFields" => {
                        entries.sort_by_key(Value::to_string);
                    }
                    other => sort_managers(other),
                }
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(sort_managers),
        _ => {}
    }
}
