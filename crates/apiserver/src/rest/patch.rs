//! `patch`: JSON patch, merge patch, strategic merge patch and server-side apply.

use axum::response::Response;
use http::header;
use quadrille_machinery::{
    decode::{self, Decoded, Document, Envelope},
    field_error::FieldError,
    managed,
    patch::{self as patches, Patched},
    status::Status,
    structural,
};
use serde_json::{Value, json};

use super::{
    Request, object,
    shown::{self, Touched},
    write::{self, Current, Ownership, VersionRule},
};
use crate::{
    body, clock, kinds,
    options::{FieldValidation, WriteOptions, options_invalid},
    ownership,
    resource::Resource,
    stored,
};

/// The kinds of patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl Kind {
    /// The kind that the request's content type names.
    pub(crate) fn of(request: &Request) -> Result<Self, Status> {
        let header = request.headers.get(header::CONTENT_TYPE);
        let text = header.and_then(|value| value.to_str().ok()).unwrap_or("");
        let kind = match text.split(';').next().unwrap_or("").trim() {
            "application/json-patch+json" => Self::Json,
            "application/merge-patch+json" => Self::Merge,
            "application/strategic-merge-patch+json" => Self::Strategic,
            "application/apply-patch+yaml" => Self::Apply,
            _ => return Err(Self::unsupported(request)),
        };
        if kind == Self::Strategic && !request.resource.is_built_in() {
            return Err(Self::unsupported(request));
        }
        Ok(kind)
    }

    /// Endpoints of built-in kinds know all types of patches and say less about others.
    fn unsupported(request: &Request) -> Status {
        if request.resource.is_built_in() {
            return Status {
                details: serde_json::json!({}),
                ..Status::unsupported_media_type("415: Unsupported Media Type")
            };
        }
        Status::unsupported_media_type(
            "the body of the request was in an unknown format - accepted media types include: \
             application/json-patch+json, application/merge-patch+json, \
             application/apply-patch+yaml",
        )
    }
}

/// Patches the named object.
pub(crate) async fn patch(request: &Request) -> Result<Response, Status> {
    let options = WriteOptions::read(&request.query, "PatchOptions")?;
    let kind = Kind::of(request)?;
    check_options(kind, &options)?;
    if kind == Kind::Apply {
        return apply(request, &options).await;
    }
    let updated = write::update(
        request,
        &options,
        Ownership::Track,
        VersionRule::Retry,
        |current| {
            let patched = patched(request, kind, &options, current)?;
            reshape(request, kind, &options, current, patched)
        },
    )
    .await?;
    object::respond(request, 200, &updated.saved)
}

/// Options that go with one kind of patch only.
pub(crate) fn check_options(kind: Kind, options: &WriteOptions) -> Result<(), Status> {
    let refuse = |error| Err(options_invalid("PatchOptions", error));
    if kind == Kind::Apply {
        if options.field_manager.is_none() {
            return refuse(FieldError::required(
                "fieldManager",
                "is required for apply patch",
            ));
        }
    } else if options.force.is_some() {
        return refuse(FieldError::forbidden(
            "force",
            "may not be specified for non-apply patch",
        ));
    }
    Ok(())
}

fn patched(
    request: &Request,
    kind: Kind,
    options: &WriteOptions,
    current: &Current,
) -> Result<Patched, Status> {
    let checked = options.field_validation != FieldValidation::Ignore;
    match kind {
        Kind::Json => patches::json(&current.object, &request.body, checked),
        Kind::Merge => patches::merge(&current.object, &request.body, checked),
        Kind::Strategic | Kind::Apply => {
            let schema = request.resource.schema.root();
            patches::strategic(&current.object, &request.body, schema, checked)
        }
    }
}

/// A patched object is read like one that came in whole, but what is wrong with it is the patch's fault.
fn reshape(
    request: &Request,
    kind: Kind,
    options: &WriteOptions,
    current: &Current,
    patched: Patched,
) -> Result<Value, Status> {
    let resource = &request.resource;
    let Patched {
        value: mut object,
        mut strict,
    } = patched;
    let before = shown(request, kind, &object);
    let refuse = |words: &str| patches::refused(&before, words);
    if resource.is_built_in() {
        if kind != Kind::Strategic {
            check_type(resource, &object).map_err(|words| refuse(&words))?;
        }
        let typed = Document::of(&object)
            .typed(resource.schema.root())
            .map_err(|error| {
                let restored = (kind == Kind::Strategic)
                    .then(|| patches::strategic::mistyped(&object, resource.schema.root()));
                refuse(&restored.flatten().unwrap_or_else(|| error.to_string()))
            })?;
        object = typed.value;
        strict.extend(typed.strict);
        for field in ["apiVersion", "kind"] {
            object[field] = current.object[field].clone();
        }
    } else {
        if object["kind"].as_str().is_none_or(str::is_empty) {
            return Err(refuse(&format!("Object 'Kind' is missing in '{before}'")));
        }
        structural::drop_nulls(resource.schema.root(), &mut object);
        let found = body::shape_custom(&resource.schema, &mut object)
            .map_err(|error| refuse(&error.to_string()))?;
        strict.extend(found);
    }
    body::tell(request, &strict, options.field_validation).map_err(|words| refuse(&words))?;
    if object["metadata"]["name"] != current.object["metadata"]["name"] {
        body::check_name(request, &object)?;
    }
    body::check_namespace(request, &object)?;
    body::set_namespace(request, &mut object);
    Ok(object)
}

