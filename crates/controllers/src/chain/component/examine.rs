//! Checks a component as a whole, and tells whether there is something new to take a snapshot of.

use std::{collections::BTreeMap, sync::Arc};

use kube::Resource;
use quadrille_objects::digest::Digest;
use quadrille_render::snapshot::{self, Snapshot};
use quadrille_types::{
    Component, ComponentTypeSpec, TraitSpec, Workload,
    component::{DeployedBy, TraitInstance},
    conditions::Reason,
    reference::Reference,
};

use super::super::{
    inputs::pipeline,
    shelves::{Chain, name, namespace, of_component, uid},
};
use crate::{key::Key, releases::Inner};

/// What is wrong: a word for machines and one for people.
pub(super) type Problem = (Reason, String);

/// A component that can be deployed.
pub(super) struct Examined {
    /// Whether it deploys itself.
    pub(super) is_auto: bool,
    /// The first environment of its pipeline.
    pub(super) first: String,
    /// What a developer last did.
    pub(super) own_hash: String,
    /// The versions of its type and traits.
    pub(super) definitions: String,
    /// Whether only its type or a trait changed, and others come first.
    pub(super) must_wait: bool,
    /// A snapshot of it, if something changed since the last one.
    pub(super) snapshot: Option<Snapshot>,
    /// Whether that one is there already.
    pub(super) is_made: bool,
}

/// What a component stands on.
struct Ground<'a> {
    is_auto: bool,
    defined: Definitions<'a>,
    workload: &'a Arc<Workload>,
    first: String,
}

impl Ground<'_> {
    /// What a developer last did.
    fn own_hash(&self, component: &Component) -> String {
        short(&[version(component), version(&**self.workload)])
    }
}

/// Finds what a component stands on. Nothing for one that other kinds deploy.
fn ground<'a>(world: &'a Inner, component: &Component) -> Result<Option<Ground<'a>>, Problem> {
    let chain = &world.chain;
    let here = namespace(component);
    let resolved = component
        .spec
        .resolve()
        .map_err(|problem| invalid(problem.to_string()))?;
    let DeployedBy::ComponentType { reference, .. } = &resolved.deployed_by else {
        return Ok(None);
    };
    let defined = definitions(chain, here, reference, &resolved.traits)?;
    check_workflow(component, defined.component_type)?;
    let workload = the_workload(chain, component)?;
    let project = resolved.project.as_str();
    let found = world.shelves.projects.find(here, project);
    if found.is_none() {
        let words = format!(
            "spec.owner.projectName: there is no Project {project:?} in namespace {here:?}: create it"
        );
        return Err((Reason::ProjectNotFound, words));
    }
    let pipeline = pipeline(&world.shelves, here, project)
        .map_err(|words| (Reason::DeploymentPipelineNotFound, words))?;
    let first = pipeline.first().ok_or_else(|| {
        invalid("its pipeline has no promotionPaths, so there is no first environment".to_owned())
    })?;
    Ok(Some(Ground {
        is_auto: resolved.auto_deploy,
        defined,
        workload,
        first: first.to_string(),
    }))
}

fn invalid(words: String) -> Problem {
    (Reason::InvalidConfiguration, words)
}

/// What a developer last did to a component; nothing for one that stands on something that is not there, so that no
/// change of its type reaches it.
pub(in super::super) fn own_hash_of(world: &Inner, component: &Component) -> Option<String> {
    let ground = ground(world, component).ok()??;
    Some(ground.own_hash(component))
}

/// Checks a component. Nothing for one that other kinds deploy.
pub(super) fn examine(world: &Inner, component: &Component) -> Result<Option<Examined>, Problem> {
    let (chain, here) = (&world.chain, namespace(component));
    let Some(ground) = ground(world, component)? else {
        return Ok(None);
    };
    let status = component.status.as_ref();
    let latest = status.and_then(|status| status.latest_release.as_ref());
    let is_there = |name: &str| chain.snapshots.get(&Key::new(here, name)).is_some();
    let is_auto = ground.is_auto;
    let own_hash = ground.own_hash(component);
    let Ground {
        defined, workload, ..
    } = ground;
    let mut examined = Examined {
        is_auto,
        first: ground.first,
        must_wait: false,
        snapshot: None,
        is_made: false,
        own_hash,
        definitions: defined.versions,
    };
    if let Some(latest) = latest.filter(|latest| is_auto && is_there(&latest.name)) {
        let is_own = latest.own_hash.as_ref() == Some(&examined.own_hash);
        let is_defined = latest.definitions.as_ref() == Some(&examined.definitions);
        if is_own && is_defined {
            return Ok(Some(examined));
        }
        // A developer's change goes at once; a change of the platform's takes turns.
        let turn = chain.admitted.get(&Key::of(component));
        if is_own && turn != Some(&examined.definitions) {
            examined.must_wait = true;
            return Ok(Some(examined));
        }
    }
    let traits: BTreeMap<Reference, TraitSpec> = defined
        .traits
        .into_iter()
        .map(|(reference, spec)| (reference, spec.clone()))
        .collect();
    let snapshot = snapshot::take(
        name(component),
        &component.spec,
        &workload.spec.template,
        defined.component_type,
        &traits,
    )
    .map_err(|problems| {
        let words: Vec<String> = problems.iter().map(ToString::to_string).collect();
        invalid(words.join("; "))
    })?;
    examined.is_made = is_there(&snapshot.name);
    examined.snapshot = Some(snapshot);
    Ok(Some(examined))
}

