//! What a binding is decided from: everything around it, as the watches told it.

use std::{collections::BTreeMap, sync::Arc};

use quadrille_objects::digest::Digest;
use quadrille_planes::Trouble;
use quadrille_render::{Prepared, Renderer};
use quadrille_template::Cache;
use quadrille_types::{
    Approval, Component, ComponentRelease, ComponentReleaseSpec, DataPlane, Environment, Project,
    ReleaseBinding, SecretReferenceSpec, annotations,
    deployment_pipeline::Resolved as Pipeline,
    names::EnvironmentName,
    release_binding::{ConnectionTarget, ResolvedConnection},
};
use serde_json::{Value, json};

use super::{
    connections,
    shelves::{Snapshot, annotation, name, namespace, of_component, release_name, stage, uid},
};
use crate::{
    key::Key,
    platform::shelves::{NoContext, Shelves},
    releases::{Context, Facts, Inner},
};

/// Where components are rendered, with what was compiled and read lately.
pub(crate) struct Kitchen {
    pub(crate) renderer: Renderer,
    loaded: Cache<(Key, String), Loaded>,
}

/// How many prepared snapshots are kept: what they have in common is held once.
const KEPT: usize = 512;

impl Default for Kitchen {
    fn default() -> Self {
        Self {
            renderer: Renderer::new(),
            loaded: Cache::new(KEPT),
        }
    }
}

/// A snapshot, ready to be rendered, or why it never will be.
pub(crate) type Loaded = Result<Prepared, String>;

impl Kitchen {
    /// A snapshot with what it holds; asked for if it was not used lately.
    pub(super) async fn load(
        &self,
        context: &Context,
        snapshot: &Snapshot,
    ) -> Result<Option<Arc<Loaded>>, Trouble> {
        let key = Key::of(snapshot);
        let of = (key.clone(), uid(snapshot).to_owned());
        if let Some(known) = self.loaded.get(&of) {
            return Ok(Some(known));
        }
        let found = context
            .control
            .get::<ComponentRelease>(&key.namespace, &key.name)
            .await?;
        let Some(found) = found else {
            // The watch will say so.
            return Ok(None);
        };
        let spec: ComponentReleaseSpec = serde_json::from_value(found["spec"].clone())
            .map_err(|error| Trouble::Unreadable(error.to_string()))?;
        Ok(Some(self.keep(&of, &spec)))
    }

    /// Keeps a snapshot that was just made.
    pub(super) fn made(&self, key: Key, uid: String, spec: &ComponentReleaseSpec) {
        self.keep(&(key, uid), spec);
    }

    fn keep(&self, of: &(Key, String), spec: &ComponentReleaseSpec) -> Arc<Loaded> {
        let prepared = self
            .renderer
            .prepare(spec)
            .map_err(|error| error.to_string());
        let made = || Ok::<_, std::convert::Infallible>(prepared);
        match self.loaded.get_or_make(of, made) {
            Ok(loaded) => loaded,
            Err(never) => match never {},
        }
    }
}

/// Everything around a binding.
pub(super) struct Seen {
    pub(super) binding: Arc<ReleaseBinding>,
    pub(super) component: Option<Arc<Component>>,
    pub(super) project: Option<Arc<Project>>,
    pub(super) environment: Option<Arc<Environment>>,
    /// The plane of the environment, or why there is none.
    pub(super) plane: Result<Arc<DataPlane>, String>,
    pub(super) pipeline: Result<Pipeline, String>,
    /// Whether some pipeline wants somebody to agree before something enters the environment, and whether that must be
    /// somebody else than who asked.
    pub(super) guarded: Option<Guarded>,
    pub(super) approvals: Vec<Arc<Approval>>,
    /// All bindings of the component.
    pub(super) bindings: Vec<Arc<ReleaseBinding>>,
    pub(super) snapshots: Vec<Arc<Snapshot>>,
    /// Whether the release that is asked for is another component's.
    pub(super) is_of_another: bool,
    pub(super) release: Option<Arc<Facts>>,
}

/// Looks around a binding.
pub(super) fn around(world: &Inner, key: &Key) -> Option<Seen> {
    let chain = &world.chain;
    let binding = Arc::clone(chain.bindings.get(key)?);
    let here = &*key.namespace;
    let spec = &binding.spec;
    let (project, component) = (
        spec.owner.project_name.as_str(),
        spec.owner.component_name.as_str(),
    );
    let environment = spec.environment.as_str();
    let all = of_component(project, component);
    let release = |name: &str| {
        let held = world.releases.get(&Key::new(here, name));
        held.map(|held| Arc::clone(&held.facts))
    };
    Some(Seen {
        component: chain.components.find(here, component).cloned(),
        project: world.shelves.projects.find(here, project).cloned(),
        environment: world.shelves.environments.find(here, environment).cloned(),
        plane: plane(&world.shelves, here, environment),
        pipeline: pipeline(&world.shelves, here, project),
        guarded: guarded(&world.shelves, here, &spec.environment),
        approvals: chain
            .approvals
            .of_group(here, &stage(&spec.owner, environment))
            .cloned()
            .collect(),
        bindings: chain.bindings.of_group(here, &all).cloned().collect(),
        snapshots: chain.snapshots.of_group(here, &all).cloned().collect(),
        is_of_another: spec.release_name.as_deref().is_some_and(|wanted| {
            let found = chain.snapshots.find(here, wanted);
            found.is_some_and(|found| found.spec.owner != spec.owner)
        }),
        release: release(&release_name(component, environment)),
        binding,
    })
}

