//! `DeploymentPipeline`: which environment promotes to which, and where a person must agree.

use std::{collections::BTreeSet, time::Duration};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    go_duration, names::EnvironmentName, optional_spec::optional_spec, problem::Problem,
    reference::NameOrReference, schema,
};

/// What is asked of a pipeline.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "DeploymentPipeline",
    plural = "deploymentpipelines",
    namespaced,
    shortname = "deppipe",
    shortname = "deppipes",
    category = "openchoreo",
    status = "DeploymentPipelineStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Which environment promotes to which, and where a person must agree.",
    printcolumn(
        name = "Environments",
        type_ = "string",
        json_path = ".status.environments"
    )
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct DeploymentPipelineSpec {
    /// The allowed promotions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promotion_paths: Vec<PromotionPath>,
    /// What becomes of a release that did not take the steps before: `Strict` refuses it, `Advisory` (meant where
    /// nothing is said) lets it run and says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Strict", "Advisory"]))]
    pub enforcement: Option<String>,
}

optional_spec!(DeploymentPipelineSpec);

/// The promotions out of one environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromotionPath {
    /// The environment to promote from: its name, or kind and name.
    pub source_environment_ref: NameOrReference,
    /// The environments to promote to.
    pub target_environment_refs: Vec<TargetEnvironment>,
}

/// An environment to promote to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetEnvironment {
    /// Always `Environment`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Environment"]))]
    pub kind: Option<String>,
    /// The name of the environment.
    pub name: EnvironmentName,
    /// Whether somebody must agree first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_approval: Option<bool>,
    /// Whether a person must agree first; means the same as `requiresApproval`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_manual_approval_required: Option<bool>,
    /// Whether who agrees must be somebody else than who asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_other_approver: Option<bool>,
    /// Promotes by itself what has been doing well in the source; an approval is waited for all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_promote: Option<AutoPromote>,
}

/// When a release is promoted by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AutoPromote {
    /// How long it must have been ready in the source; at once where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = go_duration::PATTERN))]
    pub after: Option<String>,
}

/// What was seen of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentPipelineStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the pipeline is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The pipeline's environments in order, for people to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environments: Option<String>,
}

/// One allowed promotion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promotion {
    /// From here.
    pub from: EnvironmentName,
    /// To there.
    pub to: EnvironmentName,
    /// Somebody must agree first.
    pub needs_approval: bool,
    /// Who agrees must be somebody else than who asked.
    pub needs_other_approver: bool,
    /// How long a release must have been ready before it is promoted by itself; never where there is nothing.
    pub auto_after: Option<Duration>,
}

/// A pipeline as everybody else sees it: the allowed promotions, in the order they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    promotions: Vec<Promotion>,
    sources: Vec<EnvironmentName>,
    is_strict: bool,
}

impl DeploymentPipelineSpec {
    /// Reads the variants of all generations into one form.
    pub fn resolve(&self) -> Result<Resolved, Problem> {
        let mut resolved = Resolved {
            is_strict: self.enforcement.as_deref() == Some("Strict"),
            ..Resolved::default()
        };
        for (index, path) in self.promotion_paths.iter().enumerate() {
            let field = format!("spec.promotionPaths[{index}]");
            let source_field = format!("{field}.sourceEnvironmentRef");
            let source = path
                .source_environment_ref
                .resolve(&source_field, &["Environment"])?;
            let from = EnvironmentName::new(source.name);
            for (index, target) in path.target_environment_refs.iter().enumerate() {
                if target.name == from {
                    return Err(Problem::new(
                        format!("{field}.targetEnvironmentRefs[{index}].name"),
                        format!("{from} cannot be promoted to itself"),
                    ));
                }
                let asked = [target.requires_approval, target.is_manual_approval_required];
                let auto_after = match &target.auto_promote {
                    None => None,
                    Some(auto) => Some(auto.after(&format!(
                        "{field}.targetEnvironmentRefs[{index}].autoPromote.after"
                    ))?),
                };
                let needs_other_approver = target.requires_other_approver == Some(true);
                resolved.promotions.push(Promotion {
                    from: from.clone(),
                    to: target.name.clone(),
                    needs_approval: needs_other_approver || asked.contains(&Some(true)),
                    needs_other_approver,
                    auto_after,
                });
            }
            resolved.sources.push(from);
        }
        if !resolved.sources.is_empty() && resolved.first().is_none() {
            let circle = resolved.circle().unwrap_or_default();
            let circle: Vec<&str> = circle.into_iter().map(EnvironmentName::as_str).collect();
            return Err(Problem::new(
                "spec.promotionPaths",
                format!(
                    "go in a circle, so that no environment is the first: {}: take one of these steps out",
                    circle.join(" → ")
                ),
            ));
        }
        Ok(resolved)
    }
}