fn place(kind: &str, here: &str) -> String {
    if kind.starts_with("Cluster") {
        String::new()
    } else {
        format!(" in namespace {here:?}")
    }
}

/// Which version of an object this is: another one of the same name is another one.
fn version(object: &impl Resource) -> String {
    let generation = object.meta().generation.unwrap_or_default();
    format!("{}@{generation}", uid(object))
}

fn find_type<'a>(
    chain: &'a Chain,
    here: &str,
    reference: &Reference,
) -> Option<(&'a ComponentTypeSpec, String)> {
    if reference.kind == "ClusterComponentType" {
        let found = chain.cluster_types.find("", &reference.name)?;
        return Some((&found.spec.0, version(&**found)));
    }
    let found = chain.types.find(here, &reference.name)?;
    Some((&found.spec, version(&**found)))
}

fn find_trait<'a>(
    chain: &'a Chain,
    here: &str,
    reference: &Reference,
) -> Option<(&'a TraitSpec, String)> {
    if reference.kind == "ClusterTrait" {
        let found = chain.cluster_traits.find("", &reference.name)?;
        return Some((&found.spec.0, version(&**found)));
    }
    let found = chain.traits.find(here, &reference.name)?;
    Some((&found.spec, version(&**found)))
}

/// What a component is rendered by.
struct Definitions<'a> {
    component_type: &'a ComponentTypeSpec,
    traits: BTreeMap<Reference, &'a TraitSpec>,
    /// A digest over which versions these are.
    versions: String,
}

fn definitions<'a>(
    chain: &'a Chain,
    here: &str,
    reference: &Reference,
    own: &[TraitInstance],
) -> Result<Definitions<'a>, Problem> {
    let (component_type, first) = find_type(chain, here, reference).ok_or_else(|| {
        let words = format!(
            "spec.componentType: there is no {} {:?}{}: create it, or name another",
            reference.kind,
            reference.name,
            place(&reference.kind, here)
        );
        (Reason::ComponentTypeNotFound, words)
    })?;
    let embedded = component_type
        .traits
        .iter()
        .map(|used| used.reference(&reference.kind));
    let mut versions = vec![first];
    let mut traits = BTreeMap::new();
    for wanted in embedded.chain(own.iter().map(TraitInstance::reference)) {
        if traits.contains_key(&wanted) {
            continue;
        }
        let (spec, version) = find_trait(chain, here, &wanted).ok_or_else(|| {
            let words = format!(
                "spec.traits: there is no {} {:?}{}: create it, or take it out",
                wanted.kind,
                wanted.name,
                place(&wanted.kind, here)
            );
            (Reason::TraitNotFound, words)
        })?;
        versions.push(version);
        traits.insert(wanted, spec);
    }
    Ok(Definitions {
        component_type,
        traits,
        versions: short(&versions),
    })
}

fn short(parts: &[String]) -> String {
    let digest = Digest::of(parts.iter().map(String::as_str)).to_string();
    digest[..12].to_owned()
}

/// The versions of a component's type and traits, if all are there.
pub(in super::super) fn versions_of(chain: &Chain, component: &Component) -> Option<String> {
    let resolved = component.spec.resolve().ok()?;
    let DeployedBy::ComponentType { reference, .. } = &resolved.deployed_by else {
        return None;
    };
    let here = namespace(component);
    let defined = definitions(chain, here, reference, &resolved.traits).ok()?;
    Some(defined.versions)
}

fn check_workflow(component: &Component, allowed: &ComponentTypeSpec) -> Result<(), Problem> {
    let Some(workflow) = &component.spec.workflow else {
        return Ok(());
    };
    let usual = "ClusterWorkflow";
    let wanted = Reference::given(workflow.kind.as_deref(), usual, &workflow.name);
    let mut all = allowed
        .allowed_workflows
        .iter()
        .map(|one| Reference::given(one.kind.as_deref(), usual, &one.name));
    if all.any(|one| one == wanted) {
        return Ok(());
    }
    let words = format!(
        "spec.workflow: {} {} is not among the allowedWorkflows of the component type",
        wanted.kind, wanted.name
    );
    Err((Reason::WorkflowNotAllowed, words))
}

fn the_workload<'a>(chain: &'a Chain, component: &Component) -> Result<&'a Arc<Workload>, Problem> {
    let here = namespace(component);
    let project = component.spec.owner.project_name.as_str();
    let group = of_component(project, name(component));
    let all: Vec<_> = chain.workloads.of_group(here, &group).collect();
    match all.as_slice() {
        [one] => Ok(one),
        [] => Err((
            Reason::WorkloadNotFound,
            format!(
                "no Workload has spec.owner {{projectName: {project}, componentName: {}}}: create one",
                name(component)
            ),
        )),
        several => {
            let names: Vec<&str> = several.iter().map(|one| name(&***one)).collect();
            Err((
                Reason::InvalidConfiguration,
                format!(
                    "a component has one workload, and this one has {}: delete all but one",
                    names.join(", ")
                ),
            ))
        }
    }
}
