//! What must be done so that a cluster matches what is asked for: desired × written down × seen.

mod guard;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

pub use guard::Blocked;

use crate::{
    desired::{Desired, autoscaled},
    digest::Digest,
    identity::{Identity, Version},
    live::{Live, Sight},
    owned::ReplicasOwner,
    scaled::{self, Replicas},
    stage::Stage,
    stamp::Stamp,
};

/// What was written down about an object before and after it was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Which object of the set it is.
    pub id: Arc<str>,
    /// Which object it is in the cluster.
    pub identity: Identity,
    /// The version that it was written in.
    pub version: Version,
    /// The uid that the server gave it; nothing until the server answered.
    pub uid: Option<Arc<str>>,
    /// The digest of what was applied.
    pub digest: Option<Digest>,
    /// The digest of the fields that were ours after it was applied.
    pub owned: Option<Digest>,
}

/// What must be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Desired objects (by index) whose identity must be written down before anything is sent.
    pub unrecorded: Vec<usize>,
    /// What to apply, in order of stages.
    pub applies: Vec<Apply>,
    /// What to take away, in reverse order of stages.
    pub removals: Vec<Removal>,
    /// Why nothing may be taken away without a word from a person.
    pub blocked: Option<Blocked>,
    /// Desired objects (by index) that are on their way out and must be gone before they can be made anew.
    pub waiting: Vec<usize>,
}

/// One object to apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apply {
    /// Which desired object.
    pub index: usize,
    /// What to send, before it is stamped.
    pub text: Arc<str>,
    /// The digest of what is sent.
    pub digest: Digest,
    /// How to send it.
    pub mode: Mode,
    /// Why.
    pub why: Why,
}

/// How an object is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only if nothing is there.
    CreateOnly,
    /// Onto what is there: it is ours.
    Update,
    /// Read first: what must be sent depends on what is there.
    LookFirst,
}

/// Why an object is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was never applied, or nobody knows.
    New,
    /// Something else is asked for now.
    Changed,
    /// It was there and is gone.
    Missing,
    /// Another one is there under its name.
    Replaced,
    /// Somebody changed it.
    Drifted,
}

impl Why {
    /// Whether somebody else's deed is undone.
    pub fn heals(self) -> bool {
        matches!(self, Self::Missing | Self::Replaced | Self::Drifted)
    }
}

/// One object to take away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Which record.
    pub index: usize,
    /// Its stage.
    pub stage: Stage,
    /// What to do with it.
    pub how: Leave,
}

/// How an object leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// It is deleted.
    Delete,
    /// It is on its way out already.
    Await,
    /// It has another owner now and stays.
    LetGo,
}

/// What a plan is made for.
pub struct Question<'a, Look> {
    /// What is put onto every object.
    pub stamp: &'a Stamp,
    /// Whose the objects are, as their label says it.
    pub owner: &'a str,
    /// What is asked for.
    pub desired: &'a [Desired],
    /// What was written down.
    pub records: &'a [Record],
    /// What can be seen.
    pub look: Look,
    /// Whether a person has allowed what would be blocked.
    pub may_remove_anything: bool,
}

/// What must be done.
pub fn plan<'live, Look>(question: &Question<'_, Look>) -> Plan
where
    Look: Fn(&Identity) -> Sight<'live>,
{
    let records: HashMap<&Identity, &Record> = question
        .records
        .iter()
        .map(|record| (&record.identity, record))
        .collect();
    let autoscaled = autoscaled(question.desired);
    let mut plan = Plan::default();
    for (index, desired) in question.desired.iter().enumerate() {
        let record = records.get(&desired.identity).copied();
        if record.is_none() {
            plan.unrecorded.push(index);
        }
        let sight = (question.look)(&desired.identity);
        if matches!(sight, Sight::Present(live) if live.deleting) {
            plan.waiting.push(index);
            continue;
        }
        let has_autoscaler = autoscaled.contains(&desired.identity);
        let effective = effective(question.stamp, desired, record, sight, has_autoscaler);
        if let Some((mode, why)) = needed(question.owner, record, sight, &effective) {
            let mode = match mode {
                Mode::Update if effective.unsure => Mode::LookFirst,
                mode => mode,
            };
            plan.applies.push(Apply {
                index,
                text: effective.text,
                digest: effective.digest,
                mode,
                why,
            });
        }
    }
    plan.applies
        .sort_by_key(|apply| question.desired[apply.index].stage);
    plan.removals = removals(question);
    if !question.may_remove_anything {
        plan.blocked = guard::check(question.desired, question.records, &plan.removals);
    }
    plan
}

