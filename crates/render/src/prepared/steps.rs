//! Single steps of the pipeline.

use quadrille_template::{Blueprint, Context, Parameters};
use quadrille_types::{
    ComponentReleaseSpec,
    release::TargetPlane,
    workload::{Resolved as Workload, Source},
};
use serde_json::Value;

use crate::{error::RenderError, finish::Rendered, inputs::Inputs, overrides};

/// The workload with the settings of the environment.
pub(super) fn workload(inputs: &Inputs<'_>) -> Result<Workload, RenderError> {
    let ComponentReleaseSpec { workload, .. } = inputs.release;
    let mut resolved = workload
        .resolve("spec.workload")
        .map_err(|problem| RenderError::field("component release", problem))?;
    let over = inputs
        .binding
        .overrides()
        .map_err(|problem| RenderError::field("release binding", problem))?;
    overrides::apply(&mut resolved.container, over);
    Ok(resolved)
}

pub(super) fn secret_references(workload: &Workload) -> Vec<String> {
    let container = &workload.container;
    let envs = container.env.iter().map(|env| &env.source);
    let files = container.files.iter().map(|file| &file.source);
    let mut names: Vec<String> = envs
        .chain(files)
        .filter_map(|source| match source {
            Source::Secret(key) => Some(key.name.clone()),
            Source::Given(_) | Source::ConfigurationGroup(_) => None,
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Values with defaults, checked against their schema.
pub(super) fn resolve(
    schema: &Parameters,
    given: Option<&Value>,
    whose: &str,
    section: &'static str,
    notes: &mut Vec<String>,
) -> Result<Value, RenderError> {
    let resolved = schema
        .resolve(given)
        .map_err(|problems| RenderError::Values {
            whose: whose.to_owned(),
            section,
            problems: problems
                .into_iter()
                .map(|problem| problem.to_string())
                .collect(),
        })?;
    if let Some(given) = given {
        let unknown = schema.unknown(given).into_iter();
        notes.extend(unknown.map(|problem| format!("{whose}: {section}: {problem}")));
    }
    Ok(resolved)
}

pub(super) fn check_rules(
    blueprint: &Blueprint,
    context: &Context<'_>,
    whose: &str,
) -> Result<(), RenderError> {
    let failures = blueprint.check_rules(context);
    if failures.is_empty() {
        return Ok(());
    }
    Err(RenderError::Rules {
        whose: whose.to_owned(),
        failures: failures.iter().map(ToString::to_string).collect(),
    })
}

pub(super) fn create(
    blueprint: &Blueprint,
    context: &Context<'_>,
    whose: &str,
    objects: &mut Vec<Rendered>,
) -> Result<(), RenderError> {
    for resource in blueprint.resources() {
        let rendered = resource
            .render(context)
            .map_err(|error| failed(whose, &error))?;
        let plane = TargetPlane::read(Some(resource.plane())).unwrap_or(TargetPlane::Data);
        objects.extend(rendered.into_iter().map(|object| Rendered {
            plane,
            object,
            made_by: whose.to_owned(),
        }));
    }
    Ok(())
}

pub(super) fn failed(whose: &str, error: &quadrille_template::RenderError) -> RenderError {
    RenderError::Template {
        whose: whose.to_owned(),
        cause: error.to_string(),
    }
}
