//! `Trait` and `ClusterTrait`: what a component may have beyond its type: more objects, changes to others.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    schema,
    templates::{
        CreateTemplate, Patch, PostRenderValidation, Removal, SchemaSection, ValidationRule,
    },
};

/// What is asked of a trait.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "Trait",
    plural = "traits",
    namespaced,
    category = "openchoreo",
    status = "TraitStatus",
    derive = "PartialEq",
    doc = "What a component may have beyond its type: more objects, and changes to others.",
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[(
    "!has(self.validations) || !has(self.preRenderValidations) || \
     self.validations.size() == 0 || self.preRenderValidations.size() == 0",
    "give preRenderValidations, or the older validations, not both"
)])))]
pub struct TraitSpec {
    /// What a component says once, for all environments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<SchemaSection>,
    /// What is said for each environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment_configs: Option<SchemaSection>,
    /// What must hold before anything is rendered, by its older name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validations: Vec<ValidationRule>,
    /// What must hold before anything is rendered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pre_render_validations: Vec<ValidationRule>,
    /// What must hold of what was rendered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub post_render_validations: Vec<PostRenderValidation>,
    /// Objects that it adds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub creates: Vec<CreateTemplate>,
    /// Objects that it changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub patches: Vec<Patch>,
    /// Objects that it takes away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub removes: Vec<Removal>,
}

/// What is asked of a trait of the whole cluster: the same.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "ClusterTrait",
    plural = "clustertraits",
    shortname = "ctrait",
    shortname = "ctraits",
    category = "openchoreo",
    status = "TraitStatus",
    derive = "PartialEq",
    doc = "A trait for every organization.",
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message",
        priority = 1
    )
)]
#[serde(transparent)]
pub struct ClusterTraitSpec(pub TraitSpec);

/// What was seen of a trait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraitStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Whether the trait can be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
}

impl TraitSpec {
    /// What must hold before anything is rendered, under whichever name it was written, with that name.
    pub fn pre_render_rules(&self) -> (&'static str, &[ValidationRule]) {
        if self.pre_render_validations.is_empty() {
            ("validations", &self.validations)
        } else {
            ("preRenderValidations", &self.pre_render_validations)
        }
    }
}
