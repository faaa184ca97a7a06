//! Nobody gives away more than they have: what a role would allow beyond its giver's own rules.

use std::collections::BTreeSet;

use super::{Asker, Rule, search::Search};
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

/// What `wanted` allows and `held` does not, in the smallest pieces; of very many, the first ones.
pub fn missing(held: &[Rule], wanted: &[Rule]) -> Vec<Rule> {
    let mut search = Search::among(held);
    for rule in wanted {
        search.look_for(rule);
    }
    search.end()
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
