//! What is asked for: objects as raw JSON, read far enough to know which they are and when they come.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    identity::{GroupKind, Identity, Version, split_api_version},
    scaled,
    stage::Stage,
    word::word,
};

/// One object that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Desired {
    /// Which object of its set it is, also when its name changes.
    pub id: Arc<str>,
    /// Which object it is in the cluster.
    pub identity: Identity,
    /// The version that it is written in.
    pub version: Version,
    /// The object as canonical JSON.
    pub text: Arc<str>,
    /// When it comes.
    pub stage: Stage,
    /// Whether `spec.replicas` is asked for.
    pub has_replicas: bool,
    /// What it scales, if it is an autoscaler.
    pub scales: Option<Box<Identity>>,
}

/// Why a set of objects cannot be understood: which one, which field, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("resource {id:?}: {field}: {words}")]
pub struct Problem {
    /// The id of the object.
    pub id: String,
    /// The field.
    pub field: &'static str,
    /// What is wrong, and how to mend it.
    pub words: String,
}

/// Most objects in one set.
pub const MOST_OBJECTS: usize = 1000;

/// Longest text of one object: what an API server takes at most, with room for what is added.
pub const LONGEST_OBJECT: usize = 1_400_000;

/// Reads a set of objects, each an id and canonical JSON text. All problems are told, not only the first.
pub fn read<'a>(
    objects: impl IntoIterator<Item = (&'a str, &'a Arc<str>)>,
) -> Result<Vec<Desired>, Vec<Problem>> {
    let mut desired = Vec::new();
    let mut problems = Vec::new();
    for (id, text) in objects {
        match read_one(id, text) {
            Ok(object) => desired.push(object),
            Err(problem) => problems.push(problem),
        }
    }
    problems.extend(too_many(&desired));
    problems.extend(duplicates(&desired));
    if problems.is_empty() {
        Ok(desired)
    } else {
        Err(problems)
    }
}

fn read_one(id: &str, text: &Arc<str>) -> Result<Desired, Problem> {
    let problem = |field, words: &str| {
        Err(Problem {
            id: id.to_owned(),
            field,
            words: words.to_owned(),
        })
    };
    if id.is_empty() {
        return problem("id", "is empty: give every object an id of its own");
    }
    if text.len() > LONGEST_OBJECT {
        let words = format!(
            "is too large ({} bytes, at most {LONGEST_OBJECT}): split it, or keep the content elsewhere",
            text.len()
        );
        return problem("object", &words);
    }
    let Ok(object) = outline(text) else {
        return problem("object", "is no JSON");
    };
    if !object.is_object() {
        return problem("object", "must be a Kubernetes object");
    }
    let Some(api_version) = object["apiVersion"]
        .as_str()
        .filter(|text| !text.is_empty())
    else {
        return problem(
            "object.apiVersion",
            "is missing: say which API the object belongs to",
        );
    };
    let Some(kind) = object["kind"].as_str().filter(|text| !text.is_empty()) else {
        return problem("object.kind", "is missing: say what kind of object it is");
    };
    let (group, version) = split_api_version(api_version);
    if version.is_empty() || !is_path_segment(group, true) || !is_path_segment(version, false) {
        return problem("object.apiVersion", "is no version: write v1 or group/v1");
    }
    if kind.ends_with("List") && object.get("items").is_some() {
        return problem(
            "object.kind",
            "is a list: give every item an entry of its own",
        );
    }
    if let Some(words) = refused(group, kind) {
        return problem("object.kind", words);
    }
    let metadata = &object["metadata"];
    let Some(name) = metadata["name"].as_str().filter(|text| !text.is_empty()) else {
        let words = if metadata["generateName"].is_string() {
            "is missing: an object with generateName cannot be found again, give it a name"
        } else {
            "is missing: give the object a name"
        };
        return problem("object.metadata.name", words);
    };
    if !is_path_segment(name, false) || name.len() > 253 {
        return problem(
            "object.metadata.name",
            "is no name: at most 253 characters, and no '/' or '%'",
        );
    }
    let namespace = match &metadata["namespace"] {
        Value::Null => "",
        Value::String(namespace) if is_path_segment(namespace, true) && namespace.len() <= 63 => {
            namespace
        }
        _ => return problem("object.metadata.namespace", "is no name of a namespace"),
    };
    let identity = Identity::new(group, kind, namespace, name);
    Ok(Desired {
        id: id.into(),
        version: word(version),
        text: Arc::clone(text),
        stage: Stage::of(&identity.kind),
        has_replicas: scaled::is_scalable(&identity.kind) && !object["spec"]["replicas"].is_null(),
        scales: scaled::target(&identity.kind, namespace, &object).map(Box::new),
        identity,
    })
}

