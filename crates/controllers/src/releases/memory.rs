//! What is remembered between runs over a release: what failed, what was mended, when it was last said.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use quadrille_engine::Failure;
use quadrille_objects::{Desired, Identity, Plan, plan::Apply};
use tokio::time::Instant;

use crate::retry::{Backoff, pause};

/// What is remembered of earlier runs of a release.
#[derive(Default)]
pub(crate) struct Memory {
    /// What failures are about: the generation, and whether others' objects may be taken over.
    pub(crate) asked: (i64, bool),
    /// What failed and is not to be tried yet.
    pub(crate) standing: HashMap<Identity, Standing>,
    /// How often objects were mended lately.
    pub(crate) mended: HashMap<Identity, Mended>,
    /// When the status was last written because of health, and how often in a row.
    pub(crate) told: Option<(Instant, u32)>,
    /// What holds objects that are on their way out.
    pub(crate) held_by: HashMap<Identity, Vec<String>>,
    /// Whether its objects have begun to go: there is no way back.
    pub(crate) has_begun_to_go: bool,
    /// What is gone for sure while the release is being removed.
    pub(crate) gone: HashSet<Identity>,
    /// What people were last told is in the way of the removal: reason and cause.
    pub(crate) told_end: Option<(&'static str, String)>,
    /// Since when the release is being removed.
    pub(crate) removing_since: Option<Instant>,
    /// When the objects were last looked at without an event.
    pub(crate) audited: Option<Instant>,
}

/// A failure that stands.
pub(crate) struct Standing {
    /// What went wrong.
    pub(crate) failure: Failure,
    /// When to try again.
    pub(crate) backoff: Backoff,
}

/// How often an object was mended in a row.
#[derive(Clone, Copy)]
pub(crate) struct Mended {
    /// How often.
    pub(crate) times: u32,
    /// When last.
    pub(crate) last: Instant,
}

impl Mended {
    /// Mending that often in a row is done at once; then somebody fights us, and it takes its time.
    pub(crate) const AT_ONCE: u32 = 5;
    /// Quiet for that long, and it starts anew.
    pub(crate) const QUIET: Duration = Duration::from_mins(1);

    /// When it may be mended again.
    fn again(&self) -> Instant {
        match self.times.saturating_sub(Self::AT_ONCE) {
            0 => self.last,
            over => self.last + pause(over + 4, 1.0),
        }
    }
}

impl Memory {
    /// Failures of an older generation don't count, nor those from before a person said a word. Nor does how often health
    /// was told of then: whoever changes something waits to hear how that goes.
    pub(crate) fn begin(&mut self, asked: (i64, bool)) {
        if self.asked != asked {
            self.asked = asked;
            self.standing.clear();
            self.told = None;
        }
    }

    /// From here on objects only go: what failed while they were kept does not count.
    pub(crate) fn begin_to_go(&mut self) {
        self.has_begun_to_go = true;
        self.standing.clear();
    }

    /// What is to be applied now, and what failed before and has to wait.
    pub(crate) fn due<'a>(
        &mut self,
        plan: &Plan,
        desired: &'a [Desired],
        now: Instant,
    ) -> (Vec<Apply>, Vec<&'a Identity>) {
        let mut due = Vec::new();
        let mut standing = Vec::new();
        for apply in &plan.applies {
            let identity = &desired[apply.index].identity;
            let fights = apply.why.heals()
                && self
                    .mended
                    .get(identity)
                    .is_some_and(|mended| mended.again() > now);
            if fights || self.waits(identity, now) {
                standing.push(identity);
            } else {
                due.push(apply.clone());
            }
        }
        // What needs nothing any more has not failed any more.
        let needed: HashSet<&Identity> = plan
            .applies
            .iter()
            .map(|apply| &desired[apply.index].identity)
            .collect();
        let wanted: HashSet<&Identity> = desired.iter().map(|object| &object.identity).collect();
        self.standing
            .retain(|identity, _| needed.contains(identity) || !wanted.contains(identity));
        (due, standing)
    }

    /// Whether something failed and is not to be tried yet.
    pub(crate) fn waits(&self, identity: &Identity, now: Instant) -> bool {
        self.standing
            .get(identity)
            .is_some_and(|standing| standing.backoff.until > now)
    }

