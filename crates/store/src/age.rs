//! How old revisions are, roughly: enough to keep history for a while.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// How many marks a span of time is divided by.
const MARKS: u32 = 16;

/// Remembers, for a span of time, when which revision was the newest.
#[derive(Debug)]
pub(crate) struct Ages {
    span: Duration,
    /// Oldest first.
    marks: VecDeque<(Instant, u64)>,
}

impl Ages {
    /// Revisions up to `newest` count as made at `now`: nobody knows how old they are.
    pub(crate) fn new(span: Duration, now: Instant, newest: u64) -> Self {
        Self {
            span,
            marks: VecDeque::from([(now, newest)]),
        }
    }

    /// Notes that `newest` is the newest revision at `now`, and gives the revision up to which all are
    /// older than the span.
    pub(crate) fn advance(&mut self, now: Instant, newest: u64) -> u64 {
        if self.span.is_zero() {
            return newest;
        }
        let last = self.marks.back().map(|(at, _)| *at);
        if last.is_none_or(|last| now.duration_since(last) >= self.span / MARKS) {
            self.marks.push_back((now, newest));
        }
        let old = |mark: &(Instant, u64)| now.duration_since(mark.0) >= self.span;
        while self.marks.get(1).is_some_and(old) {
            self.marks.pop_front();
        }
        match self.marks.front() {
            Some(mark) if old(mark) => mark.1,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_old_when_the_span_has_passed() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut ages = Ages::new(Duration::from_mins(5), start, 7);
        assert_eq!(ages.advance(at(0), 8), 0);
        assert_eq!(ages.advance(at(100), 50), 0);
        assert_eq!(ages.advance(at(299), 60), 0);
        assert_eq!(ages.advance(at(300), 61), 7);
        assert_eq!(ages.advance(at(400), 70), 50);
        assert_eq!(ages.advance(at(10_000), 71), 70);
    }

    #[test]
    fn without_a_span_everything_is_old_at_once() {
        let now = Instant::now();
        assert_eq!(Ages::new(Duration::ZERO, now, 7).advance(now, 9), 9);
    }

    #[test]
    fn few_marks_are_kept_however_many_commits_there_are() {
        let start = Instant::now();
        let mut ages = Ages::new(Duration::from_mins(5), start, 0);
        for step in 0..100_000 {
            ages.advance(start + Duration::from_millis(step * 10), step);
        }
        assert!(
            ages.marks.len() <= 2 + MARKS as usize,
            "{}",
            ages.marks.len()
        );
    }
}
