//! What deploys a component now: the Deployments of a track, or the bindings of an instance of a class.

use std::collections::BTreeMap;

use quadrille_types::{
    Component, Deployment, DeploymentTrack, Project, ScheduledTask, ScheduledTaskBinding, Service,
    ServiceBinding, WebApplication, WebApplicationBinding, Workload, labels::hierarchy,
    release_state::ReleaseState, workload::WorkloadOwner,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    super::instance::Bind,
    MigrationError,
    pile::{self, Pile, called, label, name, read, text},
};

/// What deploys a component.
pub(super) enum Source {
    /// Deployments of a track.
    Track(Box<DeploymentTrack>, Vec<Deployment>),
    /// Bindings of a service.
    Services(Vec<ServiceBinding>),
    /// Bindings of a web application.
    WebApplications(Vec<WebApplicationBinding>),
    /// Bindings of a scheduled task.
    ScheduledTasks(Vec<ScheduledTaskBinding>),
}

/// The kinds of instances; the kinds of their bindings end in `Binding`.
pub(super) const INSTANCES: [&str; 3] = ["Service", "WebApplication", "ScheduledTask"];

/// Whether a document says by its owner that it belongs to a component.
pub(super) fn is_of(document: &Value, component: &Component) -> bool {
    let owner = &component.spec.owner;
    text(document, "/spec/owner/componentName") == name_of(component)
        && text(document, "/spec/owner/projectName") == owner.project_name.as_str()
}

fn name_of(component: &Component) -> &str {
    component.metadata.name.as_deref().unwrap_or_default()
}

impl Source {
    /// Finds what deploys a component. `from` says which of several is meant: a track, or a kind of binding.
    pub(super) fn find(
        pile: &Pile<'_>,
        component: &Component,
        project: &Project,
        from: Option<&str>,
    ) -> Result<Self, MigrationError> {
        let tracks = tracks(pile, component);
        let kinds: Vec<&str> = INSTANCES
            .into_iter()
            .filter(|kind| is_bound(pile, kind, component))
            .collect();
        let mut known: Vec<String> = tracks.keys().map(|track| (*track).to_owned()).collect();
        known.extend(kinds.iter().map(|kind| format!("{kind}Binding")));
        let chosen = match (from, known.as_slice()) {
            (_, []) => {
                return Err(MigrationError::Nothing {
                    component: name_of(component).to_owned(),
                });
            }
            (None, [only]) => only.clone(),
            (Some(from), _) if known.iter().any(|one| one == from) => from.to_owned(),
            _ => {
                return Err(MigrationError::Several {
                    component: name_of(component).to_owned(),
                    known,
                });
            }
        };
        if let Some(deployments) = tracks.get(chosen.as_str()) {
            let track = track(pile, component, &chosen)?;
            let deployments = deployments.iter().map(|document| read(document));
            return Ok(Self::Track(
                Box::new(track),
                deployments.collect::<Result<_, _>>()?,
            ));
        }
        Ok(match chosen.as_str() {
            "ServiceBinding" => {
                Self::Services(bindings::<Service>(pile, "Service", component, project)?)
            }
            "WebApplicationBinding" => Self::WebApplications(bindings::<WebApplication>(
                pile,
                "WebApplication",
                component,
                project,
            )?),
            _ => Self::ScheduledTasks(bindings::<ScheduledTask>(
                pile,
                "ScheduledTask",
                component,
                project,
            )?),
        })
    }
}

/// The Deployments of a component, by their tracks.
fn tracks<'a>(pile: &Pile<'a>, component: &Component) -> BTreeMap<&'a str, Vec<&'a Value>> {
    let mut tracks: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for deployment in pile.of_kind("Deployment") {
        if label(deployment, hierarchy::COMPONENT) == called(&component.metadata) {
            let track = label(deployment, hierarchy::DEPLOYMENT_TRACK);
            tracks.entry(track).or_default().push(deployment);
        }
    }
    tracks
}

