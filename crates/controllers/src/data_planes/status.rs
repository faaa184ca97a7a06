//! The status of a plane: a pure function of what was written before and what is seen now.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use quadrille_planes::{PlaneState, VersionSkew, Way, version};
use quadrille_types::{
    DataPlane, DataPlaneStatus, annotations,
    conditions::{ConditionType, Holds, Judgement, Reason, find, record},
};
use serde_json::Value;

use crate::platform::step::{Found, names};

/// What is seen of a plane.
pub(super) struct Seen<'a> {
    /// The way to it, if there is one.
    pub(super) way: Option<&'a Way>,
    /// How it is doing, if there is a way.
    pub(super) state: Option<PlaneState>,
    /// Why there is no way.
    pub(super) problem: Option<(&'static str, String)>,
    /// When the credentials expire.
    pub(super) expires: Option<Timestamp>,
    /// Who uses the plane; only if it is to go.
    pub(super) users: Option<Users>,
    /// Whether its environments go with it.
    pub(super) is_cascading: bool,
    /// Now.
    pub(super) now: Timestamp,
}

/// Who uses a plane.
#[derive(Default)]
pub(super) struct Users {
    pub(super) environments: Vec<Found>,
    /// Releases with objects on it.
    pub(super) releases: Vec<String>,
}

impl Users {
    pub(super) fn are_none(&self) -> bool {
        self.environments.is_empty() && self.releases.is_empty()
    }
}

/// What is to be shown, and when that may change by itself.
pub(super) struct Shown {
    pub(super) status: DataPlaneStatus,
    pub(super) again: Option<Duration>,
}

/// How long before they expire credentials are called to mind.
const AHEAD: SignedDuration = SignedDuration::from_hours(14 * 24);

pub(super) fn next(plane: &DataPlane, seen: &Seen<'_>) -> Shown {
    let before = plane.status.clone().unwrap_or_default();
    let mut status = DataPlaneStatus {
        observed_generation: plane.metadata.generation,
        reached_by: Some(reached_by(plane, seen).to_owned()),
        credentials_expire: seen.expires.map(Time),
        ..before
    };
    if let Some(PlaneState::Reachable(Some(probe))) = &seen.state {
        status.version = Some(probe.version.clone());
        status.latency = Some(format!("{} ms", probe.latency.as_millis()));
    }
    let reachable = reachable(seen);
    let told = find(&status.conditions, ConditionType::Reachable).cloned();
    let now = Time(seen.now);
    let mut say = |condition, (holds, reason, message): (Holds, &'static str, String)| {
        let judgement = Judgement {
            condition,
            holds,
            reason,
            message,
            generation: plane.metadata.generation,
        };
        record(&mut status.conditions, judgement, &now);
    };
    let created = "Dataplane is created".to_owned();
    say(
        ConditionType::Created,
        (Holds::True, Reason::DataPlaneCreated.as_str(), created),
    );
    // Until a plane that was told of before is asked again, that is what is known.
    let is_told = seen.problem.is_none()
        && matches!(seen.state, None | Some(PlaneState::Unknown))
        && told.is_some_and(|told| told.observed_generation == plane.metadata.generation);
    if !is_told {
        say(ConditionType::Reachable, reachable.clone());
    }
    match &seen.users {
        None if is_told => {}
        None => say(ConditionType::Ready, reachable),
        Some(users) => {
            let words = going(users, seen.is_cascading, reachable.0 == Holds::False);
            say(
                ConditionType::Ready,
                (
                    Holds::False,
                    Reason::DataplaneFinalizing.as_str(),
                    words.clone(),
                ),
            );
            let reason = if users.are_none() || seen.is_cascading {
                Reason::CleanupInProgress
            } else {
                Reason::DeletionBlocked
            };
            say(
                ConditionType::Finalizing,
                (Holds::True, reason.as_str(), words),
            );
        }
    }
    Shown {
        status,
        again: seen
            .expires
            .and_then(|expires| look_again(expires, seen.now)),
    }
}

