//! What a write must go through before it is stored: defaults, system fields, the rules of its kind.
//!
//! Built-in kinds have their rules in `machinery::builtin`; custom resources have theirs in their definition.

use quadrille_machinery::{
    builtin, crd, field_error::FieldError, managed, names, status::Status, structural,
};
use serde_json::{Map, Value, json};

use crate::{
    admission, clock, convert,
    resource::{Origin, Resource},
    rest::Request,
};

/// Fills in defaults.
pub(crate) fn default(resource: &Resource, object: &mut Value) {
    match resource.origin {
        Origin::BuiltIn => {
            builtin::defaults::apply(resource.schema.root(), object);
            if is_definition(resource) {
                crd::default(object);
            }
            convert::there_and_back(resource, object);
        }
        Origin::Custom { .. } => structural::default(resource.schema.root(), object),
    }
}

/// What admission does to a new object.
pub(crate) async fn admit_create(request: &Request, object: &mut Value) -> Result<(), Status> {
    refuse_webhooks(request)?;
    if request.resource.is_built_in() {
        admission::admit_new(request, object).await?;
        builtin::admission::admit_create(&request.resource.group, &request.resource.kind, object);
    }
    Ok(())
}

/// What admission does to a changed object.
pub(crate) fn admit_update(
    request: &Request,
    object: &mut Value,
    old: &Value,
) -> Result<(), Status> {
    refuse_webhooks(request)?;
    let resource = &request.resource;
    if resource.is_built_in() && request.subresource().is_empty() {
        builtin::admission::admit_update(&resource.group, &resource.kind, object, old);
    }
    Ok(())
}

/// This server calls no webhooks and lets no policy change objects. A configuration that nobody follows would be a
/// false promise.
fn refuse_webhooks(request: &Request) -> Result<(), Status> {
    let resource = &request.resource;
    let is_followed = !resource.is_built_in()
        || resource.group != "admissionregistration.k8s.io"
        || resource.plural.starts_with("validatingadmissionpolic");
    if is_followed {
        return Ok(());
    }
    Err(Status::forbidden(
        &resource.group,
        &resource.plural,
        request.target.name.as_deref().unwrap_or(""),
        "this embedded API server calls no admission webhooks and has no policies that change objects; use \
         a ValidatingAdmissionPolicy or a real cluster",
    ))
}

/// Takes away what a client may not say about a new object. Nobody owns it.
pub(crate) fn wipe_system_fields(object: &mut Value) {
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return;
    };
    for field in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
    ] {
        metadata.remove(field);
    }
}

/// Fields that only the server sets on a new object.
pub(crate) fn fill_system_fields(metadata: &mut Map<String, Value>, now: &str) {
    metadata.remove("resourceVersion");
    metadata.insert("uid".to_owned(), json!(uuid::Uuid::new_v4().to_string()));
    metadata.insert("creationTimestamp".to_owned(), json!(now));
}

/// Makes a new object ready to be stored, or says why it can't be.
pub(crate) fn before_create(
    request: &Request,
    object: &mut Value,
    now: &str,
) -> Result<(), Status> {
    let resource = &request.resource;
    if let Some(metadata) = object["metadata"].as_object_mut() {
        fill_system_fields(metadata, now);
    }
    if is_definition(resource) {
        for warning in crd::warnings(object, None) {
            request.warn(warning);
        }
    }
    let errors = match &resource.origin {
        Origin::BuiltIn => {
            prepare_built_in(resource, object, now);
            validate_built_in(resource, "", object, None)
        }
        Origin::Custom { .. } => {
            if resource.subresource("status").is_some()
                && let Some(fields) = object.as_object_mut()
            {
                fields.remove("status");
            }
            object["metadata"]["generation"] = json!(1);
            structural::default(resource.schema.root(), object);
            validate_custom(request, "", object, None)
        }
    };
    refuse(request, object, &errors)?;
    let warnings = if resource.is_built_in() {
        builtin::warnings::on_create(&resource.kind, object)
    } else {
        names::finalizer_warnings(&object["metadata"], None)
    };
    for warning in warnings {
        request.warn(warning);
    }
    Ok(())
}

/// Makes a changed object ready to be stored, or says why it can't be.
pub(crate) fn before_update(request: &Request, new: &mut Value, old: &Value) -> Result<(), Status> {
    let resource = &request.resource;
    keep_system_fields(new, old);
    let subresource = request.subresource();
    if is_definition(resource) && subresource.is_empty() {
        for warning in crd::warnings(new, Some(old)) {
            request.warn(warning);
        }
    }
    let errors = match &resource.origin {
        Origin::BuiltIn => {
            let now = clock::seconds(request.shared.clock.now());
            prepare_built_in_update(resource, subresource, new, old, &now);
            validate_built_in(resource, subresource, new, Some(old))
        }
        Origin::Custom { .. } => {
            prepare_custom_update(resource, subresource, new, old);
            structural::default(resource.schema.root(), new);
            validate_custom(request, subresource, new, Some(old))
        }
    };
    refuse(request, new, &errors)?;
    if subresource.is_empty() {
        let warnings = if resource.is_built_in() {
            builtin::warnings::on_update(&resource.kind, new, old)
        } else {
            names::finalizer_warnings(&new["metadata"], Some(&old["metadata"]))
        };
        for warning in warnings {
            request.warn(warning);
        }
    }
    managed::keep_times(old, new);
    Ok(())
}

