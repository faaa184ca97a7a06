//! Admission policies: whether a request is for a policy to judge ([`Criteria`]), and what the policy says
//! ([`Policy`]).
//!
//! ```text
//!   Attributes ──► Criteria::matched ──► Policy::judge ──► decisions, annotations for the audit log
//! ```
//!
//! Nothing here knows where policies, their bindings and their parameters are kept, nor how objects get from
//! one version to another: whoever asks has looked that up.

mod chain;
mod environment;
mod expressions;
mod judge;
mod matching;
#[cfg(test)]
mod tests;
mod type_check;

pub(crate) use environment::{Environment, Mistake};
pub(crate) use expressions::ANNOTATION_TYPES;
pub use expressions::Policy;
pub use judge::{Annotation, Decision, Judgement, Review};
pub use matching::{Attributes, Criteria, Labels, Place};
pub use quadrille_expr::{Answer, Host, Question};
pub use type_check::{Checked, warnings};