fn reached_by(plane: &DataPlane, seen: &Seen<'_>) -> &'static str {
    match seen.way {
        Some(Way::Local) => "local",
        None if plane.spec.cluster_agent.is_some() => "pull",
        Some(Way::Remote(_)) | None => "push",
    }
}

fn reachable(seen: &Seen<'_>) -> (Holds, &'static str, String) {
    if let Some((reason, message)) = &seen.problem {
        return (Holds::False, reason, message.clone());
    }
    match &seen.state {
        None | Some(PlaneState::Unknown) => (
            Holds::Unknown,
            Reason::NotTried.as_str(),
            "the plane is being asked".to_owned(),
        ),
        // A server that lets nobody in does not say why; the credentials do.
        Some(PlaneState::Troubled { .. })
            if let Some(expired) = seen.expires.filter(|expires| *expires <= seen.now) =>
        {
            let words =
                format!("the credentials for the plane expired on {expired:.0}: replace them");
            (Holds::False, "CertificateExpired", words)
        }
        Some(PlaneState::Troubled { reason, message }) => (Holds::False, reason, message.clone()),
        Some(PlaneState::Reachable(probe)) => {
            let version = probe.as_ref().map(|probe| probe.version.as_str());
            answers(version, seen)
        }
    }
}

/// What is to be said of a plane that answers.
fn answers(version: Option<&str>, seen: &Seen<'_>) -> (Holds, &'static str, String) {
    if let Some(expires) = seen.expires {
        let left = expires.duration_since(seen.now);
        if left < AHEAD {
            let words = format!(
                "the credentials for the plane expire on {expires:.0}: replace them before"
            );
            return (Holds::True, Reason::CertificateExpiring.as_str(), words);
        }
    }
    let said = version.map_or_else(String::new, |version| format!(" (Kubernetes {version})"));
    let skewed = |words: String| (Holds::True, Reason::VersionSkew.as_str(), words);
    match version.map(VersionSkew::of) {
        Some(VersionSkew::TooOld(_)) => skewed(format!(
            "the plane answers{said}, but is older than {}.{}: upgrade it",
            version::OLDEST.major,
            version::OLDEST.minor
        )),
        Some(VersionSkew::Untested(_)) => skewed(format!(
            "the plane answers{said}, which is newer than {}.{}, the newest that was tried",
            version::NEWEST.major,
            version::NEWEST.minor
        )),
        _ => (
            Holds::True,
            Reason::PlaneReachable.as_str(),
            format!("the plane answers{said}"),
        ),
    }
}

/// What was left on a plane, for people.
pub(super) fn left(users: &Users) -> String {
    let (environments, releases) = named(users);
    let mut left = Vec::new();
    if !users.environments.is_empty() {
        left.push(format!("Environment {environments}"));
    }
    if !users.releases.is_empty() {
        left.push(format!("Release {releases}"));
    }
    format!(
        "left behind, as asked: what is on it of {}",
        left.join(" and ")
    )
}

/// The names of environments and of releases.
fn named(users: &Users) -> (String, String) {
    let environments = users.environments.iter();
    let environments = names(environments.map(|found| &*found.thing.key.name));
    (
        environments,
        names(users.releases.iter().map(String::as_str)),
    )
}

fn going(users: &Users, is_cascading: bool, is_dead: bool) -> String {
    let words = waits_for(users, is_cascading);
    if users.are_none() || !is_dead {
        return words;
    }
    format!(
        "{words}; the plane does not answer: to leave what is on it, annotate it with {}: \"true\"",
        annotations::ABANDON
    )
}

fn waits_for(users: &Users, is_cascading: bool) -> String {
    let (environments, releases) = named(users);
    match (users.environments.is_empty(), users.releases.is_empty()) {
        (true, true) => "nothing is left on the plane".to_owned(),
        (true, false) => format!("releases have objects on it: {releases}: delete them first"),
        (false, _) if is_cascading => format!("waits for the end of Environment {environments}"),
        (false, _) => format!(
            "environments are on it: {environments}: delete them first, or annotate the plane with {}: \"true\"",
            annotations::CASCADE
        ),
    }
}

fn look_again(expires: Timestamp, now: Timestamp) -> Option<Duration> {
    let moment = [expires.saturating_sub(AHEAD).unwrap_or(expires), expires]
        .into_iter()
        .find(|moment| *moment > now)?;
    let left = Duration::try_from(moment.duration_since(now)).ok()?;
    Some(left.min(Duration::from_hours(24)) + Duration::from_secs(1))
}

/// The status as a merge: what is no longer there is said to be gone.
pub(super) fn patch(status: &DataPlaneStatus) -> Value {
    let mut patch = serde_json::to_value(status).unwrap_or_default();
    for field in ["version", "latency", "credentialsExpire", "reachedBy"] {
        if patch[field].is_null() {
            patch[field] = Value::Null;
        }
    }
    patch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_cannot_be_removed_from_a_dead_plane_may_be_left() {
        let users = Users {
            environments: Vec::new(),
            releases: vec!["acme/cart".to_owned()],
        };
        assert!(!going(&users, false, false).contains(annotations::ABANDON));
        for is_cascading in [false, true] {
            let words = going(&users, is_cascading, true);
            assert!(words.contains(annotations::ABANDON) && words.contains("acme/cart"));
        }
        assert!(!going(&Users::default(), false, true).contains(annotations::ABANDON));
        assert!(left(&users).ends_with("Release acme/cart"));
    }
}
