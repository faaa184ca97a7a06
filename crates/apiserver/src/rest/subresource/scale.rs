//! `scale`: the number of replicas, whatever the kind calls it.

use std::collections::BTreeMap;

use axum::response::Response;
use quadrille_machinery::{
    decode::Document,
    field_error::FieldError,
    fieldset::Path,
    managed::{self, OneSchema, Resets},
    patch as patches,
    schema::Schema,
    status::Status,
};
use serde_json::{Value, json};

use super::super::{
    Request, Saved, get as getting,
    patch::{Kind, applied_yaml},
    write::{self, Current, Ownership, VersionRule},
};
use crate::{
    body, clock, kinds,
    options::WriteOptions,
    reply,
    resource::{Origin, Resource, ScalePaths},
};

/// The version of `Scale`.
const VERSION: &str = "autoscaling/v1";

/// The names along a path such as `.spec.replicas`.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.trim_start_matches('.').split('.')
}

fn at<'a>(object: &'a Value, path: &str) -> &'a Value {
    parts(path).fold(object, |value, part| &value[part])
}

fn set(object: &mut Value, path: &str, value: Value) {
    let mut target = object;
    for part in parts(path) {
        if !target.is_object() {
            *target = json!({});
        }
        target = &mut target[part];
    }
    *target = value;
}

fn paths(request: &Request) -> Result<ScalePaths, Status> {
    let resource = &request.resource;
    resource.scale_paths().ok_or_else(Status::no_such_path)
}

/// The object seen as a `Scale`.
pub(crate) fn scale_of(request: &Request, object: &Value) -> Result<Value, Status> {
    let paths = paths(request)?;
    let source = &object["metadata"];
    let mut metadata = json!({});
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        if !source[field].is_null() {
            metadata[field] = source[field].clone();
        }
    }
    if !request.resource.is_built_in() && at(object, &paths.spec).is_null() {
        return Err(Status::internal(format!(
            "the spec replicas field {:?} does not exist",
            paths.spec
        )));
    }
    let mut spec = json!({});
    if let Some(replicas) = at(object, &paths.spec)
        .as_i64()
        .filter(|replicas| *replicas != 0)
    {
        spec["replicas"] = json!(replicas);
    }
    let mut status = json!({ "replicas": at(object, &paths.status).as_i64().unwrap_or(0) });
    if let Some(selector) = selector_of(request, object, &paths) {
        status["selector"] = json!(selector);
    }
    Ok(json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }))
}

fn selector_of(request: &Request, object: &Value, paths: &ScalePaths) -> Option<String> {
    use quadrille_machinery::selector::LabelSelector;
    if let Some(path) = &paths.selector {
        return at(object, path)
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned);
    }
    if !request.resource.is_built_in() {
        return None;
    }
    let selector = &object["spec"]["selector"];
    let selector = if request.resource.plural == "replicationcontrollers" {
        json!({ "matchLabels": selector })
    } else {
        selector.clone()
    };
    LabelSelector::from_value(&selector)
        .ok()
        .map(|selector| selector.to_string())
}

fn respond(request: &Request, saved: &Saved) -> Result<Response, Status> {
    let object = saved.object(&request.resource)?;
    Ok(reply::value(200, &scale_of(request, &object)?))
}

/// Answers with the scale.
pub(crate) fn get(request: &Request) -> Result<Response, Status> {
    respond(request, &getting::current(request)?)
}

/// The resource that the body of a scale request is.
fn scale_resource(request: &Request) -> Result<Resource, Status> {
    let schema = kinds::load()
        .schema("autoscaling", "v1", "Scale")
        .ok_or_else(|| Status::internal("no schema for Scale"))?;
    Ok(Resource {
        group: "autoscaling".to_owned(),
        version: "v1".to_owned(),
        kind: "Scale".to_owned(),
        schema,
        origin: Origin::BuiltIn,
        ..Resource::clone(&request.resource)
    })
}

/// Sets the number of replicas to that in the body.
pub(crate) async fn update(request: &Request) -> Result<Response, Status> {
    let options = WriteOptions::read(&request.query, "UpdateOptions")?;
    let scale = body::object(request, &scale_resource(request)?, options.field_validation)?;
    body::check_name(request, &scale)?;
    let owners = Owners::of(request, options.field_manager.as_deref())?;
    let rule = VersionRule::Demand;
    let updated = write::update(request, &options, Ownership::Recorded, rule, |current| {
        let live = owners.scale(request, &current.object)?;
        let new = owners.update(&live, scale.clone());
        scaled(request, &owners, current, &new)
    })
    .await?;
    respond(request, &updated.saved)
}

