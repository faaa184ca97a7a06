//! Schemas of parameters: references resolved, checked, and used to fill in defaults, validate
//! values, type expressions and help editors.
//!
//! ```text
//!   openAPIV3Schema ──references──► one tree ──keywords──► checked ──► Parameters
//!                                                                       ├─ resolve: defaults, validation
//!                                                                       ├─ type_of: types for expressions
//!                                                                       └─ json_schema, describe: for people
//! ```
//!
//! Defaulting and validating are those of a Kubernetes server's custom resources.

mod editor;
mod keywords;
mod normal;
mod outline;
mod passwords;
mod references;
mod types;
mod words;

use std::sync::Arc;

use quadrille_expr::Type;
use quadrille_machinery::{
    schema::{Schema, SchemaRef},
    structural,
};
use serde_json::{Map, Value as Json};

pub use outline::Row;
pub(crate) use types::type_of;

use crate::problem::{Problem, Problems, suggest};

/// A schema for parameters. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Parameters {
    schema: Schema,
    tree: Arc<Json>,
    /// `x-kubernetes-validations`, where there are any.
    rules: Option<Arc<structural::Rules>>,
    /// Nothing was described, so nothing can be given.
    none: bool,
}

impl Parameters {
    /// Reads an `openAPIV3Schema`; `path` is where it stands. All problems are told.
    pub fn compile(open_api_v3: &Json, path: &str) -> Result<Self, Problems> {
        let mut tree = references::resolve(open_api_v3, path)?;
        if let Json::Object(fields) = &mut tree {
            let object = || Json::from("object");
            fields.entry("type").or_insert_with(object);
        }
        let mut problems = Problems::default();
        keywords::check(&tree, path, &mut problems);
        if tree.get("type").is_some_and(|ty| ty != "object") {
            let words = "parameters are an object: `type` must be object here";
            problems.push(Problem::new(format!("{path}.type"), words));
        }
        problems.into_result(())?;
        let schema = structural::fragment(&normal::opened(&tree));
        let mut problems = Problems::default();
        keywords::check_defaults(&tree, path, &mut problems);
        let rules = structural::has_rules(schema.root());
        let rules = rules.then(|| Arc::new(structural::Rules::new(schema.clone())));
        for (place, words) in rules.iter().flat_map(|rules| rules.mistakes()) {
            let at = format!("{path}{place}.x-kubernetes-validations");
            let words = words.lines().next().unwrap_or_default();
            problems.push(Problem::new(
                at,
                format!("the rule cannot be used: {words}"),
            ));
        }
        problems.into_result(Self {
            schema,
            tree: Arc::new(tree),
            rules,
            none: false,
        })
    }

    /// No parameters at all.
    pub fn none() -> Self {
        let tree = serde_json::json!({"type": "object", "properties": {}});
        Self {
            schema: structural::fragment(&tree),
            tree: Arc::new(tree),
            rules: None,
            none: true,
        }
    }

    pub(crate) fn root(&self) -> SchemaRef<'_> {
        self.schema.root()
    }

    /// The type of such values; `name` is the variable that holds them.
    pub(crate) fn ty(&self, name: &str) -> Type {
        if self.none {
            return Type::object(&format!("object({name})"), []);
        }
        type_of(self.root(), name)
    }

    /// The values with defaults filled in, if they are valid then. Absent values are an empty
    /// object. Nulls count as absent, numbers have the type that the schema says. Without a schema
    /// whatever is given is dropped.
    pub fn resolve(&self, given: Option<&Json>) -> Result<Json, Problems> {
        let mut value = match given {
            Some(given) if !given.is_null() && !self.none => given.clone(),
            _ => Json::Object(Map::new()),
        };
        structural::default(self.root(), &mut value);
        normal::normalize(self.root(), &mut value);
        let mut errors = structural::validate(self.root(), &value, None);
        if let (true, Some(rules)) = (errors.is_empty(), &self.rules) {
            errors = rules.judge(&value, None).errors;
        }
        if !errors.is_empty() {
            // Values are shown as they were given.
            let given = given.unwrap_or(&value);
            let told = errors.iter().filter(|error| !words::is_echo(error));
            let told = told.map(|error| words::problem(error, given, self.is_secret(&error.field)));
            let mut problems = Problems::default();
            for problem in told {
                if !problems.0.contains(&problem) {
                    problems.push(problem);
                }
            }
            return Err(problems);
        }
        Ok(value)
    }

    /// Fields that the schema does not know: they are kept but nothing reads them. Most are typing
    /// errors, and the nearest known name is told.
    pub fn unknown(&self, given: &Json) -> Vec<Problem> {
        let mut pruned = given.clone();
        let paths = structural::prune(self.root(), &mut pruned, false);
        let problem = |path: String| {
            let (parent, name) = path.rsplit_once('.').unwrap_or(("", &path));
            let schema = self.place(parent);
            // An alternative may know it.
            if schema.is_some_and(types::alternatives_add) {
                return None;
            }
            let mut problem = Problem::new(path.clone(), format!("there is no parameter `{name}`"));
            let known = |schema: SchemaRef<'_>| -> Vec<String> {
                let properties = &schema.node().properties;
                properties
                    .iter()
                    .map(|(name, _)| name.to_string())
                    .collect()
            };
            let known = schema.map(known).unwrap_or_default();
            problem.remedy = suggest(name, known.iter().map(String::as_str));
            Some(problem)
        };
        paths.into_iter().filter_map(problem).collect()
    }

    /// Whether what is at a place is nobody's business.
    fn is_secret(&self, path: &str) -> bool {
        self.place(path).is_some_and(passwords::is_password)
    }

    /// Values of these that are nobody's business (`format: password`), each with its place.
    pub fn passwords(&self, given: &Json) -> Vec<(String, String)> {
        passwords::among(self.root(), given)
    }

    /// The schema of a place that error messages name.
    fn place(&self, path: &str) -> Option<SchemaRef<'_>> {
        let mut schema = self.root();
        for step in path.split('.').filter(|step| !step.is_empty()) {
            let (name, indexes) = step.split_once('[').map_or((step, 0), |(name, rest)| {
                (name, 1 + rest.matches('[').count())
            });
            if !name.is_empty() {
                schema = schema.field(name)?;
            }
            for _ in 0..indexes {
                schema = schema.items()?;
            }
        }
        Some(schema)
    }

    /// A JSON schema (draft 2020-12) that editors understand.
    pub fn json_schema(&self) -> Json {
        editor::json_schema(&self.tree)
    }

    /// Every parameter with its type, default and meaning, in the order of their names.
    pub fn outline(&self) -> Vec<Row> {
        outline::rows(&self.tree)
    }
}
