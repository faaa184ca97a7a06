//! The suite `kubernetes`: Kubernetes' own conformance tests of the API machinery, the program unmodified, against
//! `quad up`. Specs that need more than an API server are named exceptions. They would wait for minutes before
//! they fail, so they are skipped, and run only when asked for.

mod lanes;
mod report;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};
use quadrille_testkit::assets as parts;

use self::report::Spec;
use super::{
    expectations::Expectations,
    scoreboard::{self, Outcome},
    target::Target,
};
use crate::{assets, workspace};

/// The specs that this suite consists of.
const FOCUS: &str = r"\[sig-api-machinery\] (CustomResource|FieldValidation|Garbage|Namespaces|OrderedNamespace|Watchers|ValidatingAdmissionPolicy|Servers with support for Table|Discovery|AggregatedDiscovery|server version).*\[Conformance\]";

/// Options of `cargo xtask conformance kubernetes`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Run the exceptions too: most of them wait for minutes until they fail.
    #[arg(long)]
    all: bool,
    /// Run against the cluster of this kubeconfig instead of `quad up`.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Only specs whose name contains this, exceptions or not; prints no score.
    #[arg(value_name = "FILTER")]
    filter: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let path = workspace::root().join("tests/conformance/kubernetes.yaml");
    let expectations = Expectations::read(&path)?;
    assets::ensure()?;
    let suite = Suite {
        program: assets::conformance()?,
        kubectl: parts::binary("kubectl")?,
        folder: workspace::results("conformance")?.join("kubernetes"),
        timeout: if arguments.all { "2h" } else { "10m" },
    };
    fs::create_dir_all(&suite.folder)?;
    let specs = suite.specs()?;
    let is_chosen = |name: &str| match &arguments.filter {
        Some(filter) => name.contains(filter.as_str()),
        None => arguments.all || !expectations.exceptions.contains_key(name),
    };
    let (chosen, skipped): (Vec<_>, Vec<_>) = specs.into_iter().partition(|name| is_chosen(name));
    let target = match &arguments.kubeconfig {
        Some(kubeconfig) => Target::given(kubeconfig),
        None => Target::embedded()?,
    };
    let mut outcomes = suite.run(&chosen, &target.kubeconfig())?;
    if arguments.filter.is_some() {
        for outcome in &outcomes {
            let mark = if outcome.passed { "ok    " } else { "failed" };
            println!("{mark} {}\n{}", outcome.test, outcome.detail);
        }
        return Ok(());
    }
    outcomes.extend(skipped.into_iter().map(Outcome::skipped));
    outcomes.sort_by(|one, other| one.test.cmp(&other.test));
    scoreboard::finish("kubernetes", &outcomes, &expectations)
}

/// The program and what it needs.
struct Suite {
    program: PathBuf,
    kubectl: PathBuf,
    /// Where logs and reports are.
    folder: PathBuf,
    /// When a lane is ended, in the words of Go.
    timeout: &'static str,
}

impl Suite {
    /// The names of all specs in the focus, by a run that does nothing.
    fn specs(&self) -> anyhow::Result<Vec<String>> {
        let report = self.folder.join("specs.json");
        let mut command = self.command(FOCUS, &report, &self.folder.join("specs.log"))?;
        command.arg("-ginkgo.dry-run");
        let status = command.status().context("start the conformance tests")?;
        ensure!(status.success(), "listing the specs failed: {status}");
        let specs = report::read(&report)?;
        ensure!(!specs.is_empty(), "the focus matches no spec");
        Ok(specs.into_iter().map(|spec| spec.name).collect())
    }

    /// Runs specs in several processes at once, and says what became of each.
    fn run(&self, specs: &[String], kubeconfig: &Path) -> anyhow::Result<Vec<Outcome>> {
        let lanes = lanes::divide(specs);
        let results: Vec<anyhow::Result<Vec<Spec>>> = std::thread::scope(|scope| {
            let running: Vec<_> = lanes
                .iter()
                .zip(1..)
                .map(|(lane, number)| scope.spawn(move || self.lane(lane, number, kubeconfig)))
                .collect();
            running
                .into_iter()
                .map(|lane| {
                    lane.join()
                        .unwrap_or_else(|_| Err(anyhow::anyhow!("a lane panicked")))
                })
                .collect()
        });
        let mut ran = Vec::new();
        for result in results {
            ran.extend(result?);
        }
        Ok(specs
            .iter()
            .map(|name| match ran.iter().find(|spec| spec.name == **name) {
                Some(spec) => spec.outcome(),
                None => Outcome::failed(name, "did not run"),
            })
            .collect())
    }

    fn lane(&self, specs: &[&str], number: usize, kubeconfig: &Path) -> anyhow::Result<Vec<Spec>> {
        let timeout = self.timeout;
        let report = self.folder.join(format!("lane-{number}.json"));
        let log = self.folder.join(format!("lane-{number}.log"));
        let names: Vec<String> = specs.iter().map(|name| regex::escape(name)).collect();
        let mut command = self.command(&names.join("|"), &report, &log)?;
        command
            .arg("-kubeconfig")
            .arg(kubeconfig)
            .arg("-kubectl-path")
            .arg(&self.kubectl)
            .args([
                "-provider=skeleton",
                "-kube-api-content-type=application/json",
                "-allowed-not-ready-nodes=-1",
                "-minStartupPods=0",
                "-dump-logs-on-failure=false",
            ])
            .arg(format!("-ginkgo.timeout={timeout}"));
        println!("lane {number}: {} specs", specs.len());
        // Its exit code tells only that a spec failed; the report tells which.
        let status = command.status().context("start the conformance tests")?;
        report::read(&report).with_context(|| format!("{status}, see {}", log.display()))
    }

    fn command(&self, focus: &str, report: &Path, log: &Path) -> anyhow::Result<Command> {
        // What an earlier run left must not be taken for this one's.
        if report.exists() {
            fs::remove_file(report)?;
        }
        let log = fs::File::create(log).with_context(|| format!("create {}", log.display()))?;
        let mut command = Command::new(&self.program);
        command
            .arg(format!("-ginkgo.focus={focus}"))
            .arg(format!("-ginkgo.json-report={}", report.display()))
            .args(["-ginkgo.no-color", "-ginkgo.silence-skips"])
            .current_dir(&self.folder)
            .env_remove("KUBECONFIG")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        Ok(command)
    }
}
