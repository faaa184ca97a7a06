//! What component types and traits are written in: parameter schemas, templates, rules.
//!
//! Here is only their shape. Text in `${…}` is carried as it is; whoever renders reads it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema;

/// Text that is one `${…}` expression.
pub(crate) const EXPRESSION: &str = r"^\$\{[\s\S]+\}\s*$";
/// The name of a loop variable.
const VARIABLE: &str = "^[a-zA-Z_][a-zA-Z0-9_]*$";
const LOOP_HAS_A_VARIABLE: (&str, &str) =
    ("!has(self.forEach) || has(self.var)", "forEach needs var");

/// The schema of parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchemaSection {
    /// A JSON schema as Kubernetes has it, with `$ref` into its own `$defs`.
    #[serde(
        rename = "openAPIV3Schema",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(schema_with = "schema::any_object")]
    pub open_api_v3_schema: Option<Value>,
}

/// What must hold before anything is rendered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValidationRule {
    /// An expression that must be true.
    #[schemars(regex(pattern = EXPRESSION))]
    pub rule: String,
    /// What a person reads where it isn't.
    #[schemars(length(min = 1))]
    pub message: String,
}

/// One object to render.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[LOOP_HAS_A_VARIABLE])))]
pub struct ResourceTemplate {
    /// Which object of the type it is.
    #[schemars(length(min = 1, max = 253))]
    pub id: String,
    /// The plane that it is for; the data plane where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = schema::TARGET_PLANES))]
    pub target_plane: Option<String>,
    /// Whether it is rendered at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = EXPRESSION))]
    pub include_when: Option<String>,
    /// A list or map: one object for each entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = EXPRESSION))]
    pub for_each: Option<String>,
    /// The name of the entry within the template.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = VARIABLE))]
    pub var: Option<String>,
    /// The object, with `${…}` in it.
    #[schemars(schema_with = "schema::any_object")]
    pub template: Value,
}

/// One object that a trait adds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[LOOP_HAS_A_VARIABLE])))]
pub struct CreateTemplate {
    /// The plane that it is for; the data plane where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = schema::TARGET_PLANES))]
    pub target_plane: Option<String>,
    /// Whether it is rendered at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = EXPRESSION))]
    pub include_when: Option<String>,
    /// A list or map: one object for each entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = EXPRESSION))]
    pub for_each: Option<String>,
    /// The name of the entry within the template.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = VARIABLE))]
    pub var: Option<String>,
    /// The object, with `${…}` in it.
    #[schemars(schema_with = "schema::any_object")]
    pub template: Value,
}

/// Which rendered objects are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// Their API group; any where it is empty.
    pub group: String,
    /// Their version.
    #[schemars(length(min = 1))]
    pub version: String,
    /// Their kind.
    #[schemars(length(min = 1))]
    pub kind: String,
    /// An expression over `resource` that must be true of them.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = EXPRESSION))]
    pub where_: Option<String>,
}

/// Changes to rendered objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[LOOP_HAS_A_VARIABLE])))]
pub struct Patch {
    /// The objects to change.
    pub target: Target,
    /// The plane that they are for; the data plane where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = schema::TARGET_PLANES))]
    pub target_plane: Option<String>,
    /// A list or map: the changes are made for each entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = EXPRESSION))]
    pub for_each: Option<String>,
    /// The name of the entry within the operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = VARIABLE))]
    pub var: Option<String>,
    /// The changes, in order.
    #[schemars(length(min = 1))]
    pub operations: Vec<Operation>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// What is done.
    #[schemars(extend("enum" = ["add", "replace", "remove"]))]
    pub op: String,
    /// Where: a JSON pointer, with `[?(@.name=='x')]` to find list items and `-` to append.
    #[schemars(length(min = 1))]
    pub path: String,
    /// The new value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::anything")]
    pub value: Option<Value>,
}

/// Rendered objects that a trait takes away again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[LOOP_HAS_A_VARIABLE])))]
pub struct Removal {
    /// The objects to take away.
    pub target: Target,
    /// The plane that they are for; the data plane where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = schema::TARGET_PLANES))]
    pub target_plane: Option<String>,
    /// A list or map: objects are looked for for each entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = EXPRESSION))]
    pub for_each: Option<String>,
    /// The name of the entry within the target's expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = VARIABLE))]
    pub var: Option<String>,
}

/// What must hold of what was rendered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[LOOP_HAS_A_VARIABLE])))]
pub struct PostRenderValidation {
    /// Whether to look at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = EXPRESSION))]
    pub when: Option<String>,
    /// A list or map: looked at for each entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = EXPRESSION))]
    pub for_each: Option<String>,
    /// The name of the entry within the expressions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = VARIABLE))]
    pub var: Option<String>,
    /// The objects to look at.
    pub target: MatchedTarget,
    /// The plane that they are for; the data plane where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = schema::TARGET_PLANES))]
    pub target_plane: Option<String>,
    /// An expression over `resource` that must be true of each.
    #[schemars(regex(pattern = EXPRESSION))]
    pub rule: String,
    /// What a person reads where it isn't.
    #[schemars(length(min = 1))]
    pub message: String,
}

/// Which rendered objects are looked at, and whether there must be one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MatchedTarget {
    /// Which objects.
    #[serde(flatten)]
    pub target: Target,
    /// Whether it is wrong if there is none; it is where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub must_match: Option<bool>,
}
