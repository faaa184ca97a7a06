//! `cargo xtask bench apiserver`: the embedded server (a release build of `quad up`, durable) against etcd and
//! kube-apiserver, one after the other in the same run, with the same client, definitions and objects.

mod watching;
mod workload;

use anyhow::Result;

use self::workload::Sizes;
use super::{
    Numbers, add_row, measure,
    report::{Bound, Goal, Report},
    subject::Subject,
};

/// Options of `cargo xtask bench apiserver`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How long each operation is measured, in seconds.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// How many objects a list returns.
    #[arg(long, default_value_t = 10_000)]
    listed: usize,
    /// How many objects are stored in the end.
    #[arg(long, default_value_t = 100_000)]
    stored: usize,
}

/// Measures both and compares.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let sizes = Sizes {
        seconds: arguments.seconds,
        listed: arguments.listed,
        stored: arguments.stored,
    };
    let runtime = tokio::runtime::Runtime::new()?;
    let work = async |subject: &Subject| workload::run(subject, &sizes).await;
    // The first start of each reads its program from the disk; what is compared are the second ones.
    runtime.block_on(Subject::embedded())?.end();
    runtime.block_on(Subject::real())?.end();
    let embedded = runtime.block_on(measure(Subject::embedded, work))?;
    let real = runtime.block_on(measure(Subject::real, work))?;

    let mut report = Report::new("apiserver");
    report.fact("seconds per operation", arguments.seconds);
    report.fact("objects listed", arguments.listed);
    report.fact("objects stored", arguments.stored);
    report.fact(
        "cores",
        std::thread::available_parallelism().map_or(0, usize::from),
    );
    report.fact("real", "kube-apiserver and etcd together");
    for (what, numbers) in &embedded {
        add_row(&mut report, &format!("{what}, embedded"), numbers);
        if let Some(numbers) = real.get(what) {
            add_row(&mut report, &format!("{what}, real"), numbers);
        }
    }
    for goal in goals(&embedded, &real) {
        report.goal(goal);
    }
    report.finish()?;
    Ok(())
}

/// What is wanted of which number: a ratio of the embedded server's to the real one's.
fn goals(embedded: &Numbers, real: &Numbers) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (what, numbers) in embedded {
        for (name, value) in numbers {
            let Some(reference) = real.get(what).and_then(|numbers| numbers.get(name)) else {
                continue;
            };
            if let Some(bound) = wanted_ratio(what, name) {
                goals.push(Goal {
                    what: format!("{what}: {name}, embedded / real"),
                    bound,
                    measured: value / reference,
                    unit: "×".to_owned(),
                    profile: None,
                });
            }
        }
    }
    if let Some(idle) = embedded.get(workload::IDLE) {
        for (name, most) in [("MiB", 60.0), ("% CPU", 0.1)] {
            goals.push(Goal {
                what: format!("{}: {name}, embedded", workload::IDLE),
                bound: Bound::AtMost(most),
                measured: idle.get(name).copied().unwrap_or(f64::NAN),
                unit: name.to_owned(),
                profile: None,
            });
        }
    }
    goals
}

fn wanted_ratio(what: &str, name: &str) -> Option<Bound> {
    let is_write = ["create", "update", "patch"]
        .iter()
        .any(|verb| what.starts_with(verb));
    match name {
        "start ms" => Some(Bound::AtMost(0.1)),
        "MiB" => Some(Bound::AtMost(0.2)),
        "per second" if is_write => Some(Bound::AtLeast(2.0)),
        "per second" => Some(Bound::AtLeast(1.0)),
        "p99 ms" => Some(Bound::AtMost(1.0)),
        _ => None,
    }
}
