//! What was found, and how it is shown.

use quadrille_objects::{
    difference::{self, Change, Said},
    secret::HIDDEN,
};
use serde_json::{Value, json};

use crate::{
    fields::{self, placed},
    style::Style,
    table,
    terminal::cut,
};

/// One thing that would happen to one object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    /// Which object: `Deployment shop/cart`.
    pub(crate) object: String,
    pub(crate) deed: Deed,
}

/// What would happen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Deed {
    /// It would be made.
    Create,
    /// A field would change.
    Change(Change),
    /// It would be deleted and made anew, because of these fields.
    Replace { fields: String, words: String },
    /// It would be deleted.
    Delete,
    /// It would be left alone.
    Keep(String),
    /// It would be refused.
    Refuse(String),
}

impl Finding {
    /// Takes the values away, if it is about one of these fields or what is below it.
    pub(crate) fn hide(&mut self, fields: &[String]) {
        let is_hidden = fields.iter().any(|field| self.is_about(field));
        if let Deed::Change(change) = &mut self.deed
            && is_hidden
        {
            change.hide();
        }
    }

    /// Whether it is about a field or what is below it.
    pub(crate) fn is_about(&self, field: &str) -> bool {
        matches!(&self.deed, Deed::Change(change) if change.path.starts_with(field))
    }
}

/// An object, as it is called here.
pub(crate) fn called(object: &Value) -> String {
    let place = placed(fields::namespace(object), fields::name(object));
    format!("{} {place}", fields::text(object, "kind"))
}

/// What would change in an object.
pub(crate) fn changes(object: &str, before: &Value, after: &Value) -> Vec<Finding> {
    let is_plane = fields::text(after, "kind").ends_with("DataPlane");
    difference::changes(before, after)
        .into_iter()
        .map(|mut change| {
            // Credentials may be written into a plane itself.
            if is_plane && change.path.rsplit('.').next() == Some("value") {
                change.hide();
            }
            Finding {
                object: object.to_owned(),
                deed: Deed::Change(change),
            }
        })
        .collect()
}

/// The longest value that is shown.
const LONGEST: usize = 60;

/// Everything as lines, and what it comes to.
pub(crate) fn text(findings: &[Finding], style: Style) -> String {
    if findings.is_empty() {
        return "Nothing would change.\n".to_owned();
    }
    let mut rows: Vec<Vec<String>> = findings.iter().map(row).collect();
    if rows.iter().all(|row| row[1].is_empty()) {
        for row in &mut rows {
            row.remove(1);
        }
    }
    let widths = table::widths(&rows);
    let lines = findings.iter().zip(&rows).map(|(finding, row)| {
        let mark = match &finding.deed {
            Deed::Create => style.green("+"),
            Deed::Change(_) => " ".to_owned(),
            Deed::Delete => style.red("-"),
            Deed::Replace { .. } | Deed::Keep(_) => style.yellow("!"),
            Deed::Refuse(_) => style.red("✖"),
        };
        let line = table::line(row, &widths, |_, cell| cell.to_owned());
        format!("{mark} {line}")
    });
    let lines: String = lines.collect();
    format!("{lines}{}. Nothing was written.\n", summary(findings))
}

fn row(finding: &Finding) -> Vec<String> {
    let (field, words) = match &finding.deed {
        Deed::Create => (String::new(), "would be created".to_owned()),
        Deed::Delete => (String::new(), "would be deleted".to_owned()),
        Deed::Keep(words) | Deed::Refuse(words) => (String::new(), words.clone()),
        Deed::Replace { fields, words } => (fields.clone(), words.clone()),
        Deed::Change(change) => (change.path.clone(), from_to(change)),
    };
    vec![finding.object.clone(), field, words]
}

/// A change, for people.
pub(crate) fn from_to(change: &Change) -> String {
    match (&change.before, &change.after) {
        (Some(Said::Hidden), Some(Said::Hidden)) => format!("{HIDDEN} → {HIDDEN} (changed)"),
        (Some(before), Some(after)) => {
            let (before, after) = apart(&word(before), &word(after));
            format!("{} → {}", cut(&before, LONGEST), cut(&after, LONGEST))
        }
        (None, Some(after)) => format!("{} (new)", cut(&word(after), LONGEST)),
        (Some(before), None) => format!("{} (gone)", cut(&word(before), LONGEST)),
        (None, None) => String::new(),
    }
}

fn word(said: &Said) -> String {
    match said {
        Said::Hidden => HIDDEN.to_owned(),
        Said::Value(Value::String(text)) if text.is_empty() => "\"\"".to_owned(),
        Said::Value(Value::String(text)) => text.escape_debug().to_string().replace("\\\"", "\""),
        Said::Value(value) => value.to_string(),
    }
}

