//! One rule of a role: what it allows.

use serde_json::{Map, Value, json};

use crate::selector::LabelSelector;

/// Stands for everything in every list of a rule.
pub(super) const ALL: &str = "*";

/// A rule of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// What may be done.
    pub verbs: Vec<String>,
    /// API groups; the core group is empty.
    pub groups: Vec<String>,
    /// Resources, `resource/subresource`, `*` or `*/subresource`.
    pub resources: Vec<String>,
    /// Names of objects; empty for all.
    pub names: Vec<String>,
    /// Paths that are no resources; the last `*` stands for any rest.
    pub urls: Vec<String>,
}

impl Rule {
    /// Reads a rule of a `Role` or `ClusterRole`.
    pub fn read(rule: &Value) -> Self {
        let list = |field: &str| {
            let items = rule[field].as_array().into_iter().flatten();
            items.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            verbs: list("verbs"),
            groups: list("apiGroups"),
            resources: list("resources"),
            names: list("resourceNames"),
            urls: list("nonResourceURLs"),
        }
    }

    /// Reads all rules of a `Role` or `ClusterRole`.
    pub fn read_all(role: &Value) -> Vec<Self> {
        let rules = role["rules"].as_array().into_iter().flatten();
        rules.map(Self::read).collect()
    }

    /// Whether a verb on a resource is allowed. `subresource` and `name` may be empty.
    pub fn allows(
        &self,
        verb: &str,
        group: &str,
        resource: &str,
        subresource: &str,
        name: &str,
    ) -> bool {
        self.has_verb(verb)
            && has_or_all(&self.groups, group)
            && self
                .resources
                .iter()
                .any(|allowed| resource_matches(allowed, resource, subresource))
            && (self.names.is_empty() || self.names.iter().any(|allowed| allowed == name))
    }

    /// Whether a verb on a path that is no resource is allowed.
    pub fn allows_path(&self, verb: &str, path: &str) -> bool {
        self.has_verb(verb) && self.urls.iter().any(|allowed| url_covers(allowed, path))
    }

    fn has_verb(&self, verb: &str) -> bool {
        has_or_all(&self.verbs, verb)
    }

    /// What it says about resources, as a `SelfSubjectRulesReview` shows it.
    pub fn resource_rule(&self) -> Option<Value> {
        if self.resources.is_empty() {
            return None;
        }
        let mut rule = Map::from_iter([("verbs".to_owned(), json!(self.verbs))]);
        for (field, list) in [
            ("apiGroups", &self.groups),
            ("resources", &self.resources),
            ("resourceNames", &self.names),
        ] {
            if !list.is_empty() {
                rule.insert(field.to_owned(), json!(list));
            }
        }
        Some(Value::Object(rule))
    }

    /// What it says about other paths, as a `SelfSubjectRulesReview` shows it.
    pub fn path_rule(&self) -> Option<Value> {
        (!self.urls.is_empty())
            .then(|| json!({ "verbs": self.verbs, "nonResourceURLs": self.urls }))
    }
}

fn has_or_all(list: &[String], item: &str) -> bool {
    list.iter().any(|other| other == ALL || other == item)
}

fn resource_matches(allowed: &str, resource: &str, subresource: &str) -> bool {
    if allowed == ALL {
        return true;
    }
    if subresource.is_empty() {
        return allowed == resource;
    }
    let Some((left, right)) = allowed.split_once('/') else {
        return false;
    };
    right == subresource && (left == ALL || left == resource)
}

/// Whether a path of a rule stands for another path, or for another such path.
pub(super) fn url_covers(allowed: &str, path: &str) -> bool {
    allowed == path || (allowed.ends_with(ALL) && path.starts_with(allowed.trim_end_matches(ALL)))
}

/// The rules that a role with an aggregation rule has: those of all roles that it selects, in the order of their
/// names, each rule once. `None` if the role gathers nothing. `others` must be sorted by name.
pub fn aggregated<'a>(role: &Value, others: &[&'a Value]) -> Option<Vec<&'a Value>> {
    let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array()?;
    let mut rules: Vec<&Value> = Vec::new();
    for selector in selectors {
        // A selector that can't be read gathers nothing, rather than leaving the role with yesterday's rules.
        let Ok(selector) = LabelSelector::from_value(selector) else {
            continue;
        };
        let chosen = others.iter().filter(|other| {
            other["metadata"]["name"] != role["metadata"]["name"]
                && selector.matches(other["metadata"]["labels"].as_object())
        });
        for rule in chosen
            .filter_map(|other| other["rules"].as_array())
            .flatten()
        {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    Some(rules)
}
