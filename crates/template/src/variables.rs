//! Which variables expressions see, and of what type they are.

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    rc::Rc,
    sync::Arc,
};

use quadrille_expr::{Env, Type};
use serde_json::Value as Json;

use crate::{
    expression::Expression,
    problem::{Problem, Problems},
    reads::Reads,
    schema::{Parameters, type_of},
};

/// Variables with their types. Made once, shared by all that is compiled with them.
#[derive(Clone, Debug)]
pub struct Variables {
    pub(crate) env: Env,
    pub(crate) types: BTreeMap<String, Type>,
}

impl Variables {
    pub(crate) fn none(env: Env) -> Self {
        Self {
            env,
            types: BTreeMap::new(),
        }
    }

    /// With those that an object schema (`openAPIV3Schema`) describes, a property each. What has
    /// no type there may be anything.
    pub fn described(self, schema: &Json) -> Result<Self, Problems> {
        let schema = Parameters::compile(schema, "variables")?;
        let Type::Object(object) = type_of(schema.root(), "variables") else {
            let words = "variables are described by an object schema with a property for each";
            return Err(Problem::new("variables", words).into());
        };
        Ok(object.fields.keys().fold(self, |variables, name| {
            let ty = schema
                .root()
                .property(name)
                .map_or(Type::Dyn, |property| type_of(property, name));
            variables.with(name, ty)
        }))
    }

    pub(crate) fn untyped(env: Env, names: &[&str]) -> Self {
        names.iter().fold(Self::none(env), |variables, name| {
            variables.with(name, Type::Dyn)
        })
    }

    /// With one more variable.
    #[must_use]
    pub fn with(mut self, name: &str, ty: Type) -> Self {
        self.env = self.env.variable(name, ty.clone());
        self.types.insert(name.to_owned(), ty);
        self
    }

    /// The type of a variable.
    pub fn type_of(&self, name: &str) -> Option<&Type> {
        self.types.get(name)
    }
}

/// A place where expressions are compiled. The same text is compiled once.
pub(crate) struct Scope {
    variables: Variables,
    known: RefCell<HashMap<Box<str>, Arc<Expression>>>,
    /// What expressions look at, here and in places inside.
    reads: Rc<RefCell<Reads>>,
}

impl Scope {
    pub(crate) fn new(variables: Variables) -> Self {
        Self {
            variables,
            known: RefCell::default(),
            reads: Rc::default(),
        }
    }

    /// A place inside this one that sees one more variable.
    pub(crate) fn with(&self, name: &str, ty: Type) -> Self {
        Self {
            reads: self.reads.clone(),
            ..Self::new(self.variables.clone().with(name, ty))
        }
    }

    /// Compiles the text between `${` and `}`; `path` is where it stands.
    pub(crate) fn compile(&self, text: &str, path: &str) -> Result<Arc<Expression>, Problems> {
        if let Some(known) = self.known.borrow().get(text) {
            return Ok(known.clone());
        }
        let expression = Arc::new(Expression::compile(&self.variables, text, path)?);
        let mut reads = self.reads.borrow_mut();
        expression
            .reads()
            .for_each(|(variable, field)| reads.add(variable, field));
        self.known
            .borrow_mut()
            .insert(text.into(), expression.clone());
        Ok(expression)
    }

    /// What expressions look at.
    pub(crate) fn reads(&self) -> Reads {
        self.reads.borrow().clone()
    }
}
