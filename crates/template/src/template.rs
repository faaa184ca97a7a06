//! Templates: a tree of values in which texts may hold expressions. Compiled once, rendered often.

use std::sync::Arc;

use quadrille_expr::Type;
use serde_json::{Map as JsonMap, Value as Json};

use crate::{
    context::{Context, Limits},
    error::{Cause, RenderError},
    expression::Expression,
    output::{self, NODE_BYTES},
    problem::{Problem, Problems},
    scan,
    text::Text,
    variables::{Scope, Variables},
};

/// A compiled template.
#[derive(Debug)]
pub struct Template {
    root: Node,
    path: String,
}

/// A part of a template.
#[derive(Debug)]
enum Node {
    /// No expression below: copied, with what it takes.
    Plain(Json, usize),
    /// A text that is one expression: its value takes the place of the text.
    Value(Arc<Expression>),
    /// A text with expressions in it.
    Text(Text),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// The key of an entry.
#[derive(Debug)]
enum Key {
    Fixed(String),
    Made(String, Text),
}

impl Template {
    /// Compiles a tree; `path` is where it stands. All problems are told.
    pub fn compile(variables: &Variables, tree: &Json, path: &str) -> Result<Self, Problems> {
        Self::within(&Scope::new(variables.clone()), tree, path)
    }

    pub(crate) fn within(scope: &Scope, tree: &Json, path: &str) -> Result<Self, Problems> {
        let mut compiler = Compiler {
            scope,
            problems: Problems::default(),
        };
        let root = compiler.node(tree, path, 0);
        compiler.problems.into_result(Self {
            root,
            path: path.to_owned(),
        })
    }

    /// The tree with values in the place of expressions. If all of it is omitted, null.
    pub fn render(&self, context: &Context<'_>) -> Result<Json, RenderError> {
        let rendered = self.root.render(context, 0);
        let rendered = rendered.map_err(|error| error.inside(&self.path))?;
        Ok(rendered.unwrap_or(Json::Null))
    }
}

struct Compiler<'s> {
    scope: &'s Scope,
    problems: Problems,
}

impl Compiler<'_> {
    fn node(&mut self, tree: &Json, path: &str, depth: usize) -> Node {
        let most = Limits::default().depth;
        if depth > most {
            let words = format!("the template nests deeper than {most} levels");
            self.problems.push(Problem::new(path, words));
            return Node::Plain(Json::Null, 0);
        }
        match tree {
            Json::String(text) => self.text_node(text, path),
            Json::Array(items) => {
                let nodes: Vec<Node> = items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| self.node(item, &format!("{path}[{at}]"), depth + 1))
                    .collect();
                if nodes.iter().all(Node::is_plain) {
                    plain(tree)
                } else {
                    Node::List(nodes)
                }
            }
            Json::Object(fields) => {
                let entries: Vec<(Key, Node)> = fields
                    .iter()
                    .map(|(name, value)| {
                        let at = child(path, name);
                        (self.key(name, &at), self.node(value, &at, depth + 1))
                    })
                    .collect();
                let fixed =
                    |(key, node): &(Key, Node)| matches!(key, Key::Fixed(_)) && node.is_plain();
                if entries.iter().all(fixed) {
                    plain(tree)
                } else {
                    Node::Map(entries)
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => plain(tree),
        }
    }

    fn text_node(&mut self, text: &str, path: &str) -> Node {
        let whole = Json::String(text.to_owned());
        if !text.contains("${") {
            return plain(&whole);
        }
        match scan::standalone(text) {
            Ok(Some(inner)) => match self.problems.take(self.scope.compile(inner, path)) {
                Some(expression) => {
                    self.writable(&expression, path);
                    Node::Value(expression)
                }
                None => Node::Plain(Json::Null, 0),
            },
            Ok(None) => match self.problems.take(Text::compile(self.scope, text, path)) {
                Some(text) if text.is_fixed() => plain(&whole),
                Some(text) => Node::Text(text),
                None => Node::Plain(Json::Null, 0),
            },
            Err(nested) => {
                self.problems.push(Problem::new(path, nested.to_string()));
                Node::Plain(Json::Null, 0)
            }
        }
    }

    fn key(&mut self, name: &str, path: &str) -> Key {
        if !name.contains("${") {
            return Key::Fixed(name.to_owned());
        }
        let Some(text) = self.problems.take(Text::compile(self.scope, name, path)) else {
            return Key::Fixed(name.to_owned());
        };
        // A key is text already; a lone expression must be text by itself.
        if let Some(expression) = text.lone()
            && !matches!(expression.ty(), Type::String | Type::Dyn)
        {
            let words = format!(
                "a key of a map must be text, but ${{{}}} gives {}",
                expression.text.trim(),
                expression.ty()
            );
            let problem = Problem::new(path, words).remedy("convert it with string(…)");
            self.problems.push(problem);
        }
        if text.is_fixed() {
            Key::Fixed(name.to_owned())
        } else {
            Key::Made(name.to_owned(), text)
        }
    }

    /// Notes an expression whose value cannot be written.
    fn writable(&mut self, expression: &Expression, path: &str) {
        if let Type::Type(_) = expression.ty() {
            let words = format!(
                "${{{}}} gives a type, which cannot be written",
                expression.text.trim()
            );
            self.problems.push(Problem::new(path, words));
        }
    }
}

