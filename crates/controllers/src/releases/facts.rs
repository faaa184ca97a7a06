//! A Release as the controller holds it: read once, small, never changed.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use quadrille_objects::{Desired, Record, Stamp, desired, word};
use quadrille_types::{
    ReleaseSpec, ReleaseStatus, annotations,
    conditions::ConditionType,
    finalizers,
    labels::tracking,
    release::{Intervals, TargetPlane},
};

use serde::Deserialize;

use super::{
    inventory::{self, Note},
    said::{Remark, Said},
};
use crate::key::Key;

/// A Release as far as it is read: who wrote which field of it is most of its metadata, and nobody's business here.
#[derive(Deserialize)]
pub(crate) struct Written {
    pub(crate) metadata: Metadata,
    spec: ReleaseSpec,
    #[serde(default)]
    status: ReleaseStatus,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Metadata {
    namespace: String,
    name: String,
    uid: String,
    pub(crate) resource_version: String,
    generation: i64,
    deletion_timestamp: Option<Timestamp>,
    finalizers: Vec<String>,
    annotations: BTreeMap<String, String>,
    owner_references: Vec<OwnerReference>,
}

/// What is known of a Release.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// Which one.
    pub(crate) key: Key,
    /// Its uid: a Release of the same name that was made anew is another one.
    pub(crate) uid: Arc<str>,
    /// The revision that was read.
    pub(crate) resource_version: String,
    /// The generation of its spec.
    pub(crate) generation: i64,
    /// Since when it is on its way out.
    pub(crate) deleting_since: Option<Timestamp>,
    /// All its finalizers.
    pub(crate) finalizers: Vec<String>,
    /// Its environment.
    pub(crate) environment: Arc<str>,
    /// Its project.
    pub(crate) project: Arc<str>,
    /// Releases that must be in place first.
    pub(crate) depends_on: Vec<Arc<str>>,
    /// What it asks for, or why that cannot be understood.
    pub(crate) desired: Result<Arc<[Desired]>, String>,
    /// How often it is audited.
    pub(crate) intervals: Option<Intervals>,
    /// What was written down, without the inventory.
    pub(crate) said: Said,
    /// The inventory, as plans need it.
    pub(crate) records: Vec<Record>,
    /// What else the inventory says of each record's object.
    notes: Box<[Note]>,
    /// Whether it may take over what others made.
    pub(crate) may_adopt: bool,
    /// The generation that may remove anything.
    pub(crate) may_prune: Option<i64>,
    /// Whether it may go without its objects.
    pub(crate) is_abandoned: bool,
    /// What it was rendered from, if it was.
    pub(crate) rendered: Option<Rendered>,
}

/// What a Release was rendered from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// The uid of the object that it was rendered for; empty for a cell.
    pub(crate) owner: String,
    /// The component release; empty for a cell.
    pub(crate) snapshot: String,
    /// Its uid, where that was noted.
    pub(crate) snapshot_uid: String,
    /// A digest of all inputs, and the generation that came of them.
    pub(crate) from: String,
}

