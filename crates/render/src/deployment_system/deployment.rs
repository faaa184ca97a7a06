//! A Deployment in its environment: what runs, what it is told, and the Service in front of it.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quadrille_types::{
    Build, Component, ConfigurationGroup, DeployableArtifact, Deployment, DeploymentTrack, Project,
    SecretReferenceSpec, component::DeployedBy, labels::hierarchy, release::TargetPlane,
};
use serde_json::Value;

use super::{
    Plane, Stage,
    bundle::Stock,
    checked, endpoint_templates,
    error::{At, Found, Mistakes},
    image,
    overrides::{self, artifact_name, deployment_name},
    place::{Deployed, Place},
    pod::Pod,
    runs,
    scaling::{self, Scaled},
    told,
};
use crate::{
    finish::{self, Rendered},
    plan::Plan,
};

/// Everything that a Deployment is rendered from.
#[derive(Clone, Debug)]
pub struct Inputs<'a> {
    /// The Deployment.
    pub deployment: &'a Deployment,
    /// The artifact that it deploys.
    pub artifact: &'a DeployableArtifact,
    /// The builds of the artifact's track: at least the one that the artifact is from.
    pub builds: Vec<&'a Build>,
    /// The project.
    pub project: &'a Project,
    /// The component.
    pub component: &'a Component,
    /// The track.
    pub track: &'a DeploymentTrack,
    /// The environment.
    pub environment: Stage<'a>,
    /// Its data plane.
    pub plane: Plane<'a>,
    /// Configuration groups of the organization: at least those that are used.
    pub groups: Vec<&'a ConfigurationGroup>,
    /// References to secrets of the organization, by name: at least those that are used.
    pub secrets: &'a BTreeMap<String, SecretReferenceSpec>,
    /// Other Deployments of the same track in the same environment that were there first.
    pub rivals: Vec<&'a str>,
}

/// The name that others use for an object: its label, where it has one.
fn logical(metadata: &ObjectMeta) -> &str {
    let label = label(metadata, hierarchy::NAME);
    label.unwrap_or_else(|| metadata.name.as_deref().unwrap_or_default())
}

fn label<'a>(metadata: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    let found = metadata.labels.as_ref().and_then(|labels| labels.get(key));
    found.map(String::as_str)
}

/// The configuration groups and secret references that a Deployment uses, by name: whoever fetches looks for these, and
/// whoever watches looks at these.
pub fn uses(deployment: &Deployment, artifact: &DeployableArtifact) -> (Vec<String>, Vec<String>) {
    let wanted = overrides::wanted(artifact, deployment, &mut Found::default());
    wanted.settings.names()
}

