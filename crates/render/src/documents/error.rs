//! Why documents cannot be rendered.

use quadrille_types::Problem;

use crate::error::RenderError;

/// Why documents cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// A document is not of the shape that its kind has.
    #[error("{kind} {name}: {cause}")]
    Unreadable {
        /// The kind.
        kind: String,
        /// The name.
        name: String,
        /// What is wrong.
        cause: String,
    },
    /// Something is not among the documents.
    #[error(
        "{kind} {name:?} not found, which {wanted_by} names; add it to the documents, or name another"
    )]
    Missing {
        /// The kind.
        kind: String,
        /// The name.
        name: String,
        /// What names it.
        wanted_by: String,
    },
    /// A component has no workload, or several.
    #[error("Component {component} has {count} workloads among the documents; it needs one")]
    Workloads {
        /// The component.
        component: String,
        /// How many there are.
        count: usize,
    },
    /// A component cannot be deployed as it is.
    #[error("Component {component}: {}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Component {
        /// The component.
        component: String,
        /// Why not.
        problems: Vec<Problem>,
    },
    /// The cell of a project cannot be rendered.
    #[error("cell of project {project} in environment {environment}: {error}")]
    Cell {
        /// The project.
        project: String,
        /// The environment.
        environment: String,
        /// Why.
        error: RenderError,
    },
    /// What is exposed cannot be rendered.
    #[error(transparent)]
    Exposure(#[from] RenderError),
    /// Rendering failed.
    #[error("Component {component}: {error}")]
    Render {
        /// The component.
        component: String,
        /// Why.
        error: RenderError,
    },
}
