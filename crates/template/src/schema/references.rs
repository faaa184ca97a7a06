//! `$ref` and `$defs`: definitions put in the place of references to them.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use crate::{
    output::NODE_BYTES,
    problem::{Problem, Problems, suggest},
    template::weight,
};

/// References inside references, at most.
const DEEPEST: usize = 64;
/// What the resolved schema may take: definitions that use each other twice grow without end.
const MOST_BYTES: usize = 2 << 20;
/// Where schemas stand below a schema: one, many in a list, many by name.
const ONE: [&str; 6] = ["items", "additionalProperties", "not", "if", "then", "else"];
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const NAMED: [&str; 2] = ["properties", "patternProperties"];

/// The schema without references, definitions and keys of other vendors.
pub(super) fn resolve(schema: &Json, path: &str) -> Result<Json, Problems> {
    let no_definitions = Map::new();
    let mut resolver = Resolver {
        definitions: schema
            .get("$defs")
            .and_then(Json::as_object)
            .unwrap_or(&no_definitions),
        chain: Vec::new(),
        bytes: 0,
        problems: Problems::default(),
    };
    let tree = resolver.schema(schema, path, 0);
    resolver.problems.into_result(tree)
}

struct Resolver<'s> {
    definitions: &'s Map<String, Json>,
    /// Definitions that are being put in, outermost first.
    chain: Vec<&'s str>,
    /// What the resolved schema takes so far.
    bytes: usize,
    problems: Problems,
}

/// Keywords of a schema, which may come from a definition and from beside a reference to it.
type Keywords<'s> = BTreeMap<&'s str, &'s Json>;

impl<'s> Resolver<'s> {
    fn report(&mut self, problem: Problem) -> Json {
        self.problems.push(problem);
        Json::Object(Map::new())
    }

    /// Counts what is added; false when it is too much, which is told once.
    fn fits(&mut self, bytes: usize, path: &str) -> bool {
        let before = self.bytes;
        self.bytes = before.saturating_add(bytes);
        if before <= MOST_BYTES && self.bytes > MOST_BYTES {
            let words = "the schema is larger than 2 MiB once its references are resolved";
            self.report(Problem::new(path, words));
        }
        self.bytes <= MOST_BYTES
    }

    fn schema(&mut self, schema: &'s Json, path: &str, depth: usize) -> Json {
        match schema {
            Json::Object(fields) => {
                let keywords = fields.iter().map(|(key, value)| (key.as_str(), value));
                self.keywords(keywords.collect(), path, depth)
            }
            other => other.clone(),
        }
    }

    fn keywords(&mut self, keywords: Keywords<'s>, path: &str, depth: usize) -> Json {
        if !self.fits(NODE_BYTES, path) {
            return Json::Null;
        }
        if depth > DEEPEST {
            let words = format!("the schema nests deeper than {DEEPEST} levels");
            return self.report(Problem::new(path, words));
        }
        let Some(reference) = keywords.get("$ref") else {
            return Json::Object(self.resolved(keywords, path, depth));
        };
        let at = format!("{path}.$ref");
        let (name, definition) = match self.definition(reference, &at) {
            Ok(found) => found,
            Err(problem) => return self.report(problem),
        };
        // Keys beside the reference win over those of the definition.
        let mut merged: Keywords<'s> = definition
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.as_str(), value))
            .collect();
        merged.extend(keywords.into_iter().filter(|(key, _)| *key != "$ref"));
        self.chain.push(name);
        let resolved = self.keywords(merged, path, depth + 1);
        self.chain.pop();
        resolved
    }

    /// The definition that a reference names.
    fn definition(&self, reference: &Json, at: &str) -> Result<(&'s str, &'s Json), Problem> {
        let name = reference
            .as_str()
            .and_then(|text| text.strip_prefix("#/$defs/"));
        let Some(name) = name.filter(|name| !name.contains('/')) else {
            let words = format!("{reference} is no reference that can be followed");
            let remedy = "refer to a definition of the same schema: #/$defs/Name";
            return Err(Problem::new(at, words).remedy(remedy));
        };
        let definitions: &'s Map<String, Json> = self.definitions;
        let Some((name, definition)) = definitions.get_key_value(name) else {
            let known = definitions.keys().map(String::as_str);
            let mut problem = Problem::new(at, format!("there is no definition `{name}` in $defs"));
            problem.remedy = suggest(name, known);
            return Err(problem);
        };
        if let Some(start) = self.chain.iter().position(|known| known == name) {
            let mut around: Vec<&str> = self.chain[start..].to_vec();
            around.push(name);
            let words = format!(
                "the reference goes round in a circle: {}",
                around.join(" → ")
            );
            let remedy = "a schema of parameters cannot contain itself; end the circle with a type that may hold anything";
            return Err(Problem::new(at, words).remedy(remedy));
        }
        Ok((name, definition))
    }

    fn resolved(&mut self, keywords: Keywords<'s>, path: &str, depth: usize) -> Map<String, Json> {
        let mut resolved = Map::new();
        for (key, value) in keywords {
            let foreign = key.starts_with("x-") && !key.starts_with("x-kubernetes-");
            if foreign || key == "$defs" {
                continue;
            }
            let at = format!("{path}.{key}");
            let value = match value {
                Json::Object(_) if ONE.contains(&key) => self.schema(value, &at, depth + 1),
                Json::Array(items) if LISTS.contains(&key) => items
                    .iter()
                    .enumerate()
                    .map(|(place, item)| self.schema(item, &format!("{at}[{place}]"), depth + 1))
                    .collect(),
                Json::Object(named) if NAMED.contains(&key) => named
                    .iter()
                    .map(|(name, item)| {
                        let at = format!("{at}.{name}");
                        (name.clone(), self.schema(item, &at, depth + 1))
                    })
                    .collect(),
                other if self.fits(weight(other), &at) => other.clone(),
                _ => Json::Null,
            };
            resolved.insert(key.to_owned(), value);
        }
        resolved
    }
}
