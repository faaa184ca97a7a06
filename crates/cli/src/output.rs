//! Standard output that may be gone: a closed pipe is an end, not a crash.

use std::io::{self, Write};

use crate::{arguments::Output, failure::Failure};

/// Writes a line.
pub(crate) fn say(line: &str) -> Result<(), Failure> {
    write(format!("{line}\n").as_bytes())
}

/// Says what came of something, to people or to scripts.
pub(crate) fn tell(output: Output, words: &str, facts: &serde_json::Value) -> Result<(), Failure> {
    match output {
        Output::Text => say(words),
        Output::Json => say(&facts.to_string()),
    }
}

/// Says something that is not the result: on standard error, so that scripts can do without.
pub(crate) fn aside(line: &str) {
    eprintln!("{line}");
}

/// An object as YAML.
pub(crate) fn yaml(object: &serde_json::Value) -> Result<String, Failure> {
    serde_saphyr::to_string(object)
        .map_err(|error| Failure::new("this cannot be written as YAML").because(&error))
}

/// What a shell says of a command that a closed pipe ended.
const ENOUGH: u8 = 141;

/// Writes bytes.
pub(crate) fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(|error| match error.kind() {
            // Whoever reads has seen enough: the end that a signal gives to other commands.
            io::ErrorKind::BrokenPipe => Failure::told(ENOUGH),
            _ => Failure::new("standard output cannot be written").because(&error),
        })
}
