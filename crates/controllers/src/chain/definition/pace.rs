//! How fast a change of a definition reaches its users: a few first; when they are well, more; when one of them is not,
//! nobody else.

use quadrille_types::conditions::{Holds, Reason};

/// How many go first.
const FIRST: usize = 5;
/// How many of a hundred are on their way at once after that, but never fewer than go first.
const PERCENT: usize = 10;

/// Where a user of a definition stands.
pub(super) enum Standing {
    /// It has the version before.
    Outdated,
    /// It is on its way.
    Rolling,
    /// It is there, and well.
    Settled,
    /// It says nothing about the change, for reasons of its own, whether it follows or not.
    Aside {
        /// Whether it has the version.
        follows: bool,
    },
    /// It is there and in trouble, and was well before.
    Troubled(String),
}

/// How many stand where.
#[derive(Default)]
pub(super) struct Tally {
    outdated: usize,
    rolling: usize,
    settled: usize,
    following: usize,
    left_behind: usize,
    troubled: Vec<String>,
}

/// Whether a reason tells of trouble, rather than of something that is under way.
pub(super) fn is_trouble(reason: &str) -> bool {
    [
        Reason::ResourcesDegraded,
        Reason::ResourceApplyFailed,
        Reason::RenderingFailed,
        Reason::JobFailed,
    ]
    .iter()
    .any(|one| one.as_str() == reason)
}

impl Tally {
    pub(super) fn count(&mut self, name: &str, standing: &Standing) {
        match standing {
            Standing::Outdated => self.outdated += 1,
            Standing::Rolling => self.rolling += 1,
            Standing::Settled => self.settled += 1,
            Standing::Aside { follows: true } => self.following += 1,
            Standing::Aside { follows: false } => self.left_behind += 1,
            Standing::Troubled(words) => self.troubled.push(format!("{name}: {words}")),
        }
    }

    pub(super) fn total(&self) -> usize {
        let standing = self.outdated + self.rolling + self.settled + self.troubled.len();
        standing + self.following + self.left_behind
    }

    /// How many may start now.
    pub(super) fn may_start(&self) -> usize {
        if !self.troubled.is_empty() {
            return 0;
        }
        let at_once = if self.settled < FIRST {
            FIRST
        } else {
            FIRST.max(self.total() * PERCENT / 100)
        };
        at_once.saturating_sub(self.rolling)
    }

    /// What is said of it. Not every step is news: progress is told in twentieths.
    pub(super) fn said(&self) -> (Holds, Reason, String) {
        let total = self.total();
        if let Some(first) = self.troubled.first() {
            let words = format!(
                "stopped after {} of {total} components, because {first}: mend it, or edit the definition again",
                total - self.outdated - self.left_behind
            );
            return (Holds::False, Reason::RolloutStopped, words);
        }
        let follow = self.settled + self.following;
        if self.outdated + self.rolling == 0 {
            let words = match self.left_behind {
                0 => format!("all {total} components follow this version"),
                behind => format!(
                    "{follow} of {total} components follow this version; {behind} cannot, for reasons of their own"
                ),
            };
            return (Holds::True, Reason::RolloutComplete, words);
        }
        let step = (total / 20).max(1);
        let shown = follow - follow % step;
        let words = format!("{shown} of {total} components follow this version");
        (Holds::False, Reason::RolloutProgressing, words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(outdated: usize, rolling: usize, settled: usize, troubled: usize) -> Tally {
        Tally {
            outdated,
            rolling,
            settled,
            troubled: vec!["x: broken".to_owned(); troubled],
            ..Tally::default()
        }
    }

    fn with_aside(tally: Tally, following: usize, left_behind: usize) -> Tally {
        Tally {
            following,
            left_behind,
            ..tally
        }
    }

    #[test]
    fn a_few_go_first_and_trouble_stops_the_rest() {
        assert_eq!(tally(1000, 0, 0, 0).may_start(), 5);
        assert_eq!(tally(995, 5, 0, 0).may_start(), 0);
        assert_eq!(tally(995, 1, 4, 0).may_start(), 4);
        assert_eq!(tally(995, 0, 5, 0).may_start(), 100);
        assert_eq!(tally(900, 60, 40, 0).may_start(), 40);
        assert_eq!(tally(990, 0, 9, 1).may_start(), 0);
        assert_eq!(tally(3, 0, 0, 0).may_start(), 5);
    }

    #[test]
    fn those_who_stand_aside_keep_nobody_waiting_and_vouch_for_nobody() {
        assert_eq!(with_aside(tally(900, 0, 0, 0), 50, 50).may_start(), 5);
        assert_eq!(with_aside(tally(900, 5, 4, 0), 50, 41).may_start(), 0);
        assert_eq!(with_aside(tally(900, 0, 5, 0), 0, 95).may_start(), 100);
        let words = |tally: Tally| tally.said().2;
        assert_eq!(
            words(with_aside(tally(0, 0, 7, 0), 2, 0)),
            "all 9 components follow this version"
        );
        assert_eq!(
            words(with_aside(tally(0, 0, 7, 0), 2, 3)),
            "9 of 12 components follow this version; 3 cannot, for reasons of their own"
        );
    }

    #[test]
    fn progress_is_told_in_steps() {
        let words = |tally: Tally| tally.said().2;
        assert_eq!(
            words(tally(0, 0, 7, 0)),
            "all 7 components follow this version"
        );
        assert_eq!(
            words(tally(300, 0, 700, 0)),
            "700 of 1000 components follow this version"
        );
        assert_eq!(
            words(tally(299, 0, 701, 0)),
            "700 of 1000 components follow this version"
        );
        assert!(
            words(tally(990, 0, 9, 1))
                .starts_with("stopped after 10 of 1000 components, because x: broken")
        );
    }
}