impl AutoPromote {
    fn after(&self, field: &str) -> Result<Duration, Problem> {
        let Some(written) = &self.after else {
            return Ok(Duration::ZERO);
        };
        go_duration::parse(written).ok_or_else(|| {
            Problem::new(
                field,
                format!("is no duration: {written:?}, say 10m or 1h30m"),
            )
        })
    }
}

impl Resolved {
    /// Whether a release that did not take the steps before is refused.
    pub fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// The promotions into an environment.
    pub fn into<'a>(&'a self, to: &'a EnvironmentName) -> impl Iterator<Item = &'a Promotion> {
        self.promotions.iter().filter(move |step| step.to == *to)
    }

    /// The environment where a component is deployed first: the first source that nothing promotes to.
    pub fn first(&self) -> Option<&EnvironmentName> {
        let targets: BTreeSet<_> = self.promotions.iter().map(|step| &step.to).collect();
        self.sources.iter().find(|source| !targets.contains(source))
    }

    /// The promotion between two environments, if it is allowed. Written twice, the stricter one counts.
    pub fn promotion(&self, from: &EnvironmentName, to: &EnvironmentName) -> Option<&Promotion> {
        let mut written = self
            .promotions
            .iter()
            .filter(|step| step.from == *from && step.to == *to);
        let first = written.next()?;
        Some(written.find(|step| step.needs_approval).unwrap_or(first))
    }

    /// Environments that nothing leads to from a first one: they are part of a circle, or behind one.
    pub fn unreachable(&self) -> Vec<&EnvironmentName> {
        let targets: BTreeSet<_> = self.promotions.iter().map(|step| &step.to).collect();
        let environments = self.environments();
        let firsts = environments.iter().filter(|name| !targets.contains(*name));
        let mut reached: BTreeSet<&EnvironmentName> = firsts.copied().collect();
        loop {
            let next: Vec<_> = self
                .promotions
                .iter()
                .filter(|step| reached.contains(&step.from) && !reached.contains(&step.to))
                .map(|step| &step.to)
                .collect();
            if next.is_empty() {
                break;
            }
            reached.extend(next);
        }
        let is_left = |name: &&EnvironmentName| !reached.contains(*name);
        environments.into_iter().filter(is_left).collect()
    }

    /// A way that leads back to where it began, its first environment named again at its end.
    pub fn circle(&self) -> Option<Vec<&EnvironmentName>> {
        let mut done = BTreeSet::new();
        self.environments().into_iter().find_map(|start| {
            let mut path = vec![start];
            self.walk(&mut path, &mut done).then_some(path)
        })
    }

    fn walk<'a>(
        &'a self,
        path: &mut Vec<&'a EnvironmentName>,
        done: &mut BTreeSet<&'a EnvironmentName>,
    ) -> bool {
        let Some(here) = path.last().copied() else {
            return false;
        };
        for step in self.promotions.iter().filter(|step| step.from == *here) {
            if let Some(at) = path.iter().position(|known| **known == step.to) {
                path.drain(..at);
                path.push(&step.to);
                return true;
            }
            if done.contains(&step.to) {
                continue;
            }
            path.push(&step.to);
            if self.walk(path, done) {
                return true;
            }
            path.pop();
        }
        done.insert(here);
        false
    }

    /// The pipeline in a line, for people: `development → staging → production (approval)`. What branches off is told
    /// apart by semicolons.
    pub fn shown(&self) -> String {
        let targets: BTreeSet<_> = self.promotions.iter().map(|step| &step.to).collect();
        let firsts: Vec<_> = self
            .environments()
            .into_iter()
            .filter(|name| !targets.contains(name))
            .collect();
        let mut left: Vec<&Promotion> = self.promotions.iter().collect();
        let mut lines: Vec<String> = Vec::new();
        for first in firsts {
            let mut line = first.to_string();
            let mut here = first;
            // The first way out goes on in the same line.
            while let Some(at) = left.iter().position(|step| step.from == *here) {
                let step = left.remove(at);
                line += &arrow(step);
                here = &step.to;
            }
            lines.push(line);
        }
        lines.extend(
            left.into_iter()
                .map(|step| format!("{}{}", step.from, arrow(step))),
        );
        lines.join("; ")
    }

    /// Every promotion, as written.
    pub fn promotions(&self) -> &[Promotion] {
        &self.promotions
    }

    /// Every environment once, in the order in which they are first mentioned.
    pub fn environments(&self) -> Vec<&EnvironmentName> {
        let mut seen = BTreeSet::new();
        let steps = self
            .promotions
            .iter()
            .flat_map(|step| [&step.from, &step.to]);
        let first_mentions = steps.chain(&self.sources).filter(|name| seen.insert(*name));
        first_mentions.collect()
    }
}

