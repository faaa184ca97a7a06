//! What is to be done about a project: its pipeline is looked for; when it goes, its releases go first, then the
//! namespaces of its cells.

use std::collections::BTreeSet;

use quadrille_types::{
    Project,
    conditions::{ConditionType, Holds, Reason},
    labels::data_plane,
};
use serde_json::json;

use super::{
    owned::Releases,
    shelves::Shelves,
    step::{Step, Sweep, is_abandoned, names},
};

pub(crate) fn decide(project: &Project, shelves: &Shelves, releases: &Releases<'_>) -> Step {
    let metadata = &project.metadata;
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let status = project.status.clone().unwrap_or_default();
    let mut planes: BTreeSet<String> = status.planes.into_iter().collect();
    planes.extend(releases.here.iter().filter_map(|one| one.plane.clone()));
    let mut step = Step::default();
    if !planes.is_empty() {
        step.fields.insert("planes", json!(planes));
    }
    if metadata.deletion_timestamp.is_some() {
        end(&mut step, project, shelves, releases, &planes);
        return step;
    }
    step.say(
        ConditionType::Created,
        Holds::True,
        Reason::ProjectCreated,
        "Project is created",
    );
    let resolved = match project.spec.resolve() {
        Ok(resolved) => resolved,
        Err(problem) => {
            step.say(
                ConditionType::Ready,
                Holds::False,
                Reason::InvalidConfiguration,
                problem.to_string(),
            );
            return step;
        }
    };
    let pipeline = resolved.pipeline.as_str();
    step.fields.insert("deploymentPipeline", json!(pipeline));
    if shelves.pipelines.find(namespace, pipeline).is_some() {
        step.say(
            ConditionType::Ready,
            Holds::True,
            Reason::Reconciled,
            format!("components are promoted along DeploymentPipeline {pipeline}"),
        );
    } else {
        step.say(
            ConditionType::Ready,
            Holds::False,
            Reason::DeploymentPipelineNotFound,
            format!(
                "spec.deploymentPipelineRef: there is no DeploymentPipeline {pipeline:?} in namespace \
                 {namespace:?}: create it, or name another"
            ),
        );
    }
    step
}

fn end(
    step: &mut Step,
    project: &Project,
    shelves: &Shelves,
    releases: &Releases<'_>,
    planes: &BTreeSet<String>,
) {
    let ends = Reason::ProjectFinalizing;
    if releases.go_first(step, ends, ends) {
        return;
    }
    let namespace = project.metadata.namespace.as_deref().unwrap_or_default();
    step.may_go = true;
    if is_abandoned(project) {
        let words = "namespaces of its cells may be left on planes, as asked";
        step.ending(ends, Reason::Abandoned, words);
        step.note = Some(words.to_owned());
        return;
    }
    let labels = vec![
        (
            data_plane::PROJECT_NAME,
            project.metadata.name.clone().unwrap_or_default(),
        ),
        (data_plane::ORGANIZATION_NAME, namespace.to_owned()),
    ];
    // A plane that is gone was left by a word from a person, and with it what was there.
    let is_left = |name: &&String| match shelves.planes.find(namespace, name) {
        Some(plane) => !is_abandoned(&**plane),
        None => false,
    };
    step.sweeps = planes
        .iter()
        .filter(is_left)
        .map(|plane| Sweep {
            plane: plane.clone(),
            labels: labels.clone(),
            may_skip: false,
        })
        .collect();
    let words = if step.sweeps.is_empty() {
        "nothing is left of it".to_owned()
    } else {
        let which = names(step.sweeps.iter().map(|sweep| sweep.plane.as_str()));
        format!("the namespaces of its cells on DataPlane {which} go")
    };
    step.ending(ends, ends, words);
}
