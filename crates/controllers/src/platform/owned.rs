//! The releases of an environment or a project: they go before it does.

use quadrille_types::conditions::Reason;

use super::step::{Found, Step, names};
use crate::releases::Brief;

/// What is known of the releases that belong to something.
pub(crate) struct Releases<'a> {
    /// Whether all releases were read.
    pub(crate) are_known: bool,
    /// What they are made for: it goes before them.
    pub(crate) makers: Vec<Found>,
    /// Those that belong to it.
    pub(crate) here: Vec<Brief<'a>>,
}

impl Releases<'_> {
    /// Whether something has to wait for them: then it is said, and they are to be removed.
    pub(crate) fn go_first(&self, step: &mut Step, ends: Reason, reason: Reason) -> bool {
        if !self.are_known {
            return true;
        }
        if let Some(first) = self.makers.first() {
            let kind = first.thing.kind.word();
            let which = names(self.makers.iter().map(|one| &*one.thing.key.name));
            let words = format!("waits for the end of {kind} {which}");
            step.ending(ends, reason, words);
            step.removes.clone_from(&self.makers);
            return true;
        }
        if self.here.is_empty() {
            return false;
        }
        let which = names(self.here.iter().map(|one| one.name));
        step.ending(
            ends,
            reason,
            format!("waits for the end of Release {which}"),
        );
        step.removes = self.here.iter().map(|one| one.found.clone()).collect();
        true
    }
}
