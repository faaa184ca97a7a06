//! Leaves a plane alone while it has faults.
//!
//! ```text
//!            enough faults in a row, or refused credentials
//!   Closed ────────────────────────────────────────────────► Open ◄───┐
//!     ▲                                                        │       │ the probe fails:
//!     │ any success                     the pause is over:     ▼       │ a longer pause
//!     └─────────────────────────────────── one probe ────── HalfOpen ──┘
//! ```
//! Pure: time and chance come in as arguments.

use std::time::Duration;

use tokio::time::Instant;

/// When to open, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerSettings {
    /// So many faults in a row open it.
    pub faults: u32,
    /// The first pause; each further one is twice as long …
    pub first_pause: Duration,
    /// … up to this.
    pub longest_pause: Duration,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            faults: 5,
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_mins(1),
        }
    }
}

/// What kind of fault it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The plane could not be reached, or failed.
    Plane,
    /// The plane does not let us in: trying often won't help.
    Credentials,
}

/// Leave to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Like any other.
    Normal,
    /// The one that finds out whether the plane is back. Tell how it went, or that it was given up.
    Probe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed { faults: u32 },
    Open { until: Instant, pauses: u32 },
    HalfOpen { pauses: u32 },
}

/// Leaves a plane alone while it has faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    settings: BreakerSettings,
    state: State,
}

impl Breaker {
    /// A closed one.
    pub fn new(settings: BreakerSettings) -> Self {
        Self {
            settings,
            state: State::Closed { faults: 0 },
        }
    }

    /// Whether calls go through as usual.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed { .. })
    }

    /// Asks for leave to call; otherwise tells how long to wait before asking again.
    pub fn admit(&mut self, now: Instant) -> Result<Pass, Duration> {
        match self.state {
            State::Closed { .. } => Ok(Pass::Normal),
            State::Open { until, .. } if until > now => Err(until - now),
            State::Open { pauses, .. } => {
                self.state = State::HalfOpen { pauses };
                Ok(Pass::Probe)
            }
            State::HalfOpen { .. } => Err(self.settings.first_pause),
        }
    }

    /// The plane answered, to whomever.
    pub fn succeeded(&mut self) {
        self.state = State::Closed { faults: 0 };
    }

    /// A call with this pass failed. `chance` is between 0 and 1.
    pub fn failed(&mut self, pass: Pass, fault: Fault, now: Instant, chance: f64) {
        match (self.state, pass) {
            (State::Closed { faults }, _) => {
                let faults = faults + 1;
                if fault == Fault::Credentials || faults >= self.settings.faults {
                    self.open(0, now, chance);
                } else {
                    self.state = State::Closed { faults };
                }
            }
            (State::HalfOpen { pauses }, Pass::Probe) => self.open(pauses, now, chance),
            // Calls from before it opened say nothing new.
            (State::Open { .. } | State::HalfOpen { .. }, _) => {}
        }
    }

    /// A call with this pass was given up before it was known how it goes.
    pub fn abandoned(&mut self, pass: Pass, now: Instant) {
        if let (State::HalfOpen { pauses }, Pass::Probe) = (self.state, pass) {
            // The next one may find out.
            self.state = State::Open { until: now, pauses };
        }
    }

    fn open(&mut self, pauses: u32, now: Instant, chance: f64) {
        let longest = self.settings.longest_pause;
        let pause = self
            .settings
            .first_pause
            .saturating_mul(2_u32.saturating_pow(pauses))
            .min(longest);
        // Between half of it and all of it: planes that fell together need not rise together.
        let pause = pause.mul_f64(0.5 + 0.5 * chance.clamp(0.0, 1.0));
        self.state = State::Open {
            until: now + pause,
            pauses: pauses.saturating_add(1),
        };
    }
}

#[cfg(test)]
mod tests;
