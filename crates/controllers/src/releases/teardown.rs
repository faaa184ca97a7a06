//! The end of a release: its objects go, in reverse order, and then it does. It always ends: with everything
//! gone, or with a word from a person.

use std::{sync::Arc, time::Duration};

use quadrille_engine::{self as engine, Site};
use quadrille_objects::{
    Identity, Record,
    plan::{self, Question},
};
use quadrille_planes::{PlaneName, Trouble};
use quadrille_types::{
    annotations,
    conditions::{ConditionType, Holds, Judgement, Reason, record},
};
use tokio::time::Instant;

use super::{
    facts::Facts,
    inventory,
    run::{Again, Run},
    status,
    world::{Inner, name_of},
    writes,
};
use crate::queue::Urgency;

/// A removal that takes no longer than this is not worth a status.
const QUIETLY: Duration = Duration::from_secs(2);
/// How often to look at what is on its way out, should a watch have missed it.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Where the objects of a release are.
enum Place {
    Site(PlaneName, Site),
    /// Nowhere that we can reach, and why.
    Nowhere(String),
    /// Not everything was read yet.
    Unknown,
}

pub(super) async fn run(mut run: Run<'_>) -> Result<Option<Again>, Trouble> {
    if !run.facts.is_held() {
        return Ok(None);
    }
    if run.facts.records.is_empty() {
        writes::let_go(run.context, &run.facts).await?;
        return Ok(None);
    }
    if is_abandoned(&run) {
        let left: Vec<String> = run
            .facts
            .records
            .iter()
            .map(|record| record.identity.to_string())
            .collect();
        let note = format!("left behind, as asked: {}", left.join(", "));
        run.tell(true, Reason::Abandoned.as_str(), "Abandon", note);
        writes::let_go(run.context, &run.facts).await?;
        return Ok(None);
    }
    let since = *run
        .memory
        .lock()
        .removing_since
        .get_or_insert_with(Instant::now);
    let (plane, site) = match find(&run) {
        Place::Site(plane, site) => (plane, site),
        Place::Unknown => return Ok(None),
        Place::Nowhere(why) => {
            let words = format!(
                "{why}; to leave {} there, annotate the release with {}: \"true\"",
                count(run.facts.records.len()),
                annotations::ABANDON
            );
            let left = run.facts.records.clone();
            say(&mut run, &left, Reason::CleanupFailed, words).await?;
            return Ok(None);
        }
    };
    if let Some(words) = in_use(&run, &plane) {
        let left = run.facts.records.clone();
        say(&mut run, &left, Reason::DeletionBlocked, words).await?;
        return Ok(Some(Again::after(LOOK_AGAIN)));
    }
    remove(&mut run, &site, since).await
}

async fn remove(run: &mut Run<'_>, site: &Site, since: Instant) -> Result<Option<Again>, Trouble> {
    let facts = Arc::clone(&run.facts);
    for record in &facts.records {
        site.watch(&record.identity.kind, &record.version);
    }
    if since.elapsed() > LOOK_AGAIN {
        // What takes so long may be gone, and a watch may have lost its end.
        let gone = run.memory.lock().gone.clone();
        let left = facts.records.iter();
        for record in left.filter(|record| !gone.contains(&record.identity)) {
            if let Err(failure) = engine::look(site, record).await {
                tracing::debug!(release = %facts.key, reason = failure.reason, "not looked at");
            }
        }
    }
    let mut plan = {
        let seen = site.sights().at_once();
        plan::plan(&Question {
            stamp: &facts.stamp(),
            owner: &facts.uid,
            desired: &[],
            records: &facts.records,
            look: |identity: &Identity| seen.look(identity),
            may_remove_anything: true,
        })
    };
    let mut left = facts.records.clone();
    {
        let memory = run.memory.lock();
        let is_left = |index: usize| !memory.gone.contains(&facts.records[index].identity);
        plan.removals.retain(|removal| is_left(removal.index));
        left.retain(|record| !memory.gone.contains(&record.identity));
    }
    let removed = engine::remove(site, &facts.uid, &facts.records, &plan.removals).await;
    run.forget_removed(&facts.records, removed, &mut left);
    if left.is_empty() {
        writes::let_go(run.context, &run.facts).await?;
        return Ok(None);
    }
    let (failure, retry) = {
        let memory = run.memory.lock();
        let failure = left.iter().find_map(|record| {
            let failure = &memory.standing.get(&record.identity)?.failure;
            let reason = if failure.reason == engine::HOLDS_OTHERS {
                Reason::DeletionBlocked
            } else {
                Reason::CleanupFailed
            };
            let words = format!("{}: {}", record.identity, failure.message);
            Some((reason, words))
        });
        let retry = memory
            .standing
            .values()
            .map(|standing| standing.backoff.until)
            .min();
        (failure, retry)
    };
    let now = Instant::now();
    let wait = retry.map_or(LOOK_AGAIN, |at| at.saturating_duration_since(now));
    match failure {
        Some((reason, words)) => say(run, &left, reason, words).await?,
        None if since.elapsed() > QUIETLY => {
            let words = waiting(run, &left);
            say(run, &left, Reason::CleanupInProgress, words).await?;
        }
        None => {
            return Ok(Some(Again {
                after: QUIETLY + Duration::from_millis(100),
                urgency: Urgency::Background,
            }));
        }
    }
    Ok(Some(Again::after(wait)))
}

