//! Operations on a document: `add`, `replace`, `remove` at every place that a path leads to.

use serde_json::{Map, Value as Json};

use super::{PatchError, path::Step};
use crate::{context::Budget, error::Cause};

/// Places that one operation may touch.
const MOST_PLACES: usize = 65_536;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Sets a field, inserts into a list; makes objects on the way.
    Add,
    /// Sets what is there.
    Replace,
    /// Takes away.
    Remove,
}

impl Op {
    /// The operation of a name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "add" => Some(Self::Add),
            "replace" => Some(Self::Replace),
            "remove" => Some(Self::Remove),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Replace => "replace",
            Self::Remove => "remove",
        }
    }
}

/// Does an operation. A value is needed unless something is removed.
pub(crate) fn operate(
    document: &mut Json,
    op: Op,
    steps: &[Step],
    value: &Json,
    budget: &Budget,
) -> Result<(), Cause> {
    let mut operation = Operation {
        op,
        value,
        budget,
        places: 0,
        done: 0,
        path: steps,
    };
    operation.walk(document, 0)?;
    let picks = steps.iter().any(Step::picks);
    if operation.done == 0 && picks {
        return Err(operation.failed(steps.len(), PatchError::NothingPicked));
    }
    Ok(())
}

struct Operation<'o> {
    op: Op,
    value: &'o Json,
    budget: &'o Budget,
    /// Places looked at.
    places: usize,
    done: usize,
    path: &'o [Step],
}

impl<'o> Operation<'o> {
    fn failed(&self, upto: usize, error: fn(String) -> PatchError) -> Cause {
        let path: String = self.path[..upto.min(self.path.len())]
            .iter()
            .map(ToString::to_string)
            .collect();
        Cause::Patch(error(path))
    }

    fn walk(&mut self, node: &mut Json, at: usize) -> Result<(), Cause> {
        self.places += 1;
        if self.places > MOST_PLACES {
            return Err(Cause::Patch(PatchError::TooManyPlaces(MOST_PLACES)));
        }
        let path: &'o [Step] = self.path;
        let Some(step) = path.get(at) else {
            return Ok(());
        };
        if at + 1 == path.len() {
            return self.act(node, step, at);
        }
        match step {
            Step::Key(name) => {
                if self.op == Op::Add && node.is_null() {
                    *node = Json::Object(Map::new());
                }
                let Json::Object(fields) = node else {
                    return Err(self.failed(at, PatchError::NotAnObject));
                };
                let missing = fields.get(name).is_none_or(Json::is_null);
                if missing {
                    let made = self.made(&path[at + 1], at)?;
                    fields.insert(name.clone(), made);
                }
                match fields.get_mut(name) {
                    Some(inner) => self.walk(inner, at + 1),
                    None => Err(self.failed(at + 1, PatchError::Missing)),
                }
            }
            Step::Index(index) => match self.list(node, at)?.get_mut(*index) {
                Some(inner) => self.walk(inner, at + 1),
                None => Err(self.failed(at + 1, PatchError::OutOfRange)),
            },
            Step::End => Err(self.failed(at + 1, PatchError::EndInside)),
            Step::Every | Step::Where(..) => {
                for inner in self.list(node, at)? {
                    if picked(step, inner) {
                        self.walk(inner, at + 1)?;
                    }
                }
                Ok(())
            }
        }
    }

    fn list<'n>(&self, node: &'n mut Json, at: usize) -> Result<&'n mut Vec<Json>, Cause> {
        match node {
            Json::Array(items) => Ok(items),
            _ => Err(self.failed(at, PatchError::NotAList)),
        }
    }

    /// What is put where nothing is, so that the next step can go on.
    fn made(&self, next: &Step, at: usize) -> Result<Json, Cause> {
        match (self.op, next) {
            (Op::Add, Step::Key(_)) => Ok(Json::Object(Map::new())),
            (Op::Add, Step::End) => Ok(Json::Array(Vec::new())),
            (Op::Add, _) => Err(self.failed(at + 1, PatchError::NotMade)),
            _ => Err(self.failed(at + 1, PatchError::Missing)),
        }
    }

    /// A copy of the value, which counts as rendered.
    fn copy(&self) -> Result<Json, Cause> {
        self.budget
            .take_bytes(crate::template::weight(self.value))?;
        self.budget
            .check_depth(self.path.len() + quadrille_machinery::patch::json::depth(self.value))?;
        Ok(self.value.clone())
    }

    fn act(&mut self, node: &mut Json, step: &Step, at: usize) -> Result<(), Cause> {
        match step {
            Step::Key(name) => self.act_on_field(node, name, at),
            Step::Index(index) => self.act_on_element(node, *index, at),
            Step::End if self.op == Op::Add => {
                let copy = self.copy()?;
                self.list(node, at)?.push(copy);
                self.done += 1;
                Ok(())
            }
            Step::End => Err(self.failed(at + 1, PatchError::NothingAtEnd)),
            Step::Every | Step::Where(..) => {
                let items = self.list(node, at)?;
                let found: Vec<usize> = (0..items.len())
                    .filter(|place| items.get(*place).is_some_and(|item| picked(step, item)))
                    .collect();
                // From the end, so that places do not move before they are reached.
                for place in found.into_iter().rev() {
                    self.places += 1;
                    self.act_on_element(node, place, at)?;
                }
                Ok(())
            }
        }
    }

    fn act_on_field(&mut self, node: &mut Json, name: &str, at: usize) -> Result<(), Cause> {
        if self.op == Op::Add && node.is_null() {
            *node = Json::Object(Map::new());
        }
        let Json::Object(fields) = node else {
            return Err(self.failed(at, PatchError::NotAnObject));
        };
        match self.op {
            Op::Remove => {
                fields.remove(name);
            }
            Op::Replace if !fields.contains_key(name) => {
                return Err(self.failed(at + 1, PatchError::Missing));
            }
            Op::Add | Op::Replace => {
                let copy = self.copy()?;
                fields.insert(name.to_owned(), copy);
            }
        }
        self.done += 1;
        Ok(())
    }

    fn act_on_element(&mut self, node: &mut Json, index: usize, at: usize) -> Result<(), Cause> {
        let length = self.list(node, at)?.len();
        let inside = match self.op {
            Op::Add => index <= length,
            Op::Replace | Op::Remove => index < length,
        };
        if !inside {
            return Err(self.failed(at + 1, PatchError::OutOfRange));
        }
        match self.op {
            Op::Remove => {
                self.list(node, at)?.remove(index);
            }
            Op::Add => {
                let copy = self.copy()?;
                self.list(node, at)?.insert(index, copy);
            }
            Op::Replace => {
                let copy = self.copy()?;
                self.list(node, at)?[index] = copy;
            }
        }
        self.done += 1;
        Ok(())
    }
}

/// Whether a step picks an element.
fn picked(step: &Step, item: &Json) -> bool {
    let Step::Where(field, wanted) = step else {
        return true;
    };
    let found = field.iter().try_fold(item, |value, name| value.get(name));
    match found {
        Some(Json::String(text)) => text == wanted,
        Some(Json::Null | Json::Array(_) | Json::Object(_)) | None => false,
        Some(Json::Bool(truth)) => wanted == if *truth { "true" } else { "false" },
        Some(Json::Number(number)) => {
            let written = number.to_string();
            written == *wanted
        }
    }
}