/// Patches the scale.
pub(crate) async fn patch(request: &Request) -> Result<Response, Status> {
    let options = WriteOptions::read(&request.query, "PatchOptions")?;
    let resource = scale_resource(request)?;
    let kind = Kind::of(request)?;
    super::super::patch::check_options(kind, &options)?;
    let owners = Owners::of(request, options.field_manager.as_deref())?;
    let rule = VersionRule::Retry;
    let updated = write::update(request, &options, Ownership::Recorded, rule, |current| {
        let live = owners.scale(request, &current.object)?;
        let patched = match kind {
            Kind::Json => patches::json(&live, &request.body, false)?.value,
            Kind::Strategic => {
                patches::strategic(&live, &request.body, resource.schema.root(), false)?.value
            }
            Kind::Merge => patches::merge(&live, &request.body, false)?.value,
            Kind::Apply => {
                let config = applied_yaml(&request.body)?;
                owners.apply(&live, &config.value, options.force.unwrap_or(false))?
            }
        };
        let typed = Document::of(&patched)
            .typed(resource.schema.root())
            .map_err(|error| patches::refused(&patched.to_string(), &error.to_string()))?;
        let new = match kind {
            Kind::Apply => typed.value,
            _ => owners.update(&live, typed.value),
        };
        scaled(request, &owners, current, &new)
    })
    .await?;
    respond(request, &updated.saved)
}

/// Who owns the replicas: a scale has owners of its own, made from its parent's.
struct Owners {
    manager: String,
    now: String,
    schema: Schema,
    blank: Value,
    reset: Resets,
    /// Where each version of the parent has its replicas.
    replicas: BTreeMap<String, Option<Path>>,
}

impl Owners {
    fn of(request: &Request, manager: Option<&str>) -> Result<Self, Status> {
        let schema = scale_resource(request)?.schema;
        let catalog = request.shared.catalog.snapshot();
        let replicas = catalog
            .resources()
            .iter()
            .filter(|resource| resource.storage == request.resource.storage)
            .map(|resource| {
                let path = resource
                    .scale_paths()
                    .map(|paths| Path::of_fields(parts(&paths.spec)));
                (resource.api_version(), path)
            })
            .collect();
        Ok(Self {
            manager: request.manager(manager),
            now: clock::seconds(request.shared.clock.now()),
            blank: managed::blank_builtin(schema.root(), VERSION, "Scale"),
            schema,
            reset: Resets::none(),
            replicas,
        })
    }

    /// The scale of an object, with the owners that a scale has.
    fn scale(&self, request: &Request, object: &Value) -> Result<Value, Status> {
        let mut scale = scale_of(request, object)?;
        let entries = object["metadata"]["managedFields"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let entries =
            managed::scale_to_subresource(entries, &self.replicas).map_err(Status::internal)?;
        scale["metadata"]["managedFields"] = Value::Array(entries);
        Ok(scale)
    }

    fn with<T>(&self, run: impl FnOnce(&managed::Write<'_>) -> T) -> T {
        let versions = OneSchema {
            api_version: VERSION,
            schema: self.schema.root(),
        };
        run(&managed::Write {
            manager: &self.manager,
            api_version: VERSION,
            kind: "Scale",
            subresource: "scale",
            now: &self.now,
            versions: &versions,
            reset: &self.reset,
            blank: &self.blank,
        })
    }

    fn update(&self, live: &Value, new: Value) -> Value {
        self.with(|write| managed::update(Some(live), new, write))
    }

    fn apply(&self, live: &Value, config: &Value, force: bool) -> Result<Value, Status> {
        self.with(|write| managed::apply(Some(live), config, write, force))
            .map(|applied| applied.object)
            .map_err(|error| error.status())
    }
}

/// The object with the replicas of a scale, and the owners that follow.
fn scaled(
    request: &Request,
    owners: &Owners,
    current: &Current,
    scale: &Value,
) -> Result<Value, Status> {
    let paths = paths(request)?;
    let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(0);
    // Custom resources are checked where their objects are.
    if replicas < 0 && request.resource.is_built_in() {
        let error = FieldError::invalid(
            "spec.replicas",
            json!(replicas),
            "must be greater than or equal to 0",
        );
        let name = request.name()?;
        return Err(Status::invalid("autoscaling", "Scale", name, &[error]));
    }
    let mut object = current.object.clone();
    for field in ["uid", "resourceVersion"] {
        let stated = scale["metadata"][field].as_str().unwrap_or("");
        if !stated.is_empty() {
            object["metadata"][field] = json!(stated);
        }
    }
    set(&mut object, &paths.spec, json!(replicas));
    let entries = |object: &Value| {
        object["metadata"]["managedFields"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    let api_version = request.resource.api_version();
    let entries = managed::scale_to_parent(
        &entries(&current.object),
        &entries(scale),
        &api_version,
        &owners.replicas,
    )
    .map_err(Status::internal)?;
    object["metadata"]["managedFields"] = Value::Array(entries);
    Ok(object)
}
