//! Single steps of the pipeline.

use std::borrow::Cow;

use quadrille_template::{Blueprint, Context, Parameters};
use quadrille_types::{
    ReleaseBindingSpec,
    release::TargetPlane,
    release_binding::ResolvedOverrides,
    workload::{Resolved as Workload, ResolvedContainer, Source},
};
use serde_json::Value;

use crate::{error::RenderError, finish::Rendered, overrides};

/// The container of a workload with the settings of the environment.
pub(crate) fn container<'a>(
    workload: &'a Workload,
    binding: &ReleaseBindingSpec,
) -> Result<Cow<'a, ResolvedContainer>, RenderError> {
    let over = binding
        .overrides()
        .map_err(|problem| RenderError::field("release binding", problem))?;
    let mut container = Cow::Borrowed(&workload.container);
    if over != ResolvedOverrides::default() {
        overrides::apply(container.to_mut(), over);
    }
    Ok(container)
}

pub(crate) fn secret_references(container: &ResolvedContainer) -> Vec<String> {
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

pub(super) fn create<'a>(
    blueprint: &Blueprint,
    context: &Context<'_>,
    whose: &'a str,
    objects: &mut Vec<Rendered<'a>>,
) -> Result<(), RenderError> {
    for resource in blueprint.resources() {
        let rendered = resource
            .render(context)
            .map_err(|error| failed(whose, &error))?;
        let plane = TargetPlane::read(Some(resource.plane())).unwrap_or(TargetPlane::Data);
        objects.extend(rendered.into_iter().map(|object| Rendered {
            plane,
            object,
            made_by: whose,
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
