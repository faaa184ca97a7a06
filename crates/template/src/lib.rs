//! Templates: objects with expressions in them, the schemas of what they may be given, and changes to
//! what is rendered.
//!
//! ```text
//!   Definition ──compile──► Blueprint (or all Problems, each with its path)
//!      schemas, templates,      │ parameters().resolve(values) ──► JSON with defaults
//!      rules, patches           │ resources()[i].render(&context) ──► objects
//!                               │ patches()[i].apply(…), removes()[i].apply(…)
//!                               ▼ check_rules(…), post_rules()[i].check(…)
//! ```
//!
//! The same function that compiles also checks: an expression is typed against the schemas and the
//! variables, and evaluated later by the program that was typed. Rendering is pure, bounded
//! ([`Budget`]), and gives the same bytes for the same input: maps are walked in the order of their
//! keys.
//!
//! The room knows none of our kinds: whoever has a component type or a trait describes it as a
//! [`Definition`].
//!
//! ```
//! use quadrille_template::{Budget, Context, Language, Template};
//! use serde_json::json;
//!
//! let language = Language::new(|_, parts| parts.join("-"));
//! let variables = language.untyped(&["parameters"]);
//! let tree = json!({"replicas": "${parameters.replicas}", "name": "app-${parameters.name}"});
//! let template = Template::compile(&variables, &tree, "template").unwrap();
//!
//! let parameters = json!({"replicas": 2, "name": "cart"});
//! let budget = Budget::default();
//! let context = Context::new(&budget).with("parameters", &parameters);
//! assert_eq!(template.render(&context).unwrap(), json!({"replicas": 2, "name": "app-cart"}));
//! ```

mod blueprint;
mod cache;
mod context;
mod definition;
mod error;
mod explain;
mod expression;
mod functions;
mod language;
mod loops;
mod output;
mod patch;
mod problem;
mod reads;
mod resource;
mod rule;
mod scan;
mod schema;
mod structure;
mod target;
mod template;
mod text;
mod variables;

pub use blueprint::Blueprint;
pub use cache::Cache;
pub use context::{Budget, Context, Limits};
pub use definition::{
    BindingSource, Definition, KindRule, OperationSource, PatchSource, PostRuleSource,
    RemoveSource, ResourceSource, RuleSource, Section, TargetSource,
};
pub use error::{Cause, RenderError};
pub use language::{COMPONENT_MACROS, DERIVED, Language, Macro, NameMaker};
pub use patch::{Op, Patch, PatchError, PathError, Remove};
pub use problem::{Problem, Problems};
pub use reads::Reads;
pub use resource::Resource;
pub use rule::{PostFailure, PostRule, Rule, RuleFailure};
pub use schema::{Parameters, Row};
pub use target::{Candidate, RESOURCE};
pub use template::Template;
pub use variables::Variables;
