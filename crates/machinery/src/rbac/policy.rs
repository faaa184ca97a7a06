//! All roles and bindings of a cluster, and what they mean for one user.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
};

use serde_json::Value;

use super::{GROUP, Rule};
use crate::go_text::quote;

/// Who wants to do something.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The user's name.
    pub name: &'a str,
    /// The user's groups.
    pub groups: &'a [String],
}

/// The role that a binding gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleRef {
    /// `Role` or `ClusterRole`.
    pub kind: String,
    /// Its name.
    pub name: String,
}

impl RoleRef {
    /// Reads the `roleRef` of a binding.
    pub fn read(reference: &Value) -> Self {
        Self {
            kind: text(&reference["kind"]),
            name: text(&reference["name"]),
        }
    }
}

#[derive(Clone, Debug)]
struct Subject {
    kind: String,
    name: String,
    namespace: String,
}

/// Under what a subject is found: a user's name or a group's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    User(String),
    Group(String),
}

impl Subject {
    /// Nothing for subjects that nobody can be.
    fn key(&self, binding_namespace: &str) -> Option<Key> {
        match self.kind.as_str() {
            "User" => Some(Key::User(self.name.clone())),
            "Group" => Some(Key::Group(self.name.clone())),
            "ServiceAccount" => {
                let namespace = self.namespace_or(binding_namespace);
                let user = || Key::User(format!("system:serviceaccount:{namespace}:{}", self.name));
                (!namespace.is_empty()).then(user)
            }
            _ => None,
        }
    }

    fn namespace_or<'a>(&'a self, binding_namespace: &'a str) -> &'a str {
        if self.namespace.is_empty() {
            binding_namespace
        } else {
            &self.namespace
        }
    }
}

#[derive(Clone, Debug)]
struct Binding {
    role: RoleRef,
    subjects: Vec<Subject>,
}

impl Binding {
    fn read(binding: &Value) -> Self {
        let subjects = binding["subjects"].as_array().into_iter().flatten();
        Self {
            role: RoleRef::read(&binding["roleRef"]),
            subjects: subjects
                .map(|subject| Subject {
                    kind: text(&subject["kind"]),
                    name: text(&subject["name"]),
                    namespace: text(&subject["namespace"]),
                })
                .collect(),
        }
    }
}

/// The bindings of one namespace, or those of the whole cluster.
#[derive(Debug, Default)]
struct Bindings {
    by_name: BTreeMap<String, Binding>,
    by_subject: HashMap<Key, BTreeSet<String>>,
}

impl Bindings {
    fn put(&mut self, namespace: &str, name: &str, binding: Binding) {
        self.remove(namespace, name);
        for key in binding
            .subjects
            .iter()
            .filter_map(|subject| subject.key(namespace))
        {
            self.by_subject
                .entry(key)
                .or_default()
                .insert(name.to_owned());
        }
        self.by_name.insert(name.to_owned(), binding);
    }

    fn remove(&mut self, namespace: &str, name: &str) {
        let Some(binding) = self.by_name.remove(name) else {
            return;
        };
        for key in binding
            .subjects
            .iter()
            .filter_map(|subject| subject.key(namespace))
        {
            if let Some(names) = self.by_subject.get_mut(&key) {
                names.remove(name);
                if names.is_empty() {
                    self.by_subject.remove(&key);
                }
            }
        }
    }

    /// Those that apply to somebody, by name.
    fn of(&self, keys: &[Key]) -> BTreeMap<&str, &Binding> {
        let names = keys
            .iter()
            .filter_map(|key| self.by_subject.get(key))
            .flatten();
        names
            .filter_map(|name| Some((name.as_str(), self.by_name.get(name)?)))
            .collect()
    }
}

/// All roles and bindings of a cluster.
#[derive(Debug, Default)]
pub struct Policy {
    cluster_roles: HashMap<String, Vec<Rule>>,
    /// By namespace, then by name.
    roles: HashMap<String, HashMap<String, Vec<Rule>>>,
    cluster_bindings: Bindings,
    bindings: HashMap<String, Bindings>,
}

/// Where a rule comes from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    binding: &'a Binding,
    name: &'a str,
    /// Empty for a binding of the whole cluster.
    namespace: &'a str,
    asker: Asker<'a>,
}

/// Said as kube-apiserver says it.
impl fmt::Display for Source<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RoleRef { kind, name } = &self.binding.role;
        if self.namespace.is_empty() {
            write!(out, "ClusterRoleBinding {}", quote(self.name))?;
        } else {
            let place = format!("{}/{}", self.name, self.namespace);
            write!(out, "RoleBinding {}", quote(&place))?;
        }
        write!(out, " of {kind} {} to ", quote(name))?;
        let keys = keys(self.asker);
        let applies = |subject: &&Subject| {
            let key = subject.key(self.namespace);
            key.is_some_and(|key| keys.contains(&key))
        };
        let Some(subject) = self.binding.subjects.iter().find(applies) else {
            return Ok(());
        };
        let name = if subject.kind == "ServiceAccount" {
            let namespace = subject.namespace_or(self.namespace);
            format!("{}/{namespace}", subject.name)
        } else {
            subject.name.clone()
        };
        write!(out, "{} {}", subject.kind, quote(&name))
    }
}

