//! What a bench reports: measurements (rows of named numbers), goals held against numbers of the same run, and
//! the JSON file that keeps both.

use std::{collections::BTreeMap, fmt::Write as _, fs};

use anyhow::Context;
use serde::Serialize;

use crate::workspace;

/// The result of one bench.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Names the file `target/bench/NAME.json`.
    name: String,
    /// Circumstances worth keeping: versions, counts, cores.
    facts: BTreeMap<String, serde_json::Value>,
    /// Numbers by server and name, for other programs to read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    servers: BTreeMap<String, BTreeMap<String, f64>>,
    measurements: Vec<Measurement>,
    goals: Vec<Goal>,
}

/// One row: what was measured, and its numbers.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measurement {
    /// What was measured, for example `create, 32 clients, embedded`.
    pub(crate) what: String,
    /// Column name (with its unit) and number; rows may have different columns.
    pub(crate) numbers: BTreeMap<String, f64>,
}

/// Where a goal lies.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Bound {
    /// Met from this number upwards.
    AtLeast(f64),
    /// Met up to this number.
    AtMost(f64),
}

/// A number that should lie on one side of a bound.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Goal {
    /// What is wanted, for example `writes per second, embedded / real`.
    pub(crate) what: String,
    /// The bound.
    pub(crate) bound: Bound,
    /// What was measured.
    pub(crate) measured: f64,
    /// Unit of both; `×` for ratios.
    pub(crate) unit: String,
    /// What a profile says about it; shown when the goal is missed.
    pub(crate) profile: Option<String>,
}

impl Goal {
    /// Whether the measured number lies on the right side. A number that is not a number meets no goal.
    pub(crate) fn is_met(&self) -> bool {
        match self.bound {
            Bound::AtLeast(bound) => self.measured >= bound,
            Bound::AtMost(bound) => self.measured <= bound,
        }
    }
}

impl Report {
    /// An empty report.
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            facts: BTreeMap::new(),
            servers: BTreeMap::new(),
            measurements: Vec::new(),
            goals: Vec::new(),
        }
    }

    /// Notes a circumstance.
    pub(crate) fn fact(&mut self, name: &str, value: impl Into<serde_json::Value>) {
        self.facts.insert(name.to_owned(), value.into());
    }

    /// Keeps a number of a server under its name.
    pub(crate) fn number(&mut self, server: &str, name: &str, value: f64) {
        let numbers = self.servers.entry(server.to_owned()).or_default();
        numbers.insert(name.to_owned(), value);
    }

    /// Adds a row.
    pub(crate) fn measured(&mut self, what: impl Into<String>, numbers: &[(&str, f64)]) {
        self.measurements.push(Measurement {
            what: what.into(),
            numbers: numbers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
        });
    }

    /// Adds a goal.
    pub(crate) fn goal(&mut self, goal: Goal) {
        self.goals.push(goal);
    }

    /// Writes `target/bench/NAME.json` and prints the tables; tells whether all goals were met.
    pub(crate) fn finish(&self) -> anyhow::Result<bool> {
        let path = workspace::results("bench")?.join(format!("{}.json", self.name));
        fs::write(&path, serde_json::to_vec_pretty(self)?)
            .with_context(|| format!("write {}", path.display()))?;
        print!("{}{}", self.measurement_table(), self.goal_table());
        println!("written: target/bench/{}.json", self.name);
        Ok(self.goals.iter().all(Goal::is_met))
    }

    fn measurement_table(&self) -> String {
        let width = self
            .measurements
            .iter()
            .map(|row| row.what.chars().count())
            .max()
            .unwrap_or(0);
        let mut text = String::new();
        for row in &self.measurements {
            let _ = write!(text, "{:width$} ", row.what);
            for (name, value) in &row.numbers {
                let _ = write!(text, "  {name} {}", shown(*value));
            }
            text.push('\n');
        }
        text
    }

    fn goal_table(&self) -> String {
        let width = self
            .goals
            .iter()
            .map(|goal| goal.what.chars().count())
            .max()
            .unwrap_or(0);
        let mut text = String::new();
        for goal in &self.goals {
            let mark = if goal.is_met() { "met   " } else { "MISSED" };
            let (sign, bound) = match goal.bound {
                Bound::AtLeast(bound) => ('≥', bound),
                Bound::AtMost(bound) => ('≤', bound),
            };
            let _ = writeln!(
                text,
                "{mark}  {:width$}  {} {unit} (goal {sign} {} {unit})",
                goal.what,
                shown(goal.measured),
                shown(bound),
                unit = goal.unit,
            );
            if !goal.is_met() {
                let profile = goal.profile.as_deref().unwrap_or("not profiled yet");
                let _ = writeln!(text, "        profile: {profile}");
            }
        }
        text
    }
}

/// Three significant digits are enough for people; the JSON file has the rest.
fn shown(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(bound: Bound, measured: f64) -> Goal {
        Goal {
            what: "writes".into(),
            bound,
            measured,
            unit: "×".into(),
            profile: None,
        }
    }

    #[test]
    fn a_goal_is_met_on_its_bound_and_missed_beyond() {
        assert!(goal(Bound::AtLeast(2.0), 2.0).is_met());
        assert!(!goal(Bound::AtLeast(2.0), 1.99).is_met());
        assert!(goal(Bound::AtMost(0.2), 0.2).is_met());
        assert!(!goal(Bound::AtMost(0.2), 0.21).is_met());
        assert!(!goal(Bound::AtMost(0.2), f64::NAN).is_met());
    }

    #[test]
    fn the_table_marks_each_goal_and_shows_the_profile_of_a_missed_one() {
        let mut report = Report::new("x");
        report.goal(goal(Bound::AtLeast(2.0), 3.5));
        report.goal(Goal {
            profile: Some("half of it is fsync".into()),
            ..goal(Bound::AtMost(1.0), 123.4)
        });
        assert_eq!(
            report.goal_table(),
            "met     writes  3.50 × (goal ≥ 2.00 ×)\n\
             MISSED  writes  123 × (goal ≤ 1.00 ×)\n        profile: half of it is fsync\n"
        );
    }
}
