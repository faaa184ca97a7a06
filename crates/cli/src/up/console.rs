//! The log that people read while `quad up` runs, on standard error.

use std::{fmt, io, time::Duration};

use jiff::Zoned;
use quadrille_apiserver::serve::{Entry, RequestLog};
use tracing_subscriber::{
    EnvFilter,
    fmt::{format::Writer, time::FormatTime},
};

use crate::style::Style;

/// The time of day: whoever reads this knows the date.
struct TimeOfDay;

impl FormatTime for TimeOfDay {
    fn format_time(&self, out: &mut Writer<'_>) -> fmt::Result {
        write!(out, "{}", Zoned::now().strftime("%H:%M:%S"))
    }
}

/// Starts the log. `RUST_LOG` overrides how much is shown.
pub(crate) fn start(verbose: u8) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| {
        EnvFilter::new(match verbose {
            0 | 1 => "warn,quad=info",
            _ => "info,quadrille_apiserver=debug,quadrille_store=debug,quad=info",
        })
    });
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_timer(TimeOfDay)
        .with_target(false)
        .with_ansi(Style::of_standard_error().is_on())
        .with_writer(io::stderr)
        .try_init();
    if started.is_err() {
        // Somebody who embeds this has a log already; ours goes there.
        tracing::debug!("a log is already set up");
    }
}

/// Shows requests: those that fail, or all.
#[derive(Debug)]
pub(crate) struct Requests {
    all: bool,
}

impl Requests {
    /// Shows all, or only failures.
    pub(crate) fn new(all: bool) -> Self {
        Self { all }
    }
}

/// Codes that clients get in the ordinary course of things, and that their own message tells best:
/// looking whether something exists, losing a race, resuming a watch too late.
const ORDINARY: [u16; 3] = [404, 409, 410];

impl RequestLog for Requests {
    fn record(&self, entry: &Entry<'_>) {
        let failed = entry.code >= 400;
        if entry.code >= 500 {
            tracing::error!(target: "quad", "{}", line(entry));
        } else if failed && !ORDINARY.contains(&entry.code) {
            tracing::warn!(target: "quad", "{}", line(entry));
        } else if self.all {
            tracing::info!(target: "quad", "{}", line(entry));
        }
    }
}

fn line(entry: &Entry<'_>) -> String {
    let mut what = if entry.resource.is_empty() {
        entry.uri.to_owned()
    } else if entry.group.is_empty() {
        entry.resource.to_owned()
    } else {
        format!("{}.{}", entry.resource, entry.group)
    };
    if !entry.name.is_empty() {
        what = format!("{what}/{}", entry.name);
    }
    if !entry.subresource.is_empty() {
        what = format!("{what} {}", entry.subresource);
    }
    if !entry.namespace.is_empty() {
        what = format!("{what} -n {}", entry.namespace);
    }
    let user = if entry.user.is_empty() {
        "nobody"
    } else {
        entry.user
    };
    // "kubectl/v1.36.3 (linux/amd64) kubernetes/…": the first word is enough for people.
    let agent = entry.user_agent.split(' ').next().unwrap_or_default();
    let took = milliseconds(Duration::from_micros(entry.microseconds));
    format!(
        "{} {} {what}   {user} {agent} {took}",
        entry.code, entry.verb
    )
}

fn milliseconds(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_like_a_command() {
        let entry = Entry {
            time: jiff::Timestamp::UNIX_EPOCH,
            user: "anna",
            verb: "update",
            group: "apps",
            resource: "deployments",
            subresource: "scale",
            namespace: "shop",
            name: "web",
            uri: "/…",
            code: 403,
            microseconds: 2140,
            user_agent: "kubectl/v1.36.3 (linux/amd64) kubernetes/abc",
            annotations: None,
        };
        assert_eq!(
            line(&entry),
            "403 update deployments.apps/web scale -n shop   anna kubectl/v1.36.3 2.1 ms"
        );
    }
}
