//! Which of the rendered objects a patch, a removal or a rule is about.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::{context::Context, error::RenderError, expression::Expression};

/// The variable that holds the object which a condition looks at.
pub const RESOURCE: &str = "resource";

/// An object that is rendered already, as its owner keeps it.
pub trait Candidate {
    /// The plane that it goes to.
    fn plane(&self) -> &str;
    /// The object.
    fn object(&self) -> &Json;
    /// The object, to be changed.
    fn object_mut(&mut self) -> &mut Json;
}

/// A description of objects.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) plane: String,
    /// Empty stands for any group.
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) condition: Option<Arc<Expression>>,
    pub(crate) path: String,
}

impl Target {
    /// Whether an object is meant: plane and kind, then the condition.
    pub(crate) fn matches<C: Candidate>(
        &self,
        context: &Context<'_>,
        candidate: &C,
    ) -> Result<bool, RenderError> {
        let step = context.budget.step();
        step.map_err(|cause| RenderError::new(cause).inside(&self.path))?;
        if candidate.plane() != self.plane || !self.describes(candidate.object()) {
            return Ok(false);
        }
        match &self.condition {
            None => Ok(true),
            Some(condition) => {
                let context = context.clone().with(RESOURCE, candidate.object());
                let truth = condition.truth(&context);
                truth.map_err(|error| error.inside(&format!("{}.where", self.path)))
            }
        }
    }

    fn describes(&self, object: &Json) -> bool {
        let text = |name: &str| object.get(name).and_then(Json::as_str).unwrap_or_default();
        let (group, version) = text("apiVersion")
            .rsplit_once('/')
            .unwrap_or(("", text("apiVersion")));
        text("kind") == self.kind
            && version == self.version
            && (self.group.is_empty() || group == self.group)
    }

    /// The target as messages show it.
    pub(crate) fn words(&self) -> String {
        let group = if self.group.is_empty() {
            String::new()
        } else {
            format!("{}/", self.group)
        };
        format!("{group}{}/{}", self.version, self.kind)
    }
}

/// `Kind/name`, for messages.
pub(crate) fn name_of(object: &Json) -> String {
    let kind = object
        .get("kind")
        .and_then(Json::as_str)
        .unwrap_or("object");
    let name = object.pointer("/metadata/name").and_then(Json::as_str);
    format!("{kind}/{}", name.unwrap_or_default())
}
