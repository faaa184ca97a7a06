//! CEL, the Common Expression Language, as a Kubernetes server speaks it.
//!
//! ```text
//! text ──parse──▶ tree ──check──▶ types ──plan──▶ Program ──evaluate──▶ Value and cost
//! ```
//!
//! An [`Env`] says what an expression may name and call. [`Env::compile`] gives a [`Program`] or
//! everything that is wrong, in the words of the reference implementation. A program evaluates
//! within a cost limit over [`Bindings`], which may borrow JSON.
//!
//! ```
//! use quadrille_expr::{Bindings, COST_LIMIT, Env, Type, Value};
//!
//! let env = Env::kubernetes().variable("self", Type::map(Type::String, Type::Int));
//! let program = env.compile("self.replicas <= 5").unwrap();
//! assert_eq!(program.result_type(), &Type::Bool);
//!
//! let data = serde_json::json!({"replicas": 3});
//! let vars = Bindings::new().with("self", Value::json(&data, &Type::Dyn));
//! let evaluation = program.evaluate(&vars, COST_LIMIT);
//! assert!(matches!(evaluation.result, Ok(Value::Bool(true))));
//! ```
//!
//! # What else there is
//!
//! - Data with a schema: describe it as a [`Decl`]; [`Decl::ty`] is its type, and
//!   [`Program::estimate`] knows from it what a rule can cost at most. Field names go through
//!   [`escape`].
//! - Sets and keyed lists compare without order when their type says so ([`ListKind`]).
//! - Values that are computed when needed: [`Map::Lazy`] over [`Fields`].
//! - Questions about permission: a [`Host`] answers them; [`Question::authorizer`] is the value to
//!   bind.
//! - Functions of one's own: [`Env::function`].
//! - Limits: the cost limit of [`Program::evaluate`], and fixed ones for memory, comparisons, depth
//!   and length. Reaching one is an [`EvalError`] that no `||` absorbs.
//! - Mistakes: [`CompileError`] has the whole report and each [`Issue`]; a constant that can only
//!   fail (`int('x')`) is told apart by [`CompileError::is_instantiation`].
//! - [`conformance`] runs the language's own vectors; `examples/answer.rs` answers like the oracle
//!   in `xtask/oracle/cel`, so that both can be compared.
//!
//! The room knows neither Kubernetes objects nor templates: whoever has schemas turns them into
//! types first.

mod call;
mod check;
pub mod conformance;
mod decl;
mod deep;
mod env;
mod error;
mod estimate;
mod eval;
mod issue;
mod library;
mod names;
mod pattern;
mod program;
pub mod quantity;
mod signature;
mod syntax;
mod ty;
mod value;

pub use call::{Call, Host};
pub use decl::Decl;
pub use env::Env;
pub use error::EvalError;
pub use estimate::Range;
pub use issue::{CompileError, Issue};
pub use library::{Answer, Library, Options, Question};
pub use names::{escape, is_identifier, spellings, unescape};
pub use program::{Bindings, COST_LIMIT, Evaluation, Program};
pub use ty::{Field, ListKind, ListType, MapType, ObjectType, OpaqueType, Type};
pub use value::{Fields, Key, List, Map, Moment, Opaque, Text, Value};
