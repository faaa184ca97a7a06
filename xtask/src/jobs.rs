//! Work that goes on beside other work: programs in lanes, one after the other in each. What a program prints is shown when
//! it has ended, so that it can be read; all of them run, whatever fails, so that one run tells everything.

use std::{
    fs::File,
    io::{Read as _, Seek as _},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

/// A program to run.
pub(crate) struct Job {
    name: String,
    command: Command,
}

/// How a program ended.
pub(crate) struct Ended {
    pub(crate) name: String,
    /// What it printed.
    pub(crate) text: String,
    pub(crate) time: Duration,
    /// What went wrong.
    pub(crate) trouble: Option<String>,
}

impl Job {
    pub(crate) fn new(name: &str, command: Command) -> Self {
        Self {
            name: name.to_owned(),
            command,
        }
    }

    /// A task of ours.
    pub(crate) fn task(words: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(words);
        Ok(Self::new(&words.join(" "), command))
    }

    /// The same program with a lower priority: it takes the processors that others leave.
    pub(crate) fn behind(mut self) -> Self {
        let mut nice = Command::new("nice");
        nice.arg(self.command.get_program())
            .args(self.command.get_args());
        if let Some(folder) = self.command.get_current_dir() {
            nice.current_dir(folder);
        }
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => nice.env(name, value),
                None => nice.env_remove(name),
            };
        }
        self.command = nice;
        self
    }

    fn run(mut self) -> Ended {
        let start = Instant::now();
        let ran = tempfile::tempfile()
            .context("a file for what it prints")
            .and_then(|output| self.print_to(output));
        let (text, trouble) = match ran {
            Ok((text, trouble)) => (text, trouble),
            Err(error) => (String::new(), Some(format!("{error:#}"))),
        };
        Ended {
            name: self.name,
            text,
            time: start.elapsed(),
            trouble,
        }
    }

    fn print_to(&mut self, mut output: File) -> anyhow::Result<(String, Option<String>)> {
        let status = self
            .command
            // Programs in Go collect their garbage all the time, for a little less memory: here they may take some first.
            .env("GOGC", "1000")
            .env("GOMEMLIMIT", "3GiB")
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .status()
            .with_context(|| format!("start {}", self.command.get_program().display()))?;
        output.rewind()?;
        let mut bytes = Vec::new();
        output.read_to_end(&mut bytes)?;
        let trouble = (!status.success()).then(|| status.to_string());
        Ok((String::from_utf8_lossy(&bytes).into_owned(), trouble))
    }
}

/// Runs lanes to their end, and shows each program as it ends.
pub(crate) fn run_lanes(lanes: Vec<Vec<Job>>, mut show: impl FnMut(&Ended)) -> anyhow::Result<()> {
    let mut failed = Vec::new();
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        for lane in lanes {
            let tell = tell.clone();
            scope.spawn(move || {
                for job in lane {
                    // Whoever is told outlives this.
                    let _ = tell.send(job.run());
                }
            });
        }
        drop(tell);
        for ended in told {
            show(&ended);
            if let Some(trouble) = &ended.trouble {
                failed.push(format!("{}: {trouble}", ended.name));
            }
        }
    });
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job::new(name, command)
    }

    #[test]
    fn all_run_to_their_end_and_whoever_failed_is_named() {
        let lanes = vec![
            vec![job("bad", "echo hm; exit 3"), job("next", "echo well")],
            vec![job("beside", "echo too >&2").behind()],
        ];
        let mut shown = Vec::new();
        let error = run_lanes(lanes, |ended| {
            shown.push((ended.name.clone(), ended.text.clone()));
        })
        .unwrap_err();
        shown.sort();
        let expected = [("bad", "hm\n"), ("beside", "too\n"), ("next", "well\n")];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(shown, expected);
        assert_eq!(error.to_string(), "bad: exit status: 3");
    }
}