fn prepare_built_in(resource: &Resource, object: &mut Value, now: &str) {
    let schema = resource.schema.root();
    let labels = object["metadata"]["labels"].as_object();
    let unlabelled = labels.is_none_or(Map::is_empty);
    builtin::strategy::prepare_for_create(&resource.kind, object, now);
    // A job without labels shares those of its pods, those made for it included.
    if resource.kind == "Job" && unlabelled {
        object["metadata"]["labels"] = object["spec"]["template"]["metadata"]["labels"].clone();
    }
    if is_definition(resource) {
        crd::prepare_create(object);
    }
    // What is read back from storage gets its defaults once more.
    builtin::defaults::apply(schema, object);
    builtin::encoding::encode(schema, object);
}

fn prepare_built_in_update(
    resource: &Resource,
    subresource: &str,
    new: &mut Value,
    old: &Value,
    now: &str,
) {
    let schema = resource.schema.root();
    let kind = resource.kind.as_str();
    match subresource {
        "status" => builtin::strategy::prepare_for_status_update(kind, new, old, now),
        "approval" => {
            keep_all_but(new, old, &["status", "conditions"]);
            builtin::strategy::date_conditions(new, old, now);
        }
        "ephemeralcontainers" => {
            keep_all_but(new, old, &["spec", "ephemeralContainers"]);
            builtin::strategy::count_generation(kind, new, old);
        }
        "finalize" => keep_all_but(new, old, &["spec", "finalizers"]),
        "binding" => {}
        _ => {
            builtin::strategy::prepare_for_update(kind, new, old);
            if is_definition(resource) {
                crd::prepare_update(new, old);
            }
        }
    }
    builtin::defaults::apply(schema, new);
    builtin::encoding::encode(schema, new);
}

/// The old object with one field of the new one, and the new owners.
fn keep_all_but(new: &mut Value, old: &Value, path: &[&str; 2]) {
    let changed = new[path[0]].get(path[1]).cloned();
    let entries = new["metadata"].get("managedFields").cloned();
    *new = old.clone();
    for (parent, field, value) in [
        (path[0], path[1], changed),
        ("metadata", "managedFields", entries),
    ] {
        match value {
            Some(value) => new[parent][field] = value,
            None => {
                if let Some(fields) = new[parent].as_object_mut() {
                    fields.remove(field);
                }
            }
        }
    }
}

/// Whether a resource is `CustomResourceDefinition`.
pub(crate) fn is_definition(resource: &Resource) -> bool {
    resource.is_built_in() && resource.kind == "CustomResourceDefinition"
}

fn validate_built_in(
    resource: &Resource,
    subresource: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<FieldError> {
    if is_definition(resource) {
        return match old {
            None => crd::validate(object),
            Some(old) if subresource == "status" => {
                let kind = resource.kind.as_str();
                builtin::validation::validate_subresource_update(kind, subresource, object, old)
            }
            Some(old) => crd::validate_update(object, old),
        };
    }
    let kind = resource.kind.as_str();
    match old {
        None => builtin::validation::validate_create(kind, resource.namespaced, object),
        Some(old) if subresource.is_empty() => {
            builtin::validation::validate_update(kind, object, old)
        }
        Some(old) => {
            builtin::validation::validate_subresource_update(kind, subresource, object, old)
        }
    }
}

/// What an update can't change, whatever it says.
fn keep_system_fields(new: &mut Value, old: &Value) {
    let before = old["metadata"].clone();
    let Some(metadata) = new["metadata"].as_object_mut() else {
        return;
    };
    metadata.remove("selfLink");
    for field in ["uid", "creationTimestamp", "generation", "resourceVersion"] {
        // A uid that the client gives is for validation to compare.
        if field == "uid"
            && metadata
                .get(field)
                .and_then(Value::as_str)
                .is_some_and(|uid| !uid.is_empty())
        {
            continue;
        }
        match &before[field] {
            Value::Null => metadata.remove(field),
            value => metadata.insert(field.to_owned(), value.clone()),
        };
    }
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        if metadata.get(field).is_none_or(Value::is_null) {
            match &before[field] {
                Value::Null => metadata.remove(field),
                value => metadata.insert(field.to_owned(), value.clone()),
            };
        }
    }
}