/// What is to be sent for an object, given what can be seen.
struct Effective {
    text: Arc<str>,
    digest: Digest,
    /// What is right depends on what is there, and nobody has looked yet.
    unsure: bool,
    /// Somebody who is no autoscaler took `spec.replicas`.
    lost_replicas: bool,
}

fn effective(
    stamp: &Stamp,
    desired: &Desired,
    record: Option<&Record>,
    sight: Sight<'_>,
    has_autoscaler: bool,
) -> Effective {
    let sent = |replicas: &Replicas, unsure| {
        let text = match replicas {
            Replicas::AsWritten => Arc::clone(&desired.text),
            other => scaled::with_replicas(&desired.text, other),
        };
        Effective {
            digest: stamp.digest(&desired.id, &text),
            text,
            unsure,
            lost_replicas: false,
        }
    };
    if !scaled::is_scalable(&desired.identity.kind) {
        return sent(&Replicas::AsWritten, false);
    }
    let recorded = record.and_then(|record| record.digest);
    match sight {
        Sight::Present(live) => {
            let replicas = scaled::replicas(live, desired.has_replicas, has_autoscaler);
            let is_ours = live.replicas_owner == Some(ReplicasOwner::Ours);
            Effective {
                lost_replicas: desired.has_replicas && replicas == Replicas::AsWritten && !is_ours,
                ..sent(&replicas, false)
            }
        }
        Sight::Absent => sent(&Replicas::AsWritten, false),
        // Left out before: still left out, as long as nobody has looked.
        Sight::Unknown if desired.has_replicas => {
            let left_out = sent(&Replicas::LeftOut, false);
            if recorded == Some(left_out.digest) {
                left_out
            } else {
                sent(&Replicas::AsWritten, recorded.is_some())
            }
        }
        Sight::Unknown => sent(&Replicas::AsWritten, recorded.is_some()),
    }
}

/// The same text for an object that has been looked at after all.
pub fn settled(
    stamp: &Stamp,
    desired: &Desired,
    live: &Live,
    has_autoscaler: bool,
) -> (Arc<str>, Digest) {
    let found = effective(stamp, desired, None, Sight::Present(live), has_autoscaler);
    (found.text, found.digest)
}

fn needed(
    owner: &str,
    record: Option<&Record>,
    sight: Sight<'_>,
    effective: &Effective,
) -> Option<(Mode, Why)> {
    // What has another owner by now is not ours to write to without asking.
    let onto = match sight {
        Sight::Present(live) if live.owner.as_deref().is_some_and(|known| known != owner) => {
            Mode::CreateOnly
        }
        _ => Mode::Update,
    };
    let Some(record) = record.filter(|record| record.uid.is_some()) else {
        return Some((Mode::CreateOnly, Why::New));
    };
    match sight {
        Sight::Absent => Some((Mode::CreateOnly, Why::Missing)),
        Sight::Present(live) if Some(&live.uid) != record.uid.as_ref() => {
            Some((Mode::CreateOnly, Why::Replaced))
        }
        _ if record.digest != Some(effective.digest) => Some((onto, Why::Changed)),
        Sight::Present(live)
            if live.applied != record.digest
                || live.owned != record.owned
                || effective.lost_replicas =>
        {
            Some((onto, Why::Drifted))
        }
        Sight::Present(_) | Sight::Unknown => None,
    }
}

fn removals<'live, Look>(question: &Question<'_, Look>) -> Vec<Removal>
where
    Look: Fn(&Identity) -> Sight<'live>,
{
    let wanted: HashSet<&Identity> = question
        .desired
        .iter()
        .map(|object| &object.identity)
        .collect();
    let mut removals: Vec<Removal> = question
        .records
        .iter()
        .enumerate()
        .filter(|(_, record)| !wanted.contains(&record.identity))
        .map(|(index, record)| Removal {
            index,
            stage: Stage::of(&record.identity.kind),
            how: match (question.look)(&record.identity) {
                Sight::Present(live) if live.owner.as_deref() != Some(question.owner) => {
                    Leave::LetGo
                }
                Sight::Present(live) if live.deleting && Some(&live.uid) == record.uid.as_ref() => {
                    Leave::Await
                }
                _ => Leave::Delete,
            },
        })
        .collect();
    removals.sort_by_key(|removal| std::cmp::Reverse(removal.stage));
    removals
}

#[cfg(test)]
mod tests;
