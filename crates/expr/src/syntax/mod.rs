//! From text to a syntax tree: tokens, grammar, macros.
//!
//! Text comes in, an [`Ast`](ast::Ast) goes out. Nothing here knows types or values. Every limit
//! on the size of an expression lives here, so that later steps may recurse over the tree.

pub(crate) mod ast;
mod bindings;
mod containers;
mod lexer;
mod macros;
mod mistakes;
mod operators;
mod pairs;
mod parser;
mod primary;
mod rewrites;
mod unescape;

pub(crate) use macros::MacroSet;
pub(crate) use parser::{Syntax, parse};
pub(crate) use rewrites::{Meaning, Rewrite};
