//! Standard output that may be gone: a closed pipe is a failure to report, not a crash.

use std::io::{self, Write};

use crate::failure::Failure;

/// Writes a line.
pub(crate) fn say(line: &str) -> Result<(), Failure> {
    write(format!("{line}\n").as_bytes())
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

/// Writes bytes.
pub(crate) fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(|error| Failure::new("standard output cannot be written").because(&error))
}
