//! What the control plane holds of the component chain's kinds, and how they are found: by component, environment,
//! type, provider.

use std::{borrow::Cow, collections::HashMap};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use quadrille_render::{Named, cell, snapshot};
use quadrille_types::{
    Approval, ClusterComponentType, ClusterTrait, Component, ComponentRelease, ComponentType,
    ReleaseBinding, SecretReference, Trait, Workload, component::DeployedBy, reference::Reference,
    workload::WorkloadOwner,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{key::Key, shelf::Shelf};

/// A component release without what it holds: there are many, and each is large.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Told")]
pub(crate) struct Snapshot {
    pub(crate) metadata: ObjectMeta,
    pub(crate) spec: SnapshotOwner,
    /// Whether its name is that of its content, so that another one of that name is the same.
    pub(crate) is_sealed: bool,
}

/// A component release as it is told.
#[derive(Deserialize)]
struct Told {
    metadata: ObjectMeta,
    spec: Value,
}

impl From<Told> for Snapshot {
    fn from(told: Told) -> Self {
        // The server keeps nothing without an owner; such a one would be nobody's.
        let owner: WorkloadOwner =
            serde_json::from_value(told.spec["owner"].clone()).unwrap_or_else(|_| nobody());
        let name = told.metadata.name.as_deref().unwrap_or_default();
        let is_sealed = snapshot::is_sealed(name, owner.component_name.as_str(), &told.spec);
        Self {
            metadata: told.metadata,
            spec: SnapshotOwner { owner },
            is_sealed,
        }
    }
}

fn nobody() -> WorkloadOwner {
    WorkloadOwner {
        project_name: "".into(),
        component_name: "".into(),
    }
}

impl Snapshot {
    /// Which one it is, also when it was deleted and made anew.
    pub(crate) fn identity(&self) -> String {
        if self.is_sealed {
            name(self).to_owned()
        } else {
            format!("{}@{}", name(self), uid(self))
        }
    }

    /// Whether it is the one of a uid.
    pub(crate) fn is_the_one(&self, known: &str) -> bool {
        self.is_sealed || known.is_empty() || known == uid(self)
    }
}

/// Whose component release it is.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotOwner {
    pub(crate) owner: WorkloadOwner,
}

impl Resource for Snapshot {
    type DynamicType = ();
    type Scope = k8s_openapi::NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        ComponentRelease::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        ComponentRelease::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        ComponentRelease::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        ComponentRelease::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// The objects of the chain's kinds.
pub(crate) struct Chain {
    pub(crate) components: Shelf<Component>,
    pub(crate) workloads: Shelf<Workload>,
    pub(crate) types: Shelf<ComponentType>,
    pub(crate) cluster_types: Shelf<ClusterComponentType>,
    pub(crate) traits: Shelf<Trait>,
    pub(crate) cluster_traits: Shelf<ClusterTrait>,
    pub(crate) snapshots: Shelf<Snapshot>,
    pub(crate) bindings: Shelf<ReleaseBinding>,
    pub(crate) secrets: Shelf<SecretReference>,
    pub(crate) approvals: Shelf<Approval>,
    /// Components that may follow their type now, and to which versions of their definitions.
    pub(crate) admitted: HashMap<Key, String>,
}

impl Default for Chain {
    fn default() -> Self {
        Self {
            components: Shelf::grouped(groups_of_component),
            workloads: Shelf::grouped(|workload| vec![owned(workload, &workload.spec.owner)]),
            types: Shelf::default(),
            cluster_types: Shelf::default(),
            traits: Shelf::default(),
            cluster_traits: Shelf::default(),
            snapshots: Shelf::grouped(|snapshot| vec![owned(snapshot, &snapshot.spec.owner)]),
            bindings: Shelf::grouped(groups_of_binding),
            secrets: Shelf::default(),
            approvals: Shelf::grouped(|approval| {
                let spec = &approval.spec;
                let environment = spec.environment.as_str();
                let here = namespace(approval);
                vec![
                    Key::new(here, &stage(&spec.owner, environment)),
                    Key::new(here, &in_environment(environment)),
                    Key::new(here, &about_release(&spec.release_name)),
                    Key::new(here, &about_component(&of_owner(&spec.owner))),
                ]
            }),
            admitted: HashMap::new(),
        }
    }
}

impl Chain {
    /// Whether everything was read.
    pub(crate) fn is_complete(&self) -> bool {
        self.components.is_complete()
            && self.workloads.is_complete()
            && self.types.is_complete()
            && self.cluster_types.is_complete()
            && self.traits.is_complete()
            && self.cluster_traits.is_complete()
            && self.snapshots.is_complete()
            && self.bindings.is_complete()
            && self.secrets.is_complete()
            && self.approvals.is_complete()
    }
}

/// The namespace of an object.
pub(crate) fn namespace(object: &impl Resource) -> &str {
    object.meta().namespace.as_deref().unwrap_or_default()
}

/// The name of an object.
pub(crate) fn name(object: &impl Resource) -> &str {
    object.meta().name.as_deref().unwrap_or_default()
}

/// The uid of an object.
pub(crate) fn uid(object: &impl Resource) -> &str {
    object.meta().uid.as_deref().unwrap_or_default()
}

/// An object as it is rendered from.
pub(crate) fn named(object: &impl Resource) -> Named<'_> {
    Named {
        name: name(object),
        uid: uid(object),
    }
}

