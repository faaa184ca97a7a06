//! Reviews: questions about tokens and permissions that look like objects and are never stored.

use axum::response::Response;
use quadrille_machinery::{field_error::FieldError, status::Status};
use serde_json::{Value, json};

use super::{Request, object::partial_metadata, write};
use crate::{
    accept::Form,
    auth::{Attributes, Decision, User},
    body,
    options::WriteOptions,
    reply,
    resource::Resource,
};

/// Whether a resource is a question.
pub(crate) fn is_review(resource: &Resource) -> bool {
    resource.is_built_in()
        && matches!(
            resource.group.as_str(),
            "authentication.k8s.io" | "authorization.k8s.io"
        )
}

/// Answers the question in the body.
pub(crate) fn create(request: &Request) -> Result<Response, Status> {
    let options = WriteOptions::read(&request.query, "CreateOptions")?;
    let mut review = body::object(request, &request.resource, options.field_validation)?;
    check_attributes(request, &review["spec"])?;
    let status = match request.resource.kind.as_str() {
        "TokenReview" => token(request, &review["spec"]),
        "SelfSubjectReview" => {
            review["metadata"]["creationTimestamp"] =
                json!(crate::clock::seconds(request.shared.clock.now()));
            json!({ "userInfo": request.user.info() })
        }
        "SelfSubjectAccessReview" => access(request, &request.user, &review["spec"]),
        "SubjectAccessReview" | "LocalSubjectAccessReview" => {
            let user = subject(&review["spec"]);
            access(request, &user, &review["spec"])
        }
        "SelfSubjectRulesReview" => rules(request),
        other => {
            return Err(Status::method_not_supported(
                &request.resource.group,
                other,
                "create",
            ));
        }
    };
    let now = crate::clock::seconds(request.shared.clock.now());
    if request.resource.group == "authorization.k8s.io" || request.resource.kind == "TokenReview" {
        review = write::track(request, &options, None, review, &now);
    }
    review["status"] = status;
    if let Form::Metadata { version, .. } = request.form {
        review = partial_metadata(&review, version);
    }
    Ok(reply::value(201, &review))
}

/// A question about access is either about a resource or about a path.
fn check_attributes(request: &Request, spec: &Value) -> Result<(), Status> {
    let is_about_access = request.resource.kind.ends_with("SubjectAccessReview");
    if !is_about_access
        || spec["resourceAttributes"].is_object() != spec["nonResourceAttributes"].is_object()
    {
        return Ok(());
    }
    let error = FieldError::invalid(
        "spec.resourceAttributes",
        spec["resourceAttributes"].clone(),
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
    );
    // Real servers leave out the kind here.
    Err(Status::invalid(&request.resource.group, "", "", &[error]))
}

fn token(request: &Request, spec: &Value) -> Value {
    let token = spec["token"].as_str().unwrap_or("");
    let audiences = strings(&spec["audiences"]);
    let now = request.shared.clock.now().as_second();
    match request
        .shared
        .service_account_key
        .verify(token, &audiences, now)
    {
        Ok(verified) => json!({
            "authenticated": true,
            "user": verified.user().info(),
            "audiences": verified.audiences,
        }),
        Err(error) => json!({ "user": {}, "error": error.to_string() }),
    }
}

fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn subject(spec: &Value) -> User {
    User {
        name: spec["user"].as_str().unwrap_or("").to_owned(),
        uid: spec["uid"].as_str().unwrap_or("").to_owned(),
        groups: strings(&spec["groups"]),
        ..User::default()
    }
}

fn access(request: &Request, user: &User, spec: &Value) -> Value {
    let resource = &spec["resourceAttributes"];
    let other = &spec["nonResourceAttributes"];
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let (verb, path) = if resource.is_object() {
        (text(&resource["verb"]), String::new())
    } else {
        (text(&other["verb"]), text(&other["path"]))
    };
    let (group, version, plural) = (
        text(&resource["group"]),
        text(&resource["version"]),
        text(&resource["resource"]),
    );
    let (subresource, namespace, name) = (
        text(&resource["subresource"]),
        text(&resource["namespace"]),
        text(&resource["name"]),
    );
    let attributes = Attributes {
        user,
        verb: &verb,
        group: &group,
        version: &version,
        resource: &plural,
        subresource: &subresource,
        namespace: &namespace,
        name: &name,
        path: &path,
    };
    match request.shared.authorizer.authorize(&attributes) {
        Decision::Allow => json!({ "allowed": true }),
        Decision::Deny { reason } if reason.is_empty() => json!({ "allowed": false }),
        Decision::Deny { reason } => json!({ "allowed": false, "reason": reason }),
    }
}

fn rules(request: &Request) -> Value {
    let all = json!(["*"]);
    if request.user.is_in(crate::auth::MASTERS) {
        return json!({
            "resourceRules": [{ "verbs": all, "apiGroups": all, "resources": all }],
            "nonResourceRules": [{ "verbs": all, "nonResourceURLs": all }],
            "incomplete": false,
        });
    }
    json!({ "resourceRules": [], "nonResourceRules": [], "incomplete": false })
}