impl Facts {
    /// Reads a Release.
    pub(crate) fn read(release: Written) -> Self {
        let metadata = release.metadata;
        let key = Key::new(&metadata.namespace, &metadata.name);
        let uid = word(&metadata.uid);
        let annotations = metadata.annotations;
        let annotation = |key: &str| annotations.get(key).map(String::as_str);
        let is_set = |key: &str| annotation(key).is_some_and(|value| value == "true");
        let owner = metadata
            .owner_references
            .iter()
            .find(|owner| owner.controller == Some(true));
        let text_of = |key: &str| annotation(key).unwrap_or_default().to_owned();
        let rendered = annotation(annotations::RENDERED_FROM).map(|from| Rendered {
            owner: owner.map(|owner| owner.uid.clone()).unwrap_or_default(),
            snapshot: text_of(annotations::COMPONENT_RELEASE),
            snapshot_uid: text_of(annotations::COMPONENT_RELEASE_UID),
            from: from.to_owned(),
        });
        let spec = release.spec;
        let status = release.status;
        let intervals = spec.intervals();
        let desired = match (&spec.target_plane(), &intervals) {
            (Err(problem), _) | (_, Err(problem)) => Err(problem.to_string()),
            (Ok(TargetPlane::Observability), _) => Err(
                "spec.targetPlane: observabilityplane is not served yet: leave it out, or keep such \
                 objects in a release of their own"
                    .to_owned(),
            ),
            (Ok(TargetPlane::Data), Ok(_)) => {
                let objects = spec
                    .resources
                    .iter()
                    .map(|resource| (resource.id.as_str(), resource.object.shared()));
                desired::read(objects)
                    .map(Arc::from)
                    .map_err(|problems| said(&problems))
            }
        };
        let (said, records, notes) =
            inventory::split(status, desired.as_deref().unwrap_or_default());
        Self {
            said,
            records,
            notes,
            uid,
            resource_version: metadata.resource_version,
            generation: metadata.generation,
            deleting_since: metadata.deletion_timestamp,
            finalizers: metadata.finalizers,
            environment: word(spec.environment_name.as_str()),
            project: word(spec.owner.project_name.as_str()),
            depends_on: spec
                .depends_on
                .iter()
                .map(|other| other.name.as_str().into())
                .collect(),
            desired,
            intervals: intervals.ok(),
            may_adopt: is_set(annotations::ADOPT),
            may_prune: annotation(annotations::ALLOW_PRUNE).and_then(|value| value.parse().ok()),
            is_abandoned: is_set(annotations::ABANDON),
            rendered,
            key,
        }
    }

    /// What is known after we wrote to it and nobody else did: what was asked for is as before.
    pub(crate) fn written(&self, metadata: ObjectMeta, status: Option<ReleaseStatus>) -> Self {
        let mut facts = self.clone();
        facts.resource_version = metadata.resource_version.unwrap_or_default();
        facts.finalizers = metadata.finalizers.unwrap_or_default();
        if let Some(status) = status {
            let desired = self.desired.as_deref().unwrap_or_default();
            (facts.said, facts.records, facts.notes) = inventory::split(status, desired);
        }
        facts
    }

    /// The status as it was written down.
    pub(crate) fn status(&self) -> ReleaseStatus {
        inventory::joined(&self.said, &self.records, &self.notes)
    }

    /// What is put onto its objects.
    pub(crate) fn stamp(&self) -> Stamp {
        stamp(&self.key, &self.uid)
    }

    /// Whether our finalizer is there.
    pub(crate) fn is_held(&self) -> bool {
        self.finalizers
            .iter()
            .any(|name| name == finalizers::RELEASE)
    }

    /// Whether its plane was given up for good.
    pub(crate) fn is_left(&self) -> bool {
        let plane = self.said.plane.as_ref();
        plane.is_some_and(|plane| plane.abandoned == Some(true))
    }

    /// The revision as a number; 0 where it is none.
    pub(crate) fn revision(&self) -> u64 {
        self.resource_version.parse().unwrap_or_default()
    }

    /// Whether all objects of the current generation are in the plane.
    pub(crate) fn is_applied(&self) -> bool {
        self.said.observed_generation == Some(self.generation) && self.was_applied()
    }

    /// Whether all objects of some generation were.
    pub(crate) fn was_applied(&self) -> bool {
        let applied = self.said.find(ConditionType::ResourcesApplied);
        applied.is_some_and(Remark::is_true)
    }
}

fn stamp(key: &Key, uid: &str) -> Stamp {
    use quadrille_objects::stamp::label_value;
    Stamp {
        labels: vec![
            (
                tracking::MANAGED_BY,
                tracking::RELEASE_CONTROLLER.to_owned(),
            ),
            (tracking::RELEASE_UID, uid.to_owned()),
            (tracking::RELEASE_NAME, label_value(&key.name)),
            (tracking::RELEASE_NAMESPACE, key.namespace.to_string()),
        ],
        id_label: tracking::RESOURCE_ID,
        digest_annotation: annotations::APPLIED_DIGEST,
    }
}

/// Some problems, and how many more there are.
fn said(problems: &[desired::Problem]) -> String {
    let shown: Vec<String> = problems.iter().take(3).map(ToString::to_string).collect();
    let more = problems.len().saturating_sub(shown.len());
    if more == 0 {
        shown.join("; ")
    } else {
        format!("{}; and {more} more", shown.join("; "))
    }
}
