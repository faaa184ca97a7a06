//! `Organization`: a tenant. Its namespace, of the same name, holds everything that belongs to it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{optional_spec::optional_spec, schema};

/// What is asked of an organization: nothing but to exist.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "Organization",
    plural = "organizations",
    shortname = "org",
    shortname = "orgs",
    category = "openchoreo",
    status = "OrganizationStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "A tenant: the namespace of the same name holds everything that belongs to it.",
    printcolumn(name = "Namespace", type_ = "string", json_path = ".status.namespace"),
    printcolumn(
        name = "Display Name",
        type_ = "string",
        json_path = ".metadata.annotations.openchoreo\\.dev/display-name",
        priority = 1
    ),
    validation = Rule::new("self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')")
        .message("an organization is a namespace: its name has at most 63 lower-case letters, digits and dashes")
)]
#[serde(remote = "Self")]
pub struct OrganizationSpec {}

optional_spec!(OrganizationSpec);

/// What was seen of an organization.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the organization is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The namespace of the organization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}
