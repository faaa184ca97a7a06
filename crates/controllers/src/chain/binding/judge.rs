//! Which component release a binding runs: the one that it asks for if that may run, or the one before.

use std::sync::Arc;

use jiff::Timestamp;
use quadrille_types::{annotations, conditions::Reason};

use super::{
    super::{
        admission::{self, Asked, Which},
        inputs::Seen,
        shelves::{Snapshot, annotation, is_going, name, namespace, uid},
    },
    report::Report,
};

/// What a binding runs.
pub(super) enum Running {
    /// What is there stays as it is: the report says why.
    Nothing,
    /// What is there is to be taken away.
    TakenAway,
    /// This one.
    Snapshot(Arc<Snapshot>),
}

/// What was found out, and until when that holds without an event.
pub(super) struct Judged {
    pub(super) running: Running,
    pub(super) until: Option<Timestamp>,
}

impl Judged {
    fn nothing() -> Self {
        Self {
            running: Running::Nothing,
            until: None,
        }
    }
}

/// Finds out what a binding runs, and says so.
pub(super) fn which(seen: &Seen, report: &mut Report) -> Judged {
    let spec = &seen.binding.spec;
    if spec.is_undeployed() {
        return Judged {
            running: Running::TakenAway,
            until: None,
        };
    }
    if let Some((reason, words)) = missing(seen) {
        report.unsynced(reason, words);
        return Judged::nothing();
    }
    let current = current(seen);
    let wanted = spec.release_name.as_deref().unwrap_or_default();
    let find = |wanted: &str| {
        let mut all = seen.snapshots.iter();
        all.find(|one| name(&***one) == wanted && !is_going(&***one))
    };
    // One that may not run, or is not there, leaves what runs.
    let before = || {
        let snapshot = current.filter(|current| *current != wanted).and_then(find);
        snapshot.map_or(Running::Nothing, |one| Running::Snapshot(Arc::clone(one)))
    };
    report.note_current(current);
    let Some(snapshot) = find(wanted) else {
        let (reason, words) = unknown(seen, wanted);
        let running = before();
        match &running {
            Running::Snapshot(snapshot) => report.keeps_instead(reason, &words, name(&**snapshot)),
            Running::Nothing | Running::TakenAway => report.unsynced(reason, words),
        }
        return Judged {
            running,
            until: None,
        };
    };
    // One that was made anew under the same name is another one.
    let rendered = seen
        .release
        .as_ref()
        .and_then(|facts| facts.rendered.as_ref());
    let is_the_one = rendered.is_none_or(|known| snapshot.is_the_one(&known.snapshot_uid));
    if current == Some(wanted) && is_the_one {
        report.still_admitted(wanted);
        return Judged {
            running: Running::Snapshot(Arc::clone(snapshot)),
            until: None,
        };
    }
    let ran: Vec<_> = seen
        .bindings
        .iter()
        .filter_map(|binding| {
            let status = binding.status.as_ref()?;
            Some((&binding.spec.environment, status.history.as_slice()))
        })
        .collect();
    let verdict = admission::judge(&Asked {
        environment: &spec.environment,
        release: wanted,
        which: (!snapshot.is_sealed).then(|| Which {
            uid: uid(&**snapshot),
            made: snapshot
                .metadata
                .creation_timestamp
                .as_ref()
                .map(|made| made.0),
        }),
        guarded: seen.guarded,
        requested_by: annotation(&*seen.binding, annotations::REQUESTED_BY),
        component: spec.owner.component_name.as_str(),
        pipeline: &seen.pipeline,
        ran: &ran,
        approvals: &seen.approvals,
        now: report.now,
    });
    let until = verdict.until;
    let running = if verdict.is_admitted {
        Running::Snapshot(Arc::clone(snapshot))
    } else {
        before()
    };
    report.judged(verdict);
    Judged { running, until }
}

/// What runs: the Release itself says so.
fn current(seen: &Seen) -> Option<&str> {
    let rendered = seen
        .release
        .as_ref()
        .and_then(|facts| facts.rendered.as_ref());
    let in_release = rendered.map(|rendered| rendered.snapshot.as_str());
    let status = seen.binding.status.as_ref();
    let noted = status.and_then(|status| status.current_release.as_deref());
    in_release.or(noted).filter(|name| !name.is_empty())
}

/// What a binding stands on that is not there.
fn missing(seen: &Seen) -> Option<(Reason, String)> {
    let spec = &seen.binding.spec;
    let here = namespace(&*seen.binding);
    let (project, component) = (&spec.owner.project_name, &spec.owner.component_name);
    let environment = &spec.environment;
    let others: Vec<&str> = seen
        .bindings
        .iter()
        .filter(|other| other.spec.environment == *environment && !is_going(&***other))
        .map(|other| name(&**other))
        .collect();
    // The first by name counts; the other one says so.
    if others.len() > 1 && others.first() != Some(&name(&*seen.binding)) {
        let words = format!(
            "spec.environment: {component} has another binding in {environment}: delete {} or this one",
            others[0]
        );
        return Some((Reason::InvalidReleaseConfiguration, words));
    }
    let Some(found) = &seen.environment else {
        let words = format!(
            "spec.environment: there is no Environment {:?} in namespace {here:?}: create it, or delete this binding",
            environment.as_str()
        );
        return Some((Reason::EnvironmentNotFound, words));
    };
    if is_going(&**found) {
        let words = format!("Environment {environment} is on its way out");
        return Some((Reason::EnvironmentNotFound, words));
    }
    if let Err(words) = &seen.plane {
        return Some((Reason::DataPlaneNotFound, words.clone()));
    }
    let Some(owner) = &seen.component else {
        let words = format!(
            "spec.owner.componentName: there is no Component {:?} in namespace {here:?}: create it, or delete this \
             binding",
            component.as_str()
        );
        return Some((Reason::ComponentNotFound, words));
    };
    if owner.spec.owner.project_name != *project {
        let words = format!(
            "spec.owner.projectName: Component {component} belongs to project {}, not to {project}",
            owner.spec.owner.project_name
        );
        return Some((Reason::InvalidReleaseConfiguration, words));
    }
    if seen.project.is_none() {
        let words = format!(
            "spec.owner.projectName: there is no Project {:?} in namespace {here:?}: create it",
            project.as_str()
        );
        return Some((Reason::ProjectNotFound, words));
    }
    None
}

/// Why a release that is asked for cannot be found.
fn unknown(seen: &Seen, wanted: &str) -> (Reason, String) {
    let component = &seen.binding.spec.owner.component_name;
    if wanted.is_empty() {
        let words = format!(
            "spec.releaseName is empty: name a ComponentRelease of {component}: quad deploy {component}"
        );
        return (Reason::ComponentReleaseNotFound, words);
    }
    if seen.is_of_another {
        let words = format!(
            "spec.releaseName: ComponentRelease {wanted} belongs to another component than {component}"
        );
        return (Reason::InvalidReleaseConfiguration, words);
    }
    let words = format!(
        "spec.releaseName: there is no ComponentRelease {wanted:?}: see which there are: quad release list {component}"
    );
    (Reason::ComponentReleaseNotFound, words)
}
