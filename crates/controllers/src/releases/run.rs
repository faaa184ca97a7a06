//! One run over a release: look, plan, write down, apply, remove, report.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use quadrille_engine::{self as engine, Applied, Deleted, Owner, Results, Site};
use quadrille_objects::{
    Desired, Identity, Plan, Record, desired,
    plan::{self, Apply, Question, Removal, Why},
};
use quadrille_planes::{PlaneName, Trouble};
use quadrille_types::{
    annotations,
    release::{ObjectError, PlaneRef},
};
use tokio::time::Instant;

use super::{
    Context,
    facts::Facts,
    ground::{self, Ground},
    memory::{HANDOVER, Memory},
    status::{self, Known},
    teardown,
    world::name_of,
    writes,
};
use crate::{events::Event, key::Key, platform, queue::Urgency};

/// When to run again without an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Again {
    pub(super) after: Duration,
    pub(super) urgency: Urgency,
}

impl Again {
    pub(super) fn after(after: Duration) -> Self {
        Self {
            after,
            urgency: Urgency::Background,
        }
    }

    pub(super) fn at_once() -> Self {
        Self {
            after: Duration::ZERO,
            urgency: Urgency::Person,
        }
    }

    pub(super) fn soonest(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        [one, other]
            .into_iter()
            .flatten()
            .min_by_key(|again| again.after)
    }
}

/// Runs over a release once.
pub(super) async fn run(context: &Context, key: &Key) -> Option<Again> {
    let (facts, memory) = {
        let world = context.world.look();
        let held = world.releases.get(key)?;
        (Arc::clone(&held.facts), Arc::clone(&held.memory))
    };
    memory.lock().begin((facts.generation, facts.may_adopt));
    let run = Run {
        context,
        facts,
        memory,
    };
    let done = if run.facts.deleting_since.is_some() {
        teardown::run(run).await
    } else {
        run.live().await
    };
    match done {
        Ok(again) => again,
        Err(trouble) => {
            tracing::debug!(release = %key, reason = trouble.reason(), "a run ended early");
            context.after_trouble(key, &trouble).await
        }
    }
}

/// A run over one release.
pub(super) struct Run<'a> {
    pub(super) context: &'a Context,
    pub(super) facts: Arc<Facts>,
    pub(super) memory: Arc<Mutex<Memory>>,
}

