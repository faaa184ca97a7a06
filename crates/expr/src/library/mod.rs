//! Libraries of functions. Each file declares one and does its work.

mod address_text;
mod addresses;
mod amounts;
mod arithmetic;
mod authorizer;
mod conversions;
mod encoders;
mod flat;
pub(crate) mod formats;
pub(crate) mod formatting;
mod jsonpatch;
mod lists;
mod math;
mod networks;
mod optionals;
mod pairs;
mod patterns;
mod plain_format;
mod sets;
mod shapes;
mod standard;
mod strings;
mod summaries;
mod text;
mod time;
mod url_text;
mod urls;
mod versions;

pub(crate) use flat::is_flat;

use crate::{
    call::Native,
    env::{Body, Env},
    ty::Type,
};
pub use authorizer::{Answer, Question};

/// Rows of a library: name, what runs, signatures.
type Table = &'static [(&'static str, Native, &'static [&'static str])];

/// What an environment allows beyond functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Literals that can only fail are refused when compiling, and so are lists and maps whose
    /// elements have different types.
    pub validate_literals: bool,
    /// Field names in backquotes.
    pub quoted_names: bool,
    /// An object may be used where a map from text is wanted: counted, looped over, looked up by
    /// a computed name.
    pub objects_as_maps: bool,
}

impl Options {
    /// What a Kubernetes server asks for.
    pub const KUBERNETES: Self = Self {
        validate_literals: true,
        quoted_names: false,
        objects_as_maps: false,
    };
}

/// A library that an environment can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Operators, conversions, text, time, `has`, `all`, `exists`, `map`, `filter`.
    Standard,
    /// `existsOne` with one variable, next to `exists_one`.
    ExistsOne,
    /// `a.?b`, `optional.of(…)`, `optMap`.
    Optionals,
    /// Text: `split`, `replace`, `format` (from version 1), `join` (2), `reverse` (3),
    /// a plainer `format` (4). Servers have version 2.
    Strings(u32),
    /// Lists: `slice`, `flatten`, `sort`, `sortBy`, `distinct`, `reverse`, `lists.range`.
    Lists,
    /// `sets.contains` and its kin.
    Sets,
    /// `math.greatest` and its kin.
    Math,
    /// Base64.
    Encoders,
    /// `cel.bind`.
    Bindings,
    /// Loops over two variables.
    TwoVariables,
    /// A server's lists: `isSorted`, `sum`, `min`, `max`, `indexOf`.
    Summaries,
    /// `find`, `findAll`.
    Patterns,
    /// `url`.
    Urls,
    /// `ip`.
    Addresses,
    /// `cidr`.
    Networks,
    /// `quantity`.
    Amounts,
    /// `semver`.
    Versions,
    /// `format.dns1123Label()` and its kin.
    Formats,
    /// `jsonpatch.escapeKey`.
    JsonPatch,
    /// Questions about permission; see [`crate::Host`].
    Authorizer,
    /// Selectors in questions about permission.
    AuthorizerSelectors,
}

impl Library {
    /// The libraries of a Kubernetes 1.36 server, in its order.
    pub const KUBERNETES: [Self; 16] = [
        Self::Standard,
        Self::Urls,
        Self::Patterns,
        Self::Summaries,
        Self::Authorizer,
        Self::Optionals,
        Self::Amounts,
        Self::Strings(2),
        Self::Sets,
        Self::Addresses,
        Self::Networks,
        Self::Formats,
        Self::AuthorizerSelectors,
        Self::TwoVariables,
        Self::Versions,
        Self::Lists,
    ];

    pub(crate) fn install(self, env: &mut Env) {
        let macros = &mut env.macros;
        match self {
            Self::Standard => macros.standard = true,
            Self::ExistsOne => macros.exists_one_new = true,
            Self::Optionals => macros.optionals = true,
            Self::Lists => macros.lists = true,
            Self::Math => macros.math = true,
            Self::Bindings => macros.bind = true,
            Self::TwoVariables => macros.two_variables = true,
            _ => {}
        }
        match self {
            Self::Standard => standard::install(env),
            Self::ExistsOne | Self::Bindings => {}
            Self::Optionals => optionals::install(env),
            Self::Strings(version) => strings::install(env, version),
            Self::Lists => lists::install(env),
            Self::Sets => sets::install(env),
            Self::Math => math::install(env),
            Self::Encoders => encoders::install(env),
            Self::TwoVariables => pairs::install(env),
            Self::Summaries => summaries::install(env),
            Self::Patterns => patterns::install(env),
            Self::Urls => urls::install(env),
            Self::Addresses => addresses::install(env),
            Self::Networks => networks::install(env),
            Self::Amounts => amounts::install(env),
            Self::Versions => versions::install(env),
            Self::Formats => formats::install(env),
            Self::JsonPatch => jsonpatch::install(env),
            Self::Authorizer => authorizer::install(env),
            Self::AuthorizerSelectors => authorizer::install_selectors(env),
        }
    }
}

/// Adds functions that are called only with arguments of their declared types.
fn declare(env: &mut Env, table: Table) {
    for (name, body, signatures) in table {
        env.add(name, signatures, &Body::Native(*body));
    }
}

/// Adds functions that look at their arguments themselves.
fn declare_operators(env: &mut Env, table: Table) {
    for (name, body, signatures) in table {
        env.add(name, signatures, &Body::Operator(*body));
    }
}

/// Names of types that expressions may use.
fn name_types(env: &mut Env, types: &[(&str, Type)]) {
    for (name, ty) in types {
        env.name_type(name, ty.clone());
    }
}