/// The path of a field.
pub(crate) fn child(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn plain(tree: &Json) -> Node {
    Node::Plain(tree.clone(), weight(tree))
}

/// What a tree takes.
pub(crate) fn weight(tree: &Json) -> usize {
    NODE_BYTES
        + match tree {
            Json::String(text) => text.len(),
            Json::Array(items) => items.iter().map(weight).sum(),
            Json::Object(fields) => fields
                .iter()
                .map(|(name, value)| name.len() + weight(value))
                .sum(),
            Json::Null | Json::Bool(_) | Json::Number(_) => 0,
        }
}

impl Node {
    fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(..))
    }

    /// The rendered part; `None` when it is left out.
    fn render(&self, context: &Context<'_>, depth: usize) -> Result<Option<Json>, RenderError> {
        let budget = context.budget;
        match self {
            Self::Plain(tree, weight) => {
                budget.take_bytes(*weight).map_err(RenderError::new)?;
                Ok(Some(tree.clone()))
            }
            Self::Value(expression) => {
                let value = expression.evaluate(context)?;
                output::json(&value, depth, budget)
                    .map_err(|cause| RenderError::new(cause).of(&expression.text))
            }
            Self::Text(text) => {
                budget.take_bytes(NODE_BYTES).map_err(RenderError::new)?;
                text.render(context).map(|text| Some(Json::String(text)))
            }
            Self::List(nodes) => {
                budget.take_bytes(NODE_BYTES).map_err(RenderError::new)?;
                let mut items = Vec::with_capacity(nodes.len());
                for (at, node) in nodes.iter().enumerate() {
                    let rendered = node.render(context, depth + 1);
                    items.extend(rendered.map_err(|error| error.inside(&format!("[{at}]")))?);
                }
                Ok(Some(Json::Array(items)))
            }
            Self::Map(entries) => {
                budget.take_bytes(NODE_BYTES).map_err(RenderError::new)?;
                map(entries, context, depth).map(|fields| Some(Json::Object(fields)))
            }
        }
    }
}

fn map(
    entries: &[(Key, Node)],
    context: &Context<'_>,
    depth: usize,
) -> Result<JsonMap<String, Json>, RenderError> {
    let mut fields = JsonMap::new();
    for (key, node) in entries {
        let (name, shown) = match key {
            Key::Fixed(name) => (name.clone(), name),
            Key::Made(written, text) => {
                let made = text.key(context);
                (made.map_err(|error| error.inside(written))?, written)
            }
        };
        context
            .budget
            .take_bytes(name.len())
            .map_err(RenderError::new)?;
        let rendered = node.render(context, depth + 1);
        let Some(value) = rendered.map_err(|error| error.inside(shown))? else {
            continue;
        };
        if fields.contains_key(&name) {
            return Err(RenderError::new(Cause::RepeatedKey(name)).inside(shown));
        }
        fields.insert(name, value);
    }
    Ok(fields)
}
