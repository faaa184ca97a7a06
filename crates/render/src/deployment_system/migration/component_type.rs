//! The component type that makes what runs already: the same names, selectors and pods.
//!
//! What the workload says comes from it by expressions, so that developers go on changing it there; what differs between
//! environments is told by their bindings; everything else stands in the type as it runs.

mod lists;
mod matching;

use std::collections::BTreeMap;

use quadrille_types::{
    annotations::{CONFIG_DIGEST, DESCRIPTION},
    release_state::ReleaseState,
};
use serde_json::{Map, Value, json};

use self::{lists::Lists, matching::Matched};
use super::{
    own_parts::{Cut, Says},
    pods,
    running::Running,
    unify::{Differences, Each},
};

/// What was made.
pub(super) struct Made {
    /// The document of the type.
    pub(super) document: Value,
    /// What runs, as a component names its type: `deployment` or `cronjob`.
    pub(super) workload_type: &'static str,
    /// What the component says once.
    pub(super) parameters: Map<String, Value>,
    /// What each environment is told.
    pub(super) configs: Vec<Map<String, Value>>,
}

/// What a type is made from.
pub(super) struct Inputs<'a> {
    pub(super) component: &'a str,
    pub(super) organization: &'a str,
    pub(super) running: &'a [Running],
    pub(super) says: Says,
    pub(super) cuts: Vec<Cut>,
}

/// The name of the type of a component.
pub(super) fn type_name(component: &str) -> String {
    format!("migrated-{component}")
}

