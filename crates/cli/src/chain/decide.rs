//! Which release is meant: what to promote, what to go back to, what to say a word about. Nothing is read or written here.

use std::collections::BTreeSet;

use quadrille_types::{ReleaseBinding, deployment_pipeline::Promotion, names::EnvironmentName};

use super::{
    scene::Scene,
    standing::{Health, history, running, waits, was_ready},
};
use crate::failure::Failure;

/// What is promoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Promoted {
    pub(crate) release: String,
    /// Where it comes from.
    pub(crate) from: EnvironmentName,
    /// What should be known, and stops nobody.
    pub(crate) remark: Option<String>,
}

/// The release to promote: the one that was named, or the one that runs and is ready where the pipeline leads from.
pub(crate) fn to_promote(
    scene: &Scene,
    to: &EnvironmentName,
    named: Option<&str>,
) -> Result<Promoted, Failure> {
    let name = scene.name();
    let steps: Vec<&Promotion> = scene.steps_to(to).collect();
    if steps.is_empty() {
        let failure = Failure::new(format!("nothing is promoted to {to}"));
        return Err(if scene.pipeline.first() == Some(to) {
            failure
                .saying("it is the first environment of the pipeline")
                .next(format!("Deploy to it: quad deploy {name}"))
        } else {
            failure.next(format!("The pipeline goes: {}", scene.pipeline.shown()))
        });
    }
    match named {
        Some(release) => named_promotion(scene, to, &steps, release),
        None => ready_promotion(scene, to, &steps),
    }
}

fn named_promotion(
    scene: &Scene,
    to: &EnvironmentName,
    steps: &[&Promotion],
    release: &str,
) -> Result<Promoted, Failure> {
    let mut in_order = None;
    for step in steps {
        if let Some(binding) = scene.binding(&step.from)?
            && was_ready(binding, release)
        {
            in_order = Some(step);
            break;
        }
    }
    let sources = listed(steps.iter().map(|step| step.from.as_str()));
    let out_of_order = format!("{release} has not been Ready in {sources}");
    if in_order.is_none() && scene.pipeline.is_strict() {
        return Err(Failure::new(format!("{release} may not go to {to}"))
            .saying(format!("{out_of_order}, and the pipeline is strict"))
            .next(format!(
                "Promote it there first: quad promote {} --to {sources}",
                scene.name()
            )));
    }
    let step = in_order.unwrap_or(&steps[0]);
    Ok(Promoted {
        release: release.to_owned(),
        from: step.from.clone(),
        remark: in_order.is_none().then_some(out_of_order),
    })
}

fn ready_promotion(
    scene: &Scene,
    to: &EnvironmentName,
    steps: &[&Promotion],
) -> Result<Promoted, Failure> {
    let name = scene.name();
    let (mut found, mut why) = (Vec::<Promoted>::new(), Vec::new());
    for step in steps {
        let from = &step.from;
        let runs = scene.binding(from)?.and_then(running);
        match runs {
            Some(runs) if runs.health == Health::Ready => {
                if found.iter().all(|known| known.release != runs.release) {
                    found.push(Promoted {
                        release: runs.release.to_owned(),
                        from: from.clone(),
                        remark: None,
                    });
                }
            }
            Some(runs) => why.push(format!(
                "{from}: {} is {}{}",
                runs.release,
                runs.health.as_str(),
                after_colon(runs.words)
            )),
            None => why.push(format!("{from}: nothing runs there")),
        }
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => {
            let failure = Failure::new(format!(
                "there is nothing to promote to {to}: {name} is not Ready before it"
            ));
            let before = &steps[0].from;
            let next = if scene.pipeline.first() == Some(before) {
                format!("Deploy it: quad deploy {name}")
            } else {
                format!("Promote it there first: quad promote {name} --to {before}")
            };
            Err(failure.saying(why.join("\n")).next(next))
        }
        _ => {
            let choices = found
                .iter()
                .map(|one| format!("{} from {}", one.release, one.from));
            let choices = choices.collect::<Vec<_>>().join("\n");
            Err(
                Failure::usage(format!("which release is promoted to {to}?"))
                    .saying(choices)
                    .next(format!(
                        "Name it: quad promote {name} --to {to} --release {}",
                        found[0].release
                    )),
            )
        }
    }
}

