//! Numbers of a server under measurement, on their way into the report and onto the screen.

use std::time::Duration;

use super::{
    load::Seen,
    report::{Bound, Goal, Report},
};

/// Where numbers go.
pub(super) struct Numbers<'a> {
    /// Whose they are.
    pub(super) server: &'static str,
    /// Where they are kept.
    pub(super) report: &'a mut Report,
}

impl Numbers<'_> {
    /// A number by its name.
    pub(super) fn one(&mut self, what: &str, name: &str, value: f64) {
        eprintln!("{}: {what}: {value:.2}", self.server);
        self.report.number(self.server, name, value);
        let what = format!("{what}, {}", self.server);
        self.report.measured(what, &[("", value)]);
    }

    /// The middle and the slowest hundredth of latencies.
    pub(super) fn latency(&mut self, what: &str, name: &str, seen: &Seen) {
        for percent in [50, 99] {
            let value = seen.percentile(percent);
            self.one(
                &format!("{what}: p{percent} ms"),
                &format!("{name}_p{percent}_ms"),
                value,
            );
        }
    }

    /// A goal that is met from a bound upwards.
    pub(super) fn at_least(&mut self, what: &str, measured: f64, bound: f64, unit: &str) {
        self.goal(what, measured, Bound::AtLeast(bound), unit, None);
    }

    /// The same, with what a profile says should it be missed.
    pub(super) fn at_least_or(
        &mut self,
        what: &str,
        measured: f64,
        bound: f64,
        unit: &str,
        profile: String,
    ) {
        self.goal(what, measured, Bound::AtLeast(bound), unit, Some(profile));
    }

    /// A goal that is met up to a bound.
    pub(super) fn at_most(&mut self, what: &str, measured: f64, bound: f64, unit: &str) {
        self.goal(what, measured, Bound::AtMost(bound), unit, None);
    }

    fn goal(
        &mut self,
        what: &str,
        measured: f64,
        bound: Bound,
        unit: &str,
        profile: Option<String>,
    ) {
        self.report.goal(Goal {
            what: format!("{what}, {}", self.server),
            bound,
            measured,
            unit: unit.to_owned(),
            profile,
        });
    }
}

/// How many in a second.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
pub(super) fn per_second(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}

/// How many for each.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
pub(super) fn fraction(count: usize, of: usize) -> f64 {
    count as f64 / of as f64
}
