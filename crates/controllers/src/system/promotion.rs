//! Whether what is asked for may run where it is asked for: the same order and the same approvals as for components of the
//! chain. What people agree to is exactly one version; edit it, and it is another.

use std::sync::Arc;

use jiff::Timestamp;
use quadrille_objects::digest::Digest;
use quadrille_types::{
    Approval, ScheduledTaskBinding, ServiceBinding, WebApplicationBinding,
    conditions::{ConditionType, Holds, Reason, find},
    deployment_pipeline::Resolved as Pipeline,
    names::EnvironmentName,
    release_binding::Ran,
    workload::WorkloadOwner,
};
use serde_json::{Value, json};

use super::{
    kinds::{Bound, noted_of},
    shelves::System,
};
use crate::{
    chain::{
        admission::{self, Asked, Verdict},
        history,
        inputs::{Guarded, guarded, pipeline},
        shelves::{of_component, stage},
    },
    platform::step::Step,
    releases::Inner,
};

/// How much of a digest is in a name.
const SHORT: usize = 10;

/// The name of a version of something.
pub(super) fn identity(name: &str, content: &Value) -> String {
    let digest = Digest::of([content.to_string().as_str()]).to_string();
    format!("{name}-{}", &digest[..SHORT])
}

/// Whether people were asked about a version of a component, in whatever environment: they may agree beforehand.
pub(crate) fn is_known(world: &Inner, here: &str, owner: &WorkloadOwner, version: &str) -> bool {
    fn bound<B: Bound>(system: &System, here: &str, group: &str, version: &str) -> bool {
        let mut all = B::shelf(system).of_group(here, group);
        all.any(|one| one.noted().knows(version))
    }
    let system = &world.system;
    let group = of_component(owner.project_name.as_str(), owner.component_name.as_str());
    let mut deployments = system.deployments.of_group(here, &group);
    deployments.any(|one| noted_of(one).knows(version))
        || bound::<ServiceBinding>(system, here, &group, version)
        || bound::<WebApplicationBinding>(system, here, &group, version)
        || bound::<ScheduledTaskBinding>(system, here, &group, version)
}

/// What is around a promotion.
pub(super) struct Around {
    pub(super) owner: WorkloadOwner,
    pub(super) environment: EnvironmentName,
    pub(super) pipeline: Result<Pipeline, String>,
    guarded: Option<Guarded>,
    approvals: Vec<Arc<Approval>>,
    /// What ran of it, here and elsewhere.
    ran: Vec<(EnvironmentName, Vec<Ran>)>,
    requested_by: Option<String>,
}

impl Around {
    pub(super) fn of(
        world: &Inner,
        here: &str,
        owner: WorkloadOwner,
        environment: &str,
        ran: Vec<(EnvironmentName, Vec<Ran>)>,
        requested_by: Option<&str>,
    ) -> Self {
        let environment = EnvironmentName::new(environment);
        let approvals = world
            .chain
            .approvals
            .of_group(here, &stage(&owner, environment.as_str()));
        Self {
            pipeline: pipeline(&world.shelves, here, owner.project_name.as_str()),
            guarded: guarded(&world.shelves, here, &environment),
            approvals: approvals.cloned().collect(),
            ran,
            requested_by: requested_by.map(str::to_owned),
            owner,
            environment,
        }
    }

    /// Judges what is asked for. What runs already may go on.
    pub(super) fn judge(&self, wanted: &str, current: Option<&str>, now: Timestamp) -> Verdict {
        if current == Some(wanted) {
            return Verdict {
                is_admitted: true,
                reason: Reason::PromotionInOrder,
                words: format!("{wanted} runs"),
                approved_by: None,
                until: None,
            };
        }
        let ran: Vec<_> = self
            .ran
            .iter()
            .map(|(place, history)| (place, history.as_slice()))
            .collect();
        admission::judge(&Asked {
            environment: &self.environment,
            release: wanted,
            which: None,
            guarded: self.guarded,
            requested_by: self.requested_by.as_deref(),
            component: self.owner.component_name.as_str(),
            pipeline: &self.pipeline,
            ran: &ran,
            approvals: &self.approvals,
            now,
        })
    }
}

/// What is written down about what runs.
pub(super) struct Ledger {
    pub(super) requested: Option<String>,
    pub(super) current: Option<String>,
    pub(super) history: Vec<Ran>,
    now: Timestamp,
}

impl Ledger {
    pub(super) fn new(history: Vec<Ran>, current: Option<String>, now: Timestamp) -> Self {
        Self {
            requested: None,
            current,
            history,
            now,
        }
    }

    /// Says what was judged. What was said of the same version before stays: it tells who agreed.
    pub(super) fn judged(
        &mut self,
        step: &mut Step,
        before: &[k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition],
        wanted: &str,
        verdict: &Verdict,
    ) {
        self.requested = Some(wanted.to_owned());
        let is_running = self.current.as_deref() == Some(wanted);
        let known = find(before, ConditionType::Admitted);
        let keeps = known.filter(|known| is_running && known.status == Holds::True.as_str());
        let reason = keeps.and_then(|known| {
            let mut all = Reason::ALL.iter();
            all.find(|one| one.as_str() == known.reason)
        });
        match (keeps, reason) {
            (Some(known), Some(reason)) => {
                step.say(
                    ConditionType::Admitted,
                    Holds::True,
                    *reason,
                    known.message.clone(),
                );
            }
            _ => step.say(
                ConditionType::Admitted,
                verdict.holds(),
                verdict.reason,
                verdict.words.clone(),
            ),
        }
    }

    /// A version runs.
    pub(super) fn runs(&mut self, around: &Around, wanted: &str, approved_by: Option<String>) {
        self.current = Some(wanted.to_owned());
        let requested_by = around.requested_by.clone();
        history::runs(
            &mut self.history,
            wanted,
            self.now,
            requested_by,
            approved_by,
        );
    }

    /// What runs is ready.
    pub(super) fn is_ready(&mut self) {
        history::is_ready(&mut self.history, self.now);
    }

    /// Nothing runs any more.
    pub(super) fn stopped(&mut self) {
        self.current = None;
    }

    pub(super) fn write(self, step: &mut Step) {
        let history = (!self.history.is_empty()).then_some(self.history);
        step.fields.insert("history", json!(history));
        step.fields.insert("currentRelease", json!(self.current));
        step.fields
            .insert("requestedRelease", json!(self.requested));
    }
}
