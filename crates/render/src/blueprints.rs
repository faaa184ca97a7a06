//! Component types and traits, checked and compiled.

mod checks;

use std::sync::{Arc, LazyLock};

use quadrille_objects::digest::Digest;
use quadrille_template::{
    BindingSource, Blueprint, COMPONENT_MACROS, Cache, Definition, KindRule, Language,
    OperationSource, PatchSource, PostRuleSource, Problem, Problems, RemoveSource, ResourceSource,
    RuleSource, Section, TargetSource, Variables,
};
use quadrille_types::{
    ComponentTypeSpec, TraitSpec,
    names::generate,
    release::TargetPlane,
    templates::{PostRenderValidation, SchemaSection, Target, ValidationRule},
};
use serde::Serialize;
use serde_json::{Value, json};

use self::checks::{planes_of_trait, planes_of_type, traits_of_type};
use crate::variables::shape;

/// Kinds that run something. A type makes one of them, a trait none.
const WORKLOAD_KINDS: &[&str] = &["deployment", "statefulset", "daemonset", "cronjob", "job"];
/// The only namespace that templates may name.
const NAMESPACE: &str = "metadata.namespace";
/// How many compiled types and traits are kept.
const KEPT: usize = 256;

/// What the expressions of types can name.
static OF_TYPES: LazyLock<Variables> = LazyLock::new(|| {
    Language::new(generate::name_within)
        .macros(COMPONENT_MACROS)
        .variables(&shape::of_all())
        .expect("our own variables are described well")
});

/// What the expressions of traits can name.
static OF_TRAITS: LazyLock<Variables> = LazyLock::new(|| {
    OF_TYPES
        .clone()
        .described(&shape::of_traits())
        .expect("our own variables are described well")
});

/// Where types and traits are compiled; what was compiled lately is kept.
#[derive(Debug)]
pub(crate) struct Blueprints {
    known: Cache<Digest, Blueprint>,
}

impl Blueprints {
    pub(crate) fn new() -> Self {
        Self {
            known: Cache::new(KEPT),
        }
    }

    /// A component type of a kind (`ComponentType` or `ClusterComponentType`).
    pub(crate) fn component_type(
        &self,
        kind: &str,
        spec: &ComponentTypeSpec,
    ) -> Result<Arc<Blueprint>, Problems> {
        let key = Digest::of([kind, text(spec).as_str()]);
        self.known.get_or_make(&key, || compile_type(kind, spec))
    }

    /// A trait.
    pub(crate) fn of_trait(&self, spec: &TraitSpec) -> Result<Arc<Blueprint>, Problems> {
        let key = Digest::of(["trait", text(spec).as_str()]);
        self.known.get_or_make(&key, || compile_trait(spec))
    }
}

fn compile_type(kind: &str, spec: &ComponentTypeSpec) -> Result<Blueprint, Problems> {
    let nothing = json!({});
    let mut wrong = planes_of_type(spec);
    wrong.extend(traits_of_type(kind, spec));
    let mut definition = Definition::new(&OF_TYPES);
    definition.parameters = section("spec.parameters", spec.parameters.as_ref());
    definition.environment_configs =
        section("spec.environmentConfigs", spec.environment_configs.as_ref());
    definition.rules = rules(spec.pre_render_rules());
    definition.resources = spec
        .resources
        .iter()
        .enumerate()
        .map(|(index, resource)| ResourceSource {
            path: format!("spec.resources[{index}]"),
            id: &resource.id,
            plane: plane(resource.target_plane.as_deref()),
            include_when: resource.include_when.as_deref(),
            for_each: resource.for_each.as_deref(),
            var: resource.var.as_deref(),
            template: &resource.template,
        })
        .collect();
    definition.post_rules = post_rules(&spec.post_render_validations);
    for (index, embedded) in spec.traits.iter().enumerate() {
        let values = [
            ("parameters", &embedded.parameters),
            ("environmentConfigs", &embedded.environment_configs),
        ];
        for (part, value) in values {
            definition.bindings.push(BindingSource {
                path: format!("spec.traits[{index}].{part}"),
                value: value.as_ref().unwrap_or(&nothing),
            });
        }
    }
    let runs = spec.workload_type.as_str();
    definition.kinds = KindRule {
        required: (runs != "proxy").then_some(runs),
        forbidden: WORKLOAD_KINDS,
    };
    definition.namespace = Some(NAMESPACE);
    finished(&definition, wrong)
}

