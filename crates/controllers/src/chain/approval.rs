//! What is to be said of somebody's word: whether it counts, or why it does not.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use quadrille_types::{
    Approval,
    approval::Decision,
    component::DeployedBy,
    conditions::{ConditionType, Holds, Reason},
};

use super::shelves::{is_going, namespace, uid};
use crate::{
    key::Key,
    platform::{
        carry::{Object, Work, after, is_heard},
        step::{Step, Thing},
    },
    releases::{Context, Inner},
    system::promotion,
};

/// Whether what a word is about is there, or what is missing.
struct Seen {
    approval: Arc<Approval>,
    missing: Option<(Reason, String)>,
}

fn around(world: &Inner, key: &Key) -> Option<Seen> {
    let approval = Arc::clone(world.chain.approvals.get(key)?);
    let missing = missing(world, &approval);
    Some(Seen { approval, missing })
}

/// Looks at a word once.
pub(super) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    let seen = around(&context.world.look(), &thing.key);
    let Some(seen) = seen else {
        context.written.lock().remove(thing);
        context.alarms.set(thing, None);
        return None;
    };
    let approval = &seen.approval;
    let object = Object::of(&**approval, approval.status.as_ref());
    if !is_heard(context, thing, &object.metadata) {
        return None;
    }
    let now = context.alarms.now();
    let (holds, reason, words) = judge(approval, seen.missing, now);
    let end = approval.spec.expires_at.as_ref().map(|end| end.0);
    context.alarms.set(thing, end.filter(|end| *end > now));
    let mut step = Step::default();
    step.say(ConditionType::Ready, holds, reason, words);
    let mut work = Work {
        context,
        thing,
        object,
    };
    let said = work.say(&step, None).await;
    after(thing, said.map(|()| None))
}

/// What a word is about that is not there.
fn missing(world: &Inner, approval: &Approval) -> Option<(Reason, String)> {
    let here = namespace(approval);
    let spec = &approval.spec;
    let (component, release) = (spec.owner.component_name.as_str(), &spec.release_name);
    let environment = spec.environment.as_str();
    if world.shelves.environments.find(here, environment).is_none() {
        let words = format!(
            "spec.environment: there is no Environment {environment:?} in namespace {here:?}: delete this word, and say it \
             about another"
        );
        return Some((Reason::EnvironmentNotFound, words));
    }
    let Some(snapshot) = world.chain.snapshots.find(here, release) else {
        if promotion::is_known(world, here, &spec.owner, release) {
            return None;
        }
        let owner = world.chain.components.find(here, component);
        let resolved = owner.and_then(|owner| owner.spec.resolve().ok());
        let is_older =
            resolved.is_some_and(|one| matches!(one.deployed_by, DeployedBy::OlderKind(_)));
        if is_older {
            let words = format!(
                "spec.releaseName: nothing that was asked for of {component} is called {release:?}: see what is: quad status \
                 {component}"
            );
            return Some((Reason::ComponentReleaseNotFound, words));
        }
        let words = format!(
            "spec.releaseName: there is no ComponentRelease {release:?}: see which there are: quad release list {component}"
        );
        return Some((Reason::ComponentReleaseNotFound, words));
    };
    if snapshot.spec.owner != spec.owner {
        let words = format!(
            "spec.releaseName: ComponentRelease {release} belongs to another component than {component}: delete this word, \
             and say it about one of {component}"
        );
        return Some((Reason::InvalidReleaseConfiguration, words));
    }
    if !snapshot.is_sealed && spec.release_uid.as_deref() != Some(uid(&**snapshot)) {
        let words = format!(
            "spec.releaseUid: must be {}: the name {release} does not say what is in it, and another may have had it: quad \
             approve {component} --env {environment} --release {release}",
            uid(&**snapshot)
        );
        return Some((Reason::InvalidReleaseConfiguration, words));
    }
    None
}

/// Whether a word counts at a moment.
fn judge(
    approval: &Approval,
    missing: Option<(Reason, String)>,
    now: Timestamp,
) -> (Holds, Reason, String) {
    let spec = &approval.spec;
    let (release, environment) = (&spec.release_name, &spec.environment);
    let (by, component) = (&spec.by, &spec.owner.component_name);
    if is_going(approval) {
        let words = format!("{by} took it back");
        return (Holds::False, Reason::ApprovalWithdrawn, words);
    }
    if !spec.counts_at(now) {
        let words = format!(
            "it ended: what runs by then goes on, and what is asked for after that needs another: quad approve {component} \
             --env {environment}"
        );
        return (Holds::False, Reason::ApprovalExpired, words);
    }
    if let Some((reason, words)) = missing {
        return (Holds::False, reason, words);
    }
    match spec.decision() {
        Decision::Approve => {
            let words = format!("{by} agrees to {release} in {environment}");
            (Holds::True, Reason::Approved, words)
        }
        Decision::Reject => {
            let words = format!("{by} refuses {release} in {environment}");
            (Holds::True, Reason::ApprovalRejected, words)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn said(more: &Value, missing: Option<(Reason, String)>) -> (Holds, Reason) {
        let mut object = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Approval", "metadata": { "name": "a" },
            "spec": {
                "owner": { "projectName": "p", "componentName": "c" },
                "environment": "prod", "releaseName": "r1", "by": "anna",
            },
        });
        for (field, value) in more.as_object().unwrap() {
            match field.as_str() {
                "deletionTimestamp" => object["metadata"][field] = value.clone(),
                _ => object["spec"][field] = value.clone(),
            }
        }
        let approval = serde_json::from_value(object).unwrap();
        let now = "2026-01-15T00:00:00Z".parse().unwrap();
        let (holds, reason, _) = judge(&approval, missing, now);
        (holds, reason)
    }

    #[test]
    fn a_word_counts_unless_it_ended_was_taken_back_or_is_about_nothing() {
        let nothing = || Some((Reason::ComponentReleaseNotFound, String::new()));
        let cases = [
            (json!({}), None, Holds::True, Reason::Approved),
            (
                json!({ "decision": "Reject" }),
                None,
                Holds::True,
                Reason::ApprovalRejected,
            ),
            (
                json!({}),
                nothing(),
                Holds::False,
                Reason::ComponentReleaseNotFound,
            ),
            (
                json!({ "expiresAt": "2026-01-15T00:00:00Z" }),
                nothing(),
                Holds::False,
                Reason::ApprovalExpired,
            ),
            (
                json!({ "expiresAt": "2026-01-15T00:00:01Z" }),
                None,
                Holds::True,
                Reason::Approved,
            ),
            (
                json!({ "deletionTimestamp": "2026-01-14T00:00:00Z" }),
                None,
                Holds::False,
                Reason::ApprovalWithdrawn,
            ),
        ];
        for (more, missing, holds, reason) in cases {
            assert_eq!(said(&more, missing), (holds, reason), "{more}");
        }
    }
}
