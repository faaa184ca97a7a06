//! What is said of a binding: its conditions, where it is reached, what ran when.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use quadrille_render::{Needs, Plan};
use quadrille_types::{
    ReleaseBindingStatus, annotations,
    conditions::{ConditionType, Holds, Reason, find},
    release_binding::{PendingConnection, ResolvedConnection},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::{
    admission::Verdict,
    health, history,
    inputs::{Fetched, Seen},
    shelves::annotation,
};
use crate::{platform::step::Step, releases::Facts};

/// A judgement of one thing.
#[derive(Clone, Debug)]
pub(super) struct Said {
    holds: Holds,
    reason: Reason,
    words: String,
}

impl Said {
    fn new(holds: Holds, reason: Reason, words: impl Into<String>) -> Self {
        Self {
            holds,
            reason,
            words: words.into(),
        }
    }
}

/// What is to be said.
pub(super) struct Report {
    /// Now.
    pub(super) now: Timestamp,
    /// What was said, and what is to be.
    pub(super) status: ReleaseBindingStatus,
    admitted: Option<Said>,
    /// Why something else runs than what is asked for, where that is not a matter of who may.
    instead: Option<Said>,
    synced: Said,
    connections: Option<Said>,
    resources: Option<Said>,
    doing: Said,
    requested_by: Option<String>,
    approved_by: Option<String>,
    workload_type: String,
    visibility: BTreeMap<String, Vec<String>>,
}

impl Report {
    pub(super) fn of(seen: &Seen, now: Timestamp) -> Self {
        let status = seen.binding.status.clone().unwrap_or_default();
        let component = seen.component.as_ref();
        let type_name = component.and_then(|one| one.spec.component_type.as_ref());
        let workload_type = type_name.and_then(|one| one.name.split_once('/'));
        let before = |condition| {
            let known = find(&status.conditions, condition)?;
            let reason = Reason::ALL
                .iter()
                .find(|one| one.as_str() == known.reason)?;
            let holds = match known.status.as_str() {
                "True" => Holds::True,
                "False" => Holds::False,
                _ => Holds::Unknown,
            };
            Some(Said::new(holds, *reason, known.message.clone()))
        };
        Self {
            now,
            admitted: before(ConditionType::Admitted),
            instead: None,
            synced: Said::new(
                Holds::False,
                Reason::ComponentReleaseNotFound,
                "nothing is to run",
            ),
            connections: before(ConditionType::ConnectionsResolved),
            resources: before(ConditionType::ResourceDependenciesReady),
            doing: Said::new(
                Holds::False,
                Reason::ResourcesProgressing,
                "nothing is in the plane yet",
            ),
            requested_by: annotation(&*seen.binding, annotations::REQUESTED_BY).map(str::to_owned),
            approved_by: None,
            workload_type: workload_type.map_or("", |(first, _)| first).to_owned(),
            visibility: BTreeMap::new(),
            status,
        }
    }

    /// Something that the binding stands on is missing.
    pub(super) fn unsynced(&mut self, reason: Reason, words: String) {
        self.synced = Said::new(Holds::False, reason, words);
    }

    /// What is asked for is missing, so what ran before goes on.
    pub(super) fn keeps_instead(&mut self, reason: Reason, words: &str, snapshot: &str) {
        let words = format!("{words}; {snapshot} keeps running");
        self.instead = Some(Said::new(Holds::False, reason, words));
    }

    /// What is there belongs to somebody else.
    pub(super) fn conflict(&mut self, release: &str) {
        let words = format!(
            "Release {release} is there and was not made for this binding: delete it, or rename the component"
        );
        self.unsynced(Reason::ReleaseOwnershipConflict, words);
    }

    /// What was asked for was judged.
    pub(super) fn judged(&mut self, verdict: Verdict) {
        let holds = verdict.holds();
        if !verdict.is_admitted {
            let words = format!("nothing runs: {}", verdict.words);
            self.synced = Said::new(Holds::False, verdict.reason, words);
        }
        self.approved_by = verdict.approved_by;
        self.admitted = Some(Said::new(holds, verdict.reason, verdict.words));
    }

    /// What runs is what is asked for.
    pub(super) fn still_admitted(&mut self, release: &str) {
        let is_said = self
            .admitted
            .as_ref()
            .is_some_and(|said| said.holds == Holds::True);
        if !is_said {
            let words = format!("{release} runs");
            self.admitted = Some(Said::new(Holds::True, Reason::PromotionInOrder, words));
        }
    }

    /// The release that runs, if that is known.
    pub(super) fn note_current(&mut self, current: Option<&str>) {
        self.status.current_release = current.map(str::to_owned);
    }

    /// What is needed and used was found out.
    pub(super) fn needs(&mut self, needed: &Needs, fetched: &Fetched) {
        let all = needed
            .connections
            .iter()
            .chain(&needed.optional_connections);
        self.status.connection_targets = all.cloned().collect();
        self.status
            .secret_reference_names
            .clone_from(&needed.secrets);
        self.status
            .resource_dependency_targets
            .clone_from(&needed.resources);
        let found = fetched.connections.resolved.iter();
        self.status.resolved_connections = found.chain(&fetched.optional).cloned().collect();
        self.status
            .pending_connections
            .clone_from(&fetched.connections.pending);
        self.status.pending_resource_dependencies.clear();
        let found: &[ResolvedConnection] = &self.status.resolved_connections;
        self.connections = Some(if found.is_empty() && needed.connections.is_empty() {
            Said::new(
                Holds::True,
                Reason::NoConnections,
                "it needs no other component",
            )
        } else {
            let words = format!("{} of its connections are there", found.len());
            Said::new(Holds::True, Reason::AllConnectionsResolved, words)
        });
        self.resources = Some(Said::new(
            Holds::True,
            Reason::NoResourceDependencies,
            "it needs no resource",
        ));
        self.visibility.clone_from(&needed.visibility);
    }

    /// Components need each other.
    pub(super) fn circle(&mut self, circle: &[String]) {
        let words = format!(
            "components need each other, so that none of them can start: {}: set optional: true on one of these \
             dependencies.endpoints, or take it out",
            circle.join(" → ")
        );
        self.connections = Some(Said::new(Holds::False, Reason::ConnectionsPending, words));
        self.waits("nothing is changed until that is mended");
    }

    /// Something that is needed is not there.
    pub(super) fn pending(&mut self, pending: &[PendingConnection], plan: &Plan) {
        if !pending.is_empty() {
            let words: Vec<String> = pending
                .iter()
                .map(|one| format!("{} of {}: {}", one.endpoint, one.component, one.reason))
                .collect();
            self.connections = Some(Said::new(
                Holds::False,
                Reason::ConnectionsPending,
                words.join("; "),
            ));
        }
        if !plan.pending_resources.is_empty() {
            self.status
                .pending_resource_dependencies
                .clone_from(&plan.pending_resources);
            let words: Vec<String> = plan
                .pending_resources
                .iter()
                .map(|one| format!("{}: {}", one.resource_name, one.reason))
                .collect();
            self.resources = Some(Said::new(
                Holds::False,
                Reason::ResourceDependenciesPending,
                words.join("; "),
            ));
        }
        self.waits("it waits for what it needs");
    }

    /// The Release is not touched for now.
    pub(super) fn waits(&mut self, words: &str) {
        self.synced = Said::new(Holds::False, Reason::ResourcesProgressing, words);
    }

    /// The objects could not be rendered.
    pub(super) fn failed(&mut self, problem: &str) {
        self.unsynced(Reason::RenderingFailed, problem.to_owned());
    }

    /// What ran before goes on.
    pub(super) fn keeps(&mut self, known: Option<&Arc<Facts>>) {
        let Some(facts) = known else {
            return;
        };
        let mut synced = self.synced.clone();
        let snapshot = facts.rendered.as_ref().map(|one| one.snapshot.clone());
        if let Some(snapshot) = snapshot.filter(|snapshot| !snapshot.is_empty()) {
            synced.words = format!("{}; {snapshot} keeps running", synced.words);
            self.runs(&snapshot);
        }
        // It runs, but not as was asked for.
        self.synced = synced;
        self.doing(facts);
    }

    /// The objects were taken away, as asked.
    pub(super) fn taken_away(&mut self, is_going: bool) {
        let words = if is_going {
            "the objects are being taken away, as asked"
        } else {
            "the objects were taken away, as asked"
        };
        self.unsynced(Reason::ResourcesUndeployed, words.to_owned());
        self.doing = Said::new(Holds::False, Reason::ResourcesUndeployed, words);
        self.admitted = None;
        self.status.endpoints.clear();
        self.status.rendered_from = None;
    }

    /// The Release is what came of these inputs.
    pub(super) fn rendered(&mut self, snapshot: &str, inputs: &str, plan: &Plan) {
        self.status.rendered_from = Some(inputs.to_owned());
        self.status.endpoints.clone_from(&plan.endpoints);
        for endpoint in &mut self.status.endpoints {
            let seen = self.visibility.remove(&endpoint.name);
            endpoint.visibility = seen.unwrap_or_default();
        }
        self.runs(snapshot);
    }

    /// The Release was written.
    pub(super) fn written(&mut self, is_new: bool, plan: &Plan) {
        let (reason, words) = if is_new {
            (Reason::ReleaseCreated, "the Release was made")
        } else {
            (Reason::ReleaseSynced, "the Release was changed")
        };
        let mut words = words.to_owned();
        for note in &plan.notes {
            words.push_str("; ");
            words.push_str(note);
        }
        self.synced = Said::new(Holds::True, reason, words);
        self.doing = Said::new(
            Holds::False,
            Reason::ResourcesProgressing,
            "the objects are being applied",
        );
    }

    /// A release runs: since now, if it did not before.
    pub(super) fn runs(&mut self, snapshot: &str) {
        self.status.current_release = Some(snapshot.to_owned());
        history::runs(
            &mut self.status.history,
            snapshot,
            self.now,
            self.requested_by.clone(),
            self.approved_by.take(),
        );
        let known = find(&self.status.conditions, ConditionType::ReleaseSynced);
        let is_noted = known.is_some_and(|known| {
            known.status == "True" && known.reason == Reason::ReleaseSynced.as_str()
        });
        let words = match known.filter(|_| is_noted) {
            Some(known) => known.message.clone(),
            None => format!("the Release is what {snapshot} was rendered to"),
        };
        self.synced = Said::new(Holds::True, Reason::ReleaseSynced, words);
    }

    /// How the objects are doing.
    pub(super) fn doing(&mut self, facts: &Facts) {
        let health::Verdict {
            holds,
            reason,
            words,
        } = health::judge(facts, &self.workload_type);
        self.doing = Said::new(holds, reason, words);
    }

    /// Whether everything is as asked for.
    pub(super) fn is_ready(&self) -> bool {
        self.first_failing().is_none()
    }

    /// Since when the release that runs is ready without a break, if it is.
    pub(super) fn ready_since(&self) -> Option<Timestamp> {
        if !self.is_ready() {
            return None;
        }
        let known = find(&self.status.conditions, ConditionType::Ready);
        let ready = known.filter(|known| known.status == Holds::True.as_str());
        // It turns ready with this report, or was never seen to be.
        let (Some(ready), Some(first)) = (ready, self.status.history.first()?.ready_at.as_ref())
        else {
            return Some(self.now);
        };
        Some(ready.last_transition_time.0.max(first.0))
    }

    fn first_failing(&self) -> Option<&Said> {
        [
            self.admitted.as_ref(),
            self.instead.as_ref(),
            Some(&self.synced),
            self.connections.as_ref(),
            self.resources.as_ref(),
            Some(&self.doing),
        ]
        .into_iter()
        .flatten()
        .find(|said| said.holds != Holds::True)
    }

    /// Everything that is said.
    pub(super) fn finish(mut self) -> Step {
        let mut step = Step::default();
        let ready = match self.first_failing() {
            Some(failing) => Said::new(
                match failing.holds {
                    Holds::Unknown => Holds::Unknown,
                    _ => Holds::False,
                },
                failing.reason,
                failing.words.clone(),
            ),
            None => self.doing.clone(),
        };
        if self.doing.holds == Holds::True && self.synced.holds == Holds::True {
            history::is_ready(&mut self.status.history, self.now);
        }
        for (condition, said) in [
            (ConditionType::Admitted, self.admitted),
            (
                ConditionType::ReleaseSynced,
                Some(self.instead.unwrap_or(self.synced)),
            ),
            (ConditionType::ConnectionsResolved, self.connections),
            (ConditionType::ResourceDependenciesReady, self.resources),
            (ConditionType::ResourcesReady, Some(self.doing)),
            (ConditionType::Ready, Some(ready)),
        ] {
            if let Some(said) = said {
                step.say(condition, said.holds, said.reason, said.words);
            }
        }
        let status = self.status;
        for (field, value) in [
            ("endpoints", list(&status.endpoints)),
            ("connectionTargets", list(&status.connection_targets)),
            ("resolvedConnections", list(&status.resolved_connections)),
            ("pendingConnections", list(&status.pending_connections)),
            (
                "resourceDependencyTargets",
                list(&status.resource_dependency_targets),
            ),
            (
                "pendingResourceDependencies",
                list(&status.pending_resource_dependencies),
            ),
            ("secretReferenceNames", list(&status.secret_reference_names)),
            ("history", list(&status.history)),
            ("currentRelease", json!(status.current_release)),
            ("renderedFrom", json!(status.rendered_from)),
        ] {
            step.fields.insert(field, value);
        }
        step
    }
}

/// An empty list is not written.
pub(crate) fn list<T: Serialize>(items: &[T]) -> Value {
    if items.is_empty() {
        Value::Null
    } else {
        json!(items)
    }
}
