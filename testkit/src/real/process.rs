//! A program that ends with us. A small shell stands between: it holds the reading end of a pipe whose only
//! writing end is ours, and kills the program by its pid when the pipe closes, be it by [`Drop`], by a panic
//! that aborts, or by `kill -9` on us. (A parent-death signal would need unsafe code.)

use std::{
    ffi::OsString,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
};

use anyhow::{Context, bail};

/// `$1` is the program's folder, the rest its command line. `exit` in the folder tells that it ended by itself;
/// the folder is removed by whoever comes last, so that nothing stays behind even if we were killed.
const GUARD: &str = r#"
trap '' INT
folder=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
echo "$child" >"$folder/pid.new" && mv "$folder/pid.new" "$folder/pid"
{ cat <&3 >/dev/null; [ -e "$folder/exit" ] || kill -KILL "$child"; } &
guard=$!
exec 3<&-
wait "$child"; code=$?
echo "$code" >"$folder/exit.new" && mv "$folder/exit.new" "$folder/exit"
wait "$guard"
rm -rf "$folder"
rmdir "$(dirname "$folder")" 2>/dev/null
exit 0
"#;

/// A running program of a control plane.
#[derive(Debug)]
pub struct Process {
    name: String,
    folder: PathBuf,
    guard: Child,
    lifeline: Option<ChildStdin>,
}

impl Process {
    /// Starts a program; `folder` becomes its own, holds its log (`log`), and is removed when it has ended.
    pub fn start(
        name: &str,
        program: &Path,
        folder: &Path,
        arguments: &[OsString],
    ) -> anyhow::Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        let log = File::create(folder.join("log")).context("create a log file")?;
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "guard"])
            .arg(folder)
            .arg(program)
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(log.try_clone().context("open a log file twice")?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("start {name}"))?;
        let lifeline = guard.stdin.take();
        Ok(Self {
            name: name.to_owned(),
            folder: folder.to_owned(),
            guard,
            lifeline,
        })
    }

    /// The program's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program's process id, once the guard has started it.
    pub fn pid(&self) -> Option<u32> {
        fs::read_to_string(self.folder.join("pid"))
            .ok()?
            .trim()
            .parse()
            .ok()
    }

    /// What the program has written so far, to standard output and standard error.
    pub fn log(&self) -> String {
        fs::read(self.folder.join("log"))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// Fails with the end of its log if the program has ended by itself.
    pub fn still_runs(&self) -> anyhow::Result<()> {
        let Ok(code) = fs::read_to_string(self.folder.join("exit")) else {
            return Ok(());
        };
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let end = lines[lines.len().saturating_sub(20)..].join("\n");
        bail!("{} ended with code {}:\n{end}", self.name, code.trim());
    }

    /// Lets the program go: it is being killed from now on. [`Drop`] waits for it.
    pub(super) fn release(&mut self) {
        self.lifeline = None;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.release();
        if let Err(error) = self.guard.wait() {
            tracing::warn!(process = self.name, %error, "could not wait for its end");
        }
    }
}

#[cfg(test)]
mod tests;