/// The release to go back to: the last other one that was ready there and still exists.
pub(crate) fn to_go_back(
    scene: &Scene,
    binding: &ReleaseBinding,
    kept: &BTreeSet<String>,
) -> Result<String, Failure> {
    let environment = &binding.spec.environment;
    let asked = binding.spec.release_name.as_deref().unwrap_or_default();
    let others = history(binding)
        .iter()
        .filter(|ran| ran.release_name != asked && ran.ready_at.is_some());
    let others: Vec<&str> = others.map(|ran| ran.release_name.as_str()).collect();
    if let Some(found) = others.iter().find(|name| kept.contains(**name)) {
        return Ok((*found).to_owned());
    }
    let failure = Failure::new(format!(
        "there is nothing to go back to: no other release of {} was Ready in {environment}",
        scene.name()
    ));
    Err(if others.is_empty() {
        failure.next(format!(
            "Name one: quad rollback {} --env {environment} --to RELEASE",
            scene.name()
        ))
    } else {
        failure.saying(format!(
            "these were, and are no longer kept: {}",
            listed(others.into_iter())
        ))
    })
}

/// Whether there may be something to go back to.
pub(crate) fn can_go_back(binding: &ReleaseBinding) -> bool {
    let asked = binding.spec.release_name.as_deref().unwrap_or_default();
    let mut ran = history(binding).iter();
    ran.any(|ran| ran.release_name != asked && ran.ready_at.is_some())
}

/// The release that a word is said about: the one that waits for it.
pub(crate) fn to_judge(scene: &Scene, binding: &ReleaseBinding) -> Result<String, Failure> {
    let component = scene.name();
    let environment = &binding.spec.environment;
    let all = scene.bindings_in(environment).filter(|one| waits(one));
    let waiting: BTreeSet<&str> = all
        .filter_map(|one| one.spec.release_name.as_deref())
        .collect();
    if waiting.len() > 1 {
        let names: Vec<&str> = waiting.into_iter().collect();
        return Err(Failure::usage(format!(
            "several releases of {component} wait for an approval in {environment}"
        ))
        .saying(names.join("\n"))
        .next("Name the one that you mean: --release RELEASE"));
    }
    match binding.spec.release_name.as_deref() {
        Some(release) if waits(binding) => Ok(release.to_owned()),
        _ => {
            let failure = Failure::new(format!(
                "no release of {component} waits for an approval in {environment}"
            ));
            let failure = match running(binding) {
                Some(runs) => failure.saying(format!(
                    "{} runs there, and is {}",
                    runs.release,
                    runs.health.as_str()
                )),
                None => failure,
            };
            Err(failure.next(format!(
                "Ask for one: quad promote {component} --to {environment}; or agree beforehand: --release RELEASE"
            )))
        }
    }
}

/// Whether a release may be deployed straight to an environment; what should be known about it otherwise.
pub(crate) fn to_deploy(
    scene: &Scene,
    environment: &EnvironmentName,
    release: &str,
) -> Result<Option<String>, Failure> {
    let is_reached = scene.steps_to(environment).next().is_some();
    if !is_reached {
        return Ok(None);
    }
    let promoted = to_promote(scene, environment, Some(release))?;
    Ok(promoted.remark)
}

/// Where a release can go from an environment: not to where it runs or is asked for already.
pub(crate) fn onward<'a>(
    scene: &'a Scene,
    from: &'a EnvironmentName,
    release: &'a str,
) -> impl Iterator<Item = &'a Promotion> {
    let is_there = move |place: &EnvironmentName| {
        scene.bindings.iter().any(|binding| {
            let is_asked_for = binding.spec.release_name.as_deref() == Some(release)
                && !binding.spec.is_undeployed();
            binding.spec.environment == *place
                && (is_asked_for || running(binding).is_some_and(|runs| runs.release == release))
        })
    };
    let steps = scene.pipeline.promotions().iter();
    steps.filter(move |step| step.from == *from && !is_there(&step.to))
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(" or ")
}

/// Words after a colon, where there are any.
pub(crate) fn after_colon(words: &str) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!(": {words}")
    }
}

#[cfg(test)]
mod tests;
