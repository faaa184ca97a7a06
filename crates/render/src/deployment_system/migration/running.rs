//! What runs of a component in an environment, and what of it its workload says.

mod binding;
mod deployment;

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quadrille_types::{
    Component, Project,
    names::generate,
    release_state::ReleaseState,
    workload::{Connection, Endpoint, Source as Setting},
};
use serde_json::Value;

use super::{
    super::{self as deployment_system, settings::Settings},
    MigrationError, Warning,
    pile::{self, Pile, Site},
    sources::Source,
};

/// What runs in an environment.
pub(super) struct Running {
    /// The environment.
    pub(super) site: Site,
    /// What deploys it there: kind and name.
    pub(super) by: (&'static str, String),
    /// The first parts of the names of its objects.
    pub(super) parts: Vec<String>,
    /// What runs, beside what leads to it.
    pub(super) objects: Vec<Value>,
    /// Whether it runs.
    pub(super) state: ReleaseState,
    /// The container of the workload.
    pub(super) container: String,
    /// What the workload says.
    pub(super) own: Own,
    /// What it listens on, by name.
    pub(super) endpoints: BTreeMap<String, Endpoint>,
    /// What it needs of others.
    pub(super) connections: Vec<Connection>,
    /// The configuration groups that it uses, each with the name of its object.
    pub(super) groups: Vec<(String, String)>,
    /// The references to secrets that it uses.
    pub(super) secrets: Vec<String>,
    /// Objects of the control plane that end with it: kinds and names.
    pub(super) ends: Vec<(&'static str, String)>,
}

/// What a workload says: what goes into the container as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) image: String,
    pub(super) command: Vec<String>,
    pub(super) args: Vec<String>,
    /// Environment variables with their values.
    pub(super) env: Vec<(String, String)>,
    /// Files with their contents, by whole paths.
    pub(super) files: Vec<(String, String)>,
}

/// Who is moved.
#[derive(Clone, Copy)]
pub(super) struct Whose<'a> {
    pub(super) pile: &'a Pile<'a>,
    pub(super) component: &'a Component,
    pub(super) project: &'a Project,
}

impl<'a> Whose<'a> {
    /// The names of the objects.
    fn names(&self) -> deployment_system::Whose<'a> {
        deployment_system::Whose {
            organization: &self.pile.organization,
            project: self.component.spec.owner.project_name.as_str(),
            component: own_name(&self.component.metadata),
        }
    }
}

fn own_name(metadata: &ObjectMeta) -> &str {
    metadata.name.as_deref().unwrap_or_default()
}

/// Everything that runs, the first environment of the pipeline first.
pub(super) fn all(
    whose: Whose<'_>,
    source: &Source,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Running>, MigrationError> {
    let mut running = match source {
        Source::Track(track, deployments) => deployments
            .iter()
            .map(|one| deployment::running(whose, track, one, warnings))
            .collect::<Result<Vec<_>, _>>()?,
        Source::Services(bindings) => binding::services(whose, bindings, warnings)?,
        Source::WebApplications(bindings) => binding::web_applications(whose, bindings, warnings)?,
        Source::ScheduledTasks(bindings) => binding::scheduled_tasks(whose, bindings, warnings)?,
    };
    let order = whose.pile.pipeline(whose.project);
    let place = |one: &Running| {
        let at = order.iter().position(|name| *name == one.site.name);
        (
            at.unwrap_or(order.len()),
            one.site.name.clone(),
            one.by.1.clone(),
        )
    };
    running.sort_by_key(place);
    for pair in running.windows(2) {
        if pair[0].site.name == pair[1].site.name {
            return Err(MigrationError::Twice {
                environment: pair[0].site.name.clone(),
                first: format!("{} {}", pair[0].by.0, pair[0].by.1),
                second: format!("{} {}", pair[1].by.0, pair[1].by.1),
            });
        }
    }
    Ok(running)
}

/// Names or paths with what they have.
type Given = Vec<(String, String)>;

/// What a workload says among its settings: what has a value or content of its own.
fn given(settings: &Settings) -> (Given, Given) {
    let env = settings.env.iter().filter_map(|env| match &env.source {
        Setting::Given(value) => Some((env.key.clone(), value.clone())),
        Setting::Secret(_) | Setting::ConfigurationGroup(_) => None,
    });
    let files = settings.files.iter().filter_map(|file| match &file.source {
        Setting::Given(content) => Some((file.path.clone(), content.clone())),
        Setting::Secret(_) | Setting::ConfigurationGroup(_) => None,
    });
    (env.collect(), files.collect())
}

/// The groups that are used, each with the name of the object that holds it.
fn groups(whose: Whose<'_>, used: &[String], parts: &[&str]) -> Vec<(String, String)> {
    let found = used.iter().filter_map(|name| {
        let document = whose.pile.find("ConfigurationGroup", name)?;
        let mut parts = parts.to_vec();
        parts.push(pile::name(document));
        Some((name.clone(), generate::name(&parts)))
    });
    found.collect()
}
