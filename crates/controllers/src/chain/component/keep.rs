//! Which snapshots are kept: all that are used, and some of the last ones.

use std::{collections::BTreeSet, sync::Arc};

use quadrille_types::{Component, ReleaseBinding, annotations};

use super::super::shelves::{Snapshot, annotation, name, namespace};
use crate::{
    platform::step::{Found, Kind},
    releases::Inner,
};

/// How many that nobody uses are kept where nothing is said.
const USUAL: usize = 20;

/// Snapshots that nobody needs any more.
pub(super) fn surplus(
    world: &Inner,
    component: &Component,
    snapshots: &[Arc<Snapshot>],
    bindings: &[Arc<ReleaseBinding>],
) -> Vec<Found> {
    let most = kept(world, component);
    if snapshots.len() <= most {
        return Vec::new();
    }
    let latest = component.status.as_ref();
    let latest = latest.and_then(|status| status.latest_release.as_ref());
    let mut used: BTreeSet<&str> = latest
        .map(|latest| latest.name.as_str())
        .into_iter()
        .collect();
    for binding in bindings {
        used.extend(binding.spec.release_name.as_deref());
        let status = binding.status.as_ref();
        used.extend(status.and_then(|status| status.current_release.as_deref()));
    }
    let mut idle: Vec<&Arc<Snapshot>> = snapshots
        .iter()
        .filter(|snapshot| !used.contains(name(&***snapshot)))
        .collect();
    // The newest first.
    idle.sort_by_key(|snapshot| {
        let metadata = &snapshot.metadata;
        let made = metadata.creation_timestamp.as_ref().map(|time| time.0);
        let revision: u64 = metadata
            .resource_version
            .as_deref()
            .and_then(|text| text.parse().ok())
            .unwrap_or_default();
        std::cmp::Reverse((made, revision))
    });
    let surplus = idle.into_iter().skip(most);
    surplus
        .map(|snapshot| Found::of(Kind::ComponentRelease, &**snapshot))
        .collect()
}

/// How many are kept: the component says, or its project.
fn kept(world: &Inner, component: &Component) -> usize {
    let here = namespace(component);
    let project = component.spec.owner.project_name.as_str();
    let project = world.shelves.projects.find(here, project);
    let said = annotation(component, annotations::KEPT_RELEASES).or_else(|| {
        let project = project?;
        annotation(&**project, annotations::KEPT_RELEASES)
    });
    said.and_then(|text| text.parse().ok()).unwrap_or(USUAL)
}
