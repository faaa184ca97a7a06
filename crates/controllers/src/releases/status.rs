//! The status of a release: a pure function of what was written before and what is known now.

use std::{collections::HashMap, time::Duration};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use quadrille_engine::Doing;
use quadrille_objects::{Desired, Identity, Record, health};
use quadrille_types::{
    RawObject, ReleaseStatus,
    conditions::{ConditionType, Holds, Judgement, Reason, find, record},
    release::{Health, ObjectError, ObjectStatus, PlaneRef},
};

use super::inventory;

/// What is known now.
pub(crate) struct Known<'a> {
    /// The generation that this is about.
    pub(crate) generation: i64,
    /// The plane that the objects are on.
    pub(crate) plane: Option<PlaneRef>,
    /// What is asked for.
    pub(crate) desired: &'a [Desired],
    /// What is, or may be, in the plane.
    pub(crate) records: Vec<Record>,
    /// What went wrong, by object.
    pub(crate) failures: HashMap<Identity, ObjectError>,
    /// How objects are doing; nothing for those that nobody sees.
    pub(crate) seen: HashMap<Identity, Doing>,
    /// Why nothing is removed, if something should be.
    pub(crate) blocked: Option<String>,
    /// Why nothing is applied, if something is in the way.
    pub(crate) held: Option<(&'static str, String)>,
    /// Whether objects are about to be applied.
    pub(crate) is_applying: bool,
    /// Now.
    pub(crate) now: Timestamp,
}

/// Now, as exactly as a status can say it: what is written is what is remembered.
pub(super) fn now() -> Timestamp {
    let now = Timestamp::now();
    now.round(jiff::Unit::Second).unwrap_or(now)
}

/// The status that follows, and when it has to be looked at again because a deadline passes.
pub(crate) fn next(before: &ReleaseStatus, known: &Known<'_>) -> (ReleaseStatus, Option<Duration>) {
    let now = Time(known.now);
    let mut wake = None;
    let mut status = ReleaseStatus {
        observed_generation: Some(known.generation),
        conditions: before.conditions.clone(),
        plane: known.plane.clone(),
        healthy: None,
        resources: Vec::with_capacity(known.records.len()),
    };
    for written in &known.records {
        let known_before = before
            .resources
            .iter()
            .find(|entry| inventory::is(entry, &written.identity));
        let desired = known
            .desired
            .iter()
            .find(|desired| desired.identity == written.identity);
        let mut entry = known_before
            .cloned()
            .unwrap_or_else(|| inventory::blank(written));
        inventory::write(&mut entry, written);
        entry.error = known.failures.get(&written.identity).cloned();
        let doing = known.seen.get(&written.identity);
        if let Some(doing) = doing.filter(|_| entry.error.is_none()) {
            let due = judge(&mut entry, doing, &now);
            wake = [wake, due].into_iter().flatten().min();
        } else if entry.error.is_some() || known.held.is_some() {
            doubt(&mut entry, &now);
        } else if desired.is_some() && entry.health_status.is_none() {
            entry.health_status = Some(Health::Unknown);
        }
        status.resources.push(entry);
    }
    judge_all(&mut status, known, &now);
    (status, wake)
}

/// Writes a verdict into an entry. What is only a newer count of the same trouble changes nothing.
fn judge(entry: &mut ObjectStatus, doing: &Doing, now: &Time) -> Option<Duration> {
    let (verdict, wake) = match doing.verdict.deadline {
        Some(deadline) if doing.verdict.health == health::Health::Progressing => {
            if doing.lasts >= deadline {
                (health::overdue(doing.verdict.clone()), None)
            } else {
                (
                    doing.verdict.clone(),
                    Some(deadline.saturating_sub(doing.lasts)),
                )
            }
        }
        _ => (doing.verdict.clone(), None),
    };
    let said = health_word(verdict.health);
    // The state is news; so is another reason for trouble. Counts of what is under way are not.
    let is_news = entry.health_status != Some(said)
        || (said == Health::Degraded && entry.health_message != verdict.message);
    if is_news {
        entry.health_status = Some(said);
        entry.health_message = verdict.message;
        entry.status = doing.excerpt.as_ref().map(RawObject::of_text);
        entry.last_observed_time = Some(now.clone());
    }
    wake
}

/// What is there may be somebody else's, or not what was asked for, or nobody can look: how it is doing is not known.
fn doubt(entry: &mut ObjectStatus, now: &Time) {
    if entry.health_status != Some(Health::Unknown) {
        entry.health_status = Some(Health::Unknown);
        entry.health_message = None;
        entry.status = None;
        entry.last_observed_time = Some(now.clone());
    }
}

fn health_word(health: health::Health) -> Health {
    match health {
        health::Health::Unknown => Health::Unknown,
        health::Health::Progressing => Health::Progressing,
        health::Health::Healthy => Health::Healthy,
        health::Health::Suspended => Health::Suspended,
        health::Health::Degraded => Health::Degraded,
    }
}