/// What a message about a patch shows of it.
fn shown(request: &Request, kind: Kind, object: &Value) -> String {
    let patch = || decode::json(&request.body).map(|patch| patch.value);
    match kind {
        Kind::Strategic => patch()
            .map(|patch| patches::strategic::shown(&patch))
            .unwrap_or_default(),
        Kind::Json | Kind::Merge | Kind::Apply if request.resource.is_built_in() => {
            let touched = match patch() {
                Ok(patch) if kind == Kind::Json => Touched::by_steps(&patch),
                Ok(patch) => Touched::by_merge(&patch),
                Err(_) => Touched::Whole,
            };
            let resource = &request.resource;
            shown::object(object, &resource.api_version(), &resource.kind, &touched)
        }
        Kind::Json | Kind::Merge | Kind::Apply => object.to_string(),
    }
}

/// A patch may leave the type out, but not change it. What it makes must even be of the type that it names.
fn check_type(resource: &Resource, object: &Value) -> Result<(), String> {
    let named = |field: &str, own: &str| match object[field].as_str() {
        None | Some("") => own.to_owned(),
        Some(text) => text.to_owned(),
    };
    let given = Envelope {
        api_version: named("apiVersion", &resource.api_version()),
        kind: named("kind", &resource.kind),
    };
    if given.kind == resource.kind && given.api_version == resource.api_version() {
        return Ok(());
    }
    if let Some(schema) = kinds::load().schema(given.group(), given.version(), &given.kind) {
        let typed = Document::of(object).typed(schema.root());
        typed.map_err(|error| error.to_string())?;
    }
    Err(body::not_convertible(resource, &given))
}

async fn apply(request: &Request, options: &WriteOptions) -> Result<Response, Status> {
    let config = applied(request, options)?;
    let manager = options.field_manager.clone().unwrap_or_default();
    let force = options.force.unwrap_or(false);
    let merge = |live: Option<&Value>| -> Result<Value, Status> {
        let now = clock::seconds(request.shared.clock.now());
        let ownership = ownership::Ownership::of(request, manager.clone(), now);
        let applied = managed::apply(live, &config, &ownership.write(request), force)
            .map_err(|error| error.status())?;
        let mut object = applied.object;
        if let Some(live) = live
            && object["metadata"]["resourceVersion"].is_null()
        {
            object["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
        }
        canonical(request, object)
    };
    let key = stored::key(&request.resource, request.namespace(), request.name()?);
    let exists = request
        .shared
        .store
        .get(&key)
        .map_err(Status::internal)?
        .is_some();
    if !exists && request.target.subresource.is_none() {
        let mut merged = merge(None)?;
        check_identity(request, &mut merged)?;
        refuse_uid(request, &merged)?;
        if let Some(metadata) = merged["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
        }
        let saved = write::create(request, options, merged, Ownership::Recorded).await?;
        return object::respond(request, 201, &saved);
    }
    let rule = VersionRule::Retry;
    let updated = write::update(request, options, Ownership::Recorded, rule, |current| {
        let mut merged = merge(Some(&current.object))?;
        check_identity(request, &mut merged)?;
        Ok(merged)
    })
    .await?;
    object::respond(request, 200, &updated.saved)
}

/// The configuration that the client applies, as it says it: defaults and canonical forms come after the
/// merge, so that nobody owns what nobody said.
fn applied(request: &Request, options: &WriteOptions) -> Result<Value, Status> {
    let decoded = applied_yaml(&request.body)?;
    let config = decoded.value;
    body::tell(request, &decoded.duplicates, options.field_validation).map_err(|_| {
        let found: Vec<String> = decoded.duplicates.iter().map(ToString::to_string).collect();
        let words = found.join(", ");
        Status::bad_request(format!(
            "error strict decoding YAML: error converting YAML to JSON: {words}"
        ))
    })?;
    Ok(config)
}

/// The body of an apply: a YAML map.
pub(crate) fn applied_yaml(body: &[u8]) -> Result<Decoded, Status> {
    let refuse = |words: &str| Status::bad_request(format!("error decoding YAML: {words}"));
    let decoded = decode::yaml(body)
        .map_err(|error| refuse(&format!("error converting YAML to JSON: {error}")))?;
    let wrong = match &decoded.value {
        Value::Object(_) | Value::Null => return Ok(decoded),
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
    };
    Err(refuse(&format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {wrong} into Go value of \
         type map[string]interface {{}}"
    )))
}

/// The merged object in the shape that stored objects have.
fn canonical(request: &Request, mut object: Value) -> Result<Value, Status> {
    let resource = &request.resource;
    if resource.is_built_in() {
        let typed = Document::of(&object)
            .typed(resource.schema.root())
            .map_err(|error| Status::failure(error.to_string()))?;
        object = typed.value;
    } else {
        body::shape_custom(&resource.schema, &mut object)
            .map_err(|error| Status::failure(error.to_string()))?;
    }
    object["apiVersion"] = json!(resource.api_version());
    object["kind"] = json!(resource.kind);
    Ok(object)
}

/// The merged object is the one that the path names.
fn check_identity(request: &Request, object: &mut Value) -> Result<(), Status> {
    body::check_name(request, object)?;
    body::check_namespace(request, object)?;
    body::set_namespace(request, object);
    Ok(())
}

/// An apply that names a uid means an object that exists.
fn refuse_uid(request: &Request, object: &Value) -> Result<(), Status> {
    match object["metadata"]["uid"].as_str() {
        None | Some("") => Ok(()),
        Some(uid) => Err(request.conflict(&format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        ))),
    }
}
