//! The environment of an expression: variables, functions, macros.

use std::{collections::HashMap, sync::Arc};

use crate::{
    CompileError, Program,
    call::{Call, Native},
    error::EvalError,
    library::{Library, Options},
    signature,
    syntax::{MacroSet, Meaning, Rewrite},
    ty::Type,
    value::Value,
};

/// One way to call a function.
#[derive(Clone)]
pub(crate) struct Overload {
    pub(crate) id: Arc<str>,
    pub(crate) member: bool,
    pub(crate) args: Vec<Type>,
    pub(crate) result: Type,
    pub(crate) body: Body,
}

/// What a function does.
#[derive(Clone, Default)]
pub(crate) enum Body {
    /// Done by the evaluator itself: operators that need not look at all their arguments.
    #[default]
    Special,
    /// Called only with arguments of the declared types.
    Native(Native),
    /// Looks at the types of its arguments itself.
    Operator(Native),
    Custom(Arc<Custom>),
}

/// A function given by the user of this crate.
pub(crate) type Custom =
    dyn for<'a> Fn(&mut Call<'_>, &[Value<'a>]) -> Result<Value<'a>, EvalError> + Send + Sync;

/// Where expressions are compiled: what they may name and call.
///
/// Cheap to clone and extend; functions are shared.
#[derive(Clone, Default)]
pub struct Env {
    pub(crate) variables: HashMap<String, Type>,
    pub(crate) types: HashMap<String, Type>,
    pub(crate) functions: Arc<HashMap<String, Vec<Overload>>>,
    pub(crate) options: Options,
    pub(crate) macros: MacroSet,
    pub(crate) rewrites: Arc<Vec<Rewrite>>,
}

impl Env {
    /// The environment of a Kubernetes 1.36 server, before it declares variables.
    pub fn kubernetes() -> Self {
        static SHARED: std::sync::LazyLock<Env> = std::sync::LazyLock::new(|| {
            let mut env = Env::with(&Library::KUBERNETES);
            env.options = Options::KUBERNETES;
            env
        });
        SHARED.clone()
    }

    /// An environment with some libraries. The standard functions are a library as well.
    pub fn with(libraries: &[Library]) -> Self {
        let mut env = Self::default();
        for library in libraries {
            library.install(&mut env);
        }
        env
    }

    /// With one more library.
    #[must_use]
    pub fn library(mut self, library: Library) -> Self {
        library.install(&mut self);
        self
    }

    /// With a variable. Object types inside its type can be named by expressions.
    #[must_use]
    pub fn variable(mut self, name: &str, ty: Type) -> Self {
        self.declare_objects(&ty);
        self.variables.insert(name.to_owned(), ty);
        self
    }

    /// With other [`Options`].
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// With a function of your own. A signature is `id: (int, list(T)) -> T` for a plain call and
    /// `id: string.(int) -> bool` for a call on a value.
    #[must_use]
    pub fn function<F>(mut self, name: &str, signatures: &[&str], body: F) -> Self
    where
        F: for<'a> Fn(&mut Call<'_>, &[Value<'a>]) -> Result<Value<'a>, EvalError>
            + Send
            + Sync
            + 'static,
    {
        self.add(name, signatures, &Body::Custom(Arc::new(body)));
        self
    }

    /// A function that takes any number of arguments: two or more reach it as one list.
    #[must_use]
    pub fn gathering(self, name: &str) -> Self {
        self.rewriting(None, name, Meaning::Gathered)
    }

    /// A function of two arguments that also takes more: `f(a, b, c)` is `f(f(a, b), c)`.
    #[must_use]
    pub fn chaining(self, name: &str) -> Self {
        self.rewriting(None, name, Meaning::Chained)
    }

    /// A method of a variable that stands for a field of another: `receiver.method()` is
    /// `variable.field`. By key, `receiver.method(k)` is `variable.field[?k]`.
    #[must_use]
    pub fn shorthand(
        self,
        (receiver, method): (&str, &str),
        (variable, field): (&str, &str),
        by_key: bool,
    ) -> Self {
        let meaning = Meaning::Field {
            variable: variable.into(),
            field: field.into(),
            by_key,
        };
        self.rewriting(Some(receiver), method, meaning)
    }

    fn rewriting(mut self, receiver: Option<&str>, name: &str, meaning: Meaning) -> Self {
        Arc::make_mut(&mut self.rewrites).push(Rewrite {
            receiver: receiver.map(Into::into),
            name: name.into(),
            meaning,
        });
        self
    }

    /// Parses and checks an expression. The error tells everything that is wrong.
    pub fn compile(&self, text: &str) -> Result<Program, CompileError> {
        Program::compile(self, text)
    }

    pub(crate) fn add(&mut self, name: &str, signatures: &[&str], body: &Body) {
        let functions = Arc::make_mut(&mut self.functions);
        let overloads = functions.entry(name.to_owned()).or_default();
        for text in signatures {
            let overload = Overload {
                body: body.clone(),
                ..signature::parse(text)
            };
            match overloads.iter_mut().find(|known| known.id == overload.id) {
                Some(known) => *known = overload,
                None => overloads.push(overload),
            }
        }
    }

    pub(crate) fn name_type(&mut self, name: &str, ty: Type) {
        self.types.insert(name.to_owned(), ty);
    }

    fn declare_objects(&mut self, ty: &Type) {
        match ty {
            Type::Object(object)
                if self.types.insert(object.name.clone(), ty.clone()).is_none() =>
            {
                for field in object.fields.values() {
                    self.declare_objects(&field.ty);
                }
            }
            Type::List(list) => self.declare_objects(&list.element),
            Type::Map(map) => self.declare_objects(&map.value),
            Type::Opaque(opaque) => {
                for param in &opaque.params {
                    self.declare_objects(param);
                }
            }
            _ => {}
        }
    }
}

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Env")
            .field("variables", &self.variables)
            .finish_non_exhaustive()
    }
}
