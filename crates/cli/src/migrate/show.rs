//! What moving a component changes in the planes, and what should be known before.

use std::fmt::Write as _;

use quadrille_objects::difference::Change;
use quadrille_render::deployment_system::migration::{Migration, Moved};
use quadrille_types::GROUP;
use serde_json::Value;

use crate::{
    diff::finding::{self, Deed, Finding},
    style::Style,
};

/// What changes in each environment.
pub(super) fn differences(migration: &Migration, style: Style) -> String {
    let mut text = String::new();
    for moved in &migration.environments {
        text += &style.bold(&format!(
            "What would change in {} (the objects in its plane)",
            moved.environment
        ));
        text.push('\n');
        text += &of_environment(moved, style);
        text.push('\n');
    }
    text
}

fn of_environment(moved: &Moved, style: Style) -> String {
    if moved.before.is_empty() && moved.after.is_empty() {
        return "Nothing runs there, and nothing would.\n".to_owned();
    }
    let (findings, labelled) = findings(moved);
    let mut text = finding::text(&findings, style);
    if labelled > 0 {
        let objects = if labelled == 1 { "object" } else { "objects" };
        let _ = writeln!(
            text,
            "{labelled} {objects} would get the labels of the component chain besides, which no pod sees."
        );
    }
    text += if moved.effects.is_empty() {
        "Pods stay: names, selectors and pod templates are equal.\n"
    } else {
        "Pods do not all stay: see the warnings.\n"
    };
    text
}

/// What changes, and on how many objects only labels of the chain come.
fn findings(moved: &Moved) -> (Vec<Finding>, usize) {
    let mut findings = Vec::new();
    let mut labelled = 0;
    let find = |pile: &[Value], name: &str| {
        let mut pile = pile.iter();
        pile.find(|object| finding::called(object) == name).cloned()
    };
    for after in &moved.after {
        let name = finding::called(after);
        let Some(before) = find(&moved.before, &name) else {
            findings.push(Finding {
                object: name,
                deed: Deed::Create,
            });
            continue;
        };
        let changes = finding::changes(&name, &before, after);
        let count = changes.len();
        let others = changes.into_iter().filter(|finding| {
            let Deed::Change(change) = &finding.deed else {
                return true;
            };
            !is_label_of_ours(change)
        });
        let before = findings.len();
        findings.extend(others);
        labelled += usize::from(findings.len() - before < count);
    }
    for before in &moved.before {
        let name = finding::called(before);
        if find(&moved.after, &name).is_none() {
            findings.push(Finding {
                object: name,
                deed: Deed::Delete,
            });
        }
    }
    (findings, labelled)
}

/// Whether a label of ours comes to an object.
fn is_label_of_ours(change: &Change) -> bool {
    let of_ours = format!("metadata.labels[{GROUP}/");
    change.before.is_none() && change.path.starts_with(&of_ours)
}

/// What should be known before.
pub(super) fn warnings(migration: &Migration, style: Style) -> String {
    if migration.warnings.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n", style.bold("Good to know before"));
    for warning in &migration.warnings {
        let _ = writeln!(text, "{} {warning}", style.yellow("!"));
    }
    text.push('\n');
    text
}