/// The plane of an environment, or why there is none.
pub(crate) fn plane(
    shelves: &Shelves,
    here: &str,
    environment: &str,
) -> Result<Arc<DataPlane>, String> {
    match shelves.environment(here, environment) {
        Ok(context) => context.plane.cloned().ok_or_else(|| {
            format!(
                "Environment {environment:?}: there is no DataPlane {:?} in namespace {here:?}: create it, or set \
                 spec.dataPlaneRef",
                context.plane_name.name
            )
        }),
        Err(NoContext::Missing) => Err(format!("there is no Environment {environment:?}")),
        Err(NoContext::Invalid(problem)) => Err(format!("Environment {environment:?}: {problem}")),
    }
}

/// How an environment is guarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Guarded {
    /// Whoever agrees must not be who asked.
    pub(crate) needs_other: bool,
}

/// How the pipelines of a namespace guard an environment.
pub(crate) fn guarded(
    shelves: &Shelves,
    here: &str,
    environment: &EnvironmentName,
) -> Option<Guarded> {
    let pipelines = shelves.pipelines.within(here);
    let resolved = pipelines.filter_map(|pipeline| pipeline.spec.resolve().ok());
    let mut found: Option<Guarded> = None;
    for pipeline in &resolved.collect::<Vec<_>>() {
        for step in pipeline
            .into(environment)
            .filter(|step| step.needs_approval)
        {
            let known = found.get_or_insert_default();
            known.needs_other |= step.needs_other_approver;
        }
    }
    found
}

/// The pipeline of a project, or why there is none.
pub(crate) fn pipeline(shelves: &Shelves, here: &str, project: &str) -> Result<Pipeline, String> {
    let found = shelves
        .projects
        .find(here, project)
        .ok_or_else(|| format!("there is no Project {project:?} in namespace {here:?}"))?;
    let resolved = found
        .spec
        .resolve()
        .map_err(|problem| format!("Project {project}: {problem}"))?;
    let pipeline = resolved.pipeline.as_str();
    let found = shelves.pipelines.find(here, pipeline).ok_or_else(|| {
        format!(
            "Project {project}: there is no DeploymentPipeline {pipeline:?} in namespace {here:?}"
        )
    })?;
    found
        .spec
        .resolve()
        .map_err(|problem| format!("DeploymentPipeline {pipeline}: {problem}"))
}

/// What is fetched for a binding beyond what is around it.
#[derive(Default)]
pub(super) struct Fetched {
    /// The secrets that are there, of those that are used.
    pub(super) secrets: BTreeMap<String, SecretReferenceSpec>,
    pub(super) connections: connections::Found,
    pub(super) optional: Vec<ResolvedConnection>,
    pub(super) circle: Option<Vec<String>>,
}

/// Fetches what a binding uses and needs.
pub(super) fn fetch(
    world: &Inner,
    binding: &ReleaseBinding,
    secrets: &[String],
    needed: &[ConnectionTarget],
    optional: &[ConnectionTarget],
) -> Fetched {
    let here = namespace(binding);
    let chain = &world.chain;
    let found = secrets.iter().filter_map(|name| {
        let secret = chain.secrets.find(here, name)?;
        Some((name.clone(), secret.spec.clone()))
    });
    Fetched {
        secrets: found.collect(),
        connections: connections::find(chain, needed),
        optional: connections::find(chain, optional).resolved,
        circle: connections::circle(chain, binding, needed),
    }
}

/// A digest of everything that a Release is rendered from.
pub(super) fn digest(seen: &Seen, identity: &str, fetched: &Fetched) -> Option<String> {
    let (component, project) = (seen.component.as_ref()?, seen.project.as_ref()?);
    let (environment, plane) = (seen.environment.as_ref()?, seen.plane.as_ref().ok()?);
    let binding = &seen.binding;
    let resolved = fetched.connections.resolved.iter();
    let mut connections: Vec<String> = resolved
        .chain(&fetched.optional)
        .map(|connection| json!(connection).to_string())
        .collect();
    connections.sort_unstable();
    let inputs: Value = json!([
        // Another version may render the same otherwise.
        env!("CARGO_PKG_VERSION"),
        identity,
        uid(&**component),
        uid(&**project),
        ours(&**project),
        [
            json!(binding.spec.component_type_environment_configs),
            json!(binding.spec.trait_environment_configs),
            json!(binding.spec.workload_overrides),
        ],
        annotation(&**binding, annotations::RESTARTED_AT),
        uid(&**environment),
        environment.spec,
        ours(&**environment),
        uid(&**plane),
        name(&**plane),
        plane.spec,
        ours(&**plane),
        fetched.secrets,
        connections,
    ]);
    Some(Digest::of([inputs.to_string().as_str()]).to_string())
}

/// The annotations of an object that mean something here.
fn ours(object: &impl kube::Resource) -> BTreeMap<&str, &str> {
    let annotations = object.meta().annotations.iter().flatten();
    annotations
        .filter(|(key, _)| key.starts_with("openchoreo.dev/"))
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect()
}
