//! Running the binary: to its end, with everything it says.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// What a finished command left.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The binary, with an environment that does not depend on who runs the test.
pub(crate) fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quad"));
    command
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("TMPDIR", home)
        .stdin(Stdio::null());
    command
}

/// What is said when an answer takes its time: whether it is depends on how busy the machine is.
fn is_patience(line: &str) -> bool {
    line.trim_start().starts_with("waiting for ") && line.contains(" … ") && line.ends_with(" s")
}

/// Runs a command to its end.
pub(crate) fn finish(command: &mut Command) -> Finished {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Finished {
        code: output.status.code(),
        out: text(output.stdout),
        err: text(output.stderr)
            .split_inclusive('\n')
            .filter(|line| !is_patience(line.trim_end()))
            .collect(),
    }
}

/// Runs `quad` with these arguments to its end.
pub(crate) fn quad(home: &Path, arguments: &[&str]) -> Finished {
    finish(command(home).args(arguments))
}
