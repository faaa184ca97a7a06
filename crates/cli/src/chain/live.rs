//! A component with everything that it is made of, as the cluster has it. Documents that are about to be applied go over
//! what is there.

mod confidence;
mod reader;

use kube::ResourceExt as _;
use quadrille_render::{DocumentError, Documents, RenderError, Renderer, snapshot::Snapshot};
use quadrille_types::{
    Component, ComponentTypeSpec,
    component::{DeployedBy, TraitInstance},
    names::EnvironmentName,
    reference::Reference,
};
use serde_json::Value;

pub(crate) use self::confidence::passwords;
use self::reader::{Reader, listed};
pub(crate) use self::reader::{everything, rehearsed, touched, whole};
use super::{named::Name, reads::understood};
use crate::{cluster::Cluster, documents::Document, failure::Failure, plane::OURS};

/// A component with what it is made of.
pub(crate) struct Live {
    name: String,
    objects: Vec<Value>,
    /// Whether the plane may be seen: what depends on it cannot be judged otherwise.
    sees_plane: bool,
}

/// Something that is wrong with a component: where, if that is known, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) field: Option<String>,
    pub(crate) words: String,
}

/// A document of these, by kind and name.
pub(crate) fn given<'a>(documents: &'a [Document], kind: &str, name: &str) -> Option<&'a Document> {
    let mut documents = documents.iter();
    documents.find(|one| one.kind() == kind && one.name() == name)
}

/// The component itself: that of the documents, else that of the cluster.
pub(crate) async fn component(
    cluster: &Cluster,
    name: &Name,
    documents: &[Document],
) -> Result<Component, Failure> {
    let found = match given(documents, "Component", &name.component) {
        Some(document) => document.object.clone(),
        None => {
            let kind = cluster.named_kind("components").await?;
            cluster.object(&kind, &name.component).await?
        }
    };
    let component: Component = understood(found)?;
    name.agrees(&component)?;
    Ok(component)
}

impl Live {
    /// Reads everything that a component in an environment is made of.
    pub(crate) async fn gather(
        cluster: &Cluster,
        component: &Component,
        environment: &EnvironmentName,
        documents: &[Document],
    ) -> Result<Self, Failure> {
        let name = component.name_any();
        let project = component.spec.owner.project_name.as_str();
        let mut reader = Reader {
            cluster,
            documents,
            objects: Vec::new(),
        };
        reader.take("Component", "components", &name).await?;
        reader.take("Project", "projects", project).await?;
        for (kind, plural) in [
            ("Workload", "workloads"),
            ("ReleaseBinding", "releasebindings"),
        ] {
            let list = cluster.values_of_component(plural, project, &name).await?;
            reader.take_all(kind, list);
        }
        if let Ok(resolved) = component.spec.resolve()
            && let DeployedBy::ComponentType { reference, .. } = &resolved.deployed_by
        {
            let found = reader.take_reference(reference).await?;
            let mut traits: Vec<Reference> = resolved
                .traits
                .iter()
                .map(TraitInstance::reference)
                .collect();
            if let Some(found) = found {
                let spec: Option<ComponentTypeSpec> =
                    serde_json::from_value(found["spec"].clone()).ok();
                let spec = spec.into_iter().flat_map(|spec| spec.traits);
                traits.extend(spec.map(|used| used.reference(&reference.kind)));
            }
            for wanted in &traits {
                reader.take_reference(wanted).await?;
            }
        }
        let secrets = format!("{OURS}/{}/secretreferences", cluster.namespace);
        reader.take_all("SecretReference", listed(cluster, &secrets).await?);
        let sees_plane = reader.take_stage(environment).await?;
        Ok(Self {
            name,
            objects: reader.objects,
            sees_plane,
        })
    }

    /// The snapshot of the component as it is now, if it can be deployed to an environment.
    pub(crate) fn snapshot(&self, environment: &EnvironmentName) -> Result<Snapshot, Vec<Wrong>> {
        let documents = Documents::read(self.objects.clone()).map_err(|error| wrong(&error))?;
        let snapshot = documents
            .snapshot(&self.name)
            .map_err(|error| wrong(&error))?;
        match documents.plan(&Renderer::new(), &self.name, environment.as_str()) {
            Err(error) if self.sees_plane || is_its_own(&error) => Err(wrong(&error)),
            _ => Ok(snapshot),
        }
    }
}

/// Whether it is the component's own fault, whatever plane it goes to.
fn is_its_own(error: &DocumentError) -> bool {
    match error {
        DocumentError::Render { error, .. } => matches!(
            error,
            RenderError::Values { .. } | RenderError::Definition { .. } | RenderError::Field { .. }
        ),
        DocumentError::Missing { kind, .. } => !kind.ends_with("DataPlane"),
        _ => true,
    }
}

fn wrong(error: &DocumentError) -> Vec<Wrong> {
    let told = |words: String| Wrong { field: None, words };
    match error {
        DocumentError::Component { problems, .. } => problems
            .iter()
            .map(|problem| Wrong {
                field: Some(problem.field.clone()),
                words: problem.words.clone(),
            })
            .collect(),
        DocumentError::Workloads { count: 0, .. } => vec![told(
            "it has no Workload, which says what runs: quad workload create".to_owned(),
        )],
        DocumentError::Workloads { count, .. } => {
            vec![told(format!("it has {count} Workloads, and needs one"))]
        }
        DocumentError::Missing { kind, name, .. } => {
            vec![told(format!("there is no {kind} {name}"))]
        }
        DocumentError::Exposure(error) => vec![told(error.to_string())],
        DocumentError::Render { error, .. } => match error {
            RenderError::Values {
                section: section @ "parameters",
                problems,
                whose,
            } if whose.starts_with("component type") => problems
                .iter()
                .map(|words| Wrong {
                    field: Some(format!("spec.{section}{}", place(words))),
                    words: words.clone(),
                })
                .collect(),
            error => vec![told(error.to_string())],
        },
        DocumentError::Cell { .. } | DocumentError::Unreadable { .. } => {
            vec![told(error.to_string())]
        }
    }
}

/// The field that a problem with a value begins with.
fn place(words: &str) -> String {
    let named = words.split(':').next().unwrap_or_default();
    let is_path = |c: char| c.is_alphanumeric() || "._-[]".contains(c);
    if named.len() < words.len() && named.chars().all(is_path) && !named.is_empty() {
        format!(".{}", named.trim_start_matches('.'))
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests;
