//! Which calls are struck where not all of them are.

use quadrille_testkit::{real, wire::Verb};

use crate::{every::Choice, stories::Story};

impl Choice {
    /// All that write, and of the others each so-many-th.
    pub(crate) const fn writes_and_each(step: usize, first: usize) -> Self {
        Self {
            first,
            step,
            by_name: Verb::writes,
        }
    }

    /// Each so-many-th.
    const fn each(step: usize) -> Self {
        Self {
            first: 1,
            step,
            by_name: |_| false,
        }
    }

    /// Of controllers at work: all; on a real cluster, where each takes its time, a sample.
    pub(crate) fn at_work() -> Self {
        if real::is_asked_for() {
            Self::each(3)
        } else {
            Self::ALL
        }
    }

    /// Of controllers that start: mostly lists and watches, which are much the same for all stories. One story is struck at
    /// all of them, the others at every write and some; on a real cluster it is a sample.
    pub(crate) fn starting(story: Story) -> Self {
        if real::is_asked_for() {
            Self::each(6)
        } else if story == Story::Shrink {
            Self::ALL
        } else {
            Self::writes_and_each(4, 1)
        }
    }
}