/// Whether an object is on its way out.
pub(crate) fn is_going(object: &impl Resource) -> bool {
    object.meta().deletion_timestamp.is_some()
}

/// An annotation of an object.
pub(crate) fn annotation<'a>(object: &'a impl Resource, key: &str) -> Option<&'a str> {
    let annotations = object.meta().annotations.as_ref()?;
    annotations.get(key).map(String::as_str)
}

/// What everything of a component is found by.
pub(crate) fn of_component(project: &str, component: &str) -> String {
    format!("{project}/{component}")
}

/// What the words about a component are found by; `of` is what everything of it is found by.
pub(crate) fn about_component(of: &str) -> String {
    format!("component:{of}")
}

fn of_owner(owner: &WorkloadOwner) -> String {
    of_component(owner.project_name.as_str(), owner.component_name.as_str())
}

/// What everything of a component in an environment is found by.
pub(crate) fn stage(owner: &WorkloadOwner, environment: &str) -> String {
    let WorkloadOwner {
        project_name,
        component_name,
    } = owner;
    format!("{project_name}/{component_name}/{environment}")
}

/// What the bindings of an environment are found by.
pub(crate) fn in_environment(environment: &str) -> String {
    format!("environment:{environment}")
}

/// What the bindings of a cell are found by.
pub(crate) fn in_cell(project: &str, environment: &str) -> String {
    format!("cell:{project}/{environment}")
}

/// What the binding of a Release is found by.
pub(crate) fn behind_release(release: &str) -> String {
    format!("release:{release}")
}

/// What the bindings that use a `SecretReference` are found by.
pub(crate) fn using_secret(secret: &str) -> String {
    format!("secret:{secret}")
}

/// What the bindings that need something of a component are found by.
pub(crate) fn needing(project: &str, component: &str, environment: &str) -> String {
    format!("needs:{project}/{component}/{environment}")
}

/// What the words about a component release are found by.
pub(crate) fn about_release(release: &str) -> String {
    format!("about:{release}")
}

/// What the components of a project are found by.
pub(crate) fn in_project(project: &str) -> String {
    format!("project:{project}")
}

/// What the components that use a type or a trait are found by. Those of the whole cluster are used by all namespaces.
pub(crate) fn using(namespace: &str, reference: &Reference) -> Key {
    let namespace = if reference.kind.starts_with("Cluster") {
        ""
    } else {
        namespace
    };
    Key::new(namespace, &format!("{}:{}", reference.kind, reference.name))
}

/// The name of the Release of a component in an environment.
pub(crate) fn release_name(component: &str, environment: &str) -> String {
    format!("{component}-{environment}")
}

/// The name of the Release of a cell.
pub(crate) fn cell_release(project: &str, environment: &str) -> String {
    cell::release_name(project, environment)
}

fn owned(object: &impl Resource, owner: &WorkloadOwner) -> Key {
    Key::new(namespace(object), &of_owner(owner))
}

fn groups_of_component(component: &Component) -> Vec<Key> {
    let here = namespace(component);
    let spec = &component.spec;
    let mut groups = vec![Key::new(
        here,
        &in_project(spec.owner.project_name.as_str()),
    )];
    if let Ok(resolved) = spec.resolve()
        && let DeployedBy::ComponentType { reference, .. } = &resolved.deployed_by
    {
        groups.push(using(here, reference));
    }
    groups.extend(
        spec.traits
            .iter()
            .map(|used| using(here, &used.reference())),
    );
    groups
}

fn groups_of_binding(binding: &ReleaseBinding) -> Vec<Key> {
    let here = namespace(binding);
    let spec = &binding.spec;
    let (project, component) = (
        spec.owner.project_name.as_str(),
        spec.owner.component_name.as_str(),
    );
    let environment = spec.environment.as_str();
    let mut groups: Vec<Key> = [
        of_component(project, component),
        stage(&spec.owner, environment),
        in_environment(environment),
        in_cell(project, environment),
        behind_release(&release_name(component, environment)),
    ]
    .iter()
    .map(|word| Key::new(here, word))
    .collect();
    let status = binding.status.iter();
    let secrets = status
        .clone()
        .flat_map(|status| &status.secret_reference_names);
    groups.extend(secrets.map(|secret| Key::new(here, &using_secret(secret))));
    let targets = status.flat_map(|status| &status.connection_targets);
    groups.extend(targets.map(|target| {
        let environment = target.environment.as_deref().unwrap_or(environment);
        Key::new(
            &target.namespace,
            &needing(&target.project, &target.component, environment),
        )
    }));
    groups
}
