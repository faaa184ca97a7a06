//! What is to be done about an organization: its namespace, and when it goes, everything in it, in order.

use k8s_openapi::api::core::v1::Namespace;
use kube::Resource;
use quadrille_types::{
    Organization,
    conditions::{ConditionType, Holds, Reason},
    labels::{hierarchy, tracking},
};
use serde_json::json;

use super::{
    shelves::Shelves,
    step::{Found, Kind, NamespaceWish, Step, names},
};

/// Namespaces of the cluster itself: nobody's organization may take them away.
const OF_THE_CLUSTER: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// The labels of an organization's namespace.
pub(crate) fn labels(name: &str) -> [(&'static str, String); 3] {
    [
        (tracking::MANAGED_BY, tracking::CONTROL_PLANE.to_owned()),
        (hierarchy::ORGANIZATION, name.to_owned()),
        (hierarchy::NAME, name.to_owned()),
    ]
}

/// Whether a namespace was made for this organization, rather than found.
fn is_made_for(namespace: &Namespace, organization: &Organization) -> bool {
    let uid = organization.metadata.uid.as_deref();
    let owners = namespace.metadata.owner_references.iter().flatten();
    owners
        .filter(|owner| owner.controller == Some(true))
        .any(|owner| Some(owner.uid.as_str()) == uid)
}

fn is_labelled(namespace: &Namespace, name: &str) -> bool {
    let known = namespace.meta().labels.as_ref();
    labels(name)
        .iter()
        .all(|(key, value)| known.is_some_and(|known| known.get(*key) == Some(value)))
}

pub(crate) fn decide(organization: &Organization, shelves: &Shelves) -> Step {
    let name = organization.metadata.name.as_deref().unwrap_or_default();
    let namespace = shelves.namespaces.find("", name);
    if organization.metadata.deletion_timestamp.is_some() {
        return end(organization, name, namespace.map(AsRef::as_ref), shelves);
    }
    let mut step = Step::default();
    let going = namespace.filter(|one| one.metadata.deletion_timestamp.is_some());
    if going.is_some() {
        step.say(
            ConditionType::Ready,
            Holds::False,
            Reason::NamespaceTerminating,
            format!("Namespace {name} is being deleted; it is made again when it is gone"),
        );
        return step;
    }
    match namespace {
        None => {
            step.namespace = Some(NamespaceWish::Make);
            step.say(
                ConditionType::Ready,
                Holds::False,
                Reason::NamespaceMissing,
                format!("Namespace {name} is being made"),
            );
            return step;
        }
        Some(namespace) if !is_labelled(namespace, name) => {
            step.namespace = Some(NamespaceWish::Label);
        }
        Some(_) => {}
    }
    step.fields.insert("namespace", json!(name));
    step.say(
        ConditionType::Ready,
        Holds::True,
        Reason::NamespaceCreated,
        format!("Namespace {name} is there"),
    );
    step
}

/// Projects first, then environments, planes and pipelines, then the namespace.
fn end(
    organization: &Organization,
    name: &str,
    namespace: Option<&Namespace>,
    shelves: &Shelves,
) -> Step {
    let mut step = Step::default();
    let say = |step: &mut Step, words: String| {
        step.say(
            ConditionType::Ready,
            Holds::False,
            Reason::OrganizationFinalizing,
            words.clone(),
        );
        step.say(
            ConditionType::Deleting,
            Holds::True,
            Reason::OrganizationFinalizing,
            words,
        );
    };
    for found in in_order(name, shelves) {
        if !found.is_empty() {
            let what = found[0].thing.kind.word();
            let which = names(found.iter().map(|one| &*one.thing.key.name));
            say(&mut step, format!("waits for the end of {what} {which}"));
            step.removes = found;
            return step;
        }
    }
    let is_ours = namespace.is_some_and(|namespace| is_made_for(namespace, organization));
    match namespace {
        Some(_) if is_ours && !OF_THE_CLUSTER.contains(&name) => {
            say(&mut step, format!("Namespace {name} is being deleted"));
            step.namespace = Some(NamespaceWish::Remove);
        }
        Some(namespace) if namespace.metadata.deletion_timestamp.is_none() => {
            let words = format!("Namespace {name} was there before the organization, and stays");
            say(&mut step, words.clone());
            if is_labelled(namespace, name) {
                step.namespace = Some(NamespaceWish::Leave);
            } else {
                step.note = Some(words);
                step.may_go = true;
            }
        }
        Some(_) | None => {
            say(&mut step, "nothing is left of it".to_owned());
            step.may_go = true;
        }
    }
    step
}

/// What is in an organization, by when it goes.
fn in_order(name: &str, shelves: &Shelves) -> [Vec<Found>; 4] {
    [
        shelves.projects.found(Kind::Project, name),
        shelves.environments.found(Kind::Environment, name),
        shelves.planes.found(Kind::DataPlane, name),
        shelves.pipelines.found(Kind::DeploymentPipeline, name),
    ]
}