/// As much of an object as is looked at here: the rest is large, and there are many.
fn outline(text: &str) -> serde_json::Result<Value> {
    match serde_json::from_str::<Outline>(text) {
        Ok(outline) => serde_json::to_value(outline),
        // What does not even look like an object is looked at whole, to say what is wrong with it.
        Err(_) => serde_json::from_str(text),
    }
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Outline {
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    metadata: Option<MetadataOutline>,
    spec: Option<SpecOutline>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Value>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct MetadataOutline {
    name: Option<String>,
    namespace: Option<String>,
    generate_name: Option<String>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct SpecOutline {
    replicas: Option<Value>,
    scale_target_ref: Option<Value>,
}

/// Kinds that are no objects to be kept, or that are the platform's own.
fn refused(group: &str, kind: &str) -> Option<&'static str> {
    match (group, kind) {
        ("authentication.k8s.io" | "authorization.k8s.io" | "events.k8s.io", _)
        | ("", "Binding" | "Status" | "Event" | "ComponentStatus" | "PodStatusResult")
        | ("policy", "Eviction")
        | ("autoscaling", "Scale") => Some("is no kind that can be kept in a cluster: take it out"),
        ("openchoreo.dev", kind) if kind != "ObservabilityAlertRule" => {
            Some("belongs to the control plane: apply it there, not by a release")
        }
        _ => None,
    }
}

/// Names end up in URLs: nothing that leads elsewhere.
fn is_path_segment(text: &str, may_be_empty: bool) -> bool {
    (may_be_empty || !text.is_empty())
        && text != "."
        && text != ".."
        && !text.contains(|c: char| c == '/' || c == '%' || c == '?' || c == '#' || c.is_control())
}

fn too_many(desired: &[Desired]) -> Option<Problem> {
    let first = desired.get(MOST_OBJECTS)?;
    Some(Problem {
        id: first.id.to_string(),
        field: "id",
        words: format!(
            "is one too many: {} objects, at most {MOST_OBJECTS}; split the release",
            desired.len()
        ),
    })
}

fn duplicates(desired: &[Desired]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut ids = HashSet::new();
    let mut identities: HashMap<&Identity, &Desired> = HashMap::new();
    for object in desired {
        if !ids.insert(&object.id) {
            problems.push(Problem {
                id: object.id.to_string(),
                field: "id",
                words: "is given twice: every object needs an id of its own".to_owned(),
            });
        } else if let Some(other) = identities.insert(&object.identity, object) {
            problems.push(Problem {
                id: object.id.to_string(),
                field: "object",
                words: format!(
                    "is {}, which resource {:?} is too: keep one of them",
                    object.identity, other.id
                ),
            });
        }
    }
    problems
}

/// What is scaled by an autoscaler of the same set.
pub fn autoscaled(desired: &[Desired]) -> HashSet<&Identity> {
    desired
        .iter()
        .filter_map(|object| object.scales.as_deref())
        .collect()
}

/// The kinds of a set, each once.
pub fn kinds(desired: &[Desired]) -> HashMap<GroupKind, Version> {
    desired
        .iter()
        .map(|object| (object.identity.kind.clone(), Arc::clone(&object.version)))
        .collect()
}

#[cfg(test)]
mod tests;
