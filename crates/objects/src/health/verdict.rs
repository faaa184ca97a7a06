//! What is said of one object, and of a set of them.

use std::{borrow::Cow, fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::selector::PodSelector;

/// How long something may take to get where it is going, where nothing else is known.
pub(super) const PATIENCE: Duration = Duration::from_mins(10);

const MESSAGE_LIMIT: usize = 300;
const REASON_LIMIT: usize = 80;

/// How an object is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Health {
    /// Nothing is known that would allow a verdict.
    Unknown,
    /// It is on its way to what was asked for.
    Progressing,
    /// It is as asked for.
    Healthy,
    /// It is at rest on purpose.
    Suspended,
    /// It will not get there without help.
    Degraded,
}

impl Health {
    /// The word for it, as status carries it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "Unknown",
            Self::Progressing => "Progressing",
            Self::Healthy => "Healthy",
            Self::Suspended => "Suspended",
            Self::Degraded => "Degraded",
        }
    }

    const fn gravity(self) -> u8 {
        match self {
            Self::Healthy => 0,
            Self::Suspended => 1,
            Self::Unknown => 2,
            Self::Progressing => 3,
            Self::Degraded => 4,
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// How a set is doing: as its worst member. Trouble outweighs movement, movement what is unknown (it
/// will be asked again), and what rests on purpose outweighs what is well, so that a scaled-down
/// component with its config shows as suspended. A set of nothing is healthy.
pub fn worst(states: impl IntoIterator<Item = Health>) -> Health {
    states
        .into_iter()
        .max_by_key(|health| health.gravity())
        .unwrap_or(Health::Healthy)
}

/// What is to be said of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How it is doing.
    pub health: Health,
    /// Why, for machines: one word that stays as long as the trouble does.
    pub reason: Option<Cow<'static, str>>,
    /// Why, for people: one short line. Only a progressing thing counts in it.
    pub message: Option<String>,
    /// A progressing thing that stays so for this long is [`overdue`]; `None` may take for ever.
    /// Progress shows in the message, so the time is best counted from when the verdict last changed.
    pub deadline: Option<Duration>,
    /// The pods to look at for the final verdict; set as long as a workload has not recovered.
    pub pods: Option<PodSelector>,
}

/// Nothing is known.
impl Default for Verdict {
    fn default() -> Self {
        Self::bare(Health::Unknown)
    }
}

impl Verdict {
    /// It is as asked for.
    pub(super) fn healthy() -> Self {
        Self::bare(Health::Healthy)
    }

    /// It rests on purpose.
    pub(super) fn suspended(reason: &'static str, message: &str) -> Self {
        Self::bare(Health::Suspended).because(reason, message)
    }

    /// Nothing can be said.
    pub(super) fn unknown(reason: &'static str, message: &str) -> Self {
        Self::bare(Health::Unknown).because(reason, message)
    }

    /// It is on its way, and has the usual time for it.
    pub(super) fn progressing(reason: impl Into<Cow<'static, str>>, message: &str) -> Self {
        let verdict = Self::bare(Health::Progressing).because(reason, message);
        verdict.within(Some(PATIENCE))
    }

    /// It needs help.
    pub(super) fn degraded(reason: impl Into<Cow<'static, str>>, message: &str) -> Self {
        Self::bare(Health::Degraded).because(reason, message)
    }

    /// The same with another deadline.
    pub(super) fn within(mut self, deadline: Option<Duration>) -> Self {
        self.deadline = deadline;
        self
    }

    /// The same, subject to what the pods say.
    pub(super) fn judged_by(mut self, pods: Option<PodSelector>) -> Self {
        self.pods = pods;
        self
    }

    /// The same in other words.
    pub(super) fn saying(mut self, message: &str) -> Self {
        self.message = Some(one_line(message, MESSAGE_LIMIT)).filter(|line| !line.is_empty());
        self
    }

    fn bare(health: Health) -> Self {
        Self {
            health,
            reason: None,
            message: None,
            deadline: None,
            pods: None,
        }
    }

    fn because(mut self, reason: impl Into<Cow<'static, str>>, message: &str) -> Self {
        let reason = match reason.into() {
            Cow::Borrowed(word) => Cow::Borrowed(word),
            Cow::Owned(word) => Cow::Owned(one_line(&word, REASON_LIMIT)),
        };
        self.reason = Some(reason).filter(|reason| !reason.is_empty());
        self.saying(message)
    }
}

/// The first of the gravest verdicts.
pub(super) fn gravest(verdicts: impl Iterator<Item = Verdict>) -> Option<Verdict> {
    verdicts.reduce(|known, next| {
        if next.health.gravity() > known.health.gravity() {
            next
        } else {
            known
        }
    })
}

/// What is said of a progressing thing whose deadline is over; anything else stays as it is.
pub fn overdue(verdict: Verdict) -> Verdict {
    if verdict.health != Health::Progressing {
        return verdict;
    }
    Verdict {
        health: Health::Degraded,
        reason: Some(Cow::Borrowed("ProgressDeadlineExceeded")),
        deadline: None,
        ..verdict
    }
}

/// The text without line breaks and runs of blanks, cut to so many characters.
fn one_line(text: &str, limit: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    if line.chars().nth(limit).is_none() {
        return line;
    }
    line.chars().take(limit - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_as_well_as_its_worst_member() {
        use Health::{Degraded, Healthy, Progressing, Suspended, Unknown};
        assert_eq!(worst([]), Healthy);
        assert_eq!(worst([Healthy, Suspended]), Suspended);
        assert_eq!(worst([Suspended, Unknown, Healthy]), Unknown);
        assert_eq!(worst([Unknown, Progressing]), Progressing);
        assert_eq!(worst([Degraded, Progressing, Unknown]), Degraded);
    }

    #[test]
    fn only_what_progresses_can_be_overdue() {
        let late = overdue(Verdict::progressing(
            "Rollout",
            "1 of 3 replicas are available",
        ));
        assert_eq!(late.health, Health::Degraded);
        assert_eq!(late.reason.as_deref(), Some("ProgressDeadlineExceeded"));
        assert_eq!(
            late.message.as_deref(),
            Some("1 of 3 replicas are available")
        );
        assert_eq!(late.deadline, None);
        assert_eq!(overdue(Verdict::healthy()), Verdict::healthy());
    }

    #[test]
    fn a_message_is_one_short_line() {
        let verdict = Verdict::degraded("Broken", " a\n\tb\u{0} c ");
        assert_eq!(verdict.message.as_deref(), Some("a b c"));
        let long = Verdict::degraded("Broken", &"ä".repeat(1000));
        let message = long.message.unwrap();
        assert_eq!(message.chars().count(), MESSAGE_LIMIT);
        assert!(message.ends_with("ä…"));
        assert_eq!(Verdict::degraded("Broken", "\n").message, None);
    }

    #[test]
    fn the_states_have_the_words_of_the_contract() {
        for (health, word) in [
            (Health::Unknown, "Unknown"),
            (Health::Progressing, "Progressing"),
            (Health::Healthy, "Healthy"),
            (Health::Suspended, "Suspended"),
            (Health::Degraded, "Degraded"),
        ] {
            assert_eq!(health.to_string(), word);
            assert_eq!(serde_json::to_value(health).unwrap(), word);
        }
    }
}
