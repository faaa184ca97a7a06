//! What is to be done about a pipeline: it is checked against the environments that there are.

use quadrille_types::{
    DeploymentPipeline,
    conditions::{ConditionType, Holds, Reason},
};
use serde_json::{Value, json};

use super::{
    shelves::Shelves,
    step::{Step, names},
};

pub(crate) fn decide(pipeline: &DeploymentPipeline, shelves: &Shelves) -> Step {
    let metadata = &pipeline.metadata;
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let name = metadata.name.as_deref().unwrap_or_default();
    if metadata.deletion_timestamp.is_some() {
        return end(namespace, name, shelves);
    }
    let mut step = Step::default();
    let mut both = |holds: Holds, reason: Reason, words: String| {
        step.say(ConditionType::Available, holds, reason, words.clone());
        step.say(ConditionType::Ready, holds, reason, words);
    };
    let resolved = match pipeline.spec.resolve() {
        Ok(resolved) => resolved,
        Err(problem) => {
            both(
                Holds::False,
                Reason::InvalidConfiguration,
                problem.to_string(),
            );
            step.fields.insert("environments", Value::Null);
            return step;
        }
    };
    let environments = resolved.environments();
    let missing: Vec<&str> = environments
        .iter()
        .map(|name| name.as_str())
        .filter(|name| shelves.environments.find(namespace, name).is_none())
        .collect();
    let unreachable = resolved.unreachable();
    if let Some(circle) = resolved.circle() {
        let path: Vec<&str> = circle.iter().map(|name| name.as_str()).collect();
        both(
            Holds::False,
            Reason::InvalidConfiguration,
            format!(
                "spec.promotionPaths: go in a circle: {}: take one of these steps out",
                path.join(" → ")
            ),
        );
    } else if !unreachable.is_empty() {
        let which = names(unreachable.iter().map(|name| name.as_str()));
        both(
            Holds::False,
            Reason::InvalidConfiguration,
            format!("spec.promotionPaths: nothing leads to {which}"),
        );
    } else if missing.is_empty() {
        both(
            Holds::True,
            Reason::DeploymentPipelineAvailable,
            "DeploymentPipeline is available".to_owned(),
        );
    } else {
        both(
            Holds::False,
            Reason::EnvironmentNotFound,
            format!(
                "spec.promotionPaths: there is no Environment {} in namespace {namespace:?}: create it, or take \
                 it out",
                names(missing.iter().copied())
            ),
        );
    }
    let said = (!environments.is_empty()).then(|| json!(resolved.shown()));
    step.fields.insert("environments", said.unwrap_or_default());
    step
}

/// It stays as long as a project promotes along it.
fn end(namespace: &str, name: &str, shelves: &Shelves) -> Step {
    let mut step = Step::default();
    let users: Vec<&str> = shelves
        .projects
        .within(namespace)
        .filter(|project| {
            let resolved = project.spec.resolve();
            resolved.is_ok_and(|resolved| resolved.pipeline.as_str() == name)
        })
        .filter_map(|project| project.metadata.name.as_deref())
        .collect();
    let (reason, words) = if users.is_empty() {
        (Reason::CleanupInProgress, "no project uses it".to_owned())
    } else {
        let words = format!(
            "projects are promoted along it: {}: delete them, or let them name another pipeline",
            names(users.iter().copied())
        );
        (Reason::DeletionBlocked, words)
    };
    step.may_go = users.is_empty();
    for (condition, holds) in [
        (ConditionType::Available, Holds::False),
        (ConditionType::Ready, Holds::False),
        (ConditionType::Finalizing, Holds::True),
    ] {
        step.say(condition, holds, reason, words.clone());
    }
    step
}
