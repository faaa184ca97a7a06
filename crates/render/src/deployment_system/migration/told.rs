//! What should be known before a component is moved: what is no longer followed, what is not moved, what restarts.

use quadrille_types::release_state::ReleaseState;
use serde_json::{Map, Value};

use super::{
    Moved, Warning,
    compare::Effect,
    own_parts::Says,
    running::{Running, Whose},
    sources::{self, Source},
};

/// Everything that follows from what runs.
pub(super) fn tell(
    whose: Whose<'_>,
    source: &Source,
    running: &[Running],
    configs: &[Map<String, Value>],
    warnings: &mut Vec<Warning>,
) {
    groups_and_secrets(running, warnings);
    differences(running, configs, warnings);
    states(running, warnings);
    if let Source::Track(track, _) = source {
        let name = track.metadata.name.as_deref().unwrap_or_default();
        let about = format!("DeploymentTrack {name}");
        if track.spec.auto_deploy == Some(true) {
            let words = "spec.autoDeploy is not moved, so that nothing happens by itself meanwhile: set it on the Component \
                         when all environments have moved";
            warnings.push(Warning::new(&about, words));
        }
        if track.spec.build_template_spec.is_some() {
            let words = "spec.buildTemplateSpec is not moved: whatever builds images writes them into the Workload from now on";
            warnings.push(Warning::new(&about, words));
        }
    }
    for caller in sources::callers(whose.pile, whose.component) {
        let words = "connects to it by the deployment system and keeps the address that it has, but is not rendered anew once \
                     the binding here is gone: move it next";
        warnings.push(Warning::new(format!("component {caller}"), words));
    }
}

fn groups_and_secrets(running: &[Running], warnings: &mut Vec<Warning>) {
    let mut once = |about: String, words: &str| {
        let warning = Warning::new(about, words);
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    };
    for running in running {
        for (group, _) in &running.groups {
            once(
                format!("ConfigurationGroup {group}"),
                "its values are copied into the ReleaseBindings (componentTypeEnvironmentConfigs), and the ways to its secrets \
                 into the type: changes of the group no longer reach the component",
            );
        }
        for secret in &running.secrets {
            once(
                format!("SecretReference {secret}"),
                "the ways to its secrets are copied into the type: changes of the reference no longer reach the component",
            );
        }
    }
}

/// What environments have that the workload does not.
fn differences(running: &[Running], configs: &[Map<String, Value>], warnings: &mut Vec<Warning>) {
    let Some((first, others)) = running.split_first() else {
        return;
    };
    for (one, config) in others.iter().zip(configs.iter().skip(1)) {
        let about = format!("environment {}", one.site.name);
        for field in ["image", "command", "args"] {
            if config.contains_key(field) {
                let words = format!(
                    "its {field} is not that of {}: its ReleaseBinding holds it fast; take \
                     componentTypeEnvironmentConfigs.{field} out there when you promote to it",
                    first.site.name
                );
                warnings.push(Warning::new(&about, words));
            }
        }
        if one.endpoints != first.endpoints {
            let words = format!(
                "its endpoints are not those of {}, which the Workload lists; what listens there stays as it is",
                first.site.name
            );
            warnings.push(Warning::new(&about, words));
        }
        if one.container != first.container {
            let words = format!(
                "its container is called {}, not {} as in {}",
                one.container, first.container, first.site.name
            );
            warnings.push(Warning::new(&about, words));
        }
    }
}

fn states(running: &[Running], warnings: &mut Vec<Warning>) {
    for one in running {
        let about = format!("environment {}", one.site.name);
        match one.state {
            ReleaseState::Active => {}
            ReleaseState::Suspend => {
                let runs = one.objects.iter().any(|object| object["kind"] == "CronJob");
                let field = if runs { "suspend" } else { "replicas" };
                let words = format!(
                    "it is suspended, and stays so: change componentTypeEnvironmentConfigs.{field} of its ReleaseBinding to \
                     start it again"
                );
                warnings.push(Warning::new(about, words));
            }
            ReleaseState::Undeploy => {
                let words =
                    "it was taken away there, and stays so: its ReleaseBinding has state Undeploy";
                warnings.push(Warning::new(about, words));
            }
        }
    }
}

/// What of the workload's settings stands in the type instead.
pub(super) fn left_to_the_type(running: &[Running], says: Says, warnings: &mut Vec<Warning>) {
    let has = |is: fn(&Running) -> bool| running.iter().any(is);
    for (is_left, what, field, why) in [
        (
            !says.env && has(|one| !one.own.env.is_empty()),
            "environment variables",
            "env",
            "environments differ too much",
        ),
        (
            !says.files && has(|one| !one.own.files.is_empty()),
            "files",
            "volumes",
            "two of them have one name, environments differ too much",
        ),
    ] {
        if is_left {
            let words = format!(
                "{what} are told to the type ({field} of its parameters or of componentTypeEnvironmentConfigs): {why}, or a \
                 class has a part in them"
            );
            warnings.push(Warning::new("Workload", words));
        }
    }
}

/// What happens to what runs.
pub(super) fn effects(moved: &Moved) -> Vec<Warning> {
    let environment = &moved.environment;
    let cell = |objects: &[Value]| {
        let first = objects.first();
        first.map(|object| object["metadata"]["namespace"].clone())
    };
    let (before, after) = (cell(&moved.before), cell(&moved.after));
    if before != after
        && let (Some(before), Some(after)) = (before, after)
    {
        let words = format!(
            "its cell is {} now, and {} in the chain, which goes by the names of objects, not by their labels: everything \
             is made anew there, and nothing of what runs is taken over",
            before.as_str().unwrap_or_default(),
            after.as_str().unwrap_or_default()
        );
        return vec![Warning::new(format!("environment {environment}"), words)];
    }
    let tell = |effect: &Effect| match effect {
        Effect::Restart { object, fields } => Warning::new(
            format!("{object} in {environment}"),
            format!("its pods restart once, since {} differs", fields.join(", ")),
        ),
        Effect::Reselect { object, namespace } => {
            let name = object.split_whitespace().next_back().unwrap_or_default();
            Warning::new(
                format!("{object} in {environment}"),
                format!(
                    "its selector differs, which Kubernetes never lets change: it must be made anew. Delete it when you move \
                     (kubectl delete deployment.apps {name} -n {namespace}); nothing of it runs until the new one does"
                ),
            )
        }
        Effect::Gone { object, namespace } => Warning::new(
            format!("{object} in {environment}"),
            format!("it goes from namespace {namespace}: the chain makes nothing of that name"),
        ),
    };
    moved.effects.iter().map(tell).collect()
}
