//! `x-kubernetes-validations`: rules of a schema as expressions, compiled once and run over objects.
//!
//! ```text
//!   Schema ──declare──► types and bounds ──compile──► Rules ──judge──► errors and warnings
//! ```

mod compile;
mod declare;
mod field_path;
mod judge;

use std::sync::OnceLock;

pub(crate) use compile::{Compiled, compile};
pub(crate) use declare::declare;
pub use judge::Judgement;
use serde_json::Value;

use self::judge::Judge;
use crate::schema::{Additional, NodeId, Schema, SchemaRef};

/// What all rules together may cost for one object.
pub(crate) const BUDGET: u64 = 10_000_000;

/// The rules of a schema, compiled when they are first needed.
#[derive(Debug)]
pub struct Rules {
    schema: Schema,
    root: OnceLock<Option<Checker>>,
}

impl Rules {
    /// The rules of a custom resource's schema.
    pub fn new(schema: Schema) -> Self {
        Self {
            schema,
            root: OnceLock::new(),
        }
    }

    /// Whether there are any.
    pub fn exist(&self) -> bool {
        self.checker().is_some()
    }

    /// Runs the rules over an object; with `old` it is an update of that object.
    pub fn judge(&self, object: &Value, old: Option<&Value>) -> Judgement {
        let judge = Judge::new(&self.schema, BUDGET);
        match self.checker() {
            Some(checker) => judge.run(checker, object, old),
            None => Judgement::default(),
        }
    }

    /// Rules that do not compile: the path of the schema that has them, and why.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if let Some(checker) = self.checker() {
            checker.mistakes("", &mut found);
        }
        found
    }

    fn checker(&self) -> Option<&Checker> {
        let root = self.schema.root();
        let make = || {
            let decl = declare(root, true);
            Checker::of(root, root, decl.as_ref())
        };
        let known = super::has_rules(root).then(|| self.root.get_or_init(make));
        known?.as_ref()
    }
}

/// The compiled rules of one place of a schema and of everything below it.
#[derive(Debug)]
struct Checker {
    node: NodeId,
    rules: Vec<Compiled>,
    items: Option<Box<Checker>>,
    properties: Vec<(Box<str>, Checker)>,
    additional: Option<Box<Checker>>,
    all_of: Vec<Checker>,
    /// The type of the value, as expressions see it.
    ty: quadrille_expr::Type,
}

impl Checker {
    fn mistakes(&self, path: &str, found: &mut Vec<(String, String)>) {
        for compiled in &self.rules {
            for outcome in [&compiled.program, &compiled.message] {
                if let Some(Err(words)) = outcome {
                    found.push((path.to_owned(), words.clone()));
                }
            }
        }
        if let Some(items) = &self.items {
            items.mistakes(&format!("{path}.items"), found);
        }
        for (name, property) in &self.properties {
            property.mistakes(&format!("{path}.properties.{name}"), found);
        }
        if let Some(values) = &self.additional {
            values.mistakes(&format!("{path}.additionalProperties"), found);
        }
        for (at, alternative) in self.all_of.iter().enumerate() {
            alternative.mistakes(&format!("{path}.allOf[{at}]"), found);
        }
    }

    /// The checker of a place, if it or anything below has rules. `rules` is where the rules are written: the
    /// place itself, or an alternative of it (`allOf`).
    fn of(
        rules: SchemaRef<'_>,
        node: SchemaRef<'_>,
        decl: Option<&quadrille_expr::Decl>,
    ) -> Option<Self> {
        let written = rules.node();
        let constraints = written.constraints.as_deref();
        let own = constraints.map_or(&[][..], |constraints| &constraints.rules);
        // What has no type for expressions has no rules either.
        let decl = decl?;
        let schemas = node.schemas();
        let below = |id: NodeId, at: NodeId| {
            let inner = schemas.at(at);
            let decl = declare(inner, inner.node().embedded_resource);
            Self::of(rules.schemas().at(id), inner, decl.as_ref())
        };
        let items = match (written.items, node.node().items) {
            (Some(id), Some(at)) => below(id, at).map(Box::new),
            _ => None,
        };
        let mut properties = Vec::new();
        for (name, id) in &written.properties {
            let at = node
                .node()
                .properties
                .binary_search_by(|(field, _)| field.cmp(name));
            let Ok(at) = at else { continue };
            if let Some(checker) = below(*id, node.node().properties[at].1) {
                properties.push((name.clone(), checker));
            }
        }
        let additional = match (written.additional, node.node().additional) {
            (Additional::Of(id), Additional::Of(at)) => below(id, at).map(Box::new),
            _ => None,
        };
        let all_of: Vec<Self> = constraints
            .map_or(&[][..], |constraints| &constraints.all_of)
            .iter()
            .filter_map(|id| Self::of(rules.schemas().at(*id), node, Some(decl)))
            .collect();
        let nothing = own.is_empty()
            && items.is_none()
            && properties.is_empty()
            && additional.is_none()
            && all_of.is_empty();
        if nothing {
            return None;
        }
        let decl = decl.clone().named("selfType");
        Some(Self {
            node: node.id(),
            rules: compile(own, node, &decl),
            items,
            properties,
            additional,
            all_of,
            ty: decl.ty(),
        })
    }
}
