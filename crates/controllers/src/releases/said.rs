//! What the status of a Release says besides its inventory, held small: most Releases say the same in the same words.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use quadrille_objects::word;
use quadrille_types::{
    ReleaseStatus,
    conditions::{ConditionType, Holds},
    release::PlaneRef,
};

/// What was written down, without the inventory.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// The generation that was last acted upon.
    pub(crate) observed_generation: Option<i64>,
    /// The plane that the objects were sent to.
    pub(crate) plane: Option<Box<PlaneRef>>,
    healthy: Option<Arc<str>>,
    conditions: Box<[Remark]>,
}

/// A condition.
#[derive(Clone, Debug)]
pub(crate) struct Remark {
    kind: Arc<str>,
    status: Arc<str>,
    pub(crate) reason: Arc<str>,
    pub(crate) message: Arc<str>,
    since: Time,
    generation: Option<i64>,
}

impl Remark {
    fn read(condition: &Condition) -> Self {
        Self {
            kind: word(&condition.type_),
            status: word(&condition.status),
            reason: word(&condition.reason),
            message: word(&condition.message),
            since: condition.last_transition_time.clone(),
            generation: condition.observed_generation,
        }
    }

    fn written(&self) -> Condition {
        Condition {
            type_: self.kind.to_string(),
            status: self.status.to_string(),
            reason: self.reason.to_string(),
            message: self.message.to_string(),
            last_transition_time: self.since.clone(),
            observed_generation: self.generation,
        }
    }

    /// Whether it holds.
    pub(crate) fn is_true(&self) -> bool {
        *self.status == *Holds::True.as_str()
    }
}

impl Said {
    /// Takes in a status, all but its inventory.
    pub(super) fn read(status: ReleaseStatus) -> Self {
        Self {
            observed_generation: status.observed_generation,
            plane: status.plane.map(Box::new),
            healthy: status.healthy.as_deref().map(word),
            conditions: status.conditions.iter().map(Remark::read).collect(),
        }
    }

    /// The status as it was written, without the inventory.
    pub(super) fn status(&self) -> ReleaseStatus {
        ReleaseStatus {
            observed_generation: self.observed_generation,
            conditions: self.conditions.iter().map(Remark::written).collect(),
            plane: self.plane.as_deref().cloned(),
            healthy: self.healthy.as_deref().map(str::to_owned),
            resources: Vec::new(),
        }
    }

    /// A condition, if it was told.
    pub(crate) fn find(&self, wanted: ConditionType) -> Option<&Remark> {
        let mut conditions = self.conditions.iter();
        conditions.find(|remark| *remark.kind == *wanted.as_str())
    }
}
