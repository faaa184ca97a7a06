//! Nobody gives away more than they have: what a role would allow beyond its giver's own rules.

use std::{
    collections::{BTreeSet, HashSet},
    mem,
};

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

/// How many missing pieces are told: a small rule may stand for millions.
const MISSING_MAX: usize = 1000;

/// What `wanted` allows and `held` does not, in the smallest pieces; of very many, the first ones.
pub fn missing(held: &[Rule], wanted: &[Rule]) -> Vec<Rule> {
    let is_held = |rule: &Rule| held.iter().any(|own| covers(own, rule));
    let mut missing = Vec::new();
    for rule in wanted {
        let mut on_resources = Rule {
            verbs: distinct(&rule.verbs),
            groups: distinct(&rule.groups),
            resources: distinct(&rule.resources),
            names: distinct(&rule.names),
            ..Rule::default()
        };
        let lists: &[List] = if rule.names.is_empty() {
            &ON_RESOURCES
        } else {
            &ON_NAMED
        };
        take_apart(&mut on_resources, lists, &is_held, &mut missing);
        let mut on_urls = Rule {
            verbs: distinct(&rule.verbs),
            urls: distinct(&rule.urls),
            ..Rule::default()
        };
        take_apart(&mut on_urls, &ON_URLS, &is_held, &mut missing);
    }
    missing
}

/// One of the lists of a rule.
type List = fn(&mut Rule) -> &mut Vec<String>;

/// The lists of a rule on resources, in the order in which it is taken apart.
const ON_RESOURCES: [List; 3] = [
    |rule| &mut rule.groups,
    |rule| &mut rule.resources,
    |rule| &mut rule.verbs,
];
/// The same on objects that have a name.
const ON_NAMED: [List; 4] = [ON_RESOURCES[0], ON_RESOURCES[1], ON_RESOURCES[2], |rule| {
    &mut rule.names
}];
/// And those of a rule on paths.
const ON_URLS: [List; 2] = [|rule| &mut rule.urls, |rule| &mut rule.verbs];

/// Finds what is missing of a rule. What is held as a whole is not taken apart.
fn take_apart(
    rule: &mut Rule,
    lists: &[List],
    is_held: &impl Fn(&Rule) -> bool,
    missing: &mut Vec<Rule>,
) {
    if missing.len() == MISSING_MAX || is_held(rule) {
        return;
    }
    let Some((list, others)) = lists.split_first() else {
        missing.push(rule.clone());
        return;
    };
    let whole = mem::take(list(rule));
    for item in &whole {
        list(rule).push(item.clone());
        take_apart(rule, others, is_held, missing);
        list(rule).clear();
    }
    *list(rule) = whole;
}

fn distinct(items: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    let fresh = items.iter().filter(|item| seen.insert(item.as_str()));
    fresh.cloned().collect()
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