/// Long texts that begin alike are shown from where they differ.
fn apart(before: &str, after: &str) -> (String, String) {
    if before.chars().count().max(after.chars().count()) <= LONGEST {
        return (before.to_owned(), after.to_owned());
    }
    let same = before
        .chars()
        .zip(after.chars())
        .take_while(|(one, other)| one == other)
        .count();
    let shown = same.saturating_sub(LONGEST / 4);
    if shown == 0 {
        return (before.to_owned(), after.to_owned());
    }
    let from = |text: &str| format!("…{}", text.chars().skip(shown).collect::<String>());
    (from(before), from(after))
}

/// How many of each.
fn summary(findings: &[Finding]) -> String {
    let count = |is_such: fn(&Deed) -> bool| {
        let deeds = findings.iter().map(|finding| &finding.deed);
        deeds.filter(|deed| is_such(deed)).count()
    };
    let counted = [
        (count(|deed| *deed == Deed::Create), "creation"),
        (count(|deed| matches!(deed, Deed::Change(_))), "change"),
        (
            count(|deed| matches!(deed, Deed::Replace { .. })),
            "replacement",
        ),
        (count(|deed| *deed == Deed::Delete), "deletion"),
        (count(|deed| matches!(deed, Deed::Keep(_))), "held back"),
        (count(|deed| matches!(deed, Deed::Refuse(_))), "refusal"),
    ];
    let words: Vec<String> = counted
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| {
            let plural = if count == 1 || word == "held back" {
                ""
            } else {
                "s"
            };
            format!("{count} {word}{plural}")
        })
        .collect();
    words.join(", ")
}

/// A value for scripts, as far as it may be shown.
pub(crate) fn shown(said: Option<&Said>) -> Value {
    match said {
        None => Value::Null,
        Some(Said::Hidden) => HIDDEN.into(),
        Some(Said::Value(value)) => value.clone(),
    }
}

/// The same for scripts.
pub(crate) fn json(findings: &[Finding]) -> Value {
    let all = findings.iter().map(|finding| {
        let object = &finding.object;
        match &finding.deed {
            Deed::Create => json!({ "object": object, "action": "create" }),
            Deed::Delete => json!({ "object": object, "action": "delete" }),
            Deed::Change(change) => json!({
                "object": object, "action": "change", "field": change.path,
                "before": shown(change.before.as_ref()), "after": shown(change.after.as_ref()),
            }),
            Deed::Replace { fields, words } => {
                json!({ "object": object, "action": "replace", "field": fields, "message": words })
            }
            Deed::Keep(words) => json!({ "object": object, "action": "keep", "message": words }),
            Deed::Refuse(words) => {
                json!({ "object": object, "action": "refuse", "message": words })
            }
        }
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_long_values_are_cut_and_everything_is_counted() {
        let secret = |value: &str| json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "data": { "token": value } });
        let mut findings = changes("Secret a/s", &secret("b25l"), &secret("dHdv"));
        let map =
            |text: &str| json!({ "kind": "ConfigMap", "data": { "file": text, "n": text.len() } });
        let long = "x".repeat(100);
        findings.extend(changes("ConfigMap a/m", &map("a\nb"), &map("a\nc")));
        findings.extend(changes(
            "ConfigMap a/l",
            &map(&format!("{long}1")),
            &map(&format!("{long}2")),
        ));
        findings.push(Finding {
            object: "Job a/j".to_owned(),
            deed: Deed::Replace {
                fields: "spec.template".to_owned(),
                words: "would be replaced (immutable)".to_owned(),
            },
        });
        assert_eq!(
            text(&findings, Style::plain()),
            "  Secret a/s      data.token      ******** → ******** (changed)\n  \
             ConfigMap a/m   data.file       a\\nb → a\\nc\n  \
             ConfigMap a/l   data.file       …xxxxxxxxxxxxxxx1 → …xxxxxxxxxxxxxxx2\n\
             ! Job a/j         spec.template   would be replaced (immutable)\n\
             3 changes, 1 replacement. Nothing was written.\n"
        );
        assert_eq!(text(&[], Style::plain()), "Nothing would change.\n");
        assert!(!json(&findings).to_string().contains("dHdv"));
    }

    #[test]
    fn credentials_in_a_plane_are_masked() {
        let plane = |token: &str| json!({ "kind": "DataPlane", "spec": { "kubernetesCluster": { "auth": { "bearerToken": { "value": token } } } } });
        let found = changes("DataPlane a", &plane("one"), &plane("two"));
        assert!(text(&found, Style::plain()).contains("******** → ******** (changed)"));
    }
}
