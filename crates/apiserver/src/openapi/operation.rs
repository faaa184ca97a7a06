//! One operation of a path: who it is, what it takes and gives.

use serde_json::{Map, Value, json};

use crate::resource::Resource;

/// Query parameters of lists.
pub(super) const LIST: [(&str, &str); 11] = [
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("shardSelector", "string"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];

/// Query parameters of create and update; `kubectl` looks for `fieldValidation`.
pub(super) const WRITE: [(&str, &str); 3] = [
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
];

/// Query parameters of patches.
pub(super) const PATCH: [(&str, &str); 4] = [
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
    ("force", "boolean"),
];

/// Query parameters of deletes.
pub(super) const DELETE: [(&str, &str); 5] = [
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    (
        "ignoreStoreReadErrorWithClusterBreakingPotential",
        "boolean",
    ),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];

/// An operation about to be written.
pub(super) struct Operation<'a> {
    /// The resource that it belongs to.
    pub(super) resource: &'a Resource,
    /// First word of the operation id: `read`, `list`, `create` …
    pub(super) verb: &'a str,
    /// What follows group and version in the operation id.
    pub(super) subject: String,
    /// `x-kubernetes-action`.
    pub(super) action: &'a str,
    /// Group, version and kind that it speaks.
    pub(super) kind: [&'a str; 3],
    /// Query parameters of its own.
    pub(super) query: &'a [(&'a str, &'a str)],
    /// The schema of the request body and the media types that carry it.
    pub(super) body: Option<(Value, &'a [&'a str])>,
    /// Status codes and the schema of the answer.
    pub(super) answers: (&'a [&'a str], Value),
}

impl Operation<'_> {
    /// The operation as the document shows it.
    pub(super) fn document(self) -> Value {
        let (title, tag) = names(&self.resource.group, &self.resource.version);
        let mut operation = Map::new();
        let id = format!("{}{title}{}", self.verb, self.subject);
        operation.insert("operationId".into(), json!(id));
        operation.insert("tags".into(), json!([tag]));
        operation.insert("x-kubernetes-action".into(), json!(self.action));
        let [group, version, kind] = self.kind;
        operation.insert(
            "x-kubernetes-group-version-kind".into(),
            json!({"group": group, "version": version, "kind": kind}),
        );
        if !self.query.is_empty() {
            operation.insert("parameters".into(), query(self.query).into());
        }
        if let Some((schema, media_types)) = self.body {
            let body = json!({"content": content(media_types, &schema), "required": true});
            operation.insert("requestBody".into(), body);
        }
        let (codes, schema) = self.answers;
        let mut responses = Map::new();
        for code in codes {
            let media_types = ["application/json", "application/yaml"];
            let answer = json!({"description": "OK", "content": content(&media_types, &schema)});
            responses.insert((*code).to_owned(), answer);
        }
        responses.insert("401".into(), json!({"description": "Unauthorized"}));
        operation.insert("responses".into(), responses.into());
        operation.into()
    }
}

/// Query parameters in the form of a document.
pub(super) fn query(parameters: &[(&str, &str)]) -> Vec<Value> {
    let parameter = |(name, ty): &(&str, &str)| json!({"name": name, "in": "query", "schema": {"type": ty, "uniqueItems": true}});
    parameters.iter().map(parameter).collect()
}

/// A required path parameter.
pub(super) fn path_parameter(name: &str) -> Value {
    json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "uniqueItems": true}})
}

fn content(media_types: &[&str], schema: &Value) -> Value {
    let mut content = Map::new();
    for media_type in media_types {
        content.insert((*media_type).to_owned(), json!({"schema": schema}));
    }
    content.into()
}

/// How ids and tags name a group version: `RbacAuthorizationV1` and `rbacAuthorization_v1`.
fn names(group: &str, version: &str) -> (String, String) {
    let group = if group.is_empty() { "core" } else { group };
    let group = group.strip_suffix(".k8s.io").unwrap_or(group);
    let words: Vec<String> = group.split(['.', '-']).map(capital).collect();
    let joined = words.concat();
    let mut characters = joined.chars();
    let first = characters.next().map(|c| c.to_lowercase().to_string());
    let tag = format!(
        "{}{}_{version}",
        first.unwrap_or_default(),
        characters.as_str()
    );
    (format!("{joined}{}", capital(version)), tag)
}

/// The word with a capital first letter.
pub(super) fn capital(word: &str) -> String {
    let mut characters = word.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().collect::<String>() + characters.as_str(),
        None => String::new(),
    }
}
