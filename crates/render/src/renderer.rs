//! Where snapshots are prepared: one for the process.

use std::collections::BTreeSet;

use quadrille_template::Problems;
use quadrille_types::{
    ComponentReleaseSpec, ComponentTypeSpec, Problem, TraitSpec, reference::Reference,
};

use crate::{
    blueprints::Blueprints,
    error::RenderError,
    inputs::Inputs,
    plan::Plan,
    prepared::{Prepared, PreparedTrait},
};

/// Renders. Keeps what was compiled lately; keep one for the process.
#[derive(Debug)]
pub struct Renderer {
    blueprints: Blueprints,
}

impl Default for Renderer {
    fn default() -> Self {
        Self::new()
    }
}

impl Renderer {
    /// A renderer that has compiled nothing yet.
    pub fn new() -> Self {
        Self {
            blueprints: Blueprints::new(),
        }
    }

    /// Everything that is wrong with a component type of a kind (`ComponentType` or `ClusterComponentType`).
    pub fn check_component_type(
        &self,
        kind: &str,
        spec: &ComponentTypeSpec,
    ) -> Result<(), Problems> {
        self.blueprints.component_type(kind, spec).map(drop)
    }

    /// Everything that is wrong with a trait.
    pub fn check_trait(&self, spec: &TraitSpec) -> Result<(), Problems> {
        self.blueprints.of_trait(spec).map(drop)
    }

    /// What parameters and environment configurations a component type takes.
    pub fn schemas_of_component_type(
        &self,
        kind: &str,
        spec: &ComponentTypeSpec,
    ) -> Result<[quadrille_template::Parameters; 2], Problems> {
        let blueprint = self.blueprints.component_type(kind, spec)?;
        Ok([
            blueprint.parameters().clone(),
            blueprint.environment_configs().clone(),
        ])
    }

    /// What parameters and environment configurations a trait takes.
    pub fn schemas_of_trait(
        &self,
        spec: &TraitSpec,
    ) -> Result<[quadrille_template::Parameters; 2], Problems> {
        let blueprint = self.blueprints.of_trait(spec)?;
        Ok([
            blueprint.parameters().clone(),
            blueprint.environment_configs().clone(),
        ])
    }

    /// Compiles the type and the traits of a snapshot. Whoever renders one often keeps what this gives.
    pub fn prepare(&self, release: &ComponentReleaseSpec) -> Result<Prepared, RenderError> {
        let frozen = &release.component_type;
        let whose = format!("component type {}", frozen.short_name());
        let unusable = |whose: String, Problems(problems): Problems| RenderError::Definition {
            whose,
            problems: problems.iter().map(ToString::to_string).collect(),
        };
        let component_type = self
            .blueprints
            .component_type(&frozen.kind, &frozen.spec)
            .map_err(|problems| unusable(whose.clone(), problems))?;
        let mut reads = component_type.reads().clone();
        let embedded = frozen.spec.traits.iter();
        let embedded =
            embedded.map(|used| (used.reference(&frozen.kind), &used.instance_name, true));
        let own = release
            .component_profile
            .iter()
            .flat_map(|profile| &profile.traits);
        let own = own.map(|used| (used.reference(), &used.instance_name, false));
        let mut instances = BTreeSet::new();
        let mut traits = Vec::new();
        for (reference, instance, is_embedded) in embedded.chain(own) {
            let problem = |problem| RenderError::field("component release", problem);
            if !instances.insert(instance) {
                let words = format!(
                    "has two traits with the instance name {instance:?}; give each its own"
                );
                return Err(problem(Problem::new("spec.componentProfile.traits", words)));
            }
            let Reference { kind, name } = &reference;
            let spec = release.frozen_trait(&reference).map_err(problem)?;
            let blueprint = self
                .blueprints
                .of_trait(spec)
                .map_err(|problems| unusable(format!("{kind} {name}"), problems))?;
            reads.extend(blueprint.reads());
            let word = if is_embedded {
                "embedded trait"
            } else {
                "trait"
            };
            traits.push(PreparedTrait {
                whose: format!("{word} {name}/{instance}"),
                name: name.clone(),
                instance: instance.clone(),
                blueprint,
                is_embedded,
            });
        }
        let workload = release
            .workload
            .resolve("spec.workload")
            .map_err(|problem| RenderError::field("component release", problem))?;
        Ok(Prepared {
            workload,
            workload_type: release
                .component_type
                .spec
                .workload_type
                .as_str()
                .to_owned(),
            profile: release.component_profile.clone(),
            whose,
            component_type,
            traits,
            reads,
        })
    }

    /// Prepares a snapshot and renders it in one go.
    pub fn plan(
        &self,
        release: &ComponentReleaseSpec,
        inputs: &Inputs<'_>,
    ) -> Result<Plan, RenderError> {
        self.prepare(release)?.plan(inputs)
    }
}
