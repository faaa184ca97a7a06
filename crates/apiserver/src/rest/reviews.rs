//! Reviews: questions about tokens and permissions that look like objects and are never stored.

mod check;

use axum::response::Response;
use quadrille_machinery::{rbac::Rule, status::Status};
use serde_json::{Value, json};

use super::{Request, object::partial_metadata, write};
use crate::{
    accept::Form,
    auth::{Attributes, Authorizer, Decision, User},
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
pub(crate) async fn create(request: &Request) -> Result<Response, Status> {
    let options = WriteOptions::read(&request.query, "CreateOptions")?;
    let mut review = body::object(request, &request.resource, options.field_validation)?;
    check::review(request, &review)?;
    let spec = &review["spec"];
    let status = match request.resource.kind.as_str() {
        "TokenReview" => token(request, spec).await,
        "SelfSubjectReview" => {
            review["metadata"]["creationTimestamp"] =
                json!(crate::clock::seconds(request.shared.clock.now()));
            json!({ "userInfo": request.user.info() })
        }
        "SelfSubjectAccessReview" => access(request, &request.user, spec),
        "SubjectAccessReview" | "LocalSubjectAccessReview" => access(request, &subject(spec), spec),
        "SelfSubjectRulesReview" => {
            let status = rules(request, spec["namespace"].as_str().unwrap_or_default())?;
            // Real servers don't repeat the question here.
            review["spec"] = json!({});
            status
        }
        other => {
            return Err(Status::method_not_supported(
                &request.resource.group,
                other,
                "create",
            ));
        }
    };
    let now = crate::clock::seconds(request.shared.clock.now());
    let kind = request.resource.kind.as_str();
    if kind.ends_with("SubjectAccessReview") || kind == "TokenReview" {
        review = write::track(request, &options, None, review, &now);
    }
    review["status"] = status;
    if let Form::Metadata { version, .. } = request.form {
        review = partial_metadata(&review, version);
    }
    Ok(reply::value(201, &review))
}

async fn token(request: &Request, spec: &Value) -> Value {
    let token = spec["token"].as_str().unwrap_or_default();
    let audiences = strings(&spec["audiences"]);
    let now = request.shared.clock.now().as_second();
    let reviewed = request.shared.authenticator.review(token, &audiences, now);
    match reviewed.await {
        Ok((user, audiences)) => json!({
            "authenticated": true,
            "user": user.info(),
            "audiences": audiences,
        }),
        Err(error) => json!({ "user": {}, "error": error }),
    }
}

fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn subject(spec: &Value) -> User {
    let extra = spec["extra"].as_object().into_iter().flatten();
    User {
        name: spec["user"].as_str().unwrap_or_default().to_owned(),
        uid: spec["uid"].as_str().unwrap_or_default().to_owned(),
        groups: strings(&spec["groups"]),
        extra: extra
            .map(|(key, values)| (key.clone(), strings(values)))
            .collect(),
    }
}

fn access(request: &Request, user: &User, spec: &Value) -> Value {
    let resource = &spec["resourceAttributes"];
    let other = &spec["nonResourceAttributes"];
    let text = |value: &'_ Value| value.as_str().unwrap_or_default().to_owned();
    let [group, version, plural, subresource, namespace, name, verb] = [
        "group",
        "version",
        "resource",
        "subresource",
        "namespace",
        "name",
        "verb",
    ]
    .map(|field| text(&resource[field]));
    let [other_verb, path] = ["verb", "path"].map(|field| text(&other[field]));
    let attributes = if resource.is_object() {
        Attributes {
            group: &group,
            version: &version,
            resource: &plural,
            subresource: &subresource,
            namespace: &namespace,
            name: &name,
            ..Attributes::of_path(user, &verb, "")
        }
    } else {
        Attributes::of_path(user, &other_verb, &path)
    };
    let (allowed, reason) = match request.shared.authorizer.authorize(&attributes) {
        Decision::Allow { reason } => (true, reason),
        Decision::Deny { reason } => (false, reason),
    };
    let mut status = json!({ "allowed": allowed });
    if !reason.is_empty() {
        status["reason"] = json!(reason);
    }
    status
}

/// Everything that the user may do in a namespace.
fn rules(request: &Request, namespace: &str) -> Result<Value, Status> {
    if namespace.is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    let (rules, wrong) = request.shared.authorizer.rules(&request.user, namespace)?;
    let on_resources: Vec<Value> = rules.iter().filter_map(Rule::resource_rule).collect();
    let on_paths: Vec<Value> = rules.iter().filter_map(Rule::path_rule).collect();
    let mut status = json!({
        "resourceRules": on_resources,
        "nonResourceRules": on_paths,
        "incomplete": false,
    });
    if !wrong.is_empty() {
        status["evaluationError"] = json!(wrong);
    }
    Ok(status)
}