impl Run<'_> {
    async fn live(mut self) -> Result<Option<Again>, Trouble> {
        let found = ground::find(&self.context.world.look(), &self.facts);
        let ground = match found {
            Ok(ground) => ground,
            Err(ground::Not::Yet) => return Ok(None),
            Err(ground::Not::Held(reason, message)) => {
                let facts = Arc::clone(&self.facts);
                let mut known = self.known(
                    facts.desired.as_deref().unwrap_or_default(),
                    None,
                    Some((reason, message)),
                );
                let is_given_up = self.context.world.look().is_given_up(&facts);
                if let Some(plane) = known.plane.as_mut().filter(|_| is_given_up) {
                    plane.abandoned = Some(true);
                }
                let recheck = self.look_on(&mut known);
                let wake = self.report(known, false).await?;
                return Ok(Again::soonest(wake, recheck));
            }
        };
        let facts = Arc::clone(&self.facts);
        let Ok(wanted) = &facts.desired else {
            return Ok(None);
        };
        let site = &ground.site;
        for (kind, version) in desired::kinds(wanted) {
            site.watch(&kind, &version);
        }
        for record in &facts.records {
            site.watch(&record.identity.kind, &record.version);
        }
        let audit = self.audit(site).await;
        self.look_ahead(site).await;
        let plan = self.plan(site, wanted, &facts.records);
        let now = Instant::now();
        let (applies, standing) = self.memory.lock().due(&plan, wanted, now);
        let removals = self.removable(&ground, &plan);
        if !applies.is_empty() || !plan.unrecorded.is_empty() {
            self.prepare(&ground, wanted, &plan).await?;
        }
        let mut records = merged(&facts.records, wanted, &plan);
        let mut results = Results::new();
        if !applies.is_empty() {
            if !writes::is_confirmed(self.context, &self.facts).await? {
                return Ok(Some(Again::at_once()));
            }
            results = self
                .apply(site, wanted, &records, &applies, &standing)
                .await;
            self.remember(wanted, &applies, &results);
            for (index, result) in &results {
                if let Ok(applied) = result {
                    let record = engine::recorded(&wanted[*index], applied);
                    put(&mut records, record);
                }
            }
        }
        let all_applied = results.iter().all(|(_, result)| result.is_ok())
            && standing.is_empty()
            && plan.waiting.is_empty();
        if all_applied && plan.blocked.is_none() && !removals.is_empty() {
            if !writes::is_current(self.context, &self.facts).await? {
                return Ok(Some(Again::at_once()));
            }
            let removed = engine::remove(site, &facts.uid, &facts.records, &removals).await;
            self.forget_removed(site, removed, &mut records);
        }
        let mut known = self.known(wanted, Some(ground.reference.clone()), None);
        known.records = records;
        known.blocked = plan.blocked.as_ref().map(|why| {
            format!(
                "{why}: to allow it, annotate the release with {}: \"{}\"",
                annotations::ALLOW_PRUNE,
                facts.generation
            )
        });
        let objects = wanted.iter().map(|object| &object.identity);
        let recheck = look_closer(site, objects, &mut known);
        let is_only_health =
            applies.is_empty() && plan.unrecorded.is_empty() && removals.is_empty();
        let wake = self.report(known, is_only_health).await?;
        let wake = Again::soonest(Again::soonest(wake, recheck), audit);
        Ok(Again::soonest(wake, self.next_try(&plan, &removals)))
    }

    /// Takes in how the objects of a release are doing that is held back, if their plane can be asked.
    fn look_on(&self, known: &mut Known<'_>) -> Option<Again> {
        let site = {
            let world = self.context.world.look();
            let plane = self.facts.said.plane.as_ref()?;
            let name = name_of(plane);
            let facts = world.planes.get(&name)?;
            let is_same = plane
                .uid
                .as_ref()
                .is_none_or(|uid| *uid.as_str() == *facts.uid);
            let is_open = is_same && facts.problem.is_none();
            facts.way(&name).filter(|_| is_open)?.ok()?
        };
        for record in &self.facts.records {
            site.watch(&record.identity.kind, &record.version);
        }
        let objects = self.facts.records.iter().map(|record| &record.identity);
        look_closer(&site, objects, known)
    }

    pub(super) fn plan(&self, site: &Site, desired: &[Desired], records: &[Record]) -> Plan {
        let seen = site.sights().at_once();
        plan::plan(&Question {
            stamp: &self.facts.stamp(),
            owner: &self.facts.uid,
            desired,
            records,
            look: |identity: &Identity| seen.look(identity),
            may_remove_anything: self.facts.may_prune == Some(self.facts.generation),
        })
    }

    /// What may be removed now: not what another release asks for, which takes it over.
    fn removable(&self, ground: &Ground, plan: &Plan) -> Vec<Removal> {
        let now = Instant::now();
        // The memory is not held while the world is looked at: others do it the other way round.
        let waits = |identity: &Identity| self.memory.lock().waits(identity, now);
        plan.removals
            .iter()
            .filter(|removal| {
                let identity = &self.facts.records[removal.index].identity;
                !waits(identity) && !self.is_claimed(&ground.plane, identity, removal)
            })
            .cloned()
            .collect()
    }

    fn is_claimed(&self, plane: &PlaneName, identity: &Identity, removal: &Removal) -> bool {
        if removal.how != plan::Leave::Delete {
            return false;
        }
        let claimant = self
            .context
            .world
            .look()
            .claimant(plane, identity, &self.facts.key);
        if let Some(other) = &claimant {
            self.context.wake(other, Urgency::Heal);
        }
        claimant.is_some()
    }

    /// Writes down what is about to be sent, before it is.
    async fn prepare(
        &mut self,
        ground: &Ground,
        desired: &[Desired],
        plan: &Plan,
    ) -> Result<(), Trouble> {
        if !self.facts.is_held() {
            self.facts = writes::hold(self.context, &self.facts).await?;
        }
        let is_placed = self.facts.said.plane.as_deref() == Some(&ground.reference);
        if plan.unrecorded.is_empty() && is_placed {
            return Ok(());
        }
        let mut known = self.known(desired, Some(ground.reference.clone()), None);
        known.records = merged(&self.facts.records, desired, plan);
        known.is_applying = true;
        let (next, _) = status::next(&self.facts.status(), &known);
        self.facts = writes::status(self.context, &self.facts, next).await?;
        Ok(())
    }

    pub(super) async fn apply(
        &self,
        site: &Site,
        desired: &[Desired],
        records: &[Record],
        applies: &[Apply],
        standing: &[&Identity],
    ) -> Results<Applied> {
        let facts = &self.facts;
        let labels =
            platform::namespace_labels(&facts.key.namespace, &facts.project, &facts.environment);
        let labels: Vec<(&str, &str)> =
            labels.iter().map(|(key, value)| (*key, &**value)).collect();
        let rival = |uid: &str, identity: &Identity| self.context.world.look().rival(uid, identity);
        let owner = Owner {
            stamp: &facts.stamp(),
            uid: &facts.uid,
            namespace_labels: &labels,
            may_adopt: facts.may_adopt,
            rival: &rival,
        };
        engine::apply(site, &owner, desired, records, applies, standing).await
    }

    /// Remembers what failed and what was mended, and tells people.
    pub(super) fn remember(
        &self,
        desired: &[Desired],
        applies: &[Apply],
        results: &Results<Applied>,
    ) {
        let now = Instant::now();
        let mut memory = self.memory.lock();
        for (index, result) in results {
            let object = &desired[*index];
            let identity = &object.identity;
            match result {
                Err(failure) => {
                    let is_news = memory.failed(identity, failure.clone(), now);
                    if is_news && !failure.is_about_plane && failure.reason != "WaitingForIsolation"
                    {
                        let id = &*object.id;
                        let note = format!("resource {id:?}: {identity}: {}", failure.message);
                        self.tell(true, "ApplyFailed", "Apply", note);
                    }
                }
                Ok(sent) => {
                    memory.standing.remove(identity);
                    if let Some(undone) = &sent.healed {
                        let fights = memory.mended(identity, now);
                        let why = applies.iter().find(|apply| apply.index == *index);
                        let was_gone = why.is_some_and(|apply| apply.why == Why::Missing);
                        let deed = if was_gone { "made again" } else { "restored" };
                        let reason = if fights {
                            "DriftRepeated"
                        } else {
                            "DriftHealed"
                        };
                        let note = format!("{identity}: {undone}; {deed}");
                        self.tell(fights, reason, "Heal", note);
                    }
                }
            }
        }
    }

    pub(super) fn tell(
        &self,
        is_warning: bool,
        reason: &'static str,
        action: &'static str,
        note: String,
    ) {
        self.context.events.tell(Event {
            regarding: crate::events::Regarding {
                kind: "Release",
                namespace: self.facts.key.namespace.to_string(),
                name: self.facts.key.name.to_string(),
                uid: self.facts.uid.to_string(),
            },
            is_warning,
            reason,
            action,
            note,
        });
    }

    /// Takes what is gone out of the inventory; what is not stays in it.
    pub(super) fn forget_removed(
        &self,
        site: &Site,
        removed: Results<Deleted>,
        records: &mut Vec<Record>,
    ) {
        let now = Instant::now();
        let mut memory = self.memory.lock();
        for (index, result) in removed {
            let identity = &self.facts.records[index].identity;
            match result {
                Ok(Deleted::Gone) => {
                    site.follow_pods(identity, None);
                    records.retain(|record| record.identity != *identity);
                    memory.standing.remove(identity);
                    memory.held_by.remove(identity);
                    if self.facts.deleting_since.is_some() {
                        memory.gone.insert(identity.clone());
                    }
                }
                Ok(Deleted::Going(finalizers)) => {
                    // It was accepted at last: now it is only waited for.
                    memory.standing.remove(identity);
                    memory.held_by.insert(identity.clone(), finalizers);
                }
                Err(failure) => {
                    memory.failed(identity, failure, now);
                }
            }
        }
    }

    /// What is known, before anything was done.
    pub(super) fn known<'k>(
        &self,
        desired: &'k [Desired],
        plane: Option<PlaneRef>,
        held: Option<(&'static str, String)>,
    ) -> Known<'k> {
        let memory = self.memory.lock();
        let failures = memory
            .standing
            .iter()
            .map(|(identity, standing)| {
                let error = ObjectError {
                    reason: standing.failure.reason.clone(),
                    message: standing.failure.message.clone(),
                };
                (identity.clone(), error)
            })
            .collect();
        Known {
            generation: self.facts.generation,
            plane: plane.or_else(|| self.facts.said.plane.as_deref().cloned()),
            desired,
            records: self.facts.records.clone(),
            failures,
            seen: HashMap::new(),
            blocked: None,
            held,
            is_applying: false,
            now: status::now(),
        }
    }

    /// Writes the status if it says something new. What is only health is not written more often than people read.
    pub(super) async fn report(
        &mut self,
        mut known: Known<'_>,
        is_only_health: bool,
    ) -> Result<Option<Again>, Trouble> {
        // Failures of this run are in the memory by now.
        known.failures = self.known(known.desired, None, None).failures;
        let before = self.facts.status();
        let (next, wake) = status::next(&before, &known);
        let wake = wake.map(Again::after);
        if before == next {
            return Ok(wake);
        }
        if is_only_health && let Err(wait) = self.memory.lock().may_tell(Instant::now()) {
            return Ok(Again::soonest(wake, Some(Again::after(wait))));
        }
        self.facts = writes::status(self.context, &self.facts, next).await?;
        Ok(wake)
    }

    /// When something that waits may be tried again.
    fn next_try(&self, plan: &Plan, removals: &[Removal]) -> Option<Again> {
        let now = Instant::now();
        let waiting = self.memory.lock().next_try(now);
        let is_handed_over = plan.blocked.is_none() && plan.removals.len() > removals.len();
        // Whoever had what we wait for is told of its end, and we are not.
        let is_waiting = is_handed_over || !plan.waiting.is_empty();
        let handed_over = is_waiting.then(|| now + HANDOVER);
        let next = [waiting, handed_over].into_iter().flatten().min()?;
        Some(Again::after(next.saturating_duration_since(now)))
    }
}

