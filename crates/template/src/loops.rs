//! `forEach`: the same part of a definition for every item of a list or entry of a map.

use std::{collections::BTreeMap, sync::Arc};

use quadrille_expr::{Field, Key, Map, Text, Type, Value};

use crate::{
    context::Context,
    error::{Cause, RenderError},
    expression::Expression,
    problem::{Problem, Problems},
    scan,
    variables::Scope,
};

/// The variable of a loop that names none.
pub(crate) const DEFAULT_VARIABLE: &str = "item";

/// A loop, or its absence: then there is one turn.
#[derive(Debug)]
pub(crate) struct Loop {
    over: Option<Arc<Expression>>,
    variable: String,
    path: String,
}

/// Where the parts of a loop are compiled.
pub(crate) enum Place<'s> {
    /// There is no loop.
    Same(&'s Scope),
    /// The loop's variable can be seen.
    Inside(Box<Scope>),
}

impl std::ops::Deref for Place<'_> {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        match self {
            Self::Same(scope) => scope,
            Self::Inside(scope) => scope,
        }
    }
}

/// A text that must be one expression.
pub(crate) fn lone(scope: &Scope, text: &str, path: &str) -> Result<Arc<Expression>, Problems> {
    match scan::standalone(text) {
        Ok(Some(inner)) => scope.compile(inner, path),
        Ok(None) => {
            let words = format!("`{text}` must be one expression and nothing else");
            let remedy = format!("write ${{{}}}", text.trim().trim_matches(['$', '{', '}']));
            Err(Problem::new(path, words).remedy(remedy).into())
        }
        Err(nested) => Err(Problem::new(path, nested.to_string()).into()),
    }
}

/// An expression that must be true or false.
pub(crate) fn condition(
    scope: &Scope,
    text: &str,
    path: &str,
) -> Result<Arc<Expression>, Problems> {
    let expression = lone(scope, text, path)?;
    if matches!(expression.ty(), Type::Bool | Type::Dyn) {
        return Ok(expression);
    }
    let words = format!(
        "${{{}}} must give true or false, but gives {}",
        expression.text.trim(),
        expression.ty()
    );
    Err(Problem::new(path, words)
        .remedy("compare it with something, or ask with has(…)")
        .into())
}

impl Loop {
    /// Compiles a loop; gives the place inside it, where its variable can be seen. That place is
    /// there even when the loop is wrong, so that one mistake is told once.
    pub(crate) fn compile<'s>(
        scope: &'s Scope,
        (over, variable): (Option<&str>, Option<&str>),
        path: &str,
        problems: &mut Problems,
    ) -> (Self, Place<'s>) {
        let variable = variable.unwrap_or(DEFAULT_VARIABLE);
        let mut compiled = Self {
            over: None,
            variable: variable.to_owned(),
            path: format!("{path}.forEach"),
        };
        let Some(text) = over else {
            return (compiled, Place::Same(scope));
        };
        if !quadrille_expr::is_identifier(variable) {
            let words = format!("`{variable}` cannot be the name of a variable");
            let remedy = "use letters, digits and _, starting with a letter";
            problems.push(Problem::new(format!("{path}.var"), words).remedy(remedy));
        }
        compiled.over = problems.take(lone(scope, text, &compiled.path));
        let item = match &compiled.over {
            None => Type::Dyn,
            Some(over) => item_type(over.ty(), variable).unwrap_or_else(|| {
                let words = format!(
                    "forEach needs a list or a map, but ${{{}}} gives {}",
                    over.text.trim(),
                    over.ty()
                );
                problems.push(Problem::new(&*compiled.path, words));
                Type::Dyn
            }),
        };
        let inner = scope.with(variable, item);
        (compiled, Place::Inside(Box::new(inner)))
    }

    /// Takes every turn of the loop.
    pub(crate) fn turns<'a>(
        &'a self,
        context: &Context<'a>,
        mut turn: impl FnMut(&Context<'a>) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        let Some(over) = &self.over else {
            return turn(context);
        };
        let at_loop = |error: RenderError| error.inside(&self.path);
        let value = over.evaluate(context).map_err(at_loop)?;
        let mut inside = context.clone();
        let mut one = |item: Value<'a>| {
            let step = context.budget.step();
            step.map_err(|cause| at_loop(RenderError::new(cause)))?;
            inside.vars.set(self.variable.as_str(), item);
            turn(&inside)
        };
        match value {
            Value::List(list) => list.iter().try_for_each(&mut one),
            Value::Map(map) => map
                .iter()
                .try_for_each(|(key, value)| one(entry(key, value))),
            other => {
                let cause = Cause::wrong_type("a list or a map", other.type_name());
                Err(at_loop(RenderError::new(cause).of(&over.text)))
            }
        }
    }

    /// The variable and its value, for messages; nothing when there is no loop.
    pub(crate) fn turn_words(&self, context: &Context<'_>) -> String {
        match (&self.over, context.vars.value(&self.variable)) {
            (Some(_), Some(value)) => {
                let shown = crate::error::shortened(&value.to_string());
                format!(" (forEach {}={shown})", self.variable)
            }
            _ => String::new(),
        }
    }
}

/// What the variable of a loop is for an entry of a map.
fn entry<'a>(key: Value<'a>, value: Value<'a>) -> Value<'a> {
    let name = |text: &'static str| Key::String(Text::Borrowed(text));
    let entry = BTreeMap::from([(name("key"), key), (name("value"), value)]);
    Value::Map(Map::Entries(entry.into()))
}

/// The type of a loop's variable, if one can loop over the type.
fn item_type(over: &Type, variable: &str) -> Option<Type> {
    let entry = |key: Type, value: Type| {
        let field = |name: &str, ty: Type| {
            let name = name.to_owned();
            (name.clone(), Field { name, ty })
        };
        let fields = [field("key", key), field("value", value)];
        Type::object(&format!("object({variable})"), fields)
    };
    match over {
        Type::Dyn => Some(Type::Dyn),
        Type::List(list) => Some(list.element.clone()),
        Type::Map(map) => Some(entry(map.key.clone(), map.value.clone())),
        Type::Object(_) => Some(entry(Type::String, Type::Dyn)),
        _ => None,
    }
}
