//! `ConfigurationGroup`: settings that belong together, with their values by environment.

use std::collections::{BTreeMap, BTreeSet};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{judged_status::JudgedStatus, problem::Problem, schema};

/// What is asked of a configuration group.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "ConfigurationGroup",
    plural = "configurationgroups",
    namespaced,
    shortname = "configgrp",
    category = "openchoreo",
    category = "choreo",
    category = "all",
    status = "JudgedStatus",
    derive = "PartialEq",
    doc = "Settings that belong together, with their values by environment.",
    printcolumn(
        name = "DisplayName",
        type_ = "string",
        json_path = ".metadata.annotations.openchoreo\\.dev/display-name"
    ),
    printcolumn(
        name = "Organization",
        type_ = "string",
        json_path = ".metadata.labels.openchoreo\\.dev/organization"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct ConfigurationGroupSpec {
    /// Whom the group is for. Kept as it is; nothing asks for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("default" = {}))]
    pub scope: BTreeMap<String, String>,
    /// Environments that have a value in common.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub environment_groups: Vec<EnvironmentGroup>,
    /// The settings.
    #[schemars(length(max = 1000))]
    pub configurations: Vec<ConfigurationEntry>,
}

/// Environments that have a value in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentGroup {
    /// The name by which values refer to it.
    pub name: String,
    /// The environments.
    pub environments: Vec<String>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationEntry {
    /// Its key.
    pub key: String,
    /// Its values; the first that is for an environment counts there.
    #[schemars(length(max = 100))]
    pub values: Vec<ConfigurationValue>,
}

/// A value, and the environments that it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[
    (
        "!has(self.environment) || !has(self.environmentGroupRef)",
        "give environment or environmentGroupRef, not both",
    ),
    ("!has(self.value) || !has(self.vaultKey)", "give value or vaultKey, not both"),
])))]
pub struct ConfigurationValue {
    /// The environment that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The environments that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment_group_ref: Option<String>,
    /// The value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where in the secret store the value is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vault_key: Option<String>,
}

/// What a setting is in one environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configured<'a> {
    /// A value for everybody to see.
    Plain(&'a str),
    /// Where in the secret store the value is.
    Vault(&'a str),
}

impl ConfigurationGroupSpec {
    /// What a setting is in an environment: the first value that is for it. Nothing where there is none, or where it is
    /// empty.
    pub fn value<'a>(
        &'a self,
        entry: &'a ConfigurationEntry,
        environment: &str,
    ) -> Option<Configured<'a>> {
        let found = entry
            .values
            .iter()
            .find(|value| self.is_for(value, environment))?;
        let text = |text: &'a Option<String>| text.as_deref().filter(|text| !text.is_empty());
        match (text(&found.value), text(&found.vault_key)) {
            (Some(value), _) => Some(Configured::Plain(value)),
            (None, Some(key)) => Some(Configured::Vault(key)),
            (None, None) => None,
        }
    }

    fn is_for(&self, value: &ConfigurationValue, environment: &str) -> bool {
        if value.environment.as_deref() == Some(environment) {
            return true;
        }
        let group = value.environment_group_ref.as_ref();
        let group = group.and_then(|name| self.environment_groups.iter().find(|g| g.name == *name));
        group.is_some_and(|group| group.environments.iter().any(|one| one == environment))
    }

    /// Everything that cannot be meant, each with its field. `is_environment` says whether there is an environment of a
    /// name.
    pub fn problems(&self, is_environment: impl Fn(&str) -> bool) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut groups = BTreeSet::new();
        for (at, group) in self.environment_groups.iter().enumerate() {
            let field = format!("spec.environmentGroups[{at}]");
            if !groups.insert(group.name.as_str()) {
                let words = format!("is {:?}, which comes twice", group.name);
                problems.push(Problem::new(format!("{field}.name"), words));
            }
            for (at, name) in group.environments.iter().enumerate() {
                if !is_environment(name) {
                    problems.push(unknown(format!("{field}.environments[{at}]"), name));
                }
            }
        }
        let mut keys = BTreeSet::new();
        for (at, entry) in self.configurations.iter().enumerate() {
            let field = format!("spec.configurations[{at}]");
            if entry.key.is_empty() {
                problems.push(Problem::new(format!("{field}.key"), "is empty"));
            } else if !keys.insert(entry.key.as_str()) {
                let words = format!("is {:?}, which comes twice", entry.key);
                problems.push(Problem::new(format!("{field}.key"), words));
            }
            for (at, value) in entry.values.iter().enumerate() {
                let field = format!("{field}.values[{at}]");
                value.check(&field, &groups, &is_environment, &mut problems);
            }
        }
        problems
    }
}

