//! The documents around a component, found by their names and labels.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quadrille_types::{
    ClusterDataPlane, DataPlane, DataPlaneSpec, DeploymentPipeline, Environment, GROUP, Project,
    labels::hierarchy, reference::Reference,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{super::Plane, super::Stage, MigrationError};
use crate::documents::DocumentError;

/// The documents of one organization.
pub(super) struct Pile<'a> {
    documents: Vec<&'a Value>,
    /// The organization: the namespace of all of them.
    pub(super) organization: String,
}

/// An environment with its plane.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// The name of the object.
    pub(super) name: String,
    /// The name that labels have for it.
    pub(super) called: String,
    environment: Environment,
    plane: String,
    plane_spec: DataPlaneSpec,
    plane_annotations: BTreeMap<String, String>,
}

impl Site {
    pub(super) fn stage(&self) -> Stage<'_> {
        Stage {
            name: &self.called,
            spec: &self.environment.spec,
        }
    }

    pub(super) fn plane(&self) -> Plane<'_> {
        Plane {
            name: &self.plane,
            spec: &self.plane_spec,
            annotations: &self.plane_annotations,
        }
    }
}

/// A text of a document.
pub(super) fn text<'a>(document: &'a Value, pointer: &str) -> &'a str {
    let found = document.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

/// The name of a document's object.
pub(super) fn name(document: &Value) -> &str {
    text(document, "/metadata/name")
}

/// A label of a document; empty where it has none.
pub(super) fn label<'a>(document: &'a Value, key: &str) -> &'a str {
    let found = document["metadata"]["labels"].get(key);
    found.and_then(Value::as_str).unwrap_or_default()
}

/// Whether a document is of our kinds.
pub(super) fn is_ours(document: &Value) -> bool {
    let group = text(document, "/apiVersion").split_once('/');
    group.is_some_and(|(group, _)| group == GROUP)
}

/// The name that others use for an object: its label, where it has one.
pub(super) fn called(metadata: &ObjectMeta) -> &str {
    let labels = metadata.labels.as_ref();
    let label = labels.and_then(|labels| labels.get(hierarchy::NAME));
    label.or(metadata.name.as_ref()).map_or("", String::as_str)
}

/// A document as what it is.
pub(super) fn read<K: DeserializeOwned>(document: &Value) -> Result<K, DocumentError> {
    serde_json::from_value(document.clone()).map_err(|error| DocumentError::Unreadable {
        kind: text(document, "/kind").to_owned(),
        name: name(document).to_owned(),
        cause: error.to_string(),
    })
}

fn missing(kind: &str, name: &str, wanted_by: &str) -> MigrationError {
    MigrationError::Documents(DocumentError::Missing {
        kind: kind.to_owned(),
        name: name.to_owned(),
        wanted_by: wanted_by.to_owned(),
    })
}

impl<'a> Pile<'a> {
    /// The documents of the organization that a component is in.
    pub(super) fn around(documents: &'a [Value], component: &Value) -> Self {
        let namespace = |document: &Value| text(document, "/metadata/namespace").to_owned();
        let organization = namespace(component);
        let is_near = |document: &&Value| {
            let place = namespace(document);
            is_ours(document)
                && (place == organization || place.is_empty() || organization.is_empty())
        };
        Self {
            documents: documents.iter().filter(is_near).collect(),
            organization: if organization.is_empty() {
                "default".to_owned()
            } else {
                organization
            },
        }
    }

    /// The documents of a kind.
    pub(super) fn of_kind<'s>(
        &'s self,
        kind: &str,
    ) -> impl Iterator<Item = &'a Value> + use<'a, 's> {
        let kind = kind.to_owned();
        let documents = self.documents.iter().copied();
        documents.filter(move |document| document["kind"] == *kind)
    }

    /// A document by its object's name, or by the one that labels have for it.
    pub(super) fn find(&self, kind: &str, wanted: &str) -> Option<&'a Value> {
        let mut named = self.of_kind(kind).filter(|one| name(one) == wanted);
        let mut called = self
            .of_kind(kind)
            .filter(|one| label(one, hierarchy::NAME) == wanted);
        named.next().or_else(|| called.next())
    }

    /// The same, as what it is; `wanted_by` names it.
    pub(super) fn get<K: DeserializeOwned>(
        &self,
        kind: &str,
        wanted: &str,
        wanted_by: &str,
    ) -> Result<K, MigrationError> {
        let found = self.find(kind, wanted);
        let found = found.ok_or_else(|| missing(kind, wanted, wanted_by))?;
        Ok(read(found)?)
    }

    /// All of a kind.
    pub(super) fn all<K: DeserializeOwned>(&self, kind: &str) -> Result<Vec<K>, MigrationError> {
        let read = self.of_kind(kind).map(|document| read(document));
        Ok(read.collect::<Result<_, _>>()?)
    }

    /// All of a kind, by name.
    pub(super) fn by_name<K: DeserializeOwned>(
        &self,
        kind: &str,
    ) -> Result<BTreeMap<String, K>, MigrationError> {
        let named = self
            .of_kind(kind)
            .map(|document| Ok((name(document).to_owned(), read(document)?)));
        named.collect()
    }

    /// An environment with its plane.
    pub(super) fn site(&self, wanted: &str, wanted_by: &str) -> Result<Site, MigrationError> {
        let environment: Environment = self.get("Environment", wanted, wanted_by)?;
        let name = environment.metadata.name.clone().unwrap_or_default();
        let whose = format!("Environment {name}");
        let resolved = environment.spec.resolve().map_err(|problem| {
            MigrationError::Documents(crate::RenderError::field(whose.as_str(), problem).into())
        })?;
        let usual = ["DataPlane", "ClusterDataPlane"]
            .map(|kind| Reference::given(Some(kind), kind, "default"));
        let wanted = match resolved.data_plane {
            Some(plane) => vec![plane],
            None => usual.to_vec(),
        };
        let mut planes = wanted
            .iter()
            .filter_map(|plane| self.plane(plane).transpose());
        let Some(found) = planes.next() else {
            return Err(missing(&wanted[0].kind, &wanted[0].name, &whose));
        };
        let (metadata, plane_spec) = found?;
        Ok(Site {
            called: called(&environment.metadata).to_owned(),
            name,
            environment,
            plane: metadata.name.unwrap_or_default(),
            plane_spec,
            plane_annotations: metadata.annotations.unwrap_or_default(),
        })
    }

    fn plane(
        &self,
        wanted: &Reference,
    ) -> Result<Option<(ObjectMeta, DataPlaneSpec)>, DocumentError> {
        let Some(found) = self.find(&wanted.kind, &wanted.name) else {
            return Ok(None);
        };
        if wanted.kind == "DataPlane" {
            let plane: DataPlane = read(found)?;
            return Ok(Some((plane.metadata, plane.spec)));
        }
        let plane: ClusterDataPlane = read(found)?;
        Ok(Some((plane.metadata, plane.spec.0)))
    }

    /// The environments of a project in the order of its pipeline; nothing where that is not among the documents.
    pub(super) fn pipeline(&self, project: &Project) -> Vec<String> {
        let reference = project.spec.resolve().ok();
        let named =
            reference.map_or_else(|| "default".to_owned(), |found| found.pipeline.to_string());
        let pipeline = self.find("DeploymentPipeline", &named);
        let pipeline = pipeline.and_then(|found| read::<DeploymentPipeline>(found).ok());
        let resolved = pipeline.and_then(|pipeline| pipeline.spec.resolve().ok());
        let environments = resolved.iter().flat_map(|resolved| resolved.environments());
        environments.map(ToString::to_string).collect()
    }
}
