//! Asking before what cannot be undone, where there is somebody to ask.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::failure::Failure;

/// Whether somebody sits there who can be asked: a script has said what it means.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks; anything but a yes is a no.
pub(crate) fn ask(question: &str) -> Result<bool, Failure> {
    let failed = |error: io::Error| Failure::new("the question cannot be asked").because(&error);
    let mut out = io::stderr();
    write!(out, "{question} [y/N] ")
        .and_then(|()| out.flush())
        .map_err(failed)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(failed)?;
    let answer = answer.trim().to_lowercase();
    Ok(["y", "yes"].contains(&answer.as_str()))
}
