//! One template for what runs in several environments: what is the same everywhere stands in it, what differs is told per
//! environment.

use std::collections::BTreeSet;

use quadrille_types::labels::data_plane;
use serde_json::{Map, Value, json};

use super::words::{camel, plain};

/// What one environment has; nothing where it lacks it.
pub(super) type Each = Vec<Option<Value>>;

/// What differs between environments, under the names that templates have for it.
pub(super) struct Differences {
    /// The environments' names and their cells.
    environments: Vec<(String, String)>,
    /// What was named already: the same difference has one name.
    known: Vec<(Each, String)>,
    /// What each environment is told.
    pub(super) configs: Vec<Map<String, Value>>,
    /// The shapes of what they are told.
    pub(super) properties: Map<String, Value>,
    /// What every environment must be told.
    pub(super) required: BTreeSet<String>,
}

impl Differences {
    pub(super) fn new(environments: Vec<(String, String)>) -> Self {
        Self {
            configs: environments.iter().map(|_| Map::new()).collect(),
            environments,
            known: Vec::new(),
            properties: Map::new(),
            required: BTreeSet::new(),
        }
    }

    /// Whether an environment is one of those that have something, as an expression; `each` says which do.
    pub(super) fn presence(&mut self, each: &Each) -> String {
        let flags: Each = each
            .iter()
            .map(|value| value.as_ref().map(|_| true.into()))
            .collect();
        let environments = self.environments.clone();
        let mut hint: Vec<&str> = environments
            .iter()
            .zip(each)
            .filter(|(_, value)| value.is_some())
            .map(|((name, _), _)| name.as_str())
            .collect();
        hint.push("only");
        let name = self.name(&[hint], &flags);
        format!("environmentConfigs.?{name}.orValue(false)")
    }

    /// The name of what is told to environments: the first of these that is free.
    pub(super) fn name(&mut self, hints: &[Vec<&str>], each: &Each) -> String {
        let known = self.known.iter().find(|(known, _)| known == each);
        if let Some((_, name)) = known {
            return name.clone();
        }
        let mut free = hints
            .iter()
            .map(|hint| camel(hint))
            .filter(|name| !self.properties.contains_key(name));
        let name = free.next().unwrap_or_else(|| {
            let last = hints.last().map(|hint| camel(hint)).unwrap_or_default();
            let mut number = 2..;
            let numbered = number.by_ref().map(|number| format!("{last}{number}"));
            let mut free = numbered.filter(|name| !self.properties.contains_key(name));
            free.next().unwrap_or_default()
        });
        self.tell(&name, each);
        self.known.push((each.clone(), name.clone()));
        name
    }

    /// Tells environments something under a name that nothing else has.
    pub(super) fn tell(&mut self, name: &str, each: &Each) {
        for (config, value) in self.configs.iter_mut().zip(each) {
            if let Some(value) = value {
                config.insert(name.to_owned(), value.clone());
            }
        }
        if each.iter().all(Option::is_some) {
            self.required.insert(name.to_owned());
        }
        let values: Vec<&Value> = each.iter().flatten().collect();
        self.properties.insert(name.to_owned(), shape(&values));
    }

    /// Says what something that is told is.
    pub(super) fn describe(&mut self, name: &str, words: &str) {
        if let Some(shape) = self.properties.get_mut(name) {
            shape["description"] = words.into();
        }
    }

    /// The template of something that environments have at a path.
    pub(super) fn unify(&mut self, path: &[&str], each: &Each) -> Value {
        let there: Vec<&Value> = each.iter().flatten().collect();
        let Some(first) = there.first() else {
            return Value::Null;
        };
        if let Some(variable) = self.variable(path, each) {
            return variable.into();
        }
        if there.iter().all(|value| value.is_object()) {
            return self.fields(path, each);
        }
        if is_always_told(path) {
            let name = self.name(&hints(path), each);
            return format!("${{environmentConfigs.{name}}}").into();
        }
        if there.iter().all(|value| value == first) {
            return self.literal(path, each, first);
        }
        if let Some(template) = self.elements(path, each) {
            return template;
        }
        let name = self.name(&hints(path), each);
        format!("${{environmentConfigs.{name}}}").into()
    }

