//! What ran when: the memory that promotion goes by.

use jiff::Timestamp;
use quadrille_types::release_binding::{LONGEST_HISTORY, Ran};

use crate::alarms::noted;

/// Notes that a release runs: since now, if it did not before.
pub(crate) fn runs(
    history: &mut Vec<Ran>,
    release: &str,
    now: Timestamp,
    requested_by: Option<String>,
    approved_by: Option<String>,
) {
    if history
        .first()
        .is_some_and(|ran| ran.release_name == release)
    {
        return;
    }
    let ran = Ran {
        release_name: release.to_owned(),
        since: Some(noted(now)),
        ready_at: None,
        requested_by,
        approved_by,
    };
    history.insert(0, ran);
    history.truncate(LONGEST_HISTORY);
}

/// Notes that what runs is ready: since now, if it never was.
pub(crate) fn is_ready(history: &mut [Ran], now: Timestamp) {
    if let Some(ran) = history.first_mut().filter(|ran| ran.ready_at.is_none()) {
        ran.ready_at = Some(noted(now));
    }
}