fn compile_trait(spec: &TraitSpec) -> Result<Blueprint, Problems> {
    let ids: Vec<String> = (0..spec.creates.len())
        .map(|index| format!("create #{index}"))
        .collect();
    let mut definition = Definition::new(&OF_TRAITS);
    definition.parameters = section("spec.parameters", spec.parameters.as_ref());
    definition.environment_configs =
        section("spec.environmentConfigs", spec.environment_configs.as_ref());
    definition.rules = rules(spec.pre_render_rules());
    definition.resources = spec
        .creates
        .iter()
        .zip(&ids)
        .enumerate()
        .map(|(index, (create, id))| ResourceSource {
            path: format!("spec.creates[{index}]"),
            id,
            plane: plane(create.target_plane.as_deref()),
            include_when: create.include_when.as_deref(),
            for_each: create.for_each.as_deref(),
            var: create.var.as_deref(),
            template: &create.template,
        })
        .collect();
    definition.patches = spec
        .patches
        .iter()
        .enumerate()
        .map(|(index, patch)| PatchSource {
            path: format!("spec.patches[{index}]"),
            plane: plane(patch.target_plane.as_deref()),
            target: target(&patch.target),
            for_each: patch.for_each.as_deref(),
            var: patch.var.as_deref(),
            operations: patch
                .operations
                .iter()
                .map(|operation| OperationSource {
                    op: &operation.op,
                    path: &operation.path,
                    value: operation.value.as_ref(),
                })
                .collect(),
        })
        .collect();
    definition.removes = spec
        .removes
        .iter()
        .enumerate()
        .map(|(index, remove)| RemoveSource {
            path: format!("spec.removes[{index}]"),
            plane: plane(remove.target_plane.as_deref()),
            target: target(&remove.target),
            for_each: remove.for_each.as_deref(),
            var: remove.var.as_deref(),
        })
        .collect();
    definition.post_rules = post_rules(&spec.post_render_validations);
    definition.kinds = KindRule {
        required: None,
        forbidden: WORKLOAD_KINDS,
    };
    definition.namespace = Some(NAMESPACE);
    finished(&definition, planes_of_trait(spec))
}

fn text<S: Serialize>(spec: &S) -> String {
    serde_json::to_string(spec).expect("a spec is plain JSON")
}

fn finished(definition: &Definition<'_>, mut wrong: Vec<Problem>) -> Result<Blueprint, Problems> {
    match Blueprint::compile(definition) {
        Ok(blueprint) => Problems(wrong).into_result(blueprint),
        Err(Problems(more)) => {
            wrong.extend(more);
            Err(Problems(wrong))
        }
    }
}

fn section<'d>(path: &str, section: Option<&'d SchemaSection>) -> Option<Section<'d>> {
    let schema = section?.open_api_v3_schema.as_ref()?;
    Some(Section {
        path: format!("{path}.openAPIV3Schema"),
        schema,
    })
}

fn rules<'d>((field, rules): (&str, &'d [ValidationRule])) -> Vec<RuleSource<'d>> {
    let source = |(index, rule): (usize, &'d ValidationRule)| RuleSource {
        path: format!("spec.{field}[{index}]"),
        rule: &rule.rule,
        message: &rule.message,
    };
    rules.iter().enumerate().map(source).collect()
}

fn target(target: &Target) -> TargetSource<'_> {
    TargetSource {
        group: &target.group,
        version: &target.version,
        kind: &target.kind,
        condition: target.where_.as_deref(),
    }
}

fn post_rules(rules: &[PostRenderValidation]) -> Vec<PostRuleSource<'_>> {
    rules
        .iter()
        .enumerate()
        .map(|(index, rule)| PostRuleSource {
            path: format!("spec.postRenderValidations[{index}]"),
            plane: plane(rule.target_plane.as_deref()),
            when: rule.when.as_deref(),
            for_each: rule.for_each.as_deref(),
            var: rule.var.as_deref(),
            target: target(&rule.target.target),
            must_match: rule.target.must_match.unwrap_or(true),
            rule: &rule.rule,
            message: &rule.message,
        })
        .collect()
}

/// The plane of a word; one that means nothing is reported by the checks.
fn plane(written: Option<&str>) -> &'static str {
    TargetPlane::read(written)
        .unwrap_or(TargetPlane::Data)
        .as_str()
}

/// Values that may have `${…}` in them, as a type gives them to its traits.
pub(crate) fn bound_values(
    blueprint: &Blueprint,
    index: usize,
    context: &quadrille_template::Context<'_>,
) -> Result<(Value, Value), quadrille_template::RenderError> {
    let bindings = blueprint.bindings();
    let parameters = bindings[2 * index].render(context)?;
    let configs = bindings[2 * index + 1].render(context)?;
    Ok((parameters, configs))
}
