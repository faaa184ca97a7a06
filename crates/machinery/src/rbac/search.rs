//! What is missing of a rule: it is taken apart, list by list, as far as nobody holds what is left of it as a whole.
//!
//! A small rule may stand for millions of pieces, and several held rules may share them so that no cut is a large one. So
//! both what is told and what is compared have bounds; what is not compared counts as missing.

use std::{collections::HashSet, rc::Rc};

use super::{
    Rule,
    rule::{ALL, url_covers},
};

/// How many missing pieces are told.
const MISSING_MAX: usize = 1000;
/// How many bytes they have together.
const MISSING_BYTES_MAX: usize = 1024 * 1024;
/// How many comparisons are made, a long one counting as several: a fraction of a second.
const STEPS_MAX: usize = 2_000_000;
/// How much of a text is compared in one step.
const STEP_BYTES: usize = 64;

/// One of the lists of a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Groups,
    Resources,
    Verbs,
    Names,
    Urls,
}

/// The lists of a rule on resources, in the order in which it is taken apart.
const ON_RESOURCES: &[List] = &[List::Groups, List::Resources, List::Verbs];
/// The same on objects that have a name.
const ON_NAMED: &[List] = &[List::Groups, List::Resources, List::Verbs, List::Names];
/// And those of a rule on paths.
const ON_URLS: &[List] = &[List::Urls, List::Verbs];

impl List {
    fn of(self, rule: &Rule) -> &[String] {
        match self {
            Self::Groups => &rule.groups,
            Self::Resources => &rule.resources,
            Self::Verbs => &rule.verbs,
            Self::Names => &rule.names,
            Self::Urls => &rule.urls,
        }
    }

    fn of_mut(self, rule: &mut Rule) -> &mut Vec<String> {
        match self {
            Self::Groups => &mut rule.groups,
            Self::Resources => &mut rule.resources,
            Self::Verbs => &mut rule.verbs,
            Self::Names => &mut rule.names,
            Self::Urls => &mut rule.urls,
        }
    }
}

/// A rule that somebody has, made for looking things up.
struct Held<'r> {
    groups: HashSet<&'r str>,
    resources: HashSet<&'r str>,
    verbs: HashSet<&'r str>,
    names: HashSet<&'r str>,
    urls: &'r [String],
}

impl<'r> Held<'r> {
    fn new(rule: &'r Rule) -> Self {
        let set = |list: &'r [String]| list.iter().map(String::as_str).collect();
        Self {
            groups: set(&rule.groups),
            resources: set(&rule.resources),
            verbs: set(&rule.verbs),
            names: set(&rule.names),
            urls: &rule.urls,
        }
    }

    fn covers(&self, list: List, item: &str) -> bool {
        let has = |set: &HashSet<&str>| set.contains(ALL) || set.contains(item);
        match list {
            List::Groups => has(&self.groups),
            List::Resources => has(&self.resources) || self.covers_subresource(item),
            List::Verbs => has(&self.verbs),
            List::Names => self.names.is_empty() || self.names.contains(item),
            List::Urls => self.urls.iter().any(|held| url_covers(held, item)),
        }
    }

    fn covers_subresource(&self, wanted: &str) -> bool {
        wanted.split_once('/').is_some_and(|(_, subresource)| {
            self.resources
                .contains(format!("{ALL}/{subresource}").as_str())
        })
    }

    /// How much work one comparison is.
    fn cost(&self, list: List, item: &str) -> usize {
        let one = 1 + item.len() / STEP_BYTES;
        match list {
            List::Urls => one * self.urls.len().max(1),
            _ => one,
        }
    }
}

/// The rules that somebody has, and what was found to be missing of those that are wanted.
pub(super) struct Search<'r> {
    held: Vec<Held<'r>>,
    all: Rc<[usize]>,
    /// What holds for some names does not hold for all.
    for_all_names: Rc<[usize]>,
    steps: usize,
    missing: Vec<Rule>,
    missing_bytes: usize,
}

impl<'r> Search<'r> {
    pub(super) fn among(held: &'r [Rule]) -> Self {
        let numbered = held.iter().enumerate();
        let for_all_names = numbered.filter(|(_, rule)| rule.names.is_empty());
        Self {
            for_all_names: for_all_names.map(|(number, _)| number).collect(),
            all: (0..held.len()).collect(),
            held: held.iter().map(Held::new).collect(),
            steps: 0,
            missing: Vec::new(),
            missing_bytes: 0,
        }
    }

    /// Looks for what is missing of one more rule.
    pub(super) fn look_for(&mut self, wanted: &Rule) {
        if self.is_enough() {
            return;
        }
        let wanted = Rule {
            verbs: distinct(&wanted.verbs),
            groups: distinct(&wanted.groups),
            resources: distinct(&wanted.resources),
            names: distinct(&wanted.names),
            urls: distinct(&wanted.urls),
        };
        if wanted.names.is_empty() {
            self.look_on(ON_RESOURCES, &wanted);
        } else {
            self.look_on(ON_NAMED, &wanted);
        }
        self.look_on(ON_URLS, &wanted);
    }

    fn look_on(&mut self, lists: &[List], wanted: &Rule) {
        // Without verbs, say, a rule allows nothing, however much it names.
        if lists.iter().any(|list| list.of(wanted).is_empty()) {
            return;
        }
        let held = if lists.contains(&List::Names) {
            Rc::clone(&self.all)
        } else {
            Rc::clone(&self.for_all_names)
        };
        self.take_apart(wanted, &mut Rule::default(), lists, &held);
    }

    /// Whether enough is missing to say so.
    fn is_enough(&self) -> bool {
        self.missing.len() == MISSING_MAX || self.missing_bytes > MISSING_BYTES_MAX
    }

    pub(super) fn end(self) -> Vec<Rule> {
        self.missing
    }

    /// `piece` is what was chosen of the lists before these, and `left` are the held rules that cover all of that.
    fn take_apart(&mut self, wanted: &Rule, piece: &mut Rule, lists: &[List], left: &[usize]) {
        if self.is_enough() || self.is_covered(wanted, lists, left) {
            return;
        }
        let Some((&list, others)) = lists.split_first() else {
            self.missing_bytes += size(piece);
            self.missing.push(piece.clone());
            return;
        };
        for item in list.of(wanted) {
            let mut still = left.to_vec();
            still.retain(|&own| self.covers(own, list, item));
            list.of_mut(piece).push(item.clone());
            self.take_apart(wanted, piece, others, &still);
            list.of_mut(piece).clear();
        }
    }

    /// Whether one of these rules covers whatever is chosen of the lists.
    fn is_covered(&mut self, wanted: &Rule, lists: &[List], left: &[usize]) -> bool {
        left.iter().any(|&own| {
            lists.iter().all(|&list| {
                let mut items = list.of(wanted).iter();
                items.all(|item| self.covers(own, list, item))
            })
        })
    }

    fn covers(&mut self, own: usize, list: List, item: &str) -> bool {
        let held = &self.held[own];
        self.steps += held.cost(list, item);
        self.steps <= STEPS_MAX && held.covers(list, item)
    }
}

fn size(piece: &Rule) -> usize {
    let lists = [
        &piece.groups,
        &piece.resources,
        &piece.verbs,
        &piece.names,
        &piece.urls,
    ];
    lists.into_iter().flatten().map(String::len).sum()
}

fn distinct(items: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    let fresh = items.iter().filter(|item| seen.insert(item.as_str()));
    fresh.cloned().collect()
}
