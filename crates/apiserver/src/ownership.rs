//! What ownership tracking has to know about a request: versions, their schemas, and what an endpoint resets.

use std::sync::{Arc, OnceLock};

use quadrille_machinery::{
    builtin,
    managed::{self, Resets, Versions, Write},
    schema::SchemaRef,
};
use serde_json::{Value, json};

use crate::{
    life::definitions,
    resource::{Origin, Resource},
    rest::Request,
};

/// All versions of a resource, as ownership tracking sees them.
pub(crate) struct KnownVersions {
    served: Vec<(String, Arc<Resource>)>,
    /// Versions that the definition has and nobody is served: managers may have written in them before. They are seldom
    /// asked for.
    others: OnceLock<Vec<(String, Arc<Resource>)>>,
}

impl KnownVersions {
    pub(crate) fn of(request: &Request) -> Self {
        let storage = &request.resource.storage;
        let catalog = request.shared.catalog.snapshot();
        let versions = catalog.resources().iter();
        Self {
            served: named(
                versions
                    .filter(|resource| resource.storage == *storage)
                    .cloned(),
            ),
            others: OnceLock::new(),
        }
    }

    fn find(&self, api_version: &str) -> Option<&Arc<Resource>> {
        let find = |versions: &[(String, Arc<Resource>)]| {
            versions.iter().position(|(known, _)| known == api_version)
        };
        if let Some(index) = find(&self.served) {
            return Some(&self.served[index].1);
        }
        let others = self.others.get_or_init(|| named(self.not_served()));
        find(others).map(|index| &others[index].1)
    }

    fn not_served(&self) -> Vec<Arc<Resource>> {
        let origin = self.served.first().map(|(_, resource)| &resource.origin);
        match origin {
            Some(Origin::Custom {
                definition,
                settled,
                ..
            }) => definitions::not_served(definition, *settled),
            _ => Vec::new(),
        }
    }
}

fn named(versions: impl IntoIterator<Item = Arc<Resource>>) -> Vec<(String, Arc<Resource>)> {
    let versions = versions.into_iter();
    versions
        .map(|resource| (resource.api_version(), resource))
        .collect()
}

impl Versions for KnownVersions {
    fn schema(&self, api_version: &str) -> Option<SchemaRef<'_>> {
        self.find(api_version)
            .map(|resource| resource.schema.root())
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, managed::ConvertError> {
        let Some(resource) = self.find(api_version) else {
            let custom = self
                .served
                .iter()
                .any(|(_, resource)| !resource.is_built_in());
            return Err(if custom {
                managed::ConvertError::Failed(format!(
                    "request to convert CR to an invalid group/version: {api_version}"
                ))
            } else {
                managed::ConvertError::UnknownVersion(api_version.to_owned())
            });
        };
        let mut object = object.clone();
        if resource.is_built_in() {
            builtin::convert::convert(resource.schema.root(), api_version, &mut object);
        }
        object["apiVersion"] = json!(api_version);
        Ok(object)
    }
}

/// Everything that ownership tracking needs to know about a request.
pub(crate) struct Ownership {
    manager: String,
    api_version: String,
    now: String,
    versions: KnownVersions,
    reset: Resets,
    blank: Value,
}

impl Ownership {
    /// The ownership that a request brings.
    pub(crate) fn of(request: &Request, manager: String, now: String) -> Self {
        let resource = &request.resource;
        let api_version = resource.api_version();
        let blank = if resource.is_built_in() {
            managed::blank_builtin(resource.schema.root(), &api_version, &resource.kind)
        } else {
            managed::blank_custom(&api_version, &resource.kind)
        };
        Self {
            manager,
            now,
            versions: KnownVersions::of(request),
            reset: resets(request, &api_version),
            blank,
            api_version,
        }
    }

    /// The write as ownership tracking sees it.
    pub(crate) fn write<'a>(&'a self, request: &'a Request) -> Write<'a> {
        Write {
            manager: &self.manager,
            api_version: &self.api_version,
            kind: &request.resource.kind,
            subresource: request.subresource(),
            now: &self.now,
            versions: &self.versions,
            reset: &self.reset,
            blank: &self.blank,
        }
    }
}

/// Fields that an endpoint puts back: `status` at the object's own, everything else at the status's.
fn resets(request: &Request, api_version: &str) -> Resets {
    let resource = &request.resource;
    let has_status = resource.subresource("status").is_some();
    let subresource = request.subresource();
    if resource.is_built_in() {
        return Resets::builtin(&resource.group, &resource.plural, subresource, has_status);
    }
    match subresource {
        "" => Resets::custom(api_version, has_status),
        "status" => Resets::custom_status([api_version]),
        _ => Resets::none(),
    }
}
