//! Colour, where somebody can see it.

use std::io::{self, IsTerminal};

/// Whether to colour what goes to one of the standard streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colour: bool,
}

impl Style {
    /// For standard output.
    pub(crate) fn of_standard_output() -> Self {
        Self::of(io::stdout().is_terminal())
    }

    /// For standard error.
    pub(crate) fn of_standard_error() -> Self {
        Self::of(io::stderr().is_terminal())
    }

    /// For text that is compared or kept.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { colour: false }
    }

    fn of(terminal: bool) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self {
            colour: terminal && !refused && !dumb,
        }
    }

    /// Whether there is colour at all.
    pub(crate) fn is_on(self) -> bool {
        self.colour
    }

    /// Good.
    pub(crate) fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Bad.
    pub(crate) fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// Under way.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// Important.
    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// A word about health, with its mark.
    pub(crate) fn health(self, word: &str) -> String {
        match word {
            "Healthy" | "Ready" => format!("{} {word}", self.green("●")),
            "Degraded" | "NotReady" | "Failed" => format!("{} {word}", self.red("✖")),
            "Progressing" | "Going" => format!("{} {word}", self.yellow("◐")),
            _ => format!("○ {word}"),
        }
    }

    /// A cell of a table, by its column: what is well is green, what is not is red.
    pub(crate) fn cell(self, column: &str, text: &str, padded: &str) -> String {
        match (column, text) {
            ("READY" | "REACHABLE" | "AVAILABLE", "True")
            | ("STATUS", "Running" | "Active" | "Bound") => self.green(padded),
            ("READY" | "REACHABLE" | "AVAILABLE", "False")
            | ("STATUS", "Failed" | "Error" | "CrashLoopBackOff" | "ImagePullBackOff") => {
                self.red(padded)
            }
            ("STATUS", "Pending" | "Terminating" | "ContainerCreating") => self.yellow(padded),
            _ => padded.to_owned(),
        }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
