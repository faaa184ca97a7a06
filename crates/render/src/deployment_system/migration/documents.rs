//! The documents of the chain that take over.

use std::collections::{BTreeMap, BTreeSet};

use quadrille_types::{
    Component, ComponentSpec,
    release_state::ReleaseState,
    workload::{Connection, Visibility},
};
use serde_json::{Value, json};

use super::{
    Warning,
    component_type::{Made, type_name},
    own_parts::Says,
    pile::read,
    running::{Running, Whose},
    workload,
};

/// What kubectl remembers of what it wrote.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What documents are made from.
pub(super) struct New<'a> {
    pub(super) whose: Whose<'a>,
    /// The component as it is written.
    pub(super) written: &'a Value,
    pub(super) running: &'a [Running],
    pub(super) made: &'a Made,
    pub(super) says: Says,
    pub(super) seen: &'a BTreeMap<String, BTreeSet<Visibility>>,
}

impl New<'_> {
    /// All of them, in the order to apply them.
    pub(super) fn documents(&self, warnings: &mut Vec<Warning>) -> Vec<Value> {
        let mut documents = vec![
            self.made.document.clone(),
            self.component(),
            self.workload(warnings),
        ];
        documents.extend((0..self.running.len()).map(|index| self.binding(index)));
        documents
    }

    fn name(&self) -> &str {
        let metadata = &self.whose.component.metadata;
        metadata.name.as_deref().unwrap_or_default()
    }

    fn object(&self, kind: &str, name: &str, spec: &Value) -> Value {
        json!({
            "apiVersion": "openchoreo.dev/v1alpha1",
            "kind": kind,
            "metadata": { "name": name, "namespace": self.whose.pile.organization },
            "spec": spec,
        })
    }

    fn owner(&self) -> Value {
        let project = &self.whose.component.spec.owner.project_name;
        json!({ "projectName": project, "componentName": self.name() })
    }

    /// The component as it is, with its new type. The older word stays: Endpoints of environments that have not moved yet
    /// are made by it.
    fn component(&self) -> Value {
        let mut spec = self.written["spec"].clone();
        let reference = format!("{}/{}", self.made.workload_type, type_name(self.name()));
        spec["componentType"] = json!({ "kind": "ComponentType", "name": reference });
        let is_understood = serde_json::from_value::<ComponentSpec>(spec.clone())
            .is_ok_and(|spec| spec.resolve().is_ok());
        if let Some(fields) = spec.as_object_mut().filter(|_| !is_understood) {
            // The bindings of a class do not mind what the word is; the chain does.
            fields.remove("type");
        }
        if !self.made.parameters.is_empty() {
            spec["parameters"] = json!(self.made.parameters);
        }
        let mut component = self.object("Component", self.name(), &spec);
        for field in ["labels", "annotations"] {
            let Some(Value::Object(said)) = self.written["metadata"].get(field) else {
                continue;
            };
            let mut said = said.clone();
            said.remove(LAST_APPLIED);
            if !said.is_empty() {
                component["metadata"][field] = said.into();
            }
        }
        component
    }

    fn workload(&self, warnings: &mut Vec<Warning>) -> Value {
        let first = &self.running[0];
        let mut spec = json!({
            "owner": self.owner(),
            "container": workload::container(&first.own, self.says),
        });
        let endpoints = workload::endpoints(first, self.seen);
        if !endpoints.is_empty() {
            spec["endpoints"] = json!(endpoints);
        }
        let needed: Vec<Value> = first
            .connections
            .iter()
            .filter_map(|needed| self.dependency(needed, warnings))
            .collect();
        if !needed.is_empty() {
            spec["dependencies"] = json!({ "endpoints": needed });
        }
        self.object("Workload", &self.workload_name(), &spec)
    }

    /// The workload that the component has already, or one of its own name.
    fn workload_name(&self) -> String {
        let mut workloads = self.whose.pile.of_kind("Workload");
        let own = workloads.find(|one| super::sources::is_of(one, self.whose.component));
        own.map_or_else(|| self.name().to_owned(), |one| super::name(one).to_owned())
    }

    /// A connection as the chain declares it. What it tells is in the type already, so that pods keep it to the letter.
    fn dependency(&self, needed: &Connection, warnings: &mut Vec<Warning>) -> Option<Value> {
        let own = &self.whose.component.spec.owner.project_name;
        let project = needed.project.as_ref().unwrap_or(own);
        let told: Vec<&str> = needed.env.iter().map(|(name, _)| name.as_str()).collect();
        let about = format!("connection to {project}/{}", needed.component);
        let told = if told.is_empty() {
            "nothing is told about it".to_owned()
        } else {
            format!("{} keeps the address that it has", told.join(", "))
        };
        if project != own {
            warnings.push(Warning::new(
                about,
                format!(
                    "is left out: {told}. The chain reaches other projects by dependencies.endpoints of the Workload with \
                     visibility namespace, internal or external, as the other project offers it"
                ),
            ));
            return None;
        }
        let target = self.whose.pile.find("Component", needed.component.as_str());
        let target = target.and_then(|found| read::<Component>(found).ok());
        let is_of_the_chain = target.is_some_and(|found| found.spec.component_type.is_some());
        if !is_of_the_chain {
            warnings.push(Warning::new(
                about,
                format!(
                    "is left out, since {} is not of the component chain: {told}. Once that has moved, add it to \
                     dependencies.endpoints of the Workload",
                    needed.component
                ),
            ));
            return None;
        }
        warnings.push(Warning::new(
            about,
            format!(
                "{told}, by env among what the type is told. To have it follow, take it out there and name it in \
                 envBindings of the Workload: pods restart once"
            ),
        ));
        Some(json!({
            "component": needed.component, "name": needed.endpoint, "visibility": "project", "envBindings": {},
        }))
    }

    fn binding(&self, index: usize) -> Value {
        let running = &self.running[index];
        let environment = &running.site.name;
        let mut spec = json!({ "owner": self.owner(), "environment": environment });
        if running.state == ReleaseState::Undeploy {
            spec["state"] = "Undeploy".into();
        }
        let told = &self.made.configs[index];
        if !told.is_empty() {
            spec["componentTypeEnvironmentConfigs"] = json!(told);
        }
        let first = &self.running[0].own;
        if let Some(over) = workload::overridden(first, &running.own, self.says) {
            spec["workloadOverrides"] = over;
        }
        let name = format!("{}-{environment}", self.name());
        self.object("ReleaseBinding", &name, &spec)
    }
}