fn prepare_custom_update(resource: &Resource, subresource: &str, new: &mut Value, old: &Value) {
    let has_status = resource.subresource("status").is_some();
    if subresource == "status" {
        // Only the status, and who owns it, can change here.
        let status = new.get("status").cloned();
        let entries = new["metadata"]["managedFields"].clone();
        *new = old.clone();
        match status {
            Some(status) => new["status"] = status,
            None => {
                if let Some(fields) = new.as_object_mut() {
                    fields.remove("status");
                }
            }
        }
        if let Some(metadata) = new["metadata"].as_object_mut() {
            match entries {
                Value::Null => metadata.remove("managedFields"),
                entries => metadata.insert("managedFields".to_owned(), entries),
            };
        }
        return;
    }
    if has_status && let Some(fields) = new.as_object_mut() {
        match old.get("status") {
            Some(status) => fields.insert("status".to_owned(), status.clone()),
            None => fields.remove("status"),
        };
    }
    if differs_beyond(new, old, has_status) {
        let generation = old["metadata"]["generation"].as_i64().unwrap_or(0);
        new["metadata"]["generation"] = json!(generation + 1);
    }
}

/// Whether anything but metadata (and status, where it is a subresource) differs.
fn differs_beyond(new: &Value, old: &Value, has_status: bool) -> bool {
    let counted = |name: &str| name != "metadata" && !(has_status && name == "status");
    let (Some(new), Some(old)) = (new.as_object(), old.as_object()) else {
        return true;
    };
    let fields =
        |object: &'_ Map<String, Value>| object.iter().filter(|(name, _)| counted(name)).count();
    fields(new) != fields(old)
        || new
            .iter()
            .any(|(name, value)| counted(name) && old.get(name) != Some(value))
}

/// Checks a custom resource. Like with built-in kinds, an update's metadata is looked at by several layers.
fn validate_custom(
    request: &Request,
    subresource: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<FieldError> {
    let resource = &request.resource;
    let foreign = other_type(resource, object);
    if !foreign.is_empty() {
        return foreign;
    }
    let rule = names::name_is_subdomain;
    let metadata = &object["metadata"];
    let mut errors = names::validate_object_meta(metadata, resource.namespaced, rule, "metadata");
    if let Some(old) = old {
        for _ in 0..2 {
            errors.extend(names::validate_object_meta_update(
                metadata,
                &old["metadata"],
                "metadata",
            ));
        }
    }
    let schema = resource.schema.root();
    match old {
        Some(old) if subresource == "status" => {
            errors.extend(structural::validate_status(schema, object, old));
        }
        _ => errors.extend(structural::validate(schema, object, old)),
    }
    if let Some(paths) = resource.scale_paths() {
        let replicas: Vec<&str> = match subresource {
            "status" => vec![&paths.status],
            _ => vec![&paths.spec, &paths.status],
        };
        errors.extend(structural::validate_scale(
            object,
            &replicas,
            paths.selector.as_deref(),
        ));
    }
    if let Origin::Custom { rules, .. } = &resource.origin
        && rules.exist()
    {
        match structural::blocks_rules(&errors) {
            Some(blocked) => errors.push(blocked),
            None => {
                let judgement = rules.judge(object, old);
                errors.extend(judgement.errors);
                for warning in judgement.warnings {
                    request.warn(warning.to_string());
                }
            }
        }
    }
    errors
}

/// The type of a custom resource is a field like any other; an object of another type is not looked at.
fn other_type(resource: &Resource, object: &Value) -> Vec<FieldError> {
    [
        ("kind", resource.kind.clone()),
        ("apiVersion", resource.api_version()),
    ]
    .into_iter()
    .filter(|(field, own)| object[*field] != json!(own))
    .map(|(field, own)| {
        let given = object[field].clone();
        FieldError::invalid(field, given, format!("must be {own}"))
    })
    .collect()
}

fn refuse(request: &Request, object: &Value, errors: &[FieldError]) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    // Events of both groups are refused as events of the core group.
    let is_event = request.resource.is_built_in() && request.resource.kind == "Event";
    let group = if is_event {
        ""
    } else {
        &request.resource.group
    };
    let kind = match object["kind"].as_str() {
        Some(kind) if !request.resource.is_built_in() => kind,
        _ => &request.resource.kind,
    };
    Err(Status::invalid(group, kind, name, errors))
}

/// 422: this kind's update must name the resource version that it saw.
pub(crate) fn must_name_version(request: &Request, object: &Value) -> Status {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let error = FieldError::invalid(
        "metadata.resourceVersion",
        json!(0),
        "must be specified for an update",
    );
    Status::invalid(
        &request.resource.group,
        &request.resource.plural,
        name,
        &[error],
    )
}
