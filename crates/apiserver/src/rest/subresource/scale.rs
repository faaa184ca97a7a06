//! `scale`: the number of replicas, whatever the kind calls it.

use axum::response::Response;
use quadrille_machinery::{
    decode::Document, field_error::FieldError, patch as patches, status::Status,
};
use serde_json::{Value, json};

use super::super::{
    Request, Saved, get as getting,
    write::{self, Current, Ownership, VersionRule},
};
use crate::{
    body, kinds,
    options::WriteOptions,
    reply,
    resource::{Origin, Resource},
};

/// Where a kind keeps its replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paths {
    pub(crate) spec: Vec<String>,
    pub(crate) status: Vec<String>,
    pub(crate) selector: Option<Vec<String>>,
}

impl Paths {
    /// The paths of a resource.
    pub(crate) fn of(resource: &Resource) -> Option<Self> {
        let split = |path: &str| -> Vec<String> {
            path.trim_start_matches('.')
                .split('.')
                .map(str::to_owned)
                .collect()
        };
        match &resource.origin {
            Origin::BuiltIn => Some(Self {
                spec: split("spec.replicas"),
                status: split("status.replicas"),
                selector: None,
            }),
            Origin::Custom {
                definition,
                version_index,
            } => {
                let version = &definition["spec"]["versions"][*version_index];
                let scale = version["subresources"]["scale"].as_object()?;
                let path = |name: &str| scale.get(name).and_then(Value::as_str).map(split);
                Some(Self {
                    spec: path("specReplicasPath")?,
                    status: path("statusReplicasPath")?,
                    selector: path("labelSelectorPath"),
                })
            }
        }
    }
}

fn at<'a>(object: &'a Value, path: &[String]) -> &'a Value {
    path.iter()
        .fold(object, |value, part| &value[part.as_str()])
}

fn set(object: &mut Value, path: &[String], value: Value) {
    let mut target = object;
    for part in path {
        if !target.is_object() {
            *target = json!({});
        }
        target = &mut target[part.as_str()];
    }
    *target = value;
}

fn paths(request: &Request) -> Result<Paths, Status> {
    Paths::of(&request.resource).ok_or_else(Status::no_such_path)
}

/// The object seen as a `Scale`.
fn scale_of(request: &Request, object: &Value) -> Result<Value, Status> {
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

fn selector_of(request: &Request, object: &Value, paths: &Paths) -> Option<String> {
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
    let rule = VersionRule::Demand;
    let updated = write::update(request, &options, Ownership::Track, rule, |current| {
        scaled(request, current, &scale)
    })
    .await?;
    respond(request, &updated.saved)
}

/// Patches the scale.
pub(crate) async fn patch(request: &Request) -> Result<Response, Status> {
    let options = WriteOptions::read(&request.query, "PatchOptions")?;
    let resource = scale_resource(request)?;
    let content = request.headers.get(http::header::CONTENT_TYPE);
    let content = content
        .and_then(|value| value.to_str().ok())
        .unwrap_or("")
        .to_owned();
    let rule = VersionRule::Retry;
    let updated = write::update(request, &options, Ownership::Track, rule, |current| {
        let scale = scale_of(request, &current.object)?;
        let patched = match content.split(';').next().unwrap_or("").trim() {
            "application/json-patch+json" => patches::json(&scale, &request.body, false)?.value,
            "application/strategic-merge-patch+json" if request.resource.is_built_in() => {
                patches::strategic(&scale, &request.body, resource.schema.root(), false)?.value
            }
            "application/merge-patch+json" => patches::merge(&scale, &request.body, false)?.value,
            "application/apply-patch+yaml" => merge_applied(&scale, &request.body)?,
            _ => {
                return Err(Status::unsupported_media_type(
                    "the body of the request was in an unknown format - accepted media types \
                     include: application/json-patch+json, application/merge-patch+json, \
                     application/apply-patch+yaml",
                ));
            }
        };
        let typed = Document::of(&patched)
            .typed(resource.schema.root())
            .map_err(|error| Status::bad_request(error.to_string()))?;
        scaled(request, current, &typed.value)
    })
    .await?;
    respond(request, &updated.saved)
}

/// A scale has one field to apply: what the client says of it counts.
fn merge_applied(scale: &Value, body: &[u8]) -> Result<Value, Status> {
    let config = quadrille_machinery::decode::yaml(body)
        .map_err(|error| Status::bad_request(error.to_string()))?
        .value;
    let mut merged = scale.clone();
    if let Some(replicas) = config["spec"].get("replicas") {
        merged["spec"]["replicas"] = replicas.clone();
    }
    Ok(merged)
}

/// The object with the replicas of a scale.
fn scaled(request: &Request, current: &Current, scale: &Value) -> Result<Value, Status> {
    let paths = paths(request)?;
    let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(0);
    if replicas < 0 {
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
    Ok(object)
}