/// Takes in how objects are doing, and looks at the pods of those that are in trouble for a while.
fn look_closer<'a>(
    site: &Site,
    objects: impl Iterator<Item = &'a Identity>,
    known: &mut Known<'_>,
) -> Option<Again> {
    let mut again: Option<Duration> = None;
    for identity in objects {
        let Some(doing) = site.sights().health(identity) else {
            continue;
        };
        let mut due = doing.recheck;
        if due.is_some_and(|due| due.is_zero()) {
            site.sights().hear_pods(identity, None);
        } else if let Some(selector) = &doing.verdict.pods {
            match PATIENCE.checked_sub(doing.lasts) {
                Some(rest) if !rest.is_zero() => due = Some(rest),
                _ => site.follow_pods(identity, Some(selector)),
            }
        } else if doing.recheck.is_none() {
            site.follow_pods(identity, None);
        }
        again = [again, due].into_iter().flatten().min();
        known.seen.insert(identity.clone(), doing);
    }
    again.map(Again::after)
}

/// A workload that gets where it is going within this time is not looked at any closer.
const PATIENCE: Duration = Duration::from_secs(3);

/// The inventory with what is about to be sent.
fn merged(records: &[Record], desired: &[Desired], plan: &Plan) -> Vec<Record> {
    let mut merged = records.to_vec();
    for index in &plan.unrecorded {
        let object = &desired[*index];
        merged.push(Record {
            id: Arc::clone(&object.id),
            identity: object.identity.clone(),
            version: Arc::clone(&object.version),
            uid: None,
            digest: None,
            owned: None,
        });
    }
    merged
}

pub(super) fn put(records: &mut Vec<Record>, record: Record) {
    match records
        .iter_mut()
        .find(|known| known.identity == record.identity)
    {
        Some(known) => *known = record,
        None => records.push(record),
    }
}
