//! `cargo xtask test`: everything that must hold. Checks, all tests on the embedded API, the cluster tests again on a
//! real control plane, other people's suites. What is real needs Go, once, to build it: without Go it is skipped, loudly,
//! except with `CI=true`.

use std::{env, num::NonZero, process::Command, thread, time::Instant};

use anyhow::bail;
use quadrille_testkit::{assets as parts, real::KUBECONFIG_VARIABLE};

use crate::{
    assets, check, conformance,
    steps::{self, Started, Steps},
    workspace::{self, behind, cargo},
};

/// How many tests of a program run at once.
const TEST_THREADS: &str = "RUST_TEST_THREADS";

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
    if has_real {
        run_all(&mut steps, has_envoy)?;
    } else {
        steps.run("tests on the embedded API", tests_on_the_embedded_api)?;
        steps.run("conformance kube-rs", conformance::kube_rs)?;
        for step in [
            "tests on a real control plane",
            "conformance diff",
            "conformance kubernetes",
            "conformance oracle",
            "conformance cel",
            "conformance kubectl",
            "conformance gateway",
        ] {
            steps.skip(step, "Go is not installed");
        }
    }
    steps.summary();
    println!("the tests themselves: {} s", began.elapsed().as_secs());
    Ok(())
}

/// Everything. The suites of others mostly wait, so they do it beside what computes: the tests, which let them go first.
fn run_all(steps: &mut Steps, has_envoy: bool) -> anyhow::Result<()> {
    let diff = Started::new(&["conformance", "diff"])?;
    let kube_rs = Started::new(&["conformance", "kube-rs"])?;
    steps.run("tests on the embedded API", tests_on_the_embedded_api)?;
    steps.finish(kube_rs)?;
    steps.finish(diff)?;
    let kubernetes = Started::new(&["conformance", "kubernetes"])?;
    steps.run(
        "tests on a real control plane",
        tests_on_a_real_control_plane,
    )?;
    steps.finish(kubernetes)?;
    steps.run("conformance oracle", conformance::oracle)?;
    steps.run("conformance cel", conformance::cel)?;
    steps.run("conformance kubectl", conformance::kubectl)?;
    if has_envoy {
        steps.run("conformance gateway", conformance::gateway)?;
    } else {
        steps.skip("conformance gateway", "Python with pip is not installed");
    }
    Ok(())
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

/// All tests, even when one fails, behind what runs beside them: suites compare answers of the same second, tests have time.
/// Most tests wait now and then: twice as many at once as there are processors keep those busy.
fn tests() -> Command {
    let mut command = behind(&cargo(&["test", "--locked", "--quiet", "--no-fail-fast"]));
    if env::var_os(TEST_THREADS).is_none() {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        command.env(TEST_THREADS, (2 * processors).to_string());
    }
    command
}

fn tests_on_the_embedded_api() -> anyhow::Result<()> {
    workspace::run(tests().arg("--workspace").env_remove(KUBECONFIG_VARIABLE))
}

/// Runs the tests of all packages that use testkit once more, each program on a control plane of its own: on one for all,
/// the namespaces that the first ones leave behind are still going while the last ones wait for theirs to go.
fn tests_on_a_real_control_plane() -> anyhow::Result<()> {
    let mut packages = workspace::users_of("quadrille-testkit")?;
    // What `quad` says is tried on servers that it starts itself.
    packages.retain(|package| package != "quad");
    let mut command = tests();
    command
        .arg("--tests")
        .args(packages.iter().flat_map(|package| ["--package", package]))
        .env(KUBECONFIG_VARIABLE, "start")
        // The parts of a control plane collect their garbage all the time, for a little less memory.
        .env("GOGC", "400");
    workspace::run(&mut command)
}
