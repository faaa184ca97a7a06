//! Changes to objects that are rendered already: patches, and objects that are taken away.
//!
//! A patch is for every object that its target describes. Its operations are rendered once a turn,
//! then done one after another on each of them.

mod operate;
pub(crate) mod path;

use serde_json::Value as Json;

pub use operate::Op;
pub use path::PathError;

use crate::{
    context::Context,
    error::{Cause, RenderError},
    loops::Loop,
    target::{Candidate, Target, name_of},
    template::Template,
    text::Text,
};
use path::Step;

/// Why an operation does not apply. The texts are paths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The path cannot be read.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A step into something that has no fields.
    #[error("what is at `{0}` has no fields")]
    NotAnObject(String),
    /// A step into something that is no list.
    #[error("what is at `{0}` is no list")]
    NotAList(String),
    /// Nothing is there.
    #[error("there is nothing at `{0}`")]
    Missing(String),
    /// Nothing is there, and it is not known what to make.
    #[error(
        "there is nothing at `{0}`; `add` makes objects on the way, and a list before `-`, but no list of a given length"
    )]
    NotMade(String),
    /// A list is shorter than that.
    #[error("`{0}` is out of range: the list is shorter")]
    OutOfRange(String),
    /// `-` is no place to go on from.
    #[error(
        "`{0}` is behind the last element: only `add` can put something there, as the last step"
    )]
    EndInside(String),
    /// `-` is no place to change.
    #[error(
        "there is nothing at `{0}`, behind the last element: only `add` can put something there"
    )]
    NothingAtEnd(String),
    /// A filter or wildcard that picks nothing.
    #[error("nothing matches `{0}`")]
    NothingPicked(String),
    /// Too many places at once.
    #[error("the operation looks at more than {0} places")]
    TooManyPlaces(usize),
}

/// One operation of a patch.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) op: Op,
    pub(crate) path: OperationPath,
    pub(crate) value: Option<Template>,
    pub(crate) at: String,
}

/// The path of an operation: read beforehand when it is always the same.
#[derive(Debug)]
pub(crate) enum OperationPath {
    Fixed(String, Vec<Step>),
    Made(Text),
}

/// An operation with its path and value made.
struct Ready {
    op: Op,
    written: String,
    steps: Vec<Step>,
    value: Json,
}

impl Operation {
    fn ready(&self, context: &Context<'_>) -> Result<Ready, RenderError> {
        let (written, steps) = match &self.path {
            OperationPath::Fixed(written, steps) => (written.clone(), steps.clone()),
            OperationPath::Made(text) => {
                let written = text
                    .render(context)
                    .map_err(|error| error.inside(&self.at))?;
                let steps = path::parse(&written).map_err(|error| {
                    RenderError::new(PatchError::Path(error))
                        .inside(&format!("{} = {written}", self.at))
                })?;
                (written, steps)
            }
        };
        let value = match &self.value {
            Some(template) => template.render(context)?,
            None => Json::Null,
        };
        Ok(Ready {
            op: self.op,
            written,
            steps,
            value,
        })
    }
}

/// A patch.
#[derive(Debug)]
pub struct Patch {
    pub(crate) subject: String,
    pub(crate) path: String,
    pub(crate) target: Target,
    pub(crate) turns: Loop,
    pub(crate) operations: Vec<Operation>,
}

impl Patch {
    /// Changes every object that the target describes; gives how often one was changed. None is no
    /// error.
    pub fn apply<C: Candidate>(
        &self,
        context: &Context<'_>,
        objects: &mut [C],
    ) -> Result<usize, RenderError> {
        let mut changed = 0;
        let outcome = self.turns.turns(context, |context| {
            let mut operations = None;
            for object in objects.iter_mut() {
                if !self.target.matches(context, object)? {
                    continue;
                }
                if operations.is_none() {
                    let ready = self.operations.iter().map(|one| one.ready(context));
                    operations = Some(ready.collect::<Result<Vec<_>, _>>()?);
                }
                for (number, operation) in operations.iter().flatten().enumerate() {
                    self.operate(context, operation, number, object.object_mut())?;
                }
                changed += 1;
            }
            Ok(())
        });
        outcome.map_err(|error| error.subject(&*self.subject))?;
        Ok(changed)
    }

    fn operate(
        &self,
        context: &Context<'_>,
        ready: &Ready,
        number: usize,
        object: &mut Json,
    ) -> Result<(), RenderError> {
        let done = operate::operate(object, ready.op, &ready.steps, &ready.value, context.budget);
        done.map_err(|cause: Cause| {
            let subject = format!(
                "{} on {}: operation #{number} ({} {})",
                self.subject,
                name_of(object),
                ready.op.name(),
                ready.written
            );
            let path = format!("{}.operations[{number}]", self.path);
            RenderError::new(cause).inside(&path).subject(subject)
        })
    }
}

/// Objects that are taken away.
#[derive(Debug)]
pub struct Remove {
    pub(crate) subject: String,
    pub(crate) target: Target,
    pub(crate) turns: Loop,
}

impl Remove {
    /// Takes away every object that the target describes; gives how many. None is no error.
    pub fn apply<C: Candidate>(
        &self,
        context: &Context<'_>,
        objects: &mut Vec<C>,
    ) -> Result<usize, RenderError> {
        let before = objects.len();
        let outcome = self.turns.turns(context, |context| {
            let mut doomed = Vec::with_capacity(objects.len());
            for object in objects.iter() {
                doomed.push(self.target.matches(context, object)?);
            }
            let mut doomed = doomed.into_iter();
            objects.retain(|_| !doomed.next().unwrap_or(false));
            Ok(())
        });
        outcome.map_err(|error| error.subject(&*self.subject))?;
        Ok(before - objects.len())
    }
}
