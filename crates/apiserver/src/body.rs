//! Request bodies: bytes in, an object of the wanted kind out, or the refusal that a real server gives.

use std::collections::HashSet;

use bytes::Bytes;
use quadrille_machinery::{
    decode::{self, DecodeError, Document, Envelope, StrictError},
    schema::Schema,
    status::Status,
    structural,
};
use serde_json::{Value, json};

use crate::{
    accept::{self, BodyFormat},
    kinds,
    options::FieldValidation,
    resource::Resource,
    rest::Request,
};

/// Reads the body as an object of `resource`.
pub(crate) fn object(
    request: &Request,
    resource: &Resource,
    validation: FieldValidation,
) -> Result<Value, Status> {
    let format = accept::body_format(&request.headers)?;
    let object = parse(request, resource, format, &request.body, validation)?;
    in_namespace(request, object)
}

/// Reads bytes as an object of `resource`.
pub(crate) fn parse(
    request: &Request,
    resource: &Resource,
    format: BodyFormat,
    body: &Bytes,
    validation: FieldValidation,
) -> Result<Value, Status> {
    let refuse = |error: &DecodeError| {
        Status::bad_request(decode::unrecognized(&resource.kind, error, body))
    };
    let document = match format {
        BodyFormat::Json => Document::json(body),
        BodyFormat::Yaml => Document::yaml(body),
    }
    .map_err(|error| refuse(&error))?;
    let envelope = decode::envelope(&document).map_err(|error| refuse(&error))?;
    let envelope = expect_kind(resource, envelope, body)?;
    let (mut object, strict) = if resource.is_built_in() {
        let typed = document
            .typed(resource.schema.root())
            .map_err(|error| not_handled(&envelope, resource, &error.to_string()))?;
        (typed.value, typed.strict)
    } else {
        let decoded = document
            .untyped()
            .map_err(|error| not_handled(&envelope, resource, &error.to_string()))?;
        let mut strict = decoded.duplicates;
        let mut object = decoded.value;
        structural::drop_nulls(resource.schema.root(), &mut object);
        strict.extend(
            shape_custom(&resource.schema, &mut object)
                .map_err(|error| not_handled(&envelope, resource, &error.to_string()))?,
        );
        (object, strict)
    };
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    object["apiVersion"] = json!(resource.api_version());
    // Only a custom resource gets here with the kind of another, which validation compares.
    object["kind"] = json!(envelope.kind);
    report(request, &envelope, resource, &strict, validation)?;
    merge_owners(request, &mut object);
    Ok(object)
}

/// An owner that is named twice is one owner. Clients that do so are told.
pub(crate) fn merge_owners(request: &Request, object: &mut Value) {
    let owners = object.pointer_mut("/metadata/ownerReferences");
    let Some(owners) = owners.and_then(Value::as_array_mut) else {
        return;
    };
    let mut seen: HashSet<String> = HashSet::new();
    let mut told: HashSet<String> = HashSet::new();
    let mut twice: Vec<String> = Vec::new();
    owners.retain(|owner| {
        let uid = owner["uid"].as_str().unwrap_or_default();
        if seen.insert(uid.to_owned()) {
            return true;
        }
        if told.insert(uid.to_owned()) {
            twice.push(uid.to_owned());
        }
        false
    });
    if !twice.is_empty() {
        request.warn(format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            twice.join(", ")
        ));
    }
}

/// Prunes a custom resource and gives its metadata the shape that it must have. Nulls that the schema does
/// not know what to do with stay; whatever was read from a client or from the store has to lose them first.
pub(crate) fn shape_custom(
    schema: &Schema,
    object: &mut Value,
) -> Result<Vec<StrictError>, DecodeError> {
    let root = schema.root();
    let mut strict = structural::coerce_metadata(root, object)?;
    strict.extend(
        structural::prune(root, object, true)
            .into_iter()
            .map(StrictError::Unknown),
    );
    strict.extend(structural::coerce_embedded(root, object)?);
    Ok(strict)
}

/// Says what strict decoding found, as loudly as the client wants.
pub(crate) fn report(
    request: &Request,
    envelope: &Envelope,
    resource: &Resource,
    strict: &[StrictError],
    validation: FieldValidation,
) -> Result<(), Status> {
    tell(request, strict, validation).map_err(|words| not_handled(envelope, resource, &words))
}

