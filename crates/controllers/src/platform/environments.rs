//! What is to be done about an environment: it is ready if its plane is; when it goes, its releases go first, then
//! the namespaces that were made for them.

use quadrille_planes::PlaneName;
use quadrille_types::{
    Environment, annotations,
    conditions::{ConditionType, Holds, Reason, find, is_true},
    labels::data_plane,
};
use serde_json::json;

use super::{
    owned::Releases,
    shelves::{self, EnvironmentContext, NoContext, REFERENCE, Shelves, used_plane},
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
    if let Some(abandoned) = note_of_plane(environment, shelves) {
        step.fields.insert("abandoned", json!(abandoned));
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
            shelves,
            context.map(|context| context.plane_name),
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
    let reference = format!("{REFERENCE}{plane}");
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

/// What is to be noted of the plane that was used: that it was given up for good, before it goes and nobody remembers;
/// and that it was not, once it is there again. Nothing if that is known.
fn note_of_plane(environment: &Environment, shelves: &Shelves) -> Option<bool> {
    let name = used_plane(environment)?;
    let plane = shelves.planes.find(&name.namespace, &name.name)?;
    let is_given_up = is_abandoned(&**plane) && plane.metadata.deletion_timestamp.is_some();
    (is_given_up || shelves::is_left(environment)).then_some(is_given_up)
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
    shelves: &Shelves,
    asked: Result<PlaneName, String>,
    releases: &Releases<'_>,
    is_used: bool,
) {
    let ends = Reason::EnvironmentFinalizing;
    if releases.go_first(step, ends, Reason::CleanupInProgress) {
        return;
    }
    // What was put somewhere is there, whatever the spec says by now.
    let name = used_plane(environment).map_or(asked, Ok);
    let plane = match &name {
        Ok(name) => shelves.planes.find(&name.namespace, &name.name),
        Err(_) => None,
    };
    let is_left = match plane {
        Some(plane) => is_abandoned(&**plane),
        None => shelves::is_left(environment),
    };
    if is_abandoned(environment) || is_left {
        let words = "namespaces that were made for it may be left on its plane, as asked";
        step.ending(ends, Reason::Abandoned, words);
        step.note = Some(words.to_owned());
        step.may_go = true;
        return;
    }
    let name = match (name, plane) {
        (Ok(name), Some(_)) => name.name,
        _ if !is_used => {
            step.ending(ends, Reason::CleanupInProgress, "nothing is left of it");
            step.may_go = true;
            return;
        }
        (name, _) => {
            let why = match name {
                Ok(name) => format!(
                    "DataPlane {} is gone, and with it the way to the namespaces that were made there: create it \
                     again",
                    name.name
                ),
                Err(problem) => format!("nobody can tell which DataPlane it is on: {problem}"),
            };
            let words = format!(
                "{why}, or annotate the environment with {}: \"true\"",
                annotations::ABANDON
            );
            step.ending(ends, Reason::CleanupFailed, words);
            return;
        }
    };
    let metadata = &environment.metadata;
    step.sweeps = vec![Sweep {
        plane: name.clone(),
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
    let words = format!("namespaces on DataPlane {name} go");
    step.ending(ends, Reason::CleanupInProgress, words);
}

#[cfg(test)]
mod tests {
    use quadrille_planes::feed::{News, Told};
    use serde_json::Value;

    use super::*;

    /// An environment that is on its way out, and planes beside it.
    fn ends(spec: &Value, status: &Value, planes: &[&str]) -> Step {
        let environment = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Environment",
            "metadata": {
                "namespace": "acme", "name": "dev", "deletionTimestamp": "2026-01-01T00:00:00Z",
            },
            "spec": spec, "status": status,
        });
        let plane = |name: &&str| {
            Told::from(json!({
                "apiVersion": "openchoreo.dev/v1alpha1", "kind": "DataPlane",
                "metadata": { "namespace": "acme", "name": name },
                "spec": { "kubernetesCluster": { "inCluster": true } },
            }))
        };
        let mut shelves = Shelves::default();
        let planes = planes.iter().map(plane).collect();
        shelves.planes.hear(News::Listed(planes));
        let told = Told::from(environment.clone());
        shelves.environments.hear(News::Listed(vec![told]));
        let releases = Releases {
            are_known: true,
            makers: Vec::new(),
            here: Vec::new(),
        };
        let environment = serde_json::from_value(environment).expect("an environment");
        decide(&environment, &shelves, &releases)
    }

    fn said(step: &Step) -> &str {
        step.said.first().map_or("", |said| said.message.as_str())
    }

    #[test]
    fn what_was_put_onto_a_plane_is_swept_there_whatever_the_spec_says_now() {
        let used = json!({ "used": true, "dataPlane": "DataPlane/far" });
        for spec in [
            json!({ "dataPlaneRef": "near" }),
            json!({ "dataPlaneRef": { "kind": "ClusterDataPlane", "name": "far" } }),
        ] {
            let step = ends(&spec, &used, &["near", "far"]);
            let planes: Vec<&str> = step.sweeps.iter().map(|one| one.plane.as_str()).collect();
            assert_eq!((planes.as_slice(), step.may_go), (&["far"][..], true));
            let step = ends(&spec, &used, &["near"]);
            assert!(!step.may_go && said(&step).contains("DataPlane far is gone"));
        }
        // Nothing was put anywhere yet.
        let step = ends(&json!({ "dataPlaneRef": "near" }), &json!({}), &["near"]);
        assert_eq!(step.sweeps.len(), 1);
    }

    #[test]
    fn a_plane_that_was_given_up_before_it_went_is_left() {
        let used = json!({ "used": true, "dataPlane": "DataPlane/far", "abandoned": true });
        let spec = json!({ "dataPlaneRef": "far" });
        let step = ends(&spec, &used, &[]);
        assert!(step.may_go && step.sweeps.is_empty() && step.note.is_some());
        // It was made again since.
        let step = ends(&spec, &used, &["far"]);
        assert_eq!(step.fields["abandoned"], json!(false));
        assert_eq!(step.sweeps.len(), 1);
    }

    #[test]
    fn a_plane_that_is_gone_is_told_from_one_that_cannot_be_understood() {
        let spec = json!({ "dataPlaneRef": { "kind": "ClusterDataPlane", "name": "far" } });
        let step = ends(&spec, &json!({ "used": true }), &["far"]);
        assert!(!step.may_go && said(&step).contains("is not served yet"));
        let step = ends(&spec, &json!({}), &["far"]);
        assert!(step.may_go, "it was never used");
    }

    #[test]
    fn a_plane_is_held_by_an_environment_that_was_used_there() {
        let environment = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Environment",
            "metadata": { "namespace": "acme", "name": "dev" },
            "spec": { "dataPlaneRef": "near" },
            "status": { "used": true, "dataPlane": "DataPlane/far" },
        });
        let mut shelves = Shelves::default();
        let told = Told::from(environment);
        shelves.environments.hear(News::Listed(vec![told]));
        for name in ["near", "far"] {
            let plane = PlaneName {
                namespace: "acme".to_owned(),
                name: name.to_owned(),
            };
            assert_eq!(shelves.environments_on(&plane).len(), 1, "{name}");
        }
    }
}
