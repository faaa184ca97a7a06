//! `ScheduledTaskClass`: what all instances of a kind of scheduled task have in common.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{judged_status::JudgedStatus, optional_spec::optional_spec, schema};

/// What is asked of a class: templates that each instance is merged into.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "ScheduledTaskClass",
    plural = "scheduledtaskclasses",
    namespaced,
    category = "openchoreo",
    status = "JudgedStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "What all instances of a class of scheduled tasks have in common.",
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct ScheduledTaskClassSpec {
    /// What a `CronJob` of the class is, as Kubernetes has its spec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub cron_job_template: Option<Value>,
}

optional_spec!(ScheduledTaskClassSpec);