/// Warns of what strict decoding found, or gives the words with which to refuse it.
pub(crate) fn tell(
    request: &Request,
    strict: &[StrictError],
    validation: FieldValidation,
) -> Result<(), String> {
    if strict.is_empty() {
        return Ok(());
    }
    match validation {
        FieldValidation::Ignore => {}
        FieldValidation::Warn => {
            for warning in decode::warnings(strict) {
                request.warn(warning);
            }
        }
        FieldValidation::Strict => return Err(decode::strict_message(strict)),
    }
    Ok(())
}

fn not_handled(envelope: &Envelope, resource: &Resource, error: &str) -> Status {
    Status::bad_request(decode::not_handled(envelope, &resource.kind, error))
}

/// The body's type must be the resource's; a built-in kind may leave it out.
fn expect_kind(resource: &Resource, envelope: Envelope, body: &Bytes) -> Result<Envelope, Status> {
    let expected = Envelope {
        api_version: resource.api_version(),
        kind: resource.kind.clone(),
    };
    if envelope == expected {
        return Ok(envelope);
    }
    let missing = |what: &str| {
        let text = String::from_utf8_lossy(body);
        let error = DecodeError(format!("Object '{what}' is missing in '{text}'"));
        Status::bad_request(decode::unrecognized(&resource.kind, &error, body))
    };
    if resource.is_built_in() {
        let guessed = Envelope {
            api_version: if envelope.api_version.is_empty() {
                expected.api_version.clone()
            } else {
                envelope.api_version.clone()
            },
            kind: if envelope.kind.is_empty() {
                expected.kind.clone()
            } else {
                envelope.kind.clone()
            },
        };
        if guessed == expected {
            return Ok(expected);
        }
    } else if envelope.kind.is_empty() {
        return Err(missing("Kind"));
    } else if envelope.api_version == expected.api_version {
        // Found out only by validation, which names the object.
        return Ok(envelope);
    }
    if !resource.is_built_in() {
        return Err(Status::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({})",
            envelope.api_version, expected.api_version
        )));
    }
    Err(not_handled(
        &envelope,
        resource,
        &not_convertible(resource, &envelope),
    ))
}

/// Why an object of one type is none of another.
pub(crate) fn not_convertible(resource: &Resource, given: &Envelope) -> String {
    let known = kinds::load().schema(given.group(), given.version(), &given.kind);
    if known.is_none() {
        return not_registered(&given.kind, &given.api_version);
    }
    format!(
        "converting ({}.{}) to ({}): unknown conversion",
        given.version(),
        given.kind,
        internal(resource)
    )
}

/// A kind that nobody knows. The place is where real servers keep the registry of their types.
pub(crate) fn not_registered(kind: &str, api_version: &str) -> String {
    format!(
        "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:111\""
    )
}

/// The type in which a real server would hold the object: named after the group, core for the oldest.
fn internal(resource: &Resource) -> String {
    let package = match resource.group.split('.').next() {
        None | Some("" | "events") => "core",
        Some(first) => first,
    };
    format!("{package}.{}", resource.kind)
}

/// The object in the namespace of the path.
fn in_namespace(request: &Request, mut object: Value) -> Result<Value, Status> {
    check_namespace(request, &object)?;
    set_namespace(request, &mut object);
    Ok(object)
}

/// Puts an object into the namespace of the path; what belongs to the whole cluster drops one that it must not
/// have.
pub(crate) fn set_namespace(request: &Request, object: &mut Value) {
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return;
    };
    match request.namespace() {
        Some(namespace) => {
            metadata.insert("namespace".to_owned(), json!(namespace));
        }
        None if !request.resource.namespaced => {
            metadata.remove("namespace");
        }
        None => {}
    }
}

/// The object may not name another namespace than the path.
pub(crate) fn check_namespace(request: &Request, object: &Value) -> Result<(), Status> {
    let stated = object["metadata"]["namespace"].as_str().unwrap_or("");
    match request.namespace() {
        Some(namespace) if !stated.is_empty() && stated != namespace => Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        )),
        _ => Ok(()),
    }
}

/// The object's name must be the one in the path.
pub(crate) fn check_name(request: &Request, object: &Value) -> Result<(), Status> {
    let wanted = request.name()?;
    match object["metadata"]["name"].as_str().unwrap_or("") {
        "" => Err(Status::bad_request(format!(
            "the name of the object ({wanted} based on URL) was undeterminable: name must be provided"
        ))),
        name if name == wanted => Ok(()),
        name => Err(Status::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({wanted})"
        ))),
    }
}
