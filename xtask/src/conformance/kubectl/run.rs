//! Runs one script with kubectl against one server and writes down what it says.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use super::{
    super::diff::places,
    script::{Script, Step, words},
};

/// How long one command may take, and how long a step is tried again.
const PATIENCE: Duration = Duration::from_mins(1);

/// One of the two servers, as kubectl knows it.
pub(super) struct Side {
    /// The program.
    pub(super) kubectl: PathBuf,
    /// Holds the kubeconfig and all that kubectl writes.
    pub(super) home: PathBuf,
    /// Tells this run's namespaces from those of earlier ones on the same server.
    pub(super) run: String,
}

/// What one command said.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The command line.
    pub(super) title: String,
    /// Its exit code.
    pub(super) code: i32,
    /// Its standard output.
    pub(super) stdout: String,
    /// Its standard error.
    pub(super) stderr: String,
}

/// Runs `script` in a namespace of its own.
pub(super) fn run(script: &Script, side: &Side) -> Result<Vec<Record>> {
    let namespace = format!("{}-{}", script.name, side.run);
    let mut runner = Runner {
        side,
        names: BTreeMap::from([("ns".to_owned(), namespace.clone())]),
        namespace,
        folder: side.home.join(&script.name),
    };
    fs::create_dir(&runner.folder)?;
    runner.prepare_namespace()?;
    runner.write(&script.content.files)?;
    let mut records = Vec::new();
    for (step, number) in script.content.steps.iter().zip(1..) {
        let title = format!("{number}. kubectl {}", step.kubectl);
        let mut record = runner.step(step).with_context(|| title.clone())?;
        record.title = title;
        records.push(record);
    }
    Ok(records)
}

struct Runner<'a> {
    side: &'a Side,
    namespace: String,
    names: BTreeMap<String, String>,
    folder: PathBuf,
}

impl Runner<'_> {
    /// A namespace with the objects that every namespace gets.
    fn prepare_namespace(&self) -> Result<()> {
        let commands = [
            format!("create namespace {}", self.namespace),
            "wait --for=create serviceaccount/default configmap/kube-root-ca.crt".to_owned(),
        ];
        for line in commands {
            let record = self.command(&line, "")?;
            ensure!(record.code == 0, "kubectl {line}: {}", record.stderr);
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<Record> {
        self.write(&step.files)?;
        let line = self.fill(&step.kubectl);
        let deadline = Instant::now() + PATIENCE;
        let mut record = loop {
            let record = self.command(&line, &self.fill(&step.stdin))?;
            if !step.retry || record.code == 0 {
                break record;
            }
            if Instant::now() > deadline {
                bail!("never succeeded, at last: {}", record.stderr);
            }
        };
        if let Some(name) = &step.save {
            self.names.insert(name.clone(), record.stdout.clone());
        }
        for text in [&mut record.stdout, &mut record.stderr] {
            *text = focus(text, step);
        }
        Ok(record)
    }

    fn write(&self, files: &BTreeMap<String, String>) -> Result<()> {
        for (name, text) in files {
            fs::write(self.folder.join(name), self.fill(text))?;
        }
        Ok(())
    }

    fn fill(&self, text: &str) -> String {
        places::fill(text, &self.names)
    }

    fn command(&self, line: &str, stdin: &str) -> Result<Record> {
        let mut stdout = tempfile::tempfile()?;
        let mut stderr = tempfile::tempfile()?;
        let mut input = tempfile::tempfile()?;
        input.write_all(stdin.as_bytes())?;
        input.rewind()?;
        let mut child = Command::new(&self.side.kubectl)
            .arg(format!("--namespace={}", self.namespace))
            .args(words(line))
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.side.home)
            .env("TMPDIR", &self.side.home)
            .env("KUBECONFIG", self.side.home.join("kubeconfig"))
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .stdin(Stdio::from(input))
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            .spawn()
            .context("start kubectl")?;
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() > deadline {
                child.kill()?;
                child.wait()?;
                bail!("kubectl hung for {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        Ok(Record {
            title: String::new(),
            code: status.code().unwrap_or(-1),
            stdout: self.read(&mut stdout)?,
            stderr: self.read(&mut stderr)?,
        })
    }

    /// What a command wrote, without the folders that are ours.
    fn read(&self, file: &mut File) -> Result<String> {
        file.rewind()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let name = |folder: &Path| folder.display().to_string();
        Ok(text.replace(&name(&self.side.home), "<home>"))
    }
}

/// Leaves what the step wants compared.
fn focus(text: &str, step: &Step) -> String {
    if step.quiet {
        return String::new();
    }
    let holds =
        |line: &str, parts: &[String]| parts.iter().any(|part| line.contains(part.as_str()));
    let is_kept = |line: &&str| {
        !holds(line, &step.ignore) && (step.only.is_empty() || holds(line, &step.only))
    };
    let mut lines: Vec<&str> = text.lines().filter(is_kept).collect();
    if step.any_order {
        lines.sort_unstable();
    }
    let mut kept = lines.join("\n");
    if text.ends_with('\n') {
        kept.push('\n');
    }
    kept
}