    /// What templates can see by themselves: the cell, and the environment's name where a label has it.
    fn variable(&self, path: &[&str], each: &Each) -> Option<&'static str> {
        let is = |pick: fn(&(String, String)) -> &String| {
            let environments = self.environments.iter();
            let mut both = each.iter().zip(environments);
            both.all(|(value, environment)| {
                let own = pick(environment).as_str();
                value.as_ref().is_none_or(|value| value == own)
            })
        };
        match path {
            [.., "metadata", "namespace"] if is(|one| &one.1) => Some("${metadata.namespace}"),
            [.., data_plane::ENVIRONMENT_NAME] if is(|one| &one.0) => {
                Some("${metadata.environmentName}")
            }
            _ => None,
        }
    }

    fn fields(&mut self, path: &[&str], each: &Each) -> Value {
        let there: Vec<&Map<String, Value>> =
            each.iter().flatten().filter_map(Value::as_object).collect();
        let keys: BTreeSet<&String> = there.iter().flat_map(|fields| fields.keys()).collect();
        let mut template = Map::new();
        for key in keys {
            let inner: Each = each
                .iter()
                .map(|value| value.as_ref().and_then(|value| value.get(key)).cloned())
                .collect();
            let path: Vec<&str> = path.iter().copied().chain([key.as_str()]).collect();
            let is_everywhere = there.iter().all(|fields| fields.contains_key(key));
            let value = if is_everywhere {
                self.unify(&path, &inner)
            } else {
                let name = self.name(&hints(&path), &inner);
                format!("${{environmentConfigs.?{name}}}").into()
            };
            template.insert(plain(key), value);
        }
        Value::Object(template)
    }

    /// Lists with as many elements, of the same names where they have names.
    fn elements(&mut self, path: &[&str], each: &Each) -> Option<Value> {
        let lists: Option<Vec<&Vec<Value>>> = each.iter().flatten().map(Value::as_array).collect();
        let lists = lists?;
        let first = lists.first()?;
        let is_alike = lists.iter().all(|list| {
            let mut pairs = list.iter().zip(*first);
            list.len() == first.len()
                && pairs.all(|(one, other)| {
                    one.is_object() && other.is_object() && one["name"] == other["name"]
                })
        });
        // A list of one is that one, whatever it is called.
        let is_one = lists
            .iter()
            .all(|list| list.len() == 1 && list[0].is_object());
        if !is_alike && !is_one {
            return None;
        }
        let elements = (0..first.len()).map(|index| {
            let inner: Each = each
                .iter()
                .map(|list| list.as_ref().and_then(|list| list.get(index)).cloned())
                .collect();
            let name = first[index]["name"].as_str().filter(|_| is_alike);
            let path: Vec<&str> = path.iter().copied().chain(name).collect();
            self.unify(&path, &inner)
        });
        Some(elements.collect())
    }

    /// Something that is the same everywhere, as a template has it.
    fn literal(&mut self, path: &[&str], each: &Each, value: &Value) -> Value {
        match value {
            Value::String(text) => plain(text).into(),
            Value::Array(entries) => {
                let inner = |entry: &Value| -> Each {
                    let there = each.iter();
                    there
                        .map(|value| value.as_ref().map(|_| entry.clone()))
                        .collect()
                };
                let entries: Vec<Each> = entries.iter().map(inner).collect();
                entries
                    .iter()
                    .map(|entry| self.unify(path, entry))
                    .collect()
            }
            other => other.clone(),
        }
    }
}

/// Whether something is an environment's own even where there is only one: under the hosts of one environment, another must
/// never answer.
fn is_always_told(path: &[&str]) -> bool {
    path.last() == Some(&"hostnames")
}

/// What something could be called: by its field, then with more and more of the way to it.
fn hints<'p>(path: &[&'p str]) -> Vec<Vec<&'p str>> {
    // Everything has a name, and most things are called that: so whose it is comes first.
    let shortest = match path.last() {
        Some(&"name" | &"namespace" | &"value" | &"key" | &"objects") => 2,
        _ => 1,
    };
    let said: Vec<&str> = path
        .iter()
        .copied()
        .filter(|part| !["metadata", "spec", "template", "parameters"].contains(part))
        .collect();
    (shortest..=said.len().max(shortest))
        .map(|length| said[said.len().saturating_sub(length)..].to_vec())
        .collect()
}

/// The shape of values, as a schema has it.
fn shape(values: &[&Value]) -> Value {
    let all = |is: fn(&Value) -> bool| values.iter().all(|value| is(value));
    if all(Value::is_string) {
        return json!({ "type": "string" });
    }
    if all(Value::is_boolean) {
        return json!({ "type": "boolean" });
    }
    if all(|value| value.is_i64() || value.is_u64()) {
        return json!({ "type": "integer" });
    }
    if all(Value::is_object) {
        let mut fields = values
            .iter()
            .filter_map(|value| value.as_object())
            .flatten();
        return if fields.all(|(_, value)| value.is_string()) {
            json!({ "type": "object", "additionalProperties": { "type": "string" } })
        } else {
            json!({ "type": "object" })
        };
    }
    if all(Value::is_array) {
        let entries = values.iter().filter_map(|value| value.as_array()).flatten();
        let entries: Vec<&Value> = entries.collect();
        let items = if entries.is_empty() {
            json!({})
        } else {
            shape(&entries)
        };
        return json!({ "type": "array", "items": items });
    }
    json!({})
}

#[cfg(test)]
mod tests;
