//! Libraries of functions. Each file declares one and does its work.

mod arithmetic;
mod conversions;
mod standard;
mod text;
mod time;

use crate::{
    call::Native,
    env::{Body, Env},
    syntax::MacroSet,
    ty::Type,
};

/// Rows of a library: name, what runs, signatures.
type Table = &'static [(&'static str, Native, &'static [&'static str])];

/// What an environment allows beyond functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Elements of a literal list or map must have one type.
    pub homogeneous_literals: bool,
    /// Literals that can only fail are refused when compiling.
    pub validate_literals: bool,
    /// Field names in backquotes.
    pub quoted_names: bool,
}

impl Options {
    /// What a Kubernetes server asks for.
    pub const KUBERNETES: Self =
        Self { homogeneous_literals: true, validate_literals: true, quoted_names: false };
}

/// A library that an environment can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Operators, conversions, text, time, `has`, `all`, `exists`, `map`, `filter`.
    Standard,
}

impl Library {
    /// The libraries of a Kubernetes 1.36 server, in its order.
    pub const KUBERNETES: [Self; 1] = [Self::Standard];

    pub(crate) fn install(self, env: &mut Env) {
        match self {
            Self::Standard => {
                env.macros = MacroSet { standard: true, ..env.macros };
                standard::install(env);
            }
        }
    }
}

/// Adds functions that are called only with arguments of their declared types.
fn declare(env: &mut Env, table: Table) {
    for (name, body, signatures) in table {
        env.add(name, signatures, Body::Native(*body));
    }
}

/// Adds functions that look at their arguments themselves.
fn declare_operators(env: &mut Env, table: Table) {
    for (name, body, signatures) in table {
        env.add(name, signatures, Body::Operator(*body));
    }
}

/// Names of types that expressions may use.
fn name_types(env: &mut Env, types: &[(&str, Type)]) {
    for (name, ty) in types {
        env.name_type(name, ty.clone());
    }
}

/// A question to the host: may somebody do something?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {}

/// The host's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {}

/// temporary
pub(crate) struct NamedFormat;
impl NamedFormat { pub(crate) fn pattern_size(&self) -> u64 { 0 } }
