//! The oracle as a process: a line in, a line out.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::assets;

/// Builds the oracle unless it is built.
pub(super) fn ensure() -> anyhow::Result<PathBuf> {
    assets::oracle()
}

/// A running oracle.
pub(super) struct Oracle {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Oracle {
    pub(super) fn start(program: &Path) -> anyhow::Result<Self> {
        ensure!(fs::exists(program)?, "{} is gone", program.display());
        let mut child = Command::new(program)
            // Questions are small and many: collecting garbage after each would take most of the time.
            .envs([
                ("GOGC", "1000"),
                ("GOMEMLIMIT", "1GiB"),
                ("GOMAXPROCS", "1"),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("start the oracle")?;
        let questions = child.stdin.take().context("the oracle's input")?;
        let answers = BufReader::new(child.stdout.take().context("the oracle's output")?);
        Ok(Self {
            child,
            questions,
            answers,
        })
    }

    pub(super) fn ask(&mut self, question: &Value) -> anyhow::Result<Value> {
        // In one piece: a pipe takes every write at once.
        let line = format!("{question}\n");
        self.questions
            .write_all(line.as_bytes())
            .context("ask the oracle")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(!line.is_empty(), "the oracle died of {question}");
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // It would end by itself when its input does; nothing waits for a last answer.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
