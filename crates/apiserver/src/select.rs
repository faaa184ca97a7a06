//! Which objects a list, watch or collection delete is about.

use std::{borrow::Cow, collections::BTreeMap};

use quadrille_machinery::{
    selector::{FieldSelector, LabelSelector},
    status::Status,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{options::ListOptions, quirks, resource::Resource, stored};

/// The label and field selectors of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    labels: Option<LabelSelector>,
    fields: Option<FieldSelector>,
    /// Whether the field selector needs more of the object than its name and namespace.
    reads_object: bool,
}

/// As much of an object as a label selector needs.
#[derive(Deserialize)]
struct Labelled {
    metadata: Labels,
}

#[derive(Deserialize)]
struct Labels {
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

impl Selection {
    /// Reads the selectors of a request.
    pub(crate) fn parse(resource: &Resource, options: &ListOptions) -> Result<Self, Status> {
        let labels = options
            .label_selector
            .as_deref()
            .map(|text| {
                LabelSelector::parse(text).map_err(|error| Status::bad_request(error.to_string()))
            })
            .transpose()?;
        let fields = options
            .field_selector
            .as_deref()
            .map(|text| {
                FieldSelector::parse(text).map_err(|error| Status::bad_request(error.to_string()))
            })
            .transpose()?;
        let mut reads_object = false;
        if let Some(fields) = &fields {
            let known = quirks::selectable_fields(resource);
            for requirement in &fields.requirements {
                match requirement.field.as_str() {
                    "metadata.name" => {}
                    "metadata.namespace" if resource.namespaced || resource.is_built_in() => {}
                    field if known.iter().any(|known| known == field) => reads_object = true,
                    field => {
                        return Err(Status::bad_request(unknown_field(resource, field)));
                    }
                }
            }
        }
        Ok(Self {
            labels,
            fields,
            reads_object,
        })
    }

    /// Whether every object is selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_none() && self.fields.is_none()
    }

    /// Whether a record is selected.
    pub(crate) fn matches(&self, resource: &Resource, key: &[u8], value: &[u8]) -> bool {
        self.matches_labels(value) && self.matches_fields(resource, key, value)
    }

    fn matches_labels(&self, value: &[u8]) -> bool {
        let Some(selector) = &self.labels else {
            return true;
        };
        let labels = serde_json::from_slice::<Labelled>(value)
            .map(|labelled| labelled.metadata.labels)
            .unwrap_or_default();
        selector.matches_with(|name| labels.get(name).map(String::as_str))
    }

    fn matches_fields(&self, resource: &Resource, key: &[u8], value: &[u8]) -> bool {
        let Some(selector) = &self.fields else {
            return true;
        };
        let (namespace, name) = stored::name_of(resource, key);
        let object: Value = if self.reads_object {
            serde_json::from_slice(value).unwrap_or_default()
        } else {
            Value::Null
        };
        selector.matches(|field| match field {
            "metadata.name" => Cow::Borrowed(name),
            "metadata.namespace" => Cow::Borrowed(namespace.unwrap_or_default()),
            field => Cow::Owned(field_value(&object, field)),
        })
    }
}

/// Kinds with fields of their own have words of their own for those that they don't know.
fn unknown_field(resource: &Resource, field: &str) -> String {
    let has_own = !quirks::selectable_fields(resource).is_empty();
    match resource.plural.as_str() {
        "jobs" if has_own => format!("field label \"{field}\" not supported for batchv1.Job"),
        _ if has_own || !resource.is_built_in() => format!("field label not supported: {field}"),
        _ => format!(
            "\"{field}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        ),
    }
}

/// A selectable field's value as text; what is absent reads as its zero value.
fn field_value(object: &Value, field: &str) -> String {
    if field == "source" {
        // Core events select by the component, whichever of the two places names it.
        let component = &object["source"]["component"];
        let fallback = &object["reportingComponent"];
        return component
            .as_str()
            .or(fallback.as_str())
            .unwrap_or_default()
            .to_owned();
    }
    // Events are stored in the core group's version.
    let field = field.replace("regarding.", "involvedObject.");
    let field = field.replace("reportingController", "reportingComponent");
    let mut value = object;
    for part in field.split('.') {
        value = &value[part];
    }
    match value {
        Value::String(text) => text.clone(),
        Value::Null => match field.as_str() {
            "spec.unschedulable" | "spec.hostNetwork" => "false".to_owned(),
            "status.replicas" | "status.successful" => "0".to_owned(),
            _ => String::new(),
        },
        other => other.to_string(),
    }
}
