//! What an expression can cost at least and at most, before any data is there.
//!
//! The numbers are those of the reference: servers refuse rules by them.

mod calls;
mod containers;
mod coster;
mod server;
mod sizes;

use crate::{Decl, Program, deep};
pub use sizes::Range;

impl Program {
    /// The range of costs. `root` bounds the sizes of variables; as on a real server, every
    /// variable is taken to have the same shape.
    pub fn estimate(&self, root: Option<&Decl>) -> Range {
        let estimate = || coster::Coster::new(self, root).cost(self.ast.root);
        deep::run(self.levels, estimate).unwrap_or(Range::UNKNOWN)
    }
}
