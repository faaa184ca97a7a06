//! The end of a release: its objects go, in reverse order, and then it does. It always ends: with everything
//! gone, or with a word from a person.

use std::{sync::Arc, time::Duration};

use quadrille_engine::{self as engine, Failure, Site};
use quadrille_objects::{
    Identity, Live, Record, Sight,
    plan::{self, Question},
};
use quadrille_planes::{PlaneName, PlaneState, Trouble};
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
    world::{End, Inner, NoWay, name_of},
    writes,
};
use crate::{platform::step, queue::Urgency};

/// A removal that takes no longer than this is not worth a status.
const QUIETLY: Duration = Duration::from_secs(2);
/// How often to look at what is on its way out, should a watch have missed it.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Where the objects of a release are.
enum Place {
    Site(PlaneName, Site),
    /// Nowhere that we can reach, and why.
    Nowhere(NoWay),
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
        if let Place::Site(_, site) = find(&run) {
            for record in &run.facts.records {
                site.follow_pods(&record.identity, None);
            }
        }
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
            let left = run.facts.records.clone();
            let obstacle = unreached(&why, left.len());
            say(&mut run, &left, obstacle).await?;
            // Whatever happens to the plane is told.
            return Ok(None);
        }
    };
    for record in &run.facts.records {
        site.watch(&record.identity.kind, &record.version);
    }
    if let Some(words) = in_use(&run, &plane, &site).await {
        let (left, again) = run.mend(&site).await?;
        let obstacle = Obstacle::new(Reason::DeletionBlocked, words);
        say(&mut run, &left, obstacle).await?;
        return Ok(Again::soonest(Some(Again::after(LOOK_AGAIN)), again));
    }
    remove(&mut run, &plane, &site, since).await
}

/// What is in the way of the end, or only waited for.
struct Obstacle {
    reason: Reason,
    /// What it comes from, for machines: the same one is not told twice, however its words change.
    cause: String,
    words: String,
}

impl Obstacle {
    fn new(reason: Reason, words: String) -> Self {
        Self {
            reason,
            cause: String::new(),
            words,
        }
    }
}

fn unreached(why: &NoWay, objects: usize) -> Obstacle {
    Obstacle {
        reason: Reason::CleanupFailed,
        cause: why.cause.to_owned(),
        words: format!(
            "{}; to leave {} there, annotate the release with {}: \"true\"",
            why.words,
            count(objects),
            annotations::ABANDON
        ),
    }
}

