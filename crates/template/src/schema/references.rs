//! `$ref` and `$defs`: definitions put in the place of references to them.

use serde_json::{Map, Value as Json};

use crate::problem::{Problem, Problems};

/// References inside references, at most.
const DEEPEST: usize = 64;
/// Nodes of the resolved schema, at most: definitions that use each other twice grow without end.
const MOST_NODES: usize = 20_000;
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
        nodes: 0,
        problems: Problems::default(),
    };
    let tree = resolver.schema(schema, path, 0);
    resolver.problems.into_result(tree)
}

struct Resolver<'s> {
    definitions: &'s Map<String, Json>,
    /// Definitions that are being put in, outermost first.
    chain: Vec<&'s str>,
    nodes: usize,
    problems: Problems,
}

impl Resolver<'_> {
    fn report(&mut self, problem: Problem) -> Json {
        self.problems.push(problem);
        Json::Object(Map::new())
    }

    fn schema(&mut self, schema: &Json, path: &str, depth: usize) -> Json {
        self.nodes += 1;
        if self.nodes == MOST_NODES {
            let words = format!(
                "the schema has more than {MOST_NODES} parts once its references are resolved"
            );
            return self.report(Problem::new(path, words));
        }
        if self.nodes > MOST_NODES {
            return Json::Null;
        }
        if depth > DEEPEST {
            let words = format!("the schema nests deeper than {DEEPEST} levels");
            return self.report(Problem::new(path, words));
        }
        let Json::Object(fields) = schema else {
            return schema.clone();
        };
        let Some(reference) = fields.get("$ref") else {
            return Json::Object(self.fields(fields, path, depth));
        };
        let at = format!("{path}.$ref");
        let name = reference
            .as_str()
            .and_then(|text| text.strip_prefix("#/$defs/"));
        let Some(name) = name.filter(|name| !name.contains('/')) else {
            let words = format!("{reference} is no reference that can be followed");
            let remedy = "refer to a definition of the same schema: #/$defs/Name";
            return self.report(Problem::new(at, words).remedy(remedy));
        };
        let Some((name, definition)) = self.definitions.get_key_value(name) else {
            let known = self.definitions.keys().map(String::as_str);
            let mut problem = Problem::new(at, format!("there is no definition `{name}` in $defs"));
            problem.remedy = crate::problem::suggest(name, known);
            return self.report(problem);
        };
        if let Some(start) = self.chain.iter().position(|known| known == name) {
            let mut around: Vec<&str> = self.chain[start..].to_vec();
            around.push(name);
            let words = format!(
                "the reference goes round in a circle: {}",
                around.join(" → ")
            );
            let remedy = "a schema of parameters cannot contain itself; end the circle with a type that may hold anything";
            return self.report(Problem::new(at, words).remedy(remedy));
        }
        // Keys beside the reference win over those of the definition.
        let mut merged = definition.as_object().cloned().unwrap_or_default();
        for (key, value) in fields.iter().filter(|(key, _)| *key != "$ref") {
            merged.insert(key.clone(), value.clone());
        }
        self.chain.push(name);
        let resolved = self.schema(&Json::Object(merged), path, depth + 1);
        self.chain.pop();
        resolved
    }

    fn fields(
        &mut self,
        fields: &Map<String, Json>,
        path: &str,
        depth: usize,
    ) -> Map<String, Json> {
        let mut resolved = Map::new();
        for (key, value) in fields {
            let foreign = key.starts_with("x-") && !key.starts_with("x-kubernetes-");
            if foreign || key == "$defs" {
                continue;
            }
            let at = format!("{path}.{key}");
            let value = match value {
                Json::Object(_) if ONE.contains(&key.as_str()) => {
                    self.schema(value, &at, depth + 1)
                }
                Json::Array(items) if LISTS.contains(&key.as_str()) => items
                    .iter()
                    .enumerate()
                    .map(|(place, item)| self.schema(item, &format!("{at}[{place}]"), depth + 1))
                    .collect(),
                Json::Object(named) if NAMED.contains(&key.as_str()) => named
                    .iter()
                    .map(|(name, item)| {
                        let at = format!("{at}.{name}");
                        (name.clone(), self.schema(item, &at, depth + 1))
                    })
                    .collect(),
                other => other.clone(),
            };
            resolved.insert(key.clone(), value);
        }
        resolved
    }
}
