//! What a question must look like.

use quadrille_machinery::{field_error::FieldError, status::Status};
use serde_json::{Value, json};

use crate::rest::Request;

/// Refuses a question that can't be answered.
pub(super) fn review(request: &Request, review: &Value) -> Result<(), Status> {
    let spec = &review["spec"];
    let kind = request.resource.kind.as_str();
    if kind == "TokenReview" && spec["token"].as_str().is_none_or(str::is_empty) {
        let why = "token is required for TokenReview in authentication";
        return Err(Status::bad_request(why));
    }
    if !kind.ends_with("SubjectAccessReview") {
        return Ok(());
    }
    let mut errors = subject_matter(spec);
    if kind != "SelfSubjectAccessReview" {
        errors.extend(subject(spec));
    }
    errors.extend(selectors(&spec["resourceAttributes"]));
    errors.extend(metadata(kind, &review["metadata"]));
    if kind == "LocalSubjectAccessReview" {
        errors.extend(place(review));
    }
    if errors.is_empty() {
        return Ok(());
    }
    // Real servers leave out the kind here.
    Err(Status::invalid(&request.resource.group, "", "", &errors))
}

/// It is either about a resource or about a path.
fn subject_matter(spec: &Value) -> Vec<FieldError> {
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    match (resource.is_object(), path.is_object()) {
        (true, true) => vec![FieldError::invalid(
            "spec.nonResourceAttributes",
            path.clone(),
            "cannot be specified in combination with resourceAttributes",
        )],
        (false, false) => vec![FieldError::invalid(
            "spec.resourceAttributes",
            Value::Null,
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        )],
        _ => Vec::new(),
    }
}

fn subject(spec: &Value) -> Option<FieldError> {
    let is_nobody = spec["user"].as_str().is_none_or(str::is_empty)
        && spec["groups"].as_array().is_none_or(Vec::is_empty);
    is_nobody.then(|| {
        FieldError::invalid(
            "spec.user",
            json!(""),
            "at least one of user or group must be specified",
        )
    })
}

fn selectors(resource: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for field in ["fieldSelector", "labelSelector"] {
        let selector = &resource[field];
        if !selector.is_object() {
            continue;
        }
        let place = format!("spec.resourceAttributes.{field}");
        let raw = selector["rawSelector"].as_str().unwrap_or_default();
        let has_requirements = selector["requirements"]
            .as_array()
            .is_some_and(|list| !list.is_empty());
        if !raw.is_empty() && has_requirements {
            errors.push(FieldError::invalid(
                format!("{place}.rawSelector"),
                json!(raw),
                "may not specified at the same time as requirements",
            ));
        }
        if raw.is_empty() && !has_requirements {
            errors.push(FieldError::required(
                format!("{place}.requirements"),
                format!("when {place} is specified, requirements or rawSelector is required"),
            ));
        }
    }
    errors
}

/// A question has no name.
fn metadata(kind: &str, metadata: &Value) -> Option<FieldError> {
    let is_local = kind == "LocalSubjectAccessReview";
    let fields = metadata.as_object().into_iter().flatten();
    let given = fields.filter(|(field, value)| {
        !value.is_null()
            && field.as_str() != "managedFields"
            && !(is_local && field.as_str() == "namespace")
    });
    let why = if is_local {
        "must be empty except for namespace"
    } else {
        "must be empty"
    };
    (given.count() > 0).then(|| FieldError::invalid("metadata", metadata.clone(), why))
}

/// One about a namespace is about nothing else.
fn place(review: &Value) -> Vec<FieldError> {
    let spec = &review["spec"];
    let mut errors = Vec::new();
    let resource = &spec["resourceAttributes"];
    let namespace = resource["namespace"].as_str().unwrap_or_default();
    let own = review["metadata"]["namespace"].as_str().unwrap_or_default();
    if resource.is_object() && namespace != own {
        errors.push(FieldError::invalid(
            "spec.resourceAttributes.namespace",
            json!(namespace),
            "must match metadata.namespace",
        ));
    }
    if spec["nonResourceAttributes"].is_object() {
        errors.push(FieldError::invalid(
            "spec.nonResourceAttributes",
            spec["nonResourceAttributes"].clone(),
            "disallowed on this kind of request",
        ));
    }
    errors
}