fn arrow(step: &Promotion) -> String {
    let approval = if step.needs_approval {
        " (approval)"
    } else {
        ""
    };
    format!(" → {}{approval}", step.to)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(spec: Value) -> Result<Resolved, Problem> {
        serde_json::from_value::<DeploymentPipelineSpec>(spec)
            .unwrap()
            .resolve()
    }

    #[test]
    fn the_first_environment_is_the_one_that_nothing_promotes_to() {
        let pipeline = read(json!({"promotionPaths": [
            {"sourceEnvironmentRef": "staging", "targetEnvironmentRefs": [
                {"name": "production", "isManualApprovalRequired": true}]},
            {"sourceEnvironmentRef": {"name": "development"}, "targetEnvironmentRefs": [
                {"name": "staging", "requiresApproval": false}]},
        ]}))
        .unwrap();
        assert_eq!(pipeline.first(), Some(&"development".into()));
        let names: Vec<_> = pipeline
            .environments()
            .into_iter()
            .map(EnvironmentName::as_str)
            .collect();
        assert_eq!(names, ["staging", "production", "development"]);
        let step = |from: &str, to: &str| {
            pipeline
                .promotion(&from.into(), &to.into())
                .map(|step| step.needs_approval)
        };
        assert_eq!(step("staging", "production"), Some(true));
        assert_eq!(step("development", "staging"), Some(false));
        assert_eq!(step("development", "production"), None);
    }

    #[test]
    fn a_pipeline_is_shown_in_a_line_and_what_branches_off_apart() {
        let shown = |paths: Value| read(json!({ "promotionPaths": paths })).unwrap().shown();
        let path = |from: &str, to: Value| json!({"sourceEnvironmentRef": from, "targetEnvironmentRefs": to});
        assert_eq!(
            shown(json!([
                path("b", json!([{"name": "c", "requiresApproval": true}])),
                path("a", json!([{"name": "b"}])),
            ])),
            "a → b → c (approval)"
        );
        assert_eq!(
            shown(json!([
                path("a", json!([{"name": "b"}, {"name": "c"}])),
                path("c", json!([{"name": "d"}])),
                path("x", json!([])),
            ])),
            "a → b; x; a → c; c → d"
        );
        assert_eq!(shown(json!([])), "");
    }

    #[test]
    fn circles_and_what_nothing_leads_to_are_named() {
        let path = |from: &str, to: &str| json!({"sourceEnvironmentRef": from, "targetEnvironmentRefs": [{"name": to}]});
        let names = |names: Vec<&EnvironmentName>| -> Vec<String> {
            names.into_iter().map(ToString::to_string).collect()
        };
        let fine = read(
            json!({"promotionPaths": [path("a", "b"), path("a", "c"), path("b", "d"), path("c", "d")]}),
        );
        let fine = fine.unwrap();
        assert_eq!(fine.circle(), None);
        assert!(fine.unreachable().is_empty());
        let behind = read(
            json!({"promotionPaths": [path("a", "b"), path("c", "d"), path("d", "c"), path("d", "e")]}),
        );
        let behind = behind.unwrap();
        assert_eq!(names(behind.circle().unwrap()), ["c", "d", "c"]);
        assert_eq!(names(behind.unreachable()), ["c", "d", "e"]);
        let back =
            read(json!({"promotionPaths": [path("a", "b"), path("b", "c"), path("c", "b")]}));
        assert_eq!(names(back.unwrap().circle().unwrap()), ["b", "c", "b"]);
    }

    #[test]
    fn circles_and_self_promotion_are_refused() {
        let path = |from: &str, to: &str| json!({"sourceEnvironmentRef": from, "targetEnvironmentRefs": [{"name": to}]});
        let circle = read(json!({"promotionPaths": [path("a", "b"), path("b", "a")]}));
        let problem = circle.unwrap_err();
        assert_eq!(problem.field, "spec.promotionPaths");
        assert!(problem.to_string().contains("a → b → a"), "{problem}");
        let own = read(json!({"promotionPaths": [path("a", "a")]}));
        assert_eq!(
            own.unwrap_err().field,
            "spec.promotionPaths[0].targetEnvironmentRefs[0].name"
        );
        assert_eq!(read(json!({})).unwrap().first(), None);
    }
}