/// What a walk over somebody's rules meets.
#[derive(Debug)]
pub enum Found<'a> {
    /// A rule that holds.
    Rule(Source<'a>, &'a Rule),
    /// A binding to a role that is not there.
    Missing(&'a RoleRef),
}

impl Policy {
    /// Remembers a role or binding as it is now. `kind` is its plural name; `namespace` is empty for those of the
    /// whole cluster.
    pub fn put(&mut self, plural: &str, namespace: &str, name: &str, object: &Value) {
        match plural {
            "clusterroles" => {
                self.cluster_roles
                    .insert(name.to_owned(), Rule::read_all(object));
            }
            "roles" => {
                let roles = self.roles.entry(namespace.to_owned()).or_default();
                roles.insert(name.to_owned(), Rule::read_all(object));
            }
            "clusterrolebindings" => self.cluster_bindings.put("", name, Binding::read(object)),
            "rolebindings" => {
                let bindings = self.bindings.entry(namespace.to_owned()).or_default();
                bindings.put(namespace, name, Binding::read(object));
            }
            _ => {}
        }
    }

    /// Forgets a role or binding.
    pub fn remove(&mut self, plural: &str, namespace: &str, name: &str) {
        match plural {
            "clusterroles" => {
                self.cluster_roles.remove(name);
            }
            "roles" => {
                if let Some(roles) = self.roles.get_mut(namespace) {
                    roles.remove(name);
                    if roles.is_empty() {
                        self.roles.remove(namespace);
                    }
                }
            }
            "clusterrolebindings" => self.cluster_bindings.remove("", name),
            "rolebindings" => {
                if let Some(bindings) = self.bindings.get_mut(namespace) {
                    bindings.remove(namespace, name);
                    if bindings.by_name.is_empty() {
                        self.bindings.remove(namespace);
                    }
                }
            }
            _ => {}
        }
    }

    /// The rules of a role; nothing if it is not there.
    pub fn role(&self, role: &RoleRef, namespace: &str) -> Option<&[Rule]> {
        let rules = if role.kind == "ClusterRole" {
            self.cluster_roles.get(&role.name)?
        } else {
            self.roles.get(namespace)?.get(&role.name)?
        };
        Some(rules)
    }

    /// Walks over all rules that hold for somebody in a namespace (empty: in the whole cluster), in the order of the
    /// bindings' names, until `visit` says that it has seen enough by `false`.
    pub fn visit<'a>(
        &'a self,
        asker: Asker<'a>,
        namespace: &'a str,
        mut visit: impl FnMut(Found<'a>) -> bool,
    ) {
        let keys = keys(asker);
        let local = self
            .bindings
            .get(namespace)
            .filter(|_| !namespace.is_empty());
        let sets = [(Some(&self.cluster_bindings), ""), (local, namespace)];
        for (bindings, namespace) in sets {
            let Some(bindings) = bindings else { continue };
            for (name, binding) in bindings.of(&keys) {
                let Some(rules) = self.role(&binding.role, namespace) else {
                    if !visit(Found::Missing(&binding.role)) {
                        return;
                    }
                    continue;
                };
                let source = Source {
                    binding,
                    name,
                    namespace,
                    asker,
                };
                for rule in rules {
                    if !visit(Found::Rule(source, rule)) {
                        return;
                    }
                }
            }
        }
    }

    /// All rules that hold for somebody in a namespace, and what is wrong with their bindings.
    pub fn rules(&self, asker: Asker<'_>, namespace: &str) -> (Vec<Rule>, String) {
        let mut rules = Vec::new();
        let mut gone = Vec::new();
        self.visit(asker, namespace, |found| {
            match found {
                Found::Rule(_, rule) => rules.push(rule.clone()),
                Found::Missing(role) => gone.push(not_found(role)),
            }
            true
        });
        (rules, joined(gone))
    }

    /// `Ok` with the source of the rule that allows it, or `Err` with what is wrong with somebody's bindings (often
    /// nothing). `allows` is asked about one rule after the other.
    pub fn decide(
        &self,
        asker: Asker<'_>,
        namespace: &str,
        allows: impl Fn(&Rule) -> bool,
    ) -> Result<String, String> {
        let mut by = None;
        let mut gone = Vec::new();
        self.visit(asker, namespace, |found| {
            match found {
                Found::Rule(source, rule) if allows(rule) => by = Some(source.to_string()),
                Found::Rule(..) => {}
                Found::Missing(role) => gone.push(not_found(role)),
            }
            by.is_none()
        });
        by.ok_or_else(|| joined(gone))
    }
}

fn keys(asker: Asker<'_>) -> Vec<Key> {
    let groups = asker.groups.iter().cloned().map(Key::Group);
    std::iter::once(Key::User(asker.name.to_owned()))
        .chain(groups)
        .collect()
}

fn not_found(role: &RoleRef) -> String {
    match role.kind.as_str() {
        "Role" | "ClusterRole" => {
            let kind = role.kind.to_lowercase();
            format!("{kind}.{GROUP} {} not found", quote(&role.name))
        }
        other => format!("unsupported role reference kind: {}", quote(other)),
    }
}

/// Several errors as one, each said once.
fn joined(mut errors: Vec<String>) -> String {
    let mut seen = BTreeSet::new();
    errors.retain(|error| seen.insert(error.clone()));
    match errors.as_slice() {
        [one] => one.clone(),
        [] => String::new(),
        many => format!("[{}]", many.join(", ")),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
