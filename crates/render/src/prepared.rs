//! The pipeline: from everything that was fetched to a plan.
//!
//! ```text
//!   inputs ─► settings, dependencies, variables ─► rules of the type ─► its objects
//!          ─► each trait: rules, creates, patches, removes ─► rules about objects
//!          ─► labels, digests, order, ids ─► network policy ─► Plan
//! ```

mod steps;

use std::sync::Arc;

use quadrille_template::{Blueprint, Budget, Context, Parameters, Reads};
use quadrille_types::{
    component_release::ComponentProfile, release::TargetPlane, workload::Resolved as Workload,
};
use serde_json::{Value, json};

use self::steps::{check_rules, create, failed, resolve};
pub(crate) use self::steps::{container, secret_references};
use crate::{
    blueprints::bound_values,
    dependencies,
    error::RenderError,
    finish::{self, Rendered, id_of},
    gateway::Gateways,
    inputs::Inputs,
    metadata::Metadata,
    plan::{Plan, Planned},
    policy,
    provider::{PolicyProvider, SecretProvider},
    settings, urls,
    variables::{self, Seen, Variable},
};

/// A snapshot whose type and traits are compiled: what it becomes in an environment takes microseconds.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) workload: Workload,
    /// What kind of object runs.
    pub(crate) workload_type: String,
    /// What the component said.
    pub(crate) profile: Option<ComponentProfile>,
    /// How messages call the component type.
    pub(crate) whose: String,
    pub(crate) component_type: Arc<Blueprint>,
    /// Those of the type first, then those of the component.
    pub(crate) traits: Vec<PreparedTrait>,
    /// What the expressions of all of them look at.
    pub(crate) reads: Reads,
}

/// A trait in use.
#[derive(Clone, Debug)]
pub(crate) struct PreparedTrait {
    pub(crate) name: String,
    pub(crate) instance: String,
    /// How messages call it.
    pub(crate) whose: String,
    pub(crate) blueprint: Arc<Blueprint>,
    /// Whether it comes with the type.
    pub(crate) is_embedded: bool,
}

/// A trait with what it is told here.
struct Told<'p> {
    used: &'p PreparedTrait,
    variable: Value,
    parameters: Value,
    configs: Value,
}

impl Told<'_> {
    fn context<'a>(&'a self, base: &Context<'a>) -> Context<'a> {
        base.clone()
            .with("trait", &self.variable)
            .with("parameters", &self.parameters)
            .with("environmentConfigs", &self.configs)
    }
}

impl Prepared {
    /// What the snapshot becomes.
    pub fn plan(&self, inputs: &Inputs<'_>) -> Result<Plan, RenderError> {
        self.planned(inputs)
            .map_err(|error| error.without(&self.passwords(inputs)))
    }

    /// What the type and the traits call passwords among what they are told.
    fn passwords(&self, inputs: &Inputs<'_>) -> Vec<String> {
        let mut found = Vec::new();
        let mut take = |schema: &Parameters, given: Option<&Value>| {
            let given = given.map(|given| schema.passwords(given));
            found.extend(given.into_iter().flatten().map(|(_, value)| value));
        };
        let configs = inputs.binding.component_type_environment_configs.as_ref();
        take(self.component_type.environment_configs(), configs);
        for used in &self.traits {
            let configs = inputs.binding.trait_environment_configs.get(&used.instance);
            take(used.blueprint.environment_configs(), configs);
        }
        found
    }