impl Inputs<'_> {
    /// Makes the type.
    pub(super) fn make(mut self) -> Made {
        let cells = self.running.iter().zip(&self.cuts).map(|(running, cut)| {
            let namespace = cut.objects.iter().find_map(|object| {
                let namespace = &object["metadata"]["namespace"];
                namespace.as_str().map(str::to_owned)
            });
            (running.site.name.clone(), namespace.unwrap_or_default())
        });
        let mut differences = Differences::new(cells.collect());
        let mut lists = Lists::make(&self, &mut differences);
        let held = self.held(&mut differences);
        let mut groups = self.groups(&mut differences);
        for cut in &mut self.cuts {
            cut.objects.iter_mut().for_each(forget_digest);
        }
        let matched = matching::matched(self.running, &self.cuts);
        // Others refer to objects by their names, so these are named after them.
        for one in &matched {
            one.name_differences(&mut differences);
        }
        let mut resources = Vec::new();
        let mut workload_type = "deployment";
        for one in &matched {
            let mut template = differences.unify(&[&one.id], &one.each);
            if let Some(way) = pods::way(&template) {
                workload_type = if template["kind"] == "CronJob" {
                    "cronjob"
                } else {
                    "deployment"
                };
                lists.put(&mut template, way, &self.running[0].container);
                lists.label_files(&template);
                if let Some((field, expression)) = &held {
                    template["spec"][*field] = expression.as_str().into();
                }
            }
            let group = groups.remove(one.name().unwrap_or_default());
            if let Some(group) = &group {
                template["data"] = format!("${{environmentConfigs.{group}}}").into();
            }
            let mut resource = json!({ "id": one.id, "template": template });
            if let Some(when) = include_when(one, group.as_deref(), &mut differences) {
                resource["includeWhen"] = when.into();
            }
            resources.push(resource);
        }
        resources.extend(lists.files);
        let document = self.document(workload_type, &lists.parameters, &differences, &resources);
        Made {
            document,
            workload_type,
            parameters: lists.values,
            configs: differences.configs,
        }
    }

    /// Where somebody stopped it, what stops it is told to environments: to start it again, they are told otherwise.
    fn held(&mut self, differences: &mut Differences) -> Option<(&'static str, String)> {
        let mut running = self.running.iter();
        if !running.any(|one| one.state == ReleaseState::Suspend) {
            return None;
        }
        let mut field = "replicas";
        let each: Each = self
            .cuts
            .iter_mut()
            .map(|cut| {
                let runs = cut
                    .objects
                    .iter_mut()
                    .find(|object| pods::way(object).is_some())?;
                if runs["kind"] == "CronJob" {
                    field = "suspend";
                }
                runs["spec"].as_object_mut()?.remove(field)
            })
            .collect();
        let name = differences.name(&[vec![field]], &each);
        Some((field, format!("${{environmentConfigs.?{name}}}")))
    }

    /// What configuration groups hold is told to environments. Gives the names under which, by the objects that hold it.
    fn groups(&mut self, differences: &mut Differences) -> BTreeMap<String, String> {
        let mut logical: Vec<&String> = Vec::new();
        for (group, _) in self.running.iter().flat_map(|one| &one.groups) {
            if !logical.contains(&group) {
                logical.push(group);
            }
        }
        let mut told = BTreeMap::new();
        for group in logical {
            let object = |one: &Running| {
                let found = one.groups.iter().find(|(name, _)| name == group);
                found.map(|(_, object)| object.clone())
            };
            let names: Vec<Option<String>> = self.running.iter().map(object).collect();
            let each: Each = self
                .cuts
                .iter_mut()
                .zip(&names)
                .map(|(cut, name)| {
                    let name = name.as_deref()?;
                    let map = cut.objects.iter_mut().find(|object| {
                        object["kind"] == "ConfigMap" && object["metadata"]["name"] == name
                    })?;
                    map.as_object_mut()?.remove("data")
                })
                .collect();
            if each.iter().all(Option::is_none) {
                continue; // all of it is secret
            }
            let called = differences.name(&[vec![group.as_str()], vec![group, "values"]], &each);
            differences.describe(
                &called,
                &format!("The plain values that ConfigurationGroup {group} had."),
            );
            told.extend(
                names
                    .into_iter()
                    .flatten()
                    .map(|name| (name, called.clone())),
            );
        }
        told
    }

    fn document(
        &self,
        workload_type: &str,
        parameters: &Map<String, Value>,
        differences: &Differences,
        resources: &[Value],
    ) -> Value {
        let by: Vec<String> = self
            .running
            .iter()
            .map(|one| format!("{} {}", one.by.0, one.by.1))
            .collect();
        let description = format!(
            "Made by quad migrate: {} as {} ran it, with the same names, selectors and pods",
            self.component,
            by.join(", ")
        );
        let mut spec = json!({
            "workloadType": workload_type,
            "preRenderValidations": [{
                "rule": "${configurations.secrets.envs.size() + configurations.secrets.files.size() == 0}",
                "message": "this type takes no secrets from the workload: write them into its resources, as the others are",
            }],
            "resources": resources,
        });
        if !parameters.is_empty() {
            spec["parameters"] =
                json!({ "openAPIV3Schema": { "type": "object", "properties": parameters } });
        }
        if !differences.properties.is_empty() {
            let mut schema = json!({ "type": "object", "properties": differences.properties });
            if !differences.required.is_empty() {
                schema["required"] = json!(differences.required);
            }
            spec["environmentConfigs"] = json!({ "openAPIV3Schema": schema });
        }
        json!({
            "apiVersion": "openchoreo.dev/v1alpha1",
            "kind": "ComponentType",
            "metadata": {
                "name": type_name(self.component),
                "namespace": self.organization,
                "annotations": { DESCRIPTION: description },
            },
            "spec": spec,
        })
    }
}

/// When an object is there that not every environment has.
fn include_when(
    one: &Matched,
    group: Option<&str>,
    differences: &mut Differences,
) -> Option<String> {
    if one.each.iter().all(Option::is_some) {
        return None;
    }
    if let Some(group) = group {
        return Some(format!("${{has(environmentConfigs.{group})}}"));
    }
    Some(format!("${{{}}}", differences.presence(&one.each)))
}

/// Takes away the digest of what pods read: whoever renders puts it there.
fn forget_digest(object: &mut Value) {
    let Some(way) = pods::way(object) else { return };
    let Some(Value::Object(metadata)) = object.pointer_mut(&format!("{way}/metadata")) else {
        return;
    };
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.remove(CONFIG_DIGEST);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}
