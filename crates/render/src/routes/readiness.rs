//! Whether what was rendered is in force, by what its objects say of themselves.

use quadrille_objects::health::{self, Health};
use serde_json::Value;

use crate::plan::Planned;

/// Whether something can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It can: its gateway has accepted every route, and every policy is in force.
    Ready,
    /// Not yet: somebody has not said anything, or is still at work.
    Waiting {
        /// Why, for machines.
        reason: String,
        /// Why, for people.
        message: String,
    },
    /// It cannot, until something changes.
    Refused {
        /// Why, for machines: the word of whoever refused.
        reason: String,
        /// Why, for people.
        message: String,
    },
}

/// Judges objects by what is live of them: an object that is not there, or that nobody has answered yet, is waited for.
/// What is refused outweighs what is waited for.
pub fn readiness<'a>(
    planned: &[Planned],
    live: impl Fn(&Planned) -> Option<&'a Value>,
) -> Readiness {
    let mut waiting = None;
    for one in planned {
        let text = |path: &str| one.object.pointer(path).and_then(Value::as_str);
        let called = format!(
            "{} {}",
            text("/kind").unwrap_or_default(),
            text("/metadata/name").unwrap_or_default()
        );
        let Some(live) = live(one) else {
            waiting.get_or_insert_with(|| Readiness::Waiting {
                reason: "NotApplied".to_owned(),
                message: format!("{called} is not there yet"),
            });
            continue;
        };
        let verdict = health::of(live);
        let reason = verdict
            .reason
            .unwrap_or_else(|| "NotAccepted".into())
            .into_owned();
        let message = verdict
            .message
            .unwrap_or_else(|| "says nothing more".to_owned());
        let message = format!("{called}: {message}");
        match verdict.health {
            Health::Healthy | Health::Suspended => {}
            Health::Degraded => return Readiness::Refused { reason, message },
            Health::Progressing | Health::Unknown => {
                waiting.get_or_insert(Readiness::Waiting { reason, message });
            }
        }
    }
    waiting.unwrap_or(Readiness::Ready)
}