    fn planned(&self, inputs: &Inputs<'_>) -> Result<Plan, RenderError> {
        let workload = &self.workload;
        let container = container(workload, inputs.binding)?;
        let metadata = Metadata::of(inputs);
        let gateways = Gateways::of(inputs.environment_spec, inputs.plane_spec);
        let provider =
            SecretProvider::of(inputs.plane_spec, inputs.plane_annotations).map_err(|problem| {
                RenderError::field(format!("plane {}", inputs.plane.name), problem)
            })?;
        let prefix = format!("{}-{}", inputs.component.name, inputs.environment.name);
        let settings = settings::sort(&container, inputs.secrets, provider, prefix)?;
        let mut needed = dependencies::gather(workload, inputs)?;
        let values = variables::values(&Seen {
            inputs,
            metadata: &metadata,
            workload,
            container: &container,
            settings: &settings,
            dependencies: &needed,
            gateways: &gateways,
            provider,
            reads: &self.reads,
        });
        let mut notes = std::mem::take(&mut needed.notes);
        let mut objects = self.render(inputs, &values, &mut notes)?;
        finish::check_complete(&objects)?;
        finish::label(&mut objects, &metadata.labels);
        finish::note_restarts(&mut objects, &self.workload_type, inputs.restarted_at);
        let mut objects = finish::number(objects)?;
        let on_data_plane = objects
            .iter()
            .filter(|planned| planned.plane == TargetPlane::Data);
        let on_data_plane = on_data_plane.map(|planned| &planned.object);
        let endpoints = urls::of(
            &workload.endpoints,
            &on_data_plane,
            &gateways,
            &metadata.namespace,
        );
        let policies = PolicyProvider::of(inputs.plane_spec, inputs.plane_annotations);
        let policy = policy::of(workload, &metadata, inputs, policies)?;
        let kind = policy["kind"].as_str().unwrap_or_default().to_lowercase();
        let name = policy["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let id = id_of(&[&kind, &name]);
        if objects
            .iter()
            .any(|planned| planned.plane == TargetPlane::Data && planned.id == id)
        {
            return Err(RenderError::Duplicate { object: name });
        }
        objects.push(Planned {
            id,
            plane: TargetPlane::Data,
            object: policy,
        });
        Ok(Plan {
            objects,
            namespace: metadata.namespace,
            endpoints,
            secret_references: secret_references(&container),
            pending_connections: needed.pending,
            pending_resources: needed.pending_resources,
            notes,
        })
    }

    fn render(
        &self,
        inputs: &Inputs<'_>,
        values: &[Variable],
        notes: &mut Vec<String>,
    ) -> Result<Vec<Rendered<'_>>, RenderError> {
        let whose = &self.whose;
        let profile = self.profile.as_ref();
        let parameters = profile.and_then(|profile| profile.parameters.as_ref());
        let configs = inputs.binding.component_type_environment_configs.as_ref();
        let blueprint = &self.component_type;
        let parameters = resolve(
            blueprint.parameters(),
            parameters,
            whose,
            "parameters",
            notes,
        )?;
        let configs = resolve(
            blueprint.environment_configs(),
            configs,
            whose,
            "environmentConfigs",
            notes,
        )?;
        let budget = Budget::default();
        let base = values
            .iter()
            .fold(Context::new(&budget), |context, (name, value)| {
                context.with(*name, value)
            });
        let context = base
            .clone()
            .with("parameters", &parameters)
            .with("environmentConfigs", &configs);
        check_rules(blueprint, &context, whose)?;
        let mut objects = Vec::new();
        create(blueprint, &context, whose, &mut objects)?;
        let told = self.told(inputs, &context, notes)?;
        for one in &told {
            apply_trait(one, &base, &mut objects)?;
        }
        let mut failures = Vec::new();
        let mut check = |blueprint: &Blueprint, context: &Context<'_>, whose: &str| {
            let rules = blueprint.post_rules().iter();
            let found = rules.flat_map(|rule| rule.check(context, &objects));
            failures.extend(found.map(|failure| format!("{whose}: {failure}")));
        };
        check(blueprint, &context, whose);
        for one in &told {
            check(&one.used.blueprint, &one.context(&base), &one.used.whose);
        }
        if failures.is_empty() {
            Ok(objects)
        } else {
            Err(RenderError::PostRules { failures })
        }
    }

    /// What each trait is told: those of the type by the type, the others by the component and the binding.
    fn told<'p>(
        &'p self,
        inputs: &Inputs<'_>,
        context: &Context<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Told<'p>>, RenderError> {
        let profile = self.profile.as_ref();
        let instances = profile
            .map(|profile| profile.traits.as_slice())
            .unwrap_or_default();
        let by_instance = &inputs.binding.trait_environment_configs;
        let mut told = Vec::with_capacity(self.traits.len());
        let mut embedded = 0;
        for used in &self.traits {
            let whose = &used.whose;
            let (parameters, configs) = if used.is_embedded {
                let (parameters, configs) = bound_values(&self.component_type, embedded, context)
                    .map_err(|error| failed(whose, &error))?;
                embedded += 1;
                (Some(parameters), Some(configs))
            } else {
                let instance = instances
                    .iter()
                    .find(|instance| instance.instance_name == used.instance);
                let parameters = instance.and_then(|instance| instance.parameters.clone());
                (parameters, by_instance.get(&used.instance).cloned())
            };
            let blueprint = &used.blueprint;
            told.push(Told {
                used,
                variable: json!({ "name": used.name, "instanceName": used.instance }),
                parameters: resolve(
                    blueprint.parameters(),
                    parameters.as_ref(),
                    whose,
                    "parameters",
                    notes,
                )?,
                configs: resolve(
                    blueprint.environment_configs(),
                    configs.as_ref(),
                    whose,
                    "environmentConfigs",
                    notes,
                )?,
            });
        }
        for name in by_instance.keys() {
            let place = format!("traitEnvironmentConfigs.{name}");
            match self.traits.iter().find(|used| used.instance == *name) {
                None => notes.push(format!(
                    "{place}: the component has no trait of that instance name"
                )),
                Some(used) if used.is_embedded => {
                    notes.push(format!(
                        "{place}: is a trait of the component type, which alone tells it values"
                    ));
                }
                Some(_) => {}
            }
        }
        Ok(told)
    }
}

fn apply_trait<'p>(
    told: &Told<'p>,
    base: &Context<'_>,
    objects: &mut Vec<Rendered<'p>>,
) -> Result<(), RenderError> {
    let whose = &told.used.whose;
    let blueprint = &told.used.blueprint;
    let context = told.context(base);
    check_rules(blueprint, &context, whose)?;
    create(blueprint, &context, whose, objects)?;
    for patch in blueprint.patches() {
        patch
            .apply(&context, objects)
            .map_err(|error| failed(whose, &error))?;
    }
    for remove in blueprint.removes() {
        remove
            .apply(&context, objects)
            .map_err(|error| failed(whose, &error))?;
    }
    Ok(())
}
