//! How a plane is doing, as conditions show it.

use std::time::Duration;

use crate::trouble::Trouble;

/// How a plane is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PlaneState {
    /// Nobody has tried yet.
    #[default]
    Unknown,
    /// It answers; with what the last probe found, if there was one.
    Reachable(Option<Probe>),
    /// It is left alone.
    Troubled {
        /// The word for conditions.
        reason: &'static str,
        /// Words for people.
        message: String,
    },
}

/// What a probe found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The version of Kubernetes, such as `1.36.3`.
    pub version: String,
    /// How long the answer took, in one of few steps, so that it changes only when it matters.
    pub latency: Duration,
}

impl Probe {
    pub(super) fn new(git_version: &str, latency: Duration) -> Self {
        let version = git_version.trim_start_matches('v');
        // Somebody else's server says it, and conditions show it.
        let version = version.chars().take(64).collect();
        Self {
            version,
            latency: rounded(latency),
        }
    }
}

impl PlaneState {
    pub(super) fn troubled(trouble: &Trouble) -> Self {
        Self::Troubled {
            reason: trouble.reason(),
            message: trouble.message(),
        }
    }

    /// The state after another one was seen: what a probe found stays known while the plane answers.
    pub(super) fn next(&self, seen: Self) -> Self {
        match (self, seen) {
            (Self::Reachable(Some(probe)), Self::Reachable(None)) => {
                Self::Reachable(Some(probe.clone()))
            }
            (_, seen) => seen,
        }
    }
}

/// Up to the next of 1, 2, 5, 10, 20, 50 … milliseconds.
fn rounded(latency: Duration) -> Duration {
    let mut decade = Duration::from_millis(1);
    loop {
        for step in [1, 2, 5] {
            if latency <= decade * step {
                return decade * step;
            }
        }
        decade *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_have_few_steps() {
        for (micros, millis) in [
            (0, 1),
            (1_000, 1),
            (1_001, 2),
            (4_000, 5),
            (7_300, 10),
            (60_000, 100),
            (3_000_000, 5_000),
            (59_000_000, 100_000),
        ] {
            assert_eq!(
                rounded(Duration::from_micros(micros)),
                Duration::from_millis(millis)
            );
        }
    }

    #[test]
    fn what_a_probe_found_stays_known_while_the_plane_answers() {
        let probe = Probe::new("v1.36.3", Duration::from_millis(3));
        assert_eq!(probe.version, "1.36.3");
        let probed = PlaneState::Reachable(Some(probe));
        assert_eq!(probed.next(PlaneState::Reachable(None)), probed);
        let troubled = PlaneState::troubled(&Trouble::Unreachable("gone".to_owned()));
        assert_eq!(probed.next(troubled.clone()), troubled);
        let back = troubled.next(PlaneState::Reachable(None));
        assert_eq!(back, PlaneState::Reachable(None));
    }
}
