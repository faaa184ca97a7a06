//! Objects that are never stored, because they ask for something to be done: read like any other object, with their
//! owner, so that policies can judge them.

use quadrille_machinery::{
    builtin,
    managed::{self, OneSchema, Resets, Write},
    status::Status,
};
use serde_json::{Value, json};

use super::super::Request;
use crate::{body, clock, kinds, lifecycle, options::WriteOptions, resource::Resource};

/// Reads the body as an object of a kind (of version `v1`) that is not the resource's own.
pub(super) fn read(
    request: &Request,
    options: &WriteOptions,
    group: &str,
    kind: &str,
) -> Result<Value, Status> {
    let name = request.target.name.clone().unwrap_or_default();
    if let Some(namespace) = request.namespace() {
        lifecycle::check_namespace(request, namespace, &json!({"metadata": {"name": name}}))?;
    }
    let schema = kinds::load().schema(group, "v1", kind);
    let resource = Resource {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        schema: schema.ok_or_else(|| Status::internal(format!("no schema for {kind}")))?,
        ..Resource::clone(&request.resource)
    };
    let mut asked = body::object(request, &resource, options.field_validation)?;
    if asked["metadata"]["name"].as_str().is_none_or(str::is_empty) && !name.is_empty() {
        asked["metadata"]["name"] = json!(name);
    }
    builtin::defaults::apply(resource.schema.root(), &mut asked);
    Ok(owned(request, options, &resource, asked))
}

/// The object with the owner of what it says, though nobody will ever read it again.
fn owned(request: &Request, options: &WriteOptions, resource: &Resource, asked: Value) -> Value {
    let api_version = resource.api_version();
    let schema = resource.schema.root();
    let versions = OneSchema {
        api_version: &api_version,
        schema,
    };
    let write = Write {
        manager: &request.manager(options.field_manager.as_deref()),
        api_version: &api_version,
        kind: &resource.kind,
        subresource: request.subresource(),
        now: &clock::seconds(request.shared.clock.now()),
        versions: &versions,
        reset: &Resets::none(),
        blank: &managed::blank_builtin(schema, &api_version, &resource.kind),
    };
    managed::update(None, asked, &write)
}
