//! Nobody gives away more than they have: what a role would allow beyond its giver's own rules.

use std::collections::BTreeSet;

use super::{
    Asker, Rule,
    rule::{has, has_or_all, url_covers},
};
use crate::go_text::quote;

/// Everything that there is: what it takes to gather rules by labels.
pub fn full_authority() -> Vec<Rule> {
    let all = || vec!["*".to_owned()];
    vec![
        Rule {
            verbs: all(),
            groups: all(),
            resources: all(),
            ..Rule::default()
        },
        Rule {
            verbs: all(),
            urls: all(),
            ..Rule::default()
        },
    ]
}

/// What `wanted` allows and `held` does not, in the smallest pieces.
pub fn missing(held: &[Rule], wanted: &[Rule]) -> Vec<Rule> {
    wanted
        .iter()
        .flat_map(pieces)
        .filter(|piece| !held.iter().any(|rule| covers(rule, piece)))
        .collect()
}

/// How kube-apiserver says what is missing. `resolution` tells what is wrong with the asker's bindings, if anything.
pub fn missing_words(asker: Asker<'_>, missing: &[Rule], resolution: &str) -> String {
    let groups: Vec<String> = asker.groups.iter().map(|group| quote(group)).collect();
    let lines: BTreeSet<String> = compacted(missing).iter().map(words).collect();
    let lines: Vec<String> = lines.into_iter().collect();
    let mut message = format!(
        "user {} (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
        quote(asker.name),
        groups.join(" "),
        lines.join("\n")
    );
    if !resolution.is_empty() {
        message.push_str("; resolution errors: [");
        message.push_str(resolution);
        message.push(']');
    }
    message
}

/// A rule as rules with one verb on one thing each.
fn pieces(rule: &Rule) -> Vec<Rule> {
    let one = |item: &String| vec![item.clone()];
    let mut pieces = Vec::new();
    for group in &rule.groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                let piece = Rule {
                    verbs: one(verb),
                    groups: one(group),
                    resources: one(resource),
                    ..Rule::default()
                };
                if rule.names.is_empty() {
                    pieces.push(piece);
                } else {
                    pieces.extend(rule.names.iter().map(|name| Rule {
                        names: one(name),
                        ..piece.clone()
                    }));
                }
            }
        }
    }
    for url in &rule.urls {
        pieces.extend(rule.verbs.iter().map(|verb| Rule {
            verbs: one(verb),
            urls: one(url),
            ..Rule::default()
        }));
    }
    pieces
}

/// Whether a rule allows all that a piece does.
fn covers(rule: &Rule, piece: &Rule) -> bool {
    let all = |held: &[String], wanted: &[String]| wanted.iter().all(|item| has_or_all(held, item));
    let names = if piece.names.is_empty() {
        rule.names.is_empty()
    } else {
        rule.names.is_empty() || piece.names.iter().all(|name| has(&rule.names, name))
    };
    all(&rule.verbs, &piece.verbs)
        && all(&rule.groups, &piece.groups)
        && piece
            .resources
            .iter()
            .all(|wanted| resource_covered(&rule.resources, wanted))
        && piece
            .urls
            .iter()
            .all(|url| rule.urls.iter().any(|held| url_covers(held, url)))
        && names
}

fn resource_covered(held: &[String], wanted: &str) -> bool {
    has_or_all(held, wanted)
        || wanted
            .split_once('/')
            .is_some_and(|(_, subresource)| has(held, &format!("*/{subresource}")))
}

/// Pieces that differ only in their verbs become one.
fn compacted(pieces: &[Rule]) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for piece in pieces {
        let is_simple = |rule: &Rule| rule.groups.len() == 1 && rule.resources.len() == 1;
        let same = rules.iter_mut().find(|rule| {
            is_simple(piece)
                && rule.groups == piece.groups
                && rule.resources == piece.resources
                && rule.names == piece.names
                && rule.urls == piece.urls
        });
        match same {
            Some(rule) => rule.verbs.extend_from_slice(&piece.verbs),
            None => rules.push(piece.clone()),
        }
    }
    rules
}

fn words(rule: &Rule) -> String {
    let parts: Vec<String> = [
        ("APIGroups", &rule.groups),
        ("Resources", &rule.resources),
        ("NonResourceURLs", &rule.urls),
        ("ResourceNames", &rule.names),
        ("Verbs", &rule.verbs),
    ]
    .into_iter()
    .filter(|(_, list)| !list.is_empty())
    .map(|(name, list)| {
        let items: Vec<String> = list.iter().map(|item| quote(item)).collect();
        format!("{name}:[{}]", items.join(" "))
    })
    .collect();
    format!("{{{}}}", parts.join(", "))
}
