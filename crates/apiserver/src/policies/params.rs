//! Parameters of a policy: the objects that a binding refers to.

use std::sync::Arc;

use quadrille_machinery::{selector::LabelSelector, status::Status};
use serde_json::Value;

use super::{Binding, Definition};
use crate::{resource::Resource, server::Shared, stored};

/// The resource that a policy takes its parameters from, if it takes any.
pub(super) fn resource(
    shared: &Shared,
    definition: &Definition,
) -> Result<Option<Arc<Resource>>, String> {
    let wanted = &definition.spec["paramKind"];
    if wanted.is_null() {
        return Ok(None);
    }
    let text = |field: &str| wanted[field].as_str().unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    let catalog = shared.catalog.snapshot();
    match catalog.of_kind(version, kind) {
        Some(resource) => Ok(Some(resource.clone())),
        None => {
            let slash = if version.contains('/') { "" } else { "/" };
            Err(format!(
                "failed to find resource referenced by paramKind: '{slash}{version}, Kind={kind}'"
            ))
        }
    }
}

/// The parameters of a binding for a request in `namespace`: null where it needs none.
pub(super) fn collect(
    shared: &Shared,
    resource: Option<&Arc<Resource>>,
    binding: &Binding,
    namespace: &str,
) -> Result<Vec<Value>, String> {
    let reference = &binding.spec["paramRef"];
    let Some(resource) = resource.filter(|_| reference.is_object()) else {
        return Ok(vec![Value::Null]);
    };
    let text = |field: &str| reference[field].as_str().unwrap_or_default();
    let namespace = match (resource.namespaced, text("namespace")) {
        (true, "") if namespace.is_empty() => {
            return Err(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped \
                 resources"
                    .to_owned(),
            );
        }
        (true, "") => Some(namespace),
        (true, named) => Some(named),
        (false, "") => None,
        (false, _) => {
            return Err(
                "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
                    .to_owned(),
            );
        }
    };
    let params = match text("name") {
        "" => selected(shared, resource, namespace, &reference["selector"])?,
        name => Vec::from_iter(named(shared, resource, namespace, name)?),
    };
    if params.is_empty() && reference["parameterNotFoundAction"] == "Deny" {
        return Err(
            "no params found for policy binding with `Deny` parameterNotFoundAction".to_owned(),
        );
    }
    Ok(params)
}

fn named(
    shared: &Shared,
    resource: &Resource,
    namespace: Option<&str>,
    name: &str,
) -> Result<Option<Value>, String> {
    let key = stored::key(resource, namespace, name);
    let record = shared.store.get(&key).map_err(|error| error.to_string())?;
    record
        .map(|record| stored::decode_record(resource, &record))
        .transpose()
        .map_err(|status| status.message)
}

fn selected(
    shared: &Shared,
    resource: &Resource,
    namespace: Option<&str>,
    selector: &Value,
) -> Result<Vec<Value>, String> {
    let selector = LabelSelector::from_value(selector).map_err(|error| error.to_string())?;
    let prefix = stored::prefix(resource, namespace);
    let objects =
        stored::scan(&shared.store, prefix).map(|record| stored::decode_record(resource, &record?));
    let selects = |object: &Value| selector.matches(object["metadata"]["labels"].as_object());
    objects
        .filter(|object| object.as_ref().map_or(true, selects))
        .collect::<Result<_, _>>()
        .map_err(|status: Status| status.message)
}
