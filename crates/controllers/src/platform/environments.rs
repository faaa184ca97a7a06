//! What is to be done about an environment: it is ready if its plane is; when it goes, its releases go first, then
//! the namespaces that were made for them.

use quadrille_types::{
    Environment,
    conditions::{ConditionType, Holds, Reason, find, is_true},
    labels::data_plane,
};
use serde_json::json;

use super::{
    owned::Releases,
    shelves::{EnvironmentContext, NoContext, Shelves},
    step::{Step, Sweep, is_abandoned},
};

pub(crate) fn decide(
    environment: &Environment,
    shelves: &Shelves,
    releases: &Releases<'_>,
) -> Step {
    let metadata = &environment.metadata;
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let name = metadata.name.as_deref().unwrap_or_default();
    let mut step = Step::default();
    let status = environment.status.clone().unwrap_or_default();
    let is_used = status.used == Some(true) || releases.here.iter().any(|one| one.plane.is_some());
    if is_used {
        step.fields.insert("used", json!(true));
    }
    let context = match shelves.environment(namespace, name) {
        Ok(context) => Ok(context),
        Err(NoContext::Invalid(problem)) => Err(problem),
        // It is here, so it was found.
        Err(NoContext::Missing) => return step,
    };
    if metadata.deletion_timestamp.is_some() {
        end(
            &mut step,
            environment,
            context.ok().as_ref(),
            releases,
            is_used,
        );
        return step;
    }
    let context = match context {
        Ok(context) => context,
        Err(problem) => {
            step.say(
                ConditionType::Ready,
                Holds::False,
                Reason::InvalidConfiguration,
                problem,
            );
            return step;
        }
    };
    let plane = context.plane_name.name.clone();
    let reference = format!("DataPlane/{plane}");
    let before = status.data_plane.as_deref();
    if is_used && before.is_some_and(|before| before != reference) {
        let before = before.unwrap_or_default();
        step.say(
            ConditionType::Ready,
            Holds::False,
            Reason::ImmutableFieldChanged,
            format!(
                "spec.dataPlaneRef: releases of the environment were put onto {before}: put it back, or make \
                 another environment"
            ),
        );
        return step;
    }
    step.fields.insert("dataPlane", json!(reference));
    judge(&mut step, &context, namespace);
    step
}

/// An environment is ready if its plane exists and was reached.
fn judge(step: &mut Step, context: &EnvironmentContext<'_>, namespace: &str) {
    let name = &context.plane_name.name;
    let Some(plane) = context.plane else {
        step.say(
            ConditionType::Ready,
            Holds::False,
            Reason::DataPlaneNotFound,
            format!(
                "spec.dataPlaneRef: there is no DataPlane {name:?} in namespace {namespace:?}: create it, or name \
                 another"
            ),
        );
        return;
    };
    let conditions = plane.status.as_ref().map(|status| &*status.conditions);
    let conditions = conditions.unwrap_or_default();
    if is_true(conditions, ConditionType::Ready) {
        step.say(
            ConditionType::Ready,
            Holds::True,
            Reason::EnvironmentReady,
            format!("Environment is ready on DataPlane {name}"),
        );
        return;
    }
    let why = find(conditions, ConditionType::Ready);
    let words = why.map_or("it was not reached yet", |why| why.message.as_str());
    let is_unknown = why.is_none_or(|why| why.status == "Unknown");
    step.say(
        ConditionType::Ready,
        if is_unknown {
            Holds::Unknown
        } else {
            Holds::False
        },
        Reason::DataPlaneNotReady,
        format!("DataPlane {name}: {words}"),
    );
}

fn end(
    step: &mut Step,
    environment: &Environment,
    context: Option<&EnvironmentContext<'_>>,
    releases: &Releases<'_>,
    is_used: bool,
) {
    let ends = Reason::EnvironmentFinalizing;
    if releases.go_first(step, ends, Reason::CleanupInProgress) {
        return;
    }
    let plane = context.and_then(|context| context.plane);
    if is_abandoned(environment) || plane.is_some_and(|plane| is_abandoned(&**plane)) {
        let words = "namespaces that were made for it may be left on its plane, as asked";
        step.ending(ends, Reason::Abandoned, words);
        step.note = Some(words.to_owned());
        step.may_go = true;
        return;
    }
    let (Some(context), Some(_)) = (context, plane) else {
        if is_used {
            let words = "its DataPlane is gone, and with it the way to the namespaces that were made there: \
                         create it again, or annotate the environment with openchoreo.dev/abandon: \"true\"";
            step.ending(ends, Reason::CleanupFailed, words);
        } else {
            step.ending(ends, Reason::CleanupInProgress, "nothing is left of it");
            step.may_go = true;
        }
        return;
    };
    let metadata = &environment.metadata;
    step.sweeps = vec![Sweep {
        plane: context.plane_name.name.clone(),
        labels: vec![
            (
                data_plane::ENVIRONMENT_NAME,
                metadata.name.clone().unwrap_or_default(),
            ),
            (
                data_plane::ORGANIZATION_NAME,
                metadata.namespace.clone().unwrap_or_default(),
            ),
        ],
        may_skip: !is_used,
    }];
    step.may_go = true;
    let words = format!("namespaces on DataPlane {} go", context.plane_name.name);
    step.ending(ends, Reason::CleanupInProgress, words);
}
