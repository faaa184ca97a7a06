//! `cargo xtask test`: everything that must hold. Checks, all tests on the embedded API, the cluster tests again on a
//! real control plane, other people's suites. What is real needs Go, once, to build it: without Go it is skipped, loudly,
//! except with `CI=true`.

use std::{env, fs, num::NonZero, process::Command, thread, time::Instant};

use anyhow::bail;
use quadrille_testkit::{assets as parts, real::KUBECONFIG_VARIABLE};

use crate::{
    assets, check, conformance,
    jobs::Job,
    steps::{self, Steps},
    workspace::{self, cargo},
};

/// How many tests of a program run at once.
const TEST_THREADS: &str = "RUST_TEST_THREADS";

/// The package of scenarios, and the longest of its programs.
const SCENARIOS: &str = "quadrille-tests";
const LONGEST: &str = "system";

/// Compiles all tests and runs none.
const COMPILE: [&str; 5] = ["test", "--locked", "--quiet", "--workspace", "--no-run"];

/// Options of `cargo xtask test`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Leave out the checks (format, lints, …): only tests.
    #[arg(long)]
    no_checks: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut steps = Steps::default();
    let has_real = can_have_a_real_control_plane()?;
    let has_envoy = has_real && can_have_envoy()?;
    if has_real {
        // First: some generated files are made of them, and some tests need them wherever the others run.
        steps.run("assets", || assets::ensure_all(has_envoy))?;
    }
    if !arguments.no_checks {
        check::add(&mut steps)?;
    }
    // Apart, so that the summary tells how long the tests themselves take.
    steps.run("tests are compiled", || {
        workspace::run(&mut cargo(&COMPILE))?;
        conformance::build_kube_rs()
    })?;
    let began = Instant::now();
    let ran = steps.run_lanes(lanes(has_real, has_envoy)?);
    if !has_real {
        for step in [
            "tests on a real control plane",
            "conformance diff",
            "conformance kubectl",
            "conformance kubernetes",
            "conformance oracle",
            "conformance cel",
            "conformance gateway",
        ] {
            steps.skip(step, "Go is not installed");
        }
    } else if !has_envoy {
        steps.skip("conformance gateway", "Python with pip is not installed");
    }
    steps.summary();
    println!("the tests themselves: {} s", began.elapsed().as_secs());
    ran
}

/// Everything, in lanes beside each other: much of it waits, and does so while something else computes. Two suites compare
/// what two servers say within the same second: they go first, and all others take the processors that they leave.
fn lanes(has_real: bool, has_envoy: bool) -> anyhow::Result<Vec<Vec<Job>>> {
    let suite = |name| Job::task(&["conformance", name]);
    let embedded = vec![tests_on_the_embedded_api().behind()];
    let mut suites = vec![suite("kube-rs")?.behind()];
    if !has_real {
        return Ok(vec![embedded, suites]);
    }
    for name in ["kubernetes", "oracle", "cel"] {
        suites.push(suite(name)?.behind());
    }
    if has_envoy {
        suites.push(suite("gateway")?.behind());
    }
    let (real, last) = tests_on_real_control_planes()?;
    let compared = vec![suite("diff")?, suite("kubectl")?, last.behind()];
    let real = real.into_iter().map(Job::behind).collect();
    Ok(vec![compared, suites, real, embedded])
}

fn can_have_a_real_control_plane() -> anyhow::Result<bool> {
    let can = parts::are_complete() || assets::is_go_installed();
    if !can && steps::is_ci() {
        bail!("CI=true, so the tests on a real control plane must run, and Go is not installed");
    }
    Ok(can)
}

fn can_have_envoy() -> anyhow::Result<bool> {
    let can = assets::is_python_installed();
    if !can && steps::is_ci() {
        bail!("CI=true, so the gateway suite must run, and Python with pip is not installed");
    }
    Ok(can)
}

/// All tests, even when one fails. Most of them wait now and then: twice as many at once as there are processors keep
/// those busy.
fn tests() -> Command {
    let mut command = cargo(&["test", "--locked", "--quiet", "--no-fail-fast"]);
    if env::var_os(TEST_THREADS).is_none() {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        command.env(TEST_THREADS, (2 * processors).to_string());
    }
    command
}

fn tests_on_the_embedded_api() -> Job {
    let mut command = tests();
    command.arg("--workspace").env_remove(KUBECONFIG_VARIABLE);
    Job::new("tests on the embedded API", command)
}

/// The tests of all packages that use testkit once more, each program on a control plane of its own: on one for all, the
/// namespaces that the first ones leave behind are still going while the last ones wait for theirs to go. The longest
/// program is apart, for a lane that has room for it.
fn tests_on_real_control_planes() -> anyhow::Result<(Vec<Job>, Job)> {
    let mut packages = workspace::users_of("quadrille-testkit")?;
    // What `quad` says is tried on servers that it starts itself.
    packages.retain(|package| package != "quad" && package != SCENARIOS);
    let folder = workspace::root().join("tests/tests");
    let mut programs = Vec::new();
    for entry in fs::read_dir(folder)? {
        programs.push(entry?.file_name().to_string_lossy().into_owned());
    }
    programs.retain(|program| program != LONGEST);
    programs.sort();
    let job = |name: &str, arguments: &[&str]| {
        let mut command = tests();
        command.args(arguments).env(KUBECONFIG_VARIABLE, "start");
        Job::new(&format!("{name} on a real control plane"), command)
    };
    let mut units = vec!["--tests"];
    units.extend(packages.iter().flat_map(|package| ["--package", package]));
    // Of the whole workspace: what is compiled for one package alone has other features, and would be compiled anew.
    let mut scenarios = vec!["--workspace"];
    scenarios.extend(programs.iter().flat_map(|program| ["--test", program]));
    let first = vec![job("tests", &units), job("scenarios", &scenarios)];
    let longest = ["--workspace", "--test", LONGEST];
    Ok((first, job(LONGEST, &longest)))
}
