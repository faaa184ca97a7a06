//! The objects of a binding: what runs, and the Service in front of it.

use quadrille_types::{
    names::generate, release_state::ReleaseState, workload::Resolved as Workload,
};
use serde_json::{Map, Value, json};

use super::{Inputs, Instance, cron_job_name, own_id};
use crate::{
    deployment_system::{
        class::{self, Template},
        error::{At, Found, Mistake},
        place::Place,
        pod::pull_secrets,
        runs,
        told::Told,
    },
    ports::{self, Listens},
};

/// The container of a workload that gives it no name.
const CONTAINER: &str = "main";

/// What objects are made from.
pub(super) struct Parts<'a> {
    pub(super) inputs: &'a Inputs<'a>,
    pub(super) place: &'a Place,
    pub(super) workload: &'a Workload,
    pub(super) told: &'a Told,
}

/// Objects with their ids.
type Made = Vec<(String, Value)>;

impl Parts<'_> {
    /// All of them.
    pub(super) fn objects(&self) -> Result<Made, Vec<Mistake>> {
        match self.inputs.instance {
            Instance::Service(_, class) => self.served(
                class.deployment_template.as_ref(),
                class.service_template.as_ref(),
            ),
            Instance::WebApplication(_, class) => self.served(
                class.deployment_template.as_ref(),
                class.service_template.as_ref(),
            ),
            Instance::ScheduledTask(_, class) => self.scheduled(class.cron_job_template.as_ref()),
        }
    }

    /// A `Deployment` and its Service.
    fn served(
        &self,
        deployment: Option<&Value>,
        service: Option<&Value>,
    ) -> Result<Made, Vec<Mistake>> {
        let mut wrong = Vec::new();
        let mut made = Vec::new();
        let binding = self.inputs.name;
        match self.deployment_spec(deployment) {
            Ok(spec) => {
                let name = generate::name(&[binding]);
                let object = self.object("apps/v1", "Deployment", &name, &spec);
                made.push((own_id(binding, "deployment"), object));
            }
            Err(mistakes) => wrong.extend(mistakes),
        }
        match self.service_spec(service) {
            Ok(Some(spec)) => {
                let object = self.object("v1", "Service", &runs::service_name(&[binding]), &spec);
                made.push((own_id(binding, "service"), object));
            }
            Ok(None) => {}
            Err(mistakes) => wrong.extend(mistakes),
        }
        if wrong.is_empty() {
            Ok(made)
        } else {
            Err(wrong)
        }
    }

    fn object(&self, api_version: &str, kind: &str, name: &str, spec: &Value) -> Value {
        json!({
            "apiVersion": api_version, "kind": kind, "metadata": self.place.metadata(name), "spec": spec,
        })
    }

    fn deployment_spec(&self, written: Option<&Value>) -> Result<Value, Vec<Mistake>> {
        let part = map(json!({
            "template": { "metadata": { "labels": self.place.pods }, "spec": self.pod(true, None) },
        }));
        let mut spec = self.merged(class::DEPLOYMENT, written, part, "deploymentTemplate")?;
        // Pods are selected by what we say, whatever a class says.
        spec["selector"] = json!({ "matchLabels": self.place.selector });
        if self.inputs.instance.state() == ReleaseState::Suspend {
            spec["replicas"] = 0.into();
        }
        Ok(spec)
    }

    /// The Service; none where nothing listens, since a server takes none without ports. Its type is the class's.
    fn service_spec(&self, written: Option<&Value>) -> Result<Option<Value>, Vec<Mistake>> {
        let ports = ports::of_older_service(&self.listens(), true);
        if ports.is_empty() {
            return Ok(None);
        }
        let part = map(json!({ "ports": ports }));
        let mut spec = self.merged(class::SERVICE, written, part, "serviceTemplate")?;
        spec["selector"] = json!(self.place.selector);
        if spec.get("type").is_none() {
            spec["type"] = "ClusterIP".into();
        }
        Ok(Some(spec))
    }

    fn scheduled(&self, written: Option<&Value>) -> Result<Made, Vec<Mistake>> {
        let part = map(json!({
            "jobTemplate": {
                "metadata": { "labels": self.place.labels },
                "spec": { "template": {
                    "metadata": { "labels": self.place.pods },
                    "spec": self.pod(false, Some("OnFailure")),
                }},
            },
        }));
        let mut spec = self.merged(class::CRON_JOB, written, part, "cronJobTemplate")?;
        let mut found = Found::default();
        let cron = spec["schedule"].as_str().unwrap_or_default();
        let at = self.class_at("cronJobTemplate").below("schedule");
        runs::check_schedule(cron, &at, &mut found);
        found.finish().map_err(|mistakes| mistakes.0)?;
        if self.inputs.instance.state() == ReleaseState::Suspend {
            spec["suspend"] = true.into();
        }
        let name = cron_job_name(self.inputs.name);
        let object = self.object("batch/v1", "CronJob", &name, &spec);
        Ok(vec![(own_id(self.inputs.name, "cronjob"), object)])
    }

    fn class_at(&self, template: &str) -> At {
        let instance = self.inputs.instance;
        let whose = format!("{}Class {}", instance.kind(), instance.class_name());
        At::new(whose, format!("spec.{template}"))
    }

    fn merged(
        &self,
        template: Template,
        written: Option<&Value>,
        part: Map<String, Value>,
        field: &str,
    ) -> Result<Value, Vec<Mistake>> {
        template.merged(written, part, self.container(), &self.class_at(field))
    }

    /// The name of the workload's container.
    fn container(&self) -> &str {
        let named = self.inputs.instance.workload().containers.keys().next();
        named.map_or(CONTAINER, String::as_str)
    }

    fn listens(&self) -> Vec<Listens> {
        self.workload
            .endpoints
            .values()
            .map(Listens::from)
            .collect()
    }

    /// The instance's part of the spec of its pods.
    fn pod(&self, has_ports: bool, restart: Option<&str>) -> Value {
        let own = &self.workload.container;
        let mut container = json!({ "name": self.container(), "image": own.image });
        let mut put = |name: &str, value: Value| {
            if value.as_array().is_some_and(|values| !values.is_empty()) {
                container[name] = value;
            }
        };
        put("command", json!(own.command));
        put("args", json!(own.args));
        put("env", json!(self.told.env));
        put("volumeMounts", json!(self.told.mounts));
        if has_ports {
            put("ports", json!(ports::of_container(&self.listens())));
        }
        let mut spec = json!({ "containers": [container] });
        if !self.told.volumes.is_empty() {
            spec["volumes"] = json!(self.told.volumes);
        }
        if let Some(secrets) = pull_secrets(self.inputs.plane) {
            spec["imagePullSecrets"] = secrets;
        }
        if let Some(restart) = restart {
            spec["restartPolicy"] = restart.into();
        }
        spec
    }
}

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
