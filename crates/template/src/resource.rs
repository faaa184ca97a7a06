//! Templates of whole objects: when, how often, and what every object must have.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::{
    context::Context,
    error::{Cause, RenderError},
    expression::Expression,
    loops::Loop,
    template::Template,
};

/// A template of an object.
#[derive(Debug)]
pub struct Resource {
    pub(crate) id: String,
    pub(crate) plane: String,
    pub(crate) path: String,
    pub(crate) include_when: Option<Arc<Expression>>,
    pub(crate) turns: Loop,
    pub(crate) template: Template,
}

impl Resource {
    /// The id that its author gave it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The plane that its objects go to.
    pub fn plane(&self) -> &str {
        &self.plane
    }

    /// The objects: none when it is not included, several when it is looped.
    pub fn render(&self, context: &Context<'_>) -> Result<Vec<Json>, RenderError> {
        let named = |error: RenderError| error.subject(format!("resource {}", self.id));
        if let Some(condition) = &self.include_when {
            let included = condition
                .truth(context)
                .map_err(|error| named(error.inside(&format!("{}.includeWhen", self.path))))?;
            if !included {
                return Ok(Vec::new());
            }
        }
        let mut objects = Vec::new();
        let outcome = self.turns.turns(context, |context| {
            let object = self.template.render(context).map_err(|mut error| {
                error.path += &self.turns.turn_words(context);
                error
            })?;
            complete(&object).map_err(|error| error.inside(&format!("{}.template", self.path)))?;
            objects.push(object);
            Ok(())
        });
        outcome.map_err(named)?;
        Ok(objects)
    }
}

/// Whether an object has what every object has.
pub(crate) fn complete(object: &Json) -> Result<(), RenderError> {
    let metadata = object.get("metadata");
    for (field, name) in [
        (object.get("apiVersion"), "apiVersion"),
        (object.get("kind"), "kind"),
        (
            metadata.and_then(|found| found.get("name")),
            "metadata.name",
        ),
    ] {
        if field.and_then(Json::as_str).is_none_or(str::is_empty) {
            return Err(RenderError::new(Cause::MissingField(name)));
        }
    }
    Ok(())
}
