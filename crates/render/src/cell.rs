//! A project in an environment: its cell. One namespace, closed to others unless a component opens itself, and closed for
//! what leaves it where somebody asked for that.

mod quota;

use std::collections::{BTreeMap, BTreeSet};

use quadrille_types::{
    DataPlaneSpec, Problem,
    annotations::{CELL_EGRESS, CELL_QUOTA},
    labels::{data_plane, hierarchy, tracking, uids},
    names::generate,
};
use serde_json::{Value, json};

use crate::{
    error::RenderError,
    finish::planned,
    inputs::Named,
    plan::Planned,
    policy::{Peer, Policy, Reach},
    provider::PolicyProvider,
};

/// What is asked of cells by the annotations of their project, environment and data plane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Whether only what is declared may leave.
    pub enforces_egress: bool,
    /// How much of what may be used, and by whose word.
    quotas: Vec<(&'static str, BTreeMap<String, String>)>,
}

/// What a cell is made from.
#[derive(Clone, Copy, Debug)]
pub struct CellInputs<'a> {
    /// The organization.
    pub organization: &'a str,
    /// The project.
    pub project: Named<'a>,
    /// The environment.
    pub environment: Named<'a>,
    /// What its project, environment and plane ask of it.
    pub asked: &'a Asked,
    /// What is asked of its data plane.
    pub plane_spec: &'a DataPlaneSpec,
    /// The annotations of its data plane.
    pub plane_annotations: &'a BTreeMap<String, String>,
    /// Whether the deployment system has anything in it.
    pub runs_older: bool,
}

/// The name of a cell's release.
pub fn release_name(project: &str, environment: &str) -> String {
    generate::name(&[&format!("p_{project}"), environment])
}

impl Asked {
    /// Reads the annotations of a project, an environment and its plane. A component's release is rendered with what is
    /// read here too, so that whoever deploys it learns what is wrong.
    pub fn read(
        project: &BTreeMap<String, String>,
        environment: &BTreeMap<String, String>,
        plane: &BTreeMap<String, String>,
    ) -> Result<Self, RenderError> {
        let mut quotas = Vec::new();
        for (whose, annotations) in [("project", project), ("environment", environment)] {
            if let Some(text) = annotations.get(CELL_QUOTA) {
                let hard = quota::read(text).map_err(|words| wrong(whose, CELL_QUOTA, words))?;
                quotas.push((whose, hard));
            }
        }
        Ok(Self {
            enforces_egress: enforces_egress(project, environment, plane)?,
            quotas,
        })
    }
}

/// One of the three is enough to ask for it, and none can take it back. A word that nobody knows is an error, since it may
/// be a misspelt `enforce`.
fn enforces_egress(
    project: &BTreeMap<String, String>,
    environment: &BTreeMap<String, String>,
    plane: &BTreeMap<String, String>,
) -> Result<bool, RenderError> {
    let mut is_enforced = false;
    for (whose, annotations) in [
        ("project", project),
        ("environment", environment),
        ("data plane", plane),
    ] {
        match annotations.get(CELL_EGRESS).map(String::as_str) {
            None | Some("open") => {}
            Some("enforce") => is_enforced = true,
            Some(other) => {
                let words = format!("is {other:?}, must be enforce or open");
                return Err(wrong(whose, CELL_EGRESS, words));
            }
        }
    }
    Ok(is_enforced)
}

/// The objects of a cell: its namespace, the policy that closes it, and a quota for each of its project and environment
/// that asks for one.
pub fn plan(inputs: &CellInputs<'_>) -> Vec<Planned> {
    let namespace = generate::cell_namespace(
        &inputs.organization.into(),
        &inputs.project.name.into(),
        &inputs.environment.name.into(),
    );
    let labels = labels(inputs);
    let named = |name: &str| json!({ "name": name, "namespace": namespace, "labels": labels });
    let closed = Policy {
        metadata: named("openchoreo-default-deny"),
        pods: json!({}),
        ingress: Reach::new(),
        egress: inputs.asked.enforces_egress.then(everybody_may),
    };
    let provider = PolicyProvider::of(inputs.plane_spec, inputs.plane_annotations);
    let mut objects = vec![
        json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": { "name": namespace, "labels": labels },
        }),
        closed.object(provider),
    ];
    if inputs.runs_older {
        objects.push(older_policy(named("default-policy")).object(provider));
    }
    let quotas = inputs.asked.quotas.iter().map(|(whose, hard)| {
        json!({
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": named(&format!("openchoreo-{whose}")),
            "spec": { "hard": hard },
        })
    });
    objects.extend(quotas);
    objects.into_iter().map(planned).collect()
}

/// What every object of a cell carries. Where the deployment system has something in it, those are the labels of both
/// generations: each has tools that find cells by its own.
fn labels(inputs: &CellInputs<'_>) -> Value {
    let mut labels = json!({
        hierarchy::NAMESPACE: inputs.organization,
        hierarchy::PROJECT: inputs.project.name,
        hierarchy::ENVIRONMENT: inputs.environment.name,
        uids::PROJECT: inputs.project.uid,
        uids::ENVIRONMENT: inputs.environment.uid,
    });
    if inputs.runs_older {
        for (key, value) in [
            (data_plane::ORGANIZATION_NAME, inputs.organization),
            (data_plane::PROJECT_NAME, inputs.project.name),
            (data_plane::ENVIRONMENT_NAME, inputs.environment.name),
            (data_plane::MANAGED_BY, data_plane::DEPLOYMENT_CONTROLLER),
            (data_plane::BELONG_TO, data_plane::USER_WORKLOADS),
            (tracking::CREATED_BY, tracking::RELEASE_CONTROLLER),
        ] {
            labels[key] = value.into();
        }
    }
    labels
}

/// The policy of the deployment system: its pods hear from their cell. The older generation has it for all pods of the
/// namespace and closes their egress with it, which policies for the whole plane open again; here it is about its own
/// pods only, since components beside them open no more than their endpoints, and egress is closed where a cell asks for
/// that.
fn older_policy(metadata: Value) -> Policy<'static> {
    Policy {
        metadata,
        pods: json!({ "matchLabels": { data_plane::BELONG_TO: data_plane::USER_WORKLOADS } }),
        ingress: Reach::from([(Peer::OwnCell, BTreeSet::new())]),
        egress: None,
    }
}

/// What every pod of a cell gets out to where egress is enforced: names, and each other.
fn everybody_may() -> Reach<'static> {
    let names = BTreeSet::from([(53, "UDP", false), (53, "TCP", false)]);
    Reach::from([(Peer::NameService, names), (Peer::OwnCell, BTreeSet::new())])
}

fn wrong(whose: &str, annotation: &str, words: String) -> RenderError {
    let field = format!("metadata.annotations[{annotation}]");
    RenderError::field(whose, Problem::new(field, words))
}

#[cfg(test)]
mod tests;
