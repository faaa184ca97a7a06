//! A tree of objects, and how it is drawn.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{
    fields::{self, placed, text},
    style::Style,
};

/// An object, and what is below it.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    /// A word about its health.
    pub(super) health: &'static str,
    /// What else is to be said.
    pub(super) words: String,
    pub(super) below: Vec<Branch>,
}

/// Reasons of a condition that is not true yet, and will be by itself.
const ON_ITS_WAY: [&str; 6] = [
    "Applying",
    "CleanupInProgress",
    "DependencyNotReady",
    "NotTried",
    "PruneInProgress",
    "ResourcesProgressing",
];

impl Branch {
    /// One of our kinds, by what its condition `Ready` says.
    pub(super) fn ours(object: &Value, below: Vec<Self>) -> Self {
        let (health, words) = said(object);
        Self {
            kind: text(object, "kind").to_owned(),
            // All of a tree are in one.
            namespace: String::new(),
            name: fields::name(object).to_owned(),
            health,
            words,
            below,
        }
    }

    /// An entry of a release's inventory.
    pub(super) fn entry(entry: &Value, below: Vec<Self>) -> Self {
        let failed = entry["error"]["message"].as_str();
        let health = match (failed, text(entry, "healthStatus")) {
            (Some(_), _) => "Failed",
            (None, "Healthy") => "Healthy",
            (None, "Degraded") => "Degraded",
            (None, "Progressing") => "Progressing",
            (None, "Suspended") => "Suspended",
            _ => "Unknown",
        };
        Self {
            kind: text(entry, "kind").to_owned(),
            namespace: text(entry, "namespace").to_owned(),
            name: text(entry, "name").to_owned(),
            health,
            words: failed.unwrap_or(text(entry, "healthMessage")).to_owned(),
            below,
        }
    }

    /// Everything as lines.
    pub(super) fn text(&self, depth: Option<usize>, style: Style) -> String {
        let mut out = format!("{}\n", self.line(style));
        self.draw("", depth.unwrap_or(usize::MAX), style, &mut out);
        out
    }

    fn line(&self, style: Style) -> String {
        let name = style.bold(&placed(&self.namespace, &self.name));
        let health = style.health(self.health);
        let line = format!("{} {name}  {health}  {}", self.kind, self.words);
        line.trim_end().to_owned()
    }

    fn draw(&self, indent: &str, depth: usize, style: Style, out: &mut String) {
        if depth == 0 {
            let hidden = self.count();
            if hidden > 0 {
                let _ = writeln!(out, "{indent}└─ … {hidden} below");
            }
            return;
        }
        for (index, branch) in self.below.iter().enumerate() {
            let is_last = index + 1 == self.below.len();
            let (turn, further) = if is_last {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            let _ = writeln!(out, "{indent}{turn}{}", branch.line(style));
            branch.draw(&format!("{indent}{further}"), depth - 1, style, out);
        }
    }

    /// How many are below.
    fn count(&self) -> usize {
        self.below.iter().map(|branch| 1 + branch.count()).sum()
    }

    /// The same for scripts.
    pub(super) fn json(&self, depth: Option<usize>) -> Value {
        let depth = depth.unwrap_or(usize::MAX);
        let below: Vec<Value> = match depth.checked_sub(1) {
            None => Vec::new(),
            Some(rest) => self
                .below
                .iter()
                .map(|branch| branch.json(Some(rest)))
                .collect(),
        };
        json!({
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "health": self.health,
            "message": self.words,
            "children": below,
        })
    }
}

/// How an object of ours is doing, by its own words.
fn said(object: &Value) -> (&'static str, String) {
    if object["metadata"]["deletionTimestamp"].is_string() {
        return ("Going", fields::waits_for(object).to_owned());
    }
    let Some(ready) = fields::condition(object, "Ready") else {
        return ("Unknown", "nothing is said about it yet".to_owned());
    };
    let message = || text(ready, "message").to_owned();
    match text(ready, "status") {
        "True" => {
            let status = &object["status"];
            // How many of its objects are well, the plane that it is on, the way that it leads.
            let told = ["healthy", "dataPlane", "environments"].map(|field| text(status, field));
            let told = told.into_iter().find(|told| !told.is_empty());
            ("Ready", told.unwrap_or_default().to_owned())
        }
        "False" if ON_ITS_WAY.contains(&text(ready, "reason")) => ("Progressing", message()),
        "False" => ("NotReady", message()),
        _ => ("Unknown", message()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(status: &str, reason: &str) -> Value {
        json!({
            "kind": "Release",
            "metadata": { "name": "cart" },
            "status": { "healthy": "1/1", "conditions": [
                { "type": "Ready", "status": status, "reason": reason, "message": "why" },
            ]},
        })
    }

    #[test]
    fn a_tree_is_drawn_to_its_depth_and_says_what_is_left_out() {
        let leaf = Branch::entry(
            &json!({ "kind": "Pod", "namespace": "a", "name": "b", "healthStatus": "Degraded", "healthMessage": "crashes" }),
            Vec::new(),
        );
        let middle = Branch::entry(
            &json!({ "kind": "ReplicaSet", "name": "c", "healthStatus": "Healthy" }),
            vec![leaf.clone(), leaf],
        );
        let root = Branch::ours(&release("True", "ResourcesHealthy"), vec![middle]);
        assert_eq!(
            root.text(None, Style::plain()),
            "Release cart  ● Ready  1/1\n\
             └─ ReplicaSet c  ● Healthy\n   \
             ├─ Pod a/b  ✖ Degraded  crashes\n   \
             └─ Pod a/b  ✖ Degraded  crashes\n"
        );
        assert_eq!(
            root.text(Some(1), Style::plain()),
            "Release cart  ● Ready  1/1\n└─ ReplicaSet c  ● Healthy\n   └─ … 2 below\n"
        );
        assert_eq!(root.json(Some(1))["children"][0]["children"], json!([]));
    }

    #[test]
    fn what_is_on_its_way_is_told_from_what_is_stuck() {
        assert_eq!(said(&release("False", "Applying")).0, "Progressing");
        assert_eq!(said(&release("False", "EnvironmentNotFound")).0, "NotReady");
        let mut going = release("True", "x");
        going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        assert_eq!(said(&going).0, "Going");
        assert_eq!(said(&json!({})).0, "Unknown");
    }
}
