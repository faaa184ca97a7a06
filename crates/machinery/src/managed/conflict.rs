//! Why an apply is refused, and the Status that says so.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::owners::{ManagerId, Operation};
use crate::fieldset::Path;
use crate::go_text::quote;
use crate::status::Status;

/// A field that an apply would change and another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The owner.
    pub manager: ManagerId,
    /// The field.
    pub path: Path,
}

/// Why an apply is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// Others own what it would change: 409.
    #[error("{}", conflict_message(.0))]
    Conflicts(Vec<Conflict>),
    /// The request is wrong: 400.
    #[error("{0}")]
    BadRequest(String),
    /// The configuration does not fit the schema, or an object could not be converted. Real servers blame
    /// themselves for it: 500.
    #[error("{0}")]
    Failed(String),
}

/// A manager as messages name it.
fn shown(id: &ManagerId) -> String {
    let mut text = quote(&id.manager);
    if !id.subresource.is_empty() {
        text = format!("{text} with subresource {}", quote(&id.subresource));
    }
    match id.operation {
        Operation::Apply => text,
        Operation::Update => format!("{text} using {}", id.api_version),
    }
}

fn conflict_message(conflicts: &[Conflict]) -> String {
    if let [only] = conflicts {
        let (manager, path) = (shown(&only.manager), &only.path);
        return format!("Apply failed with 1 conflict: conflict with {manager}: {path}");
    }
    let mut by_manager: BTreeMap<&ManagerId, Vec<&Path>> = BTreeMap::new();
    for conflict in conflicts {
        by_manager
            .entry(&conflict.manager)
            .or_default()
            .push(&conflict.path);
    }
    let mut lines = Vec::new();
    for (manager, paths) in by_manager {
        lines.push(format!("conflicts with {}:", shown(manager)));
        lines.extend(paths.iter().map(|path| format!("- {path}")));
    }
    format!(
        "Apply failed with {} conflicts: {}",
        conflicts.len(),
        lines.join("\n")
    )
}

impl ApplyError {
    /// The Status that a real server answers with.
    pub fn status(&self) -> Status {
        let mut status = Status::bad_request(self.to_string());
        match self {
            Self::BadRequest(_) => {}
            Self::Failed(_) => {
                status.code = 500;
                status.reason = "";
            }
            Self::Conflicts(conflicts) => {
                status.code = 409;
                status.reason = "Conflict";
                let causes = conflicts.iter().map(cause);
                status.details = json!({ "causes": causes.collect::<Value>() });
            }
        }
        status
    }
}

fn cause(conflict: &Conflict) -> Value {
    json!({
        "reason": "FieldManagerConflict",
        "message": format!("conflict with {}", shown(&conflict.manager)),
        "field": conflict.path.to_string(),
    })
}