    /// Something failed. Tells whether that is news.
    pub(crate) fn failed(&mut self, identity: &Identity, failure: Failure, now: Instant) -> bool {
        let before = self.standing.remove(identity);
        let is_news = before
            .as_ref()
            .is_none_or(|before| before.failure.reason != failure.reason);
        let backoff = Backoff::after(
            before.map(|before| before.backoff),
            failure.retry_after,
            now,
            rand::random(),
        );
        let standing = Standing { failure, backoff };
        self.standing.insert(identity.clone(), standing);
        is_news
    }

    /// Something was mended. Tells whether somebody fights us.
    pub(crate) fn mended(&mut self, identity: &Identity, now: Instant) -> bool {
        let mended = self.mended.entry(identity.clone()).or_insert(Mended {
            times: 0,
            last: now,
        });
        if now.duration_since(mended.last) > Mended::QUIET {
            mended.times = 0;
        }
        mended.times += 1;
        mended.last = now;
        mended.times > Mended::AT_ONCE
    }

    /// Whether a status that is only about health may be written now; if not, after how long.
    pub(crate) fn may_tell(&mut self, now: Instant) -> Result<(), Duration> {
        let Some((last, times)) = self.told else {
            self.told = Some((now, 0));
            return Ok(());
        };
        let since = now.duration_since(last);
        let spacing = SPACING.saturating_mul(1 << times.min(6));
        if since < spacing {
            return Err(spacing.saturating_sub(since));
        }
        self.told = Some((now, if since > QUIET { 0 } else { times + 1 }));
        Ok(())
    }

    /// When what failed may be tried again. A moment that has passed tells of something that waits for something else than
    /// time: it is looked at now and then, and not without pause.
    pub(crate) fn retry(&self, now: Instant) -> Option<Instant> {
        let until = self
            .standing
            .values()
            .map(|standing| standing.backoff.until);
        until
            .map(|at| if at > now { at } else { now + HANDOVER })
            .min()
    }

    /// When something that waits may be tried again.
    pub(crate) fn next_try(&self, now: Instant) -> Option<Instant> {
        let mended = self
            .mended
            .values()
            .map(Mended::again)
            .filter(|at| *at > now);
        self.retry(now).into_iter().chain(mended).min()
    }
}

/// How often to look whether what is waited for has come: another release took an object over, or its own is gone at last.
pub(super) const HANDOVER: Duration = Duration::from_secs(1);
/// Between two reports that are only about health, at least.
const SPACING: Duration = Duration::from_secs(1);
/// Without a report for so long, the next one is written at once.
const QUIET: Duration = Duration::from_mins(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_and_cannot_be_tried_yet_is_not_looked_at_without_pause() {
        let mut memory = Memory::default();
        let now = Instant::now();
        let identity = Identity::new("", "ConfigMap", "n", "a");
        assert_eq!(memory.retry(now), None);
        memory.failed(&identity, Failure::new("ServerFault", "no"), now);
        let until = memory.standing[&identity].backoff.until;
        assert_eq!(memory.retry(now), Some(until), "as soon as it may be");
        let later = until + Duration::from_mins(1);
        assert_eq!(memory.next_try(later), Some(later + HANDOVER));
    }

    #[test]
    fn what_failed_while_it_was_kept_hurries_nobody_once_everything_goes() {
        let mut memory = Memory::default();
        let now = Instant::now();
        let identity = Identity::new("", "Namespace", "", "n");
        memory.failed(&identity, Failure::new("Denied", "no"), now);
        memory.begin_to_go();
        assert_eq!(memory.retry(now), None);
    }

    #[test]
    fn health_that_goes_to_and_fro_is_told_ever_more_rarely_until_somebody_changes_something() {
        let mut memory = Memory::default();
        memory.begin((1, false));
        let mut now = Instant::now();
        let mut last = Duration::ZERO;
        assert_eq!(memory.may_tell(now), Ok(()));
        for _ in 0..4 {
            let wait = memory.may_tell(now).unwrap_err();
            assert!(wait > last, "{wait:?}");
            last = wait;
            now += wait;
            assert_eq!(memory.may_tell(now), Ok(()));
        }
        memory.begin((1, false));
        assert!(memory.may_tell(now).is_err());
        memory.begin((2, false));
        assert_eq!(memory.may_tell(now), Ok(()));
    }
}
