//! What is deployed: the configuration of an artifact, with the changes of its deployment over it.

use quadrille_types::{
    DeployableArtifact, Deployment, EndpointTemplate,
    application::{Application, Scaling, Task},
};
use serde_json::Value;

use super::{
    error::{At, Found},
    settings::Settings,
};

/// How much may be used of processors and of memory, each with who says so.
pub(super) type Limits = [Option<(String, At)>; 2];

/// What is deployed, besides the image.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) args: Vec<String>,
    pub(super) settings: Settings,
    pub(super) limits: Limits,
    pub(super) readiness: Option<(Value, At)>,
    pub(super) liveness: Option<(Value, At)>,
    pub(super) scaling: Option<(Scaling, At)>,
    pub(super) task: Option<(Task, At)>,
    pub(super) templates: Vec<EndpointTemplate>,
}

/// How messages call an artifact.
pub(super) fn artifact_name(artifact: &DeployableArtifact) -> String {
    let name = artifact.metadata.name.as_deref().unwrap_or_default();
    format!("DeployableArtifact {name}")
}

/// How messages call a deployment.
pub(super) fn deployment_name(deployment: &Deployment) -> String {
    let name = deployment.metadata.name.as_deref().unwrap_or_default();
    format!("Deployment {name}")
}

/// The configuration of an artifact, with the changes of its deployment over it.
pub(super) fn wanted(
    artifact: &DeployableArtifact,
    deployment: &Deployment,
    found: &mut Found,
) -> Wanted {
    let configuration = artifact.spec.configuration.clone().unwrap_or_default();
    let at = At::new(artifact_name(artifact), "spec.configuration.application");
    let mut wanted = Wanted::default();
    wanted.change(&configuration.application.unwrap_or_default(), &at, found);
    wanted.templates = configuration.endpoint_templates;
    let Some(overrides) = &deployment.spec.configuration_overrides else {
        return wanted;
    };
    let at = At::new(deployment_name(deployment), "spec.configurationOverrides");
    if let Some(application) = &overrides.application {
        wanted.change(application, &at.below("application"), found);
    }
    for (index, change) in overrides.endpoint_templates.iter().enumerate() {
        let at = at.entry("endpointTemplates", index);
        wanted.change_template(change, &at, found);
    }
    wanted
}

impl Wanted {
    /// Takes over what an application says; what it leaves out stays.
    fn change(&mut self, by: &Application, at: &At, found: &mut Found) {
        let settings = std::mem::take(&mut self.settings);
        self.settings = settings.overridden(Settings::of_application(by, at, found));
        if !by.args.is_empty() {
            self.args.clone_from(&by.args);
        }
        let limits = by.resource_limits.clone().unwrap_or_default();
        let said = [(limits.cpu, "cpu"), (limits.memory, "memory")];
        for (ours, (theirs, field)) in self.limits.iter_mut().zip(said) {
            let at = at.below("resourceLimits").below(field);
            take(ours, theirs.map(|amount| (amount, at)));
        }
        let probes = by.probes.clone().unwrap_or_default();
        for (ours, theirs, field) in [
            (
                &mut self.readiness,
                probes.readiness_probe,
                "readinessProbe",
            ),
            (&mut self.liveness, probes.liveness_probe, "livenessProbe"),
        ] {
            let at = at.below("probes").below(field);
            take(ours, theirs.map(|probe| (probe, at)));
        }
        if let Some(scaling) = &by.scaling {
            self.scaling = Some((scaling.clone(), at.below("scaling")));
        }
        if let Some(task) = &by.task {
            let mut changed = self.task.take().map(|(task, _)| task).unwrap_or_default();
            take(&mut changed.disabled, task.disabled);
            take(&mut changed.schedule, task.schedule.clone());
            self.task = Some((changed, at.below("task")));
        }
    }

    /// Merges a change into the template of the same name.
    fn change_template(&mut self, change: &Value, at: &At, found: &mut Found) {
        let Some(name) = change.pointer("/metadata/name").and_then(Value::as_str) else {
            found.push(
                at.below("metadata.name")
                    .wrong("is missing: it says which template of the artifact is changed"),
            );
            return;
        };
        let known =
            |template: &&mut EndpointTemplate| template.metadata.name.as_deref() == Some(name);
        let Some(template) = self.templates.iter_mut().find(known) else {
            found.push(at.below("metadata.name").wrong(format!(
                "is {name:?}, but the artifact has no endpoint template of that name"
            )));
            return;
        };
        let mut merged = serde_json::to_value(&*template).expect("a template is plain JSON");
        merge(&mut merged, change);
        match serde_json::from_value(merged) {
            Ok(changed) => *template = changed,
            Err(error) => found.push(at.wrong(format!("does not fit its template: {error}"))),
        }
    }
}

fn take<T>(ours: &mut Option<T>, theirs: Option<T>) {
    if theirs.is_some() {
        *ours = theirs;
    }
}

/// A JSON merge: fields one by one, everything else as a whole, null takes away.
fn merge(target: &mut Value, change: &Value) {
    let (Value::Object(target), Value::Object(change)) = (&mut *target, change) else {
        *target = change.clone();
        return;
    };
    for (name, value) in change {
        if value.is_null() {
            target.remove(name);
        } else {
            merge(target.entry(name.clone()).or_insert(Value::Null), value);
        }
    }
}
