//! The versions of a custom resource, ready to serve.

use serde_json::Value;

use super::{list, text};
use crate::schema::Schema;

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrinterColumn {
    /// The heading.
    pub name: String,
    /// `integer`, `number`, `string`, `boolean` or `date`.
    pub ty: String,
    /// The `OpenAPI` format; empty when not given.
    pub format: String,
    /// Words for people.
    pub description: String,
    /// 0 shows always, more only in wide tables.
    pub priority: i64,
    /// Where the value is.
    pub json_path: String,
}

/// The paths of the scale subresource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Where the wanted replica count is, such as `.spec.replicas`.
    pub spec_replicas_path: String,
    /// Where the actual replica count is.
    pub status_replicas_path: String,
    /// Where the label selector of the replicas is, as a string.
    pub label_selector_path: Option<String>,
}

/// One version of a custom resource.
#[derive(Clone, Debug)]
pub struct CustomVersion {
    /// The name, such as `v1alpha1`.
    pub name: String,
    /// Whether requests in this version are answered.
    pub served: bool,
    /// Whether objects are stored in this version.
    pub storage: bool,
    /// Whether clients are warned when they use it, and with which words.
    pub deprecation: Option<String>,
    /// The schema, with `apiVersion`, `kind` and `metadata` typed.
    pub schema: Schema,
    /// Table columns.
    pub columns: Vec<PrinterColumn>,
    /// Whether there is a status subresource.
    pub status: bool,
    /// The scale subresource.
    pub scale: Option<Scale>,
    /// Paths that field selectors may use, such as `.spec.color`.
    pub selectable_fields: Vec<String>,
}

/// All versions of a definition, in the order given. `schema` gives that of the version with an index.
pub fn versions(definition: &Value, schema: impl Fn(usize) -> Schema) -> Vec<CustomVersion> {
    let spec = &definition["spec"];
    let group = text(spec, "group");
    let kind = text(&spec["names"], "kind");
    list(spec, "versions")
        .iter()
        .enumerate()
        .map(|(index, version)| custom_version(version, group, kind, schema(index)))
        .collect()
}

fn custom_version(version: &Value, group: &str, kind: &str, schema: Schema) -> CustomVersion {
    let name = text(version, "name");
    let deprecation =
        (version["deprecated"] == true).then(|| match text(version, "deprecationWarning") {
            "" => format!("{group}/{name} {kind} is deprecated"),
            given => given.to_owned(),
        });
    let scale = version
        .pointer("/subresources/scale")
        .filter(|scale| scale.is_object())
        .map(|scale| Scale {
            spec_replicas_path: text(scale, "specReplicasPath").to_owned(),
            status_replicas_path: text(scale, "statusReplicasPath").to_owned(),
            label_selector_path: scale
                .get("labelSelectorPath")
                .and_then(Value::as_str)
                .filter(|path| !path.is_empty())
                .map(str::to_owned),
        });
    CustomVersion {
        name: name.to_owned(),
        served: version["served"] == true,
        storage: version["storage"] == true,
        deprecation,
        schema,
        columns: columns(version),
        status: version
            .pointer("/subresources/status")
            .is_some_and(Value::is_object),
        scale,
        selectable_fields: list(version, "selectableFields")
            .iter()
            .map(|field| text(field, "jsonPath").to_owned())
            .collect(),
    }
}

/// The printer columns that one version of a definition asks for.
pub fn columns(version: &Value) -> Vec<PrinterColumn> {
    list(version, "additionalPrinterColumns")
        .iter()
        .map(column)
        .collect()
}

fn column(column: &Value) -> PrinterColumn {
    PrinterColumn {
        name: text(column, "name").to_owned(),
        ty: text(column, "type").to_owned(),
        format: text(column, "format").to_owned(),
        description: text(column, "description").to_owned(),
        priority: column.get("priority").and_then(Value::as_i64).unwrap_or(0),
        json_path: text(column, "jsonPath").to_owned(),
    }
}
