//! Builds the test binaries of the scratch workspace and runs their ignored tests one by one, each in a process
//! of its own, so that one that hangs or aborts costs only itself.

use std::{
    fs::File,
    io::{Read as _, Seek as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::{super::scoreboard::Outcome, sources::CRATES};
use crate::workspace;

/// What kube-rs's own integration run enables, less OpenSSL (which needs its headers).
const FEATURES: [&str; 17] = [
    "kube-client/client",
    "kube-client/config",
    "kube-client/gzip",
    "kube-client/jsonpatch",
    "kube-client/kubelet-debug",
    "kube-client/ring",
    "kube-client/rustls-tls",
    "kube-client/unstable-client",
    "kube-client/ws",
    "kube/client",
    "kube/derive",
    "kube/ring",
    "kube/runtime",
    "kube/rustls-tls",
    "kube/unstable-client",
    "kube/ws",
    "kube-runtime/unstable-runtime",
];

/// The test binary of one crate.
pub(crate) struct TestBinary {
    name: String,
    path: PathBuf,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    executable: Option<PathBuf>,
    #[serde(default)]
    target: Option<MessageTarget>,
}

#[derive(Deserialize)]
struct MessageTarget {
    name: String,
}

/// Builds the test binaries, with a target folder of their own.
pub(super) fn build(folder: &Path) -> anyhow::Result<Vec<TestBinary>> {
    println!(
        "building the tests of {} (minutes, the first time)",
        CRATES.join(", ")
    );
    let features = FEATURES.join(",");
    let mut command = workspace::cargo(&["test", "--quiet", "--lib", "--no-run"]);
    command
        .args([
            "--message-format=json-render-diagnostics",
            "--features",
            &features,
        ])
        .args(CRATES.iter().flat_map(|name| ["--package", name]))
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"));
    let mut binaries: Vec<TestBinary> = workspace::output(&mut command)?
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter_map(|message| {
            let name = message.target?.name.replace('_', "-");
            Some(TestBinary {
                name,
                path: message.executable?,
            })
        })
        .collect();
    binaries.sort_by(|one, other| one.name.cmp(&other.name));
    ensure!(
        binaries.len() == CRATES.len(),
        "cargo built {} test binaries",
        binaries.len()
    );
    Ok(binaries)
}

impl TestBinary {
    /// Names of the tests that a plain `cargo test` leaves out.
    pub(super) fn ignored_tests(&self) -> anyhow::Result<Vec<String>> {
        let mut command = Command::new(&self.path);
        command.args(["--list", "--ignored", "--format=terse"]);
        let text = workspace::output(&mut command)?;
        let mut names: Vec<String> = text
            .lines()
            .filter_map(|line| line.strip_suffix(": test"))
            .map(str::to_owned)
            .collect();
        names.sort();
        Ok(names)
    }

    /// Runs one test against a cluster.
    pub(super) fn run(
        &self,
        test: &str,
        kubeconfig: &Path,
        patience: Duration,
    ) -> anyhow::Result<Outcome> {
        let name = format!("{}::{test}", self.name);
        let mut output = tempfile::tempfile()?;
        let mut child = Command::new(&self.path)
            .args(["--ignored", "--exact", "--nocapture", test])
            .env("KUBECONFIG", kubeconfig)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .spawn()
            .with_context(|| format!("start {name}"))?;
        let deadline = Instant::now() + patience;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if Instant::now() > deadline {
                child.kill()?;
                child.wait()?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        Ok(match status {
            Some(status) if status.success() => Outcome::passed(name),
            Some(_) => Outcome::failed(name, last_words(&mut output)?),
            None => {
                let words = last_words(&mut output)?;
                Outcome::failed(name, format!("hung for {} s\n{words}", patience.as_secs()))
            }
        })
    }
}

/// What a test printed, without the harness's own lines.
fn last_words(output: &mut File) -> anyhow::Result<String> {
    output.rewind()?;
    let mut bytes = Vec::new();
    output.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| is_about_the_test(line))
        .collect();
    Ok(lines[lines.len().saturating_sub(12)..].join("\n"))
}

fn is_about_the_test(line: &str) -> bool {
    let noise = ["running ", "test result:", "failures:", "note: "];
    !line.trim().is_empty() && !noise.iter().any(|start| line.starts_with(start))
}