/// What a Deployment becomes in its environment.
pub fn plan(inputs: &Inputs<'_>) -> Result<Plan, Mistakes> {
    let mut found = Found::default();
    let whose = deployment_name(inputs.deployment);
    if let Some(rival) = inputs.rivals.first() {
        let at = At::new(
            &whose,
            format!("metadata.labels[{}]", hierarchy::DEPLOYMENT_TRACK),
        );
        found.push(at.wrong(format!(
            "is what Deployment {rival} has, too: a track is deployed once in an environment, delete one of the two"
        )));
    }
    let component_type = component_type(inputs.component, &mut found);
    let project = logical(&inputs.project.metadata);
    let namespace = inputs.deployment.metadata.namespace.as_deref();
    let organization = label(&inputs.project.metadata, hierarchy::ORGANIZATION)
        .or(namespace)
        .unwrap_or_default();
    let place = Place::of_deployment(&Deployed {
        organization,
        project,
        environment: inputs.environment.name,
        component: logical(&inputs.component.metadata),
        component_type,
        track: logical(&inputs.track.metadata),
        deployment: logical(&inputs.deployment.metadata),
    });
    let own = |metadata: &ObjectMeta| metadata.name.clone().unwrap_or_default();
    let (component, track) = (own(&inputs.component.metadata), own(&inputs.track.metadata));
    let names = [component.as_str(), track.as_str()];
    let wanted = overrides::wanted(inputs.artifact, inputs.deployment, &mut found);
    endpoint_templates::check(&wanted.templates, inputs.artifact, &mut found);
    let at = At::new(
        artifact_name(inputs.artifact),
        "spec.configuration.application",
    );
    if let (Some(_), Some((_, at))) = (&wanted.scaling, &wanted.task) {
        found.push(at.wrong("stands beside scaling: a task does not scale, take one of them out"));
    }
    let own_image = format!("{project}-{component}");
    let image = image::of(inputs.artifact, &inputs.builds, inputs.plane, &own_image);
    let image = found.keep(image).unwrap_or_default();
    let stock = Stock {
        groups: &inputs.groups,
        secrets: inputs.secrets,
        environment: inputs.environment.name,
        plane: inputs.plane,
        parts: &names,
    };
    let told = told::tell(&wanted.settings, &stock, &place, &mut found);
    let mut notes = told.notes.clone();
    let listens = endpoint_templates::listens(&wanted.templates);
    let is_task = component_type == "ScheduledTask";
    let pod = Pod {
        image: &image,
        wanted: &wanted,
        told: &told,
        listens: if is_task { &[] } else { &listens },
        restart: if is_task { "Never" } else { "Always" },
        plane: inputs.plane,
    }
    .spec(&mut found);
    let mut objects = Vec::new();
    match component_type {
        "ScheduledTask" => objects.push(runs::cron_job(
            &names,
            &place,
            &pod,
            wanted.task.as_ref(),
            &at,
            &mut found,
        )),
        "Service" | "WebApplication" => {
            let limit = inputs.deployment.spec.revision_history_limit;
            objects.push(runs::deployment(&names, &place, &pod, limit));
            objects.extend(runs::service(&names, &place, &listens));
            let scaled = Scaled {
                names: &names,
                place: &place,
                limits: &wanted.limits,
                listens: &listens,
                plane: inputs.plane,
            };
            if let Some((scaling, at)) = &wanted.scaling {
                objects.extend(scaling::object(
                    scaling, at, &scaled, &mut notes, &mut found,
                ));
            }
        }
        other => notes.push(format!(
            "components of type {other} run nothing by themselves: only their cell is made"
        )),
    }
    if !objects.is_empty() {
        objects.extend(told.objects);
    }
    let origins = origins(&wanted);
    finished(
        objects,
        &place,
        &origins,
        notes,
        told.secret_references,
        found,
    )
}

/// What a server may have to say something about, by the names that people wrote it under.
fn origins(wanted: &overrides::Wanted) -> Vec<checked::Origin> {
    let mut origins = Vec::new();
    for (word, probe) in [
        ("readinessProbe", &wanted.readiness),
        ("livenessProbe", &wanted.liveness),
    ] {
        origins.extend(probe.as_ref().map(|(_, at)| (word, at.clone())));
    }
    let task = wanted.task.as_ref();
    origins.extend(task.map(|(_, at)| ("spec.timeZone", at.below("schedule.timezone"))));
    origins
}

/// The last steps: what a server would refuse, what restarts pods, order and ids.
fn finished(
    objects: Vec<Value>,
    place: &Place,
    origins: &[checked::Origin],
    notes: Vec<String>,
    secret_references: Vec<String>,
    mut found: Found,
) -> Result<Plan, Mistakes> {
    // What is known to be wrong already is not to be told twice.
    found.finish()?;
    found = Found::default();
    for object in &objects {
        checked::check(object, origins, &mut found);
    }
    found.finish()?;
    let rendered = |object| Rendered {
        plane: TargetPlane::Data,
        object,
        made_by: "Deployment",
    };
    let mut objects: Vec<Rendered<'_>> = objects.into_iter().map(rendered).collect();
    finish::note_restarts(&mut objects, "deployment", None);
    let objects =
        finish::number(objects).map_err(|error| Mistakes(vec![super::Mistake::Render(error)]))?;
    Ok(Plan {
        objects,
        namespace: place.namespace.clone(),
        endpoints: Vec::new(),
        secret_references,
        pending_connections: Vec::new(),
        pending_resources: Vec::new(),
        notes,
    })
}

/// What a component is, by the older word; a component of the chain is the chain's.
fn component_type<'a>(component: &'a Component, found: &mut Found) -> &'a str {
    let name = component.metadata.name.as_deref().unwrap_or_default();
    let at = At::new(format!("Component {name}"), "spec");
    match component.spec.resolve() {
        Ok(resolved) => {
            if let DeployedBy::ComponentType { reference, .. } = resolved.deployed_by {
                found.push(at.below("componentType").wrong(format!(
                    "is {}, so its releases are deployed by bindings: delete the Deployment, or make a component of type \
                     Service, WebApplication or ScheduledTask",
                    reference.name
                )));
            }
        }
        Err(problem) => found.push(at.problem(problem)),
    }
    component.spec.older_type.as_deref().unwrap_or_default()
}