fn is_abandoned(run: &Run<'_>) -> bool {
    let by_plane = run.facts.said.plane.as_ref().is_some_and(|plane| {
        let world = run.context.world.look();
        let known = world.planes.get(&name_of(plane));
        known.is_some_and(|plane| plane.is_abandoned)
    });
    run.facts.is_abandoned || by_plane
}

/// The plane that was written down: whatever became of the environment since.
fn find(run: &Run<'_>) -> Place {
    let world = run.context.world.look();
    if !(world.shelves.planes.is_complete() && world.has_releases) {
        return Place::Unknown;
    }
    let Some(plane) = &run.facts.said.plane else {
        return Place::Nowhere("nobody knows which plane the objects are on".to_owned());
    };
    let name = name_of(plane);
    match world.planes.get(&name) {
        None if world
            .shelves
            .planes
            .find(&name.namespace, &name.name)
            .is_some() =>
        {
            Place::Unknown
        }
        None => Place::Nowhere(format!("DataPlane {name} is gone: create it again")),
        Some(known)
            if plane
                .uid
                .as_ref()
                .is_some_and(|uid| *uid.as_str() != *known.uid) =>
        {
            Place::Nowhere(format!(
                "DataPlane {name} was made anew, and may be another cluster"
            ))
        }
        Some(known) => match (&known.site, &known.problem) {
            (Some(site), _) => Place::Site(name, site.clone()),
            (None, Some((_, message))) => Place::Nowhere(format!("DataPlane {name}: {message}")),
            (None, None) => Place::Unknown,
        },
    }
}

/// Why the release must not go yet: others stand on it.
fn in_use(run: &Run<'_>, plane: &PlaneName) -> Option<String> {
    let facts = &run.facts;
    let mut world = run.context.world.look();
    let words = users(&world, facts, plane);
    if words.is_some() {
        world.block(&facts.key);
    }
    words
}

fn users(world: &Inner, facts: &Facts, plane: &PlaneName) -> Option<String> {
    let dependents: Vec<String> = world
        .dependents(&facts.key)
        .filter(|other| !other.records.is_empty())
        .map(|other| other.key.name.to_string())
        .collect();
    if !dependents.is_empty() {
        return Some(format!(
            "other releases depend on it and have objects in the plane: {}: delete them first",
            dependents.join(", ")
        ));
    }
    facts
        .records
        .iter()
        .filter(|record| record.identity.kind.is("", "Namespace"))
        .find_map(|record| {
            let guests = world.guests(plane, &record.identity.name, &facts.key);
            let names: Vec<String> = guests.iter().map(ToString::to_string).collect();
            (!names.is_empty()).then(|| {
                format!(
                    "Namespace {} holds objects of other releases: {}: delete them first",
                    record.identity.name,
                    names.join(", ")
                )
            })
        })
}

fn waiting(run: &Run<'_>, left: &[Record]) -> String {
    let memory = run.memory.lock();
    let held = left.iter().find_map(|record| {
        let finalizers = memory.held_by.get(&record.identity)?;
        (!finalizers.is_empty()).then(|| {
            format!(
                "{} is held by finalizers of others: {}; to leave it, annotate the release with {}: \"true\"",
                record.identity,
                finalizers.join(", "),
                annotations::ABANDON
            )
        })
    });
    held.unwrap_or_else(|| format!("{} on the way out", count(left.len())))
}

fn count(objects: usize) -> String {
    match objects {
        1 => "1 object".to_owned(),
        many => format!("{many} objects"),
    }
}

/// Says how it goes, if that is new. That something is gone by now is not worth a write of its own, but goes with
/// one.
async fn say(
    run: &mut Run<'_>,
    left: &[Record],
    reason: Reason,
    message: String,
) -> Result<(), Trouble> {
    let mut status = run.facts.status();
    let now = k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(status::now());
    let generation = Some(run.facts.generation);
    let mut changed = false;
    for (condition, holds) in [
        (ConditionType::Finalizing, Holds::True),
        (ConditionType::Ready, Holds::False),
    ] {
        let judgement = Judgement {
            condition,
            holds,
            reason: reason.as_str(),
            message: message.clone(),
            generation,
        };
        changed |= record(&mut status.conditions, judgement, &now);
    }
    status.resources.retain(|entry| {
        left.iter()
            .any(|record| inventory::is(entry, &record.identity))
    });
    if changed {
        let is_warning = reason != Reason::CleanupInProgress;
        if is_warning {
            run.tell(true, reason.as_str(), "Delete", message);
        }
        run.facts = writes::status(run.context, &run.facts, status).await?;
    }
    Ok(())
}
