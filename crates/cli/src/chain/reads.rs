//! Objects of our kinds, read as what they are.

use kube::ResourceExt as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{cluster::Cluster, failure::Failure, fields, plane::OURS, requests::OBJECTS};

impl Cluster {
    /// Where an object of ours is.
    pub(crate) fn path_of_ours(&self, plural: &str, name: &str) -> String {
        format!("{OURS}/{}/{plural}/{name}", self.namespace)
    }

    /// Reads an object of one of our kinds; nothing if it is not there.
    pub(crate) async fn ours<T: DeserializeOwned>(
        &self,
        plural: &str,
        name: &str,
    ) -> Result<Option<T>, Failure> {
        let found = self.get(&self.path_of_ours(plural, name)).await?;
        found.map(understood).transpose()
    }

    /// Reads what belongs to a component.
    pub(crate) async fn of_component<T: DeserializeOwned>(
        &self,
        plural: &str,
        project: &str,
        component: &str,
    ) -> Result<Vec<T>, Failure> {
        let items = self.values_of_component(plural, project, component).await?;
        items.into_iter().map(understood).collect()
    }

    /// The same as it was sent.
    pub(crate) async fn values_of_component(
        &self,
        plural: &str,
        project: &str,
        component: &str,
    ) -> Result<Vec<Value>, Failure> {
        let namespace = &self.namespace;
        let path = format!(
            "{OURS}/{namespace}/{plural}?fieldSelector=spec.owner.projectName%3D{project}\
             %2Cspec.owner.componentName%3D{component}"
        );
        let list = self.read(&path, OBJECTS).await;
        let list = list.map_err(|error| self.failed(&error))?;
        Ok(fields::items(&list["items"]).to_vec())
    }
}

/// An object as what it is.
pub(crate) fn understood<T: DeserializeOwned>(object: Value) -> Result<T, Failure> {
    let (kind, name) = (
        fields::text(&object, "kind").to_owned(),
        fields::name(&object).to_owned(),
    );
    serde_json::from_value(object)
        .map_err(|error| Failure::new(format!("{kind} {name} cannot be read")).because(&error))
}

/// The newest first.
pub(crate) fn newest_first<T: kube::Resource>(objects: &mut [T]) {
    objects.sort_by_key(|object| {
        let made = object.creation_timestamp().map(|made| made.0);
        (std::cmp::Reverse(made), object.name_any())
    });
}