fn judge_all(status: &mut ReleaseStatus, known: &Known<'_>, now: &Time) {
    // While it is not known what is asked for, it is what is there.
    let is_unknown = known.held.is_some() && known.desired.is_empty();
    let wanted = |entry: &ObjectStatus| {
        is_unknown
            || known
                .desired
                .iter()
                .any(|desired| inventory::is(entry, &desired.identity))
    };
    let objects: Vec<&ObjectStatus> = status
        .resources
        .iter()
        .filter(|entry| wanted(entry))
        .collect();
    let healthy = objects
        .iter()
        .filter(|entry| {
            entry.error.is_none()
                && matches!(
                    entry.health_status,
                    Some(Health::Healthy | Health::Suspended)
                )
        })
        .count();
    let missing = known.desired.len().saturating_sub(objects.len());
    let count = format!("{healthy}/{}", objects.len() + missing);
    let applied = applied(&objects, known, status.resources.len());
    let ready = ready(&objects, missing, known);
    let whole = match (&applied, &ready) {
        (not, _) if not.0 != Holds::True => not.clone(),
        (_, ready) => ready.clone(),
    };
    status.healthy = Some(count);
    let mut say = |condition, (holds, reason, message): (Holds, &'static str, String)| {
        let judgement = Judgement {
            condition,
            holds,
            reason,
            message,
            generation: Some(known.generation),
        };
        record(&mut status.conditions, judgement, now);
    };
    say(ConditionType::ResourcesApplied, applied);
    say(ConditionType::ResourcesReady, ready);
    say(ConditionType::Ready, whole);
    match &known.blocked {
        Some(why) => say(
            ConditionType::PruneBlocked,
            (Holds::True, Reason::TooMuchToPrune.as_str(), why.clone()),
        ),
        None if find(&status.conditions, ConditionType::PruneBlocked).is_some() => {
            status
                .conditions
                .retain(|known| known.type_ != ConditionType::PruneBlocked.as_str());
        }
        None => {}
    }
}

type Said = (Holds, &'static str, String);

fn applied(objects: &[&ObjectStatus], known: &Known<'_>, inventory: usize) -> Said {
    if let Some((reason, message)) = &known.held {
        return (Holds::False, reason, message.clone());
    }
    if known.is_applying {
        let words = format!("{} are being applied", things(known.desired.len()));
        return (Holds::False, Reason::Applying.as_str(), words);
    }
    let failed: Vec<&&ObjectStatus> = objects
        .iter()
        .filter(|entry| entry.error.is_some())
        .collect();
    if let Some(first) = failed.first() {
        return (
            Holds::False,
            Reason::ApplyFailed.as_str(),
            failures(first, failed.len()),
        );
    }
    let unsent = objects
        .iter()
        .filter(|entry| entry.digest.is_none())
        .count();
    if unsent > 0 {
        let words = format!("{} wait to be applied", things(unsent));
        return (Holds::False, Reason::Applying.as_str(), words);
    }
    let extra = inventory - objects.len();
    if objects.is_empty() && extra == 0 {
        let words = "nothing is asked for".to_owned();
        return (Holds::True, Reason::NothingToApply.as_str(), words);
    }
    let words = match extra {
        0 => format!("{} in place", things_are(objects.len())),
        extra => format!(
            "{} in place; {} no longer asked for, and not gone yet",
            things_are(objects.len()),
            things_are(extra)
        ),
    };
    (Holds::True, Reason::ApplySucceeded.as_str(), words)
}

fn failures(first: &ObjectStatus, count: usize) -> String {
    let error = first.error.as_ref();
    let words = error.map_or("", |error| error.message.as_str());
    let said = format!(
        "resource {:?}: {}: {words}",
        first.id.as_str(),
        called(first)
    );
    match count {
        1 => said,
        more => format!("{said} (and {} more)", more - 1),
    }
}

fn ready(objects: &[&ObjectStatus], missing: usize, known: &Known<'_>) -> Said {
    let worst = |health: Health| {
        objects
            .iter()
            .find(|entry| entry.health_status == Some(health))
    };
    let said = |entry: &ObjectStatus| match &entry.health_message {
        Some(message) => format!("{}: {message}", called(entry)),
        None => called(entry),
    };
    if let Some(entry) = worst(Health::Degraded) {
        return (
            Holds::False,
            Reason::ResourcesDegraded.as_str(),
            said(entry),
        );
    }
    // What cannot be known is not said to be well, and not to be ill either.
    if let Some((reason, message)) = &known.held {
        let is_nothing_known = objects.is_empty() && known.desired.is_empty();
        if is_nothing_known || worst(Health::Unknown).is_some() {
            return (Holds::Unknown, reason, message.clone());
        }
    }
    let failed = objects.iter().find(|entry| entry.error.is_some());
    if let Some(entry) = failed {
        let words = failures(entry, 1);
        return (Holds::Unknown, Reason::ApplyFailed.as_str(), words);
    }
    for health in [Health::Progressing, Health::Unknown] {
        if let Some(entry) = worst(health) {
            return (
                Holds::False,
                Reason::ResourcesProgressing.as_str(),
                said(entry),
            );
        }
    }
    if missing > 0 {
        let words = format!("{} not in place yet", things_are(missing));
        return (Holds::False, Reason::ResourcesProgressing.as_str(), words);
    }
    if !objects.is_empty()
        && objects
            .iter()
            .all(|entry| entry.health_status == Some(Health::Suspended))
    {
        let words = "everything is stopped on purpose".to_owned();
        return (Holds::True, Reason::ResourcesSuspended.as_str(), words);
    }
    (
        Holds::True,
        Reason::ResourcesHealthy.as_str(),
        format!("{} well", things_are_doing(objects.len())),
    )
}

fn called(entry: &ObjectStatus) -> String {
    if entry.namespace.is_empty() {
        format!("{} {}", entry.kind, entry.name)
    } else {
        format!("{} {}/{}", entry.kind, entry.namespace, entry.name)
    }
}

fn things(count: usize) -> String {
    if count == 1 {
        "1 object".to_owned()
    } else {
        format!("{count} objects")
    }
}

fn things_are(count: usize) -> String {
    format!(
        "{} {}",
        things(count),
        if count == 1 { "is" } else { "are" }
    )
}

fn things_are_doing(count: usize) -> String {
    match count {
        0 => "nothing is asked for, so all is".to_owned(),
        count => format!("{} doing", things_are(count)),
    }
}

#[cfg(test)]
mod tests;