impl ConfigurationValue {
    fn check(
        &self,
        field: &str,
        groups: &BTreeSet<&str>,
        is_environment: impl Fn(&str) -> bool,
        problems: &mut Vec<Problem>,
    ) {
        match (&self.environment, &self.environment_group_ref) {
            (Some(_), Some(_)) => problems.push(Problem::new(
                field,
                "has both environment and environmentGroupRef: only one can be meant",
            )),
            (None, None) => problems.push(Problem::new(
                field,
                "is for no environment: give environment or environmentGroupRef",
            )),
            (Some(name), None) if !is_environment(name) => {
                problems.push(unknown(format!("{field}.environment"), name));
            }
            (None, Some(name)) if !groups.contains(name.as_str()) => {
                let words = format!("is {name:?}, which is none of spec.environmentGroups");
                problems.push(Problem::new(format!("{field}.environmentGroupRef"), words));
            }
            _ => {}
        }
        if self.value.is_some() && self.vault_key.is_some() {
            problems.push(Problem::new(
                field,
                "has both value and vaultKey: only one can be meant",
            ));
        }
    }
}

fn unknown(field: String, name: &str) -> Problem {
    Problem::new(
        field,
        format!("is {name:?}, but there is no Environment of that name"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn group(values: &Value) -> ConfigurationGroupSpec {
        serde_json::from_value(json!({
            "environmentGroups": [{ "name": "live", "environments": ["staging", "production"] }],
            "configurations": [{ "key": "host", "values": values }],
        }))
        .unwrap()
    }

    #[test]
    fn the_first_value_that_is_for_an_environment_counts() {
        let group = group(&json!([
            { "environment": "development", "value": "here" },
            { "environmentGroupRef": "live", "vaultKey": "secret/there" },
            { "environment": "production", "value": "never" },
            { "environment": "test", "value": "" },
        ]));
        let of = |environment| group.value(&group.configurations[0], environment);
        assert_eq!(of("development"), Some(Configured::Plain("here")));
        assert_eq!(of("production"), Some(Configured::Vault("secret/there")));
        assert_eq!(of("test"), None);
        assert_eq!(of("elsewhere"), None);
    }

    #[test]
    fn everything_that_cannot_be_meant_is_told_at_once() {
        let mut group = group(&json!([
            { "environment": "moon", "value": "x" },
            { "environmentGroupRef": "dead" },
            { "environment": "staging", "environmentGroupRef": "live", "value": "x", "vaultKey": "y" },
            {},
        ]));
        group.configurations.push(group.configurations[0].clone());
        group.configurations[1].values.clear();
        let problems = group.problems(|name| name != "moon");
        let fields: Vec<&str> = problems
            .iter()
            .map(|problem| problem.field.as_str())
            .collect();
        assert_eq!(
            fields,
            [
                "spec.configurations[0].values[0].environment",
                "spec.configurations[0].values[1].environmentGroupRef",
                "spec.configurations[0].values[2]",
                "spec.configurations[0].values[2]",
                "spec.configurations[0].values[3]",
                "spec.configurations[1].key",
            ]
        );
    }
}
