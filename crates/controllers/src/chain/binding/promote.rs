//! Promotes by itself what has been doing well, where the pipeline says so. An approval is asked for there as for
//! anything else: only the wish is written.

use std::sync::Arc;

use jiff::Timestamp;
use quadrille_planes::Trouble;
use quadrille_types::{ReleaseBinding, annotations, finalizers};
use serde_json::json;

use super::{
    super::{
        inputs::Seen,
        shelves::{annotation, is_going, name, namespace, release_name},
    },
    report::Report,
};
use crate::{platform::step::Kind, releases::Context};

/// What is to be promoted now, and later.
#[derive(Default)]
pub(super) struct Next {
    pub(super) wishes: Vec<Wish>,
    /// When the next one is due.
    pub(super) due: Option<Timestamp>,
}

/// A release that is to enter an environment.
pub(super) struct Wish {
    namespace: String,
    owner: quadrille_types::workload::WorkloadOwner,
    environment: String,
    release: String,
    /// The binding there, if there is one.
    known: Option<Arc<ReleaseBinding>>,
}

/// What follows a binding that is ready.
pub(super) fn next(seen: &Seen, report: &Report) -> Next {
    let mut next = Next::default();
    let spec = &seen.binding.spec;
    let (Ok(pipeline), Some(ran)) = (&seen.pipeline, report.status.history.first()) else {
        return next;
    };
    let Some(release) = spec.release_name.as_deref() else {
        return next;
    };
    let Some(since) = report.ready_since().filter(|_| ran.release_name == release) else {
        return next;
    };
    for step in pipeline.promotions() {
        let Some(after) = step.auto_after.filter(|_| step.from == spec.environment) else {
            continue;
        };
        let known = seen
            .bindings
            .iter()
            .find(|other| other.spec.environment == step.to && !is_going(&***other));
        // Promoted once: what somebody does there by hand after that stays.
        let is_done = known.is_some_and(|known| {
            known.spec.release_name.as_deref() == Some(release)
                || annotation(&**known, annotations::AUTO_PROMOTED) == Some(release)
        });
        if is_done {
            continue;
        }
        // What is not due in this age never is.
        let Ok(due) = since.checked_add(after) else {
            continue;
        };
        if due > report.now {
            next.due = Some(next.due.map_or(due, |first| first.min(due)));
            continue;
        }
        next.wishes.push(Wish {
            namespace: namespace(&*seen.binding).to_owned(),
            owner: spec.owner.clone(),
            environment: step.to.to_string(),
            release: release.to_owned(),
            known: known.cloned(),
        });
    }
    next
}

/// Writes what is to enter an environment.
pub(super) async fn write(context: &Context, wish: Wish) -> Result<(), Trouble> {
    let collection = Kind::ReleaseBinding.path(&wish.namespace);
    let annotations = json!({ annotations::AUTO_PROMOTED: wish.release });
    if let Some(known) = wish.known {
        let patch = json!({
            "metadata": {
                "resourceVersion": known.metadata.resource_version,
                "annotations": {
                    annotations::AUTO_PROMOTED: wish.release,
                    annotations::REQUESTED_BY: null,
                },
            },
            "spec": { "releaseName": wish.release },
        });
        let url = format!("{collection}/{}", name(&*known));
        return context.control.patch_at(url, &patch).await.map(drop);
    }
    let component = wish.owner.component_name.as_str();
    let object = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ReleaseBinding",
        "metadata": {
            "namespace": wish.namespace, "name": release_name(component, &wish.environment),
            "annotations": annotations, "finalizers": [finalizers::RELEASE_BINDING],
        },
        "spec": {
            "owner": wish.owner, "environment": wish.environment, "releaseName": wish.release,
        },
    });
    match context.control.create(collection, &object).await {
        Ok(_) | Err(Trouble::AlreadyExists(_)) => Ok(()),
        Err(trouble) => Err(trouble),
    }
}