fn track(
    pile: &Pile<'_>,
    component: &Component,
    wanted: &str,
) -> Result<DeploymentTrack, MigrationError> {
    let mut found = pile.of_kind("DeploymentTrack").filter(|track| {
        label(track, hierarchy::COMPONENT) == called(&component.metadata)
            && [name(track), label(track, hierarchy::NAME)].contains(&wanted)
    });
    match found.next() {
        Some(track) => Ok(read(track)?),
        // Whose it is, it may leave to its name.
        None => pile.get("DeploymentTrack", wanted, "its Deployment"),
    }
}

/// Whether a component has bindings of a kind of instance, or an instance that has none yet.
fn is_bound(pile: &Pile<'_>, kind: &str, component: &Component) -> bool {
    let mut bindings = pile.of_kind(&format!("{kind}Binding"));
    let mut instances = pile.of_kind(kind);
    bindings.any(|one| is_of(one, component)) || instances.any(|one| is_of(one, component))
}

/// The bindings of a component. Where there are none yet, the one that its instance is about to get.
fn bindings<Instance>(
    pile: &Pile<'_>,
    kind: &str,
    component: &Component,
    project: &Project,
) -> Result<Vec<Instance::Binding>, MigrationError>
where
    Instance: Bind<Binding: DeserializeOwned> + DeserializeOwned,
{
    let bound = pile.of_kind(&format!("{kind}Binding"));
    let bound: Vec<&Value> = bound.filter(|one| is_of(one, component)).collect();
    if !bound.is_empty() {
        let read = bound.into_iter().map(read);
        return Ok(read.collect::<Result<_, _>>()?);
    }
    let environment = first_environment(pile, project)?;
    let instances = pile.of_kind(kind).filter(|one| is_of(one, component));
    let made = instances.map(|document| {
        let wanted = text(document, "/spec/workloadName");
        let whose = format!("{kind} {}", name(document));
        let workload: Workload = pile.get("Workload", wanted, &whose)?;
        let instance: Instance = read(document)?;
        Ok(instance.bind(&workload, &environment, ReleaseState::Active))
    });
    made.collect()
}

/// Where a component is deployed first: by the pipeline, or in the only environment that there is.
fn first_environment(pile: &Pile<'_>, project: &Project) -> Result<String, MigrationError> {
    let mut by_pipeline = pile.pipeline(project).into_iter();
    if let Some(first) = by_pipeline.next() {
        return Ok(first);
    }
    let mut all = pile.of_kind("Environment").map(name);
    match (all.next(), all.next()) {
        (Some(only), None) => Ok(only.to_owned()),
        _ => Err(MigrationError::NoFirstEnvironment),
    }
}

/// Components of the deployment system that connect to a component, as people call them.
pub(super) fn callers(pile: &Pile<'_>, component: &Component) -> Vec<String> {
    let mut callers = Vec::new();
    let kinds = INSTANCES.map(|kind| format!("{kind}Binding"));
    let bound = kinds.iter().flat_map(|kind| pile.of_kind(kind));
    for document in bound.filter(|one| !is_of(one, component)) {
        let owner: Option<WorkloadOwner> =
            serde_json::from_value(document["spec"]["owner"].clone()).ok();
        let Some(owner) = owner else { continue };
        let connections = document["spec"]["workloadSpec"]["connections"].as_object();
        let mut connections = connections.into_iter().flat_map(|all| all.values());
        let leads_here = connections.any(|one| {
            let project = pile::text(one, "/params/projectName");
            text(one, "/params/componentName") == name_of(component)
                && (project == component.spec.owner.project_name.as_str()
                    || project.is_empty()
                        && owner.project_name == component.spec.owner.project_name)
        });
        let caller = owner.component_name.to_string();
        if leads_here && !callers.contains(&caller) {
            callers.push(caller);
        }
    }
    callers
}