async fn remove(
    run: &mut Run<'_>,
    plane: &PlaneName,
    site: &Site,
    since: Instant,
) -> Result<Option<Again>, Trouble> {
    let facts = Arc::clone(&run.facts);
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
    run.forget_removed(site, removed, &mut left);
    if left.is_empty() {
        writes::let_go(run.context, &run.facts).await?;
        return Ok(None);
    }
    let now = Instant::now();
    let (obstacle, retry) = {
        let memory = run.memory.lock();
        let obstacle = left.iter().find_map(|record| {
            let failure = &memory.standing.get(&record.identity)?.failure;
            obstacle(plane, site, &record.identity, failure, left.len())
        });
        (obstacle, memory.retry(now))
    };
    let wait = retry.map_or(LOOK_AGAIN, |at| at.saturating_duration_since(now));
    match obstacle {
        Some(obstacle) => say(run, &left, obstacle).await?,
        // What was not even sent says nothing, and is tried again.
        None if retry.is_some() => {}
        None if since.elapsed() > QUIETLY => {
            let words = waiting(run, &left);
            say(run, &left, Obstacle::new(Reason::CleanupInProgress, words)).await?;
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

/// What a failure means for the end. That the plane is left alone for a while is not one: why it is, is.
fn obstacle(
    plane: &PlaneName,
    site: &Site,
    identity: &Identity,
    failure: &Failure,
    left: usize,
) -> Option<Obstacle> {
    let is_unsent = matches!(failure.reason.as_str(), "Paused" | "Crowded");
    if is_unsent || failure.is_about_plane {
        let state = site.plane().state().borrow().clone();
        let why = match &state {
            PlaneState::Troubled { reason, message } => NoWay::unanswered(plane, reason, message),
            _ if is_unsent => return None,
            _ => NoWay::unanswered(plane, "", &failure.message),
        };
        let mut obstacle = unreached(&why, left);
        if !is_unsent {
            obstacle.cause.clone_from(&failure.reason);
        }
        return Some(obstacle);
    }
    let reason = if failure.reason == engine::HOLDS_OTHERS {
        Reason::DeletionBlocked
    } else {
        Reason::CleanupFailed
    };
    Some(Obstacle {
        reason,
        cause: failure.reason.clone(),
        words: format!("{identity}: {}", failure.message),
    })
}

/// Whether a person said that objects may be left: of the release, of its plane, or of what it goes with.
fn is_abandoned(run: &Run<'_>) -> bool {
    let facts = &run.facts;
    let world = run.context.world.look();
    let by_plane = facts.said.plane.as_ref().is_some_and(|plane| {
        let known = world.planes.get(&name_of(plane));
        known.is_some_and(|plane| plane.is_abandoned)
    });
    let (namespace, shelves) = (&facts.key.namespace, &world.shelves);
    let environment = shelves.environments.find(namespace, &facts.environment);
    let project = shelves.projects.find(namespace, &facts.project);
    facts.is_abandoned
        || facts.is_left()
        || by_plane
        || environment.is_some_and(|owner| is_left(&**owner))
        || project.is_some_and(|owner| is_left(&**owner))
}

/// Whether an owner is on its way out and may leave what is on planes.
fn is_left(owner: &impl kube::Resource) -> bool {
    owner.meta().deletion_timestamp.is_some() && step::is_abandoned(owner)
}

/// The plane that was written down: whatever became of the environment since.
fn find(run: &Run<'_>) -> Place {
    let nowhere = |words| Place::Nowhere(NoWay { cause: "", words });
    let world = run.context.world.look();
    if !(world.shelves.planes.is_complete() && world.has_releases) {
        return Place::Unknown;
    }
    let Some(plane) = &run.facts.said.plane else {
        return nowhere("nobody knows which plane the objects are on".to_owned());
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
        None => nowhere(format!("DataPlane {name} is gone: create it again")),
        Some(known)
            if plane
                .uid
                .as_ref()
                .is_some_and(|uid| *uid.as_str() != *known.uid) =>
        {
            nowhere(format!(
                "DataPlane {name} was made anew, and may be another cluster"
            ))
        }
        Some(known) => match known.way(&name) {
            Some(Ok(site)) => Place::Site(name, site),
            Some(Err(why)) => Place::Nowhere(why),
            None => Place::Unknown,
        },
    }
}

/// Why the release must not go yet: others stand on it. Once it goes, it goes on: who came too late waits for its end,
/// and it must not wait for them in turn.
async fn in_use(run: &Run<'_>, plane: &PlaneName, site: &Site) -> Option<String> {
    let facts = &run.facts;
    if run.memory.lock().has_begun_to_go {
        return None;
    }
    let users = {
        let mut world = run.context.world.look();
        let users = users(&world, facts, plane);
        match &users {
            None => world.set_end(facts, End::Decided),
            Some(_) => world.block(&facts.key),
        }
        users
    };
    if users.is_some() {
        match has_lost_its_namespace(facts, site).await {
            Ok(true) => run.context.set_end(facts, End::Decided),
            Ok(false) => {
                run.context.set_end(facts, End::HeldBack);
                return users;
            }
            Err(failure) => {
                tracing::debug!(release = %facts.key, reason = failure.reason, "not looked at");
                return users;
            }
        }
    }
    run.memory.lock().begin_to_go();
    None
}

/// Whether a namespace of the release is gone or going, and with it whatever others had there: a sign that its end had
/// begun, which outlives us.
async fn has_lost_its_namespace(facts: &Facts, site: &Site) -> Result<bool, Failure> {
    let namespaces = facts
        .records
        .iter()
        .filter(|record| record.uid.is_some() && record.identity.kind.is("", "Namespace"));
    for record in namespaces {
        let is_there = |live: &Live| !live.deleting && Some(&live.uid) == record.uid.as_ref();
        let is_seen = |sight: Sight<'_>| matches!(sight, Sight::Present(live) if is_there(live));
        // A watch shows what carries our label, and may not have begun: what it does not show is asked for.
        if !site.sights().with(&record.identity, is_seen) {
            let found = engine::look(site, record).await?;
            if !found.as_ref().is_some_and(is_there) {
                return Ok(true);
            }
        }
    }
    Ok(false)
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
        // One that it never got is somebody else's, and stays with them.
        .filter(|record| record.uid.is_some())
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
async fn say(run: &mut Run<'_>, left: &[Record], obstacle: Obstacle) -> Result<(), Trouble> {
    let Obstacle {
        reason,
        cause,
        words,
    } = obstacle;
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
            message: words.clone(),
            generation,
        };
        changed |= record(&mut status.conditions, judgement, &now);
    }
    status.resources.retain_mut(|entry| {
        let record = left
            .iter()
            .find(|record| inventory::is(entry, &record.identity));
        if let Some(record) = record {
            let before = entry.clone();
            inventory::write(entry, record);
            // What was put back is another object now.
            changed |= *entry != before;
        }
        record.is_some()
    });
    if changed {
        let is_warning = reason != Reason::CleanupInProgress;
        let told = Some((reason.as_str(), cause));
        let is_news = {
            let mut memory = run.memory.lock();
            std::mem::replace(&mut memory.told_end, told.clone()) != told
        };
        if is_warning && is_news {
            run.tell(true, reason.as_str(), "Delete", words);
        }
        run.facts = writes::status(run.context, &run.facts, status).await?;
    }
    Ok(())
}
