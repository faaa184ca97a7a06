//! The pure part: from how calls went to how many may go at once.

use std::time::Duration;

/// How a call went, as far as the pace is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The plane answered.
    Done {
        /// How long it took.
        latency: Duration,
    },
    /// The plane asked for fewer requests.
    Throttled {
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The plane was overwhelmed, or did not answer in time.
    Fault,
}

/// How many calls may go at once, and what is needed to find the next number. A value: [`Pace::next`] makes another.
///
/// The number grows by one with each round of good answers while it is what holds calls back, and is cut when the
/// plane throttles, fails, or gets far slower than it was at its best. One bad moment cuts once: the calls that
/// were under way then don't count again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    limit: f64,
    /// The best latency seen; it fades, so that a plane which moved further away is not held to it for ever.
    best: Option<Duration>,
    /// How many of the next bad outcomes belong to the last cut.
    excused: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            limit: Self::START,
            best: None,
            excused: 0,
        }
    }
}

impl Pace {
    /// The least number of calls.
    pub const LEAST: usize = 1;
    /// The greatest number of calls.
    pub const MOST: usize = 64;

    const START: f64 = 16.0;
    /// What is left after the plane threw something back.
    const CUT: f64 = 0.5;
    /// What is left after the plane became slow.
    const SLOW_CUT: f64 = 0.8;
    /// So many times the best latency is slow, …
    const SLOW: u32 = 8;
    /// … unless it is below this: quick enough for anybody.
    const QUICK: Duration = Duration::from_millis(250);
    /// The best latency grows by this part of itself with each answer.
    const FADES: u32 = 256;

    /// How many calls may go at once.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is between LEAST and MOST"
    )]
    pub fn limit(self) -> usize {
        (self.limit as usize).clamp(Self::LEAST, Self::MOST)
    }

    /// The pace after a call. `is_saturated`: the call had taken the last slot.
    #[must_use]
    pub fn next(self, outcome: Outcome, is_saturated: bool) -> Self {
        match outcome {
            Outcome::Done { latency } => {
                let best = self.best.map_or(latency, |best| {
                    latency.min(best + best / Self::FADES + Duration::from_nanos(1))
                });
                let pace = Self {
                    best: Some(best),
                    ..self
                };
                if latency > Self::QUICK && latency > best * Self::SLOW {
                    pace.cut(Self::SLOW_CUT)
                } else {
                    pace.grown(is_saturated)
                }
            }
            Outcome::Throttled { .. } | Outcome::Fault => self.cut(Self::CUT),
        }
    }

    fn cut(self, part: f64) -> Self {
        if self.excused > 0 {
            return Self {
                excused: self.excused - 1,
                ..self
            };
        }
        // Those that were under way when the plane got into trouble: all but the one that told us.
        let under_way = u32::try_from(self.limit()).unwrap_or(u32::MAX) - 1;
        Self {
            limit: Self::within(self.limit * part),
            excused: under_way,
            ..self
        }
    }

    fn grown(self, is_saturated: bool) -> Self {
        let limit = if is_saturated {
            Self::within(self.limit + 1.0 / self.limit)
        } else {
            self.limit
        };
        Self {
            limit,
            excused: self.excused.saturating_sub(1),
            ..self
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "both are small")]
    fn within(limit: f64) -> f64 {
        limit.clamp(Self::LEAST as f64, Self::MOST as f64)
    }
}
