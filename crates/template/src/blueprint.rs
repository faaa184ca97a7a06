//! A whole definition, checked and compiled: every expression against the schemas and variables, every
//! structural rule, all problems at once.

mod compiler;

use crate::{
    context::Context,
    definition::{Definition, Section},
    patch::{Patch, Remove},
    problem::Problems,
    reads::Reads,
    resource::Resource,
    rule::{self, PostRule, Rule, RuleFailure},
    schema::Parameters,
    structure,
    template::Template,
    variables::Scope,
};
use compiler::Compiler;

/// A compiled definition. Share it in an `Arc`.
#[derive(Debug)]
pub struct Blueprint {
    parameters: Parameters,
    environment_configs: Parameters,
    rules: Vec<Rule>,
    resources: Vec<Resource>,
    patches: Vec<Patch>,
    removes: Vec<Remove>,
    post_rules: Vec<PostRule>,
    bindings: Vec<Template>,
    reads: Reads,
}

impl Blueprint {
    /// Checks and compiles a definition.
    pub fn compile(definition: &Definition<'_>) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let parameters = schema(definition.parameters.as_ref(), &mut problems);
        let environment_configs = schema(definition.environment_configs.as_ref(), &mut problems);
        let mut variables = definition.variables.clone();
        for (name, found) in [
            ("parameters", &parameters),
            ("environmentConfigs", &environment_configs),
        ] {
            // What a broken schema would say is not known; one mistake is told once.
            let ty = match found {
                Some(schema) => schema.ty(name),
                None => quadrille_expr::Type::Dyn,
            };
            variables = variables.with(name, ty);
        }
        let mut compiler = Compiler {
            scope: Scope::new(variables),
            problems,
        };
        structure::check(definition, &mut compiler.problems);
        let rules = compiler.each(&definition.rules, compiler::rule);
        let resources = compiler.each(&definition.resources, compiler::resource);
        let patches = compiler.each(&definition.patches, compiler::patch);
        let removes = compiler.each(&definition.removes, compiler::remove);
        let post_rules = compiler.each(&definition.post_rules, compiler::post_rule);
        let bindings = compiler.each(&definition.bindings, |scope, source, problems| {
            problems.take(Template::within(scope, source.value, &source.path))
        });
        let reads = compiler.scope.reads();
        compiler.problems.into_result(())?;
        Ok(Self {
            parameters: parameters.unwrap_or_else(Parameters::none),
            environment_configs: environment_configs.unwrap_or_else(Parameters::none),
            rules,
            resources,
            patches,
            removes,
            post_rules,
            bindings,
            reads,
        })
    }

    /// The schema of `parameters`.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The schema of `environmentConfigs`.
    pub fn environment_configs(&self) -> &Parameters {
        &self.environment_configs
    }

    /// The rules that do not hold before rendering.
    pub fn check_rules(&self, context: &Context<'_>) -> Vec<RuleFailure> {
        rule::failures(&self.rules, context)
    }

    /// Templates of objects, in order.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Patches, in order.
    pub fn patches(&self) -> &[Patch] {
        &self.patches
    }

    /// Removals, in order.
    pub fn removes(&self) -> &[Remove] {
        &self.removes
    }

    /// Rules about rendered objects, in order.
    pub fn post_rules(&self) -> &[PostRule] {
        &self.post_rules
    }

    /// Other values, in the order of the definition.
    pub fn bindings(&self) -> &[Template] {
        &self.bindings
    }

    /// What expressions look at: nothing else need be prepared.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }
}

/// The schema of a section; nothing when it is broken.
fn schema(section: Option<&Section<'_>>, problems: &mut Problems) -> Option<Parameters> {
    match section {
        None => Some(Parameters::none()),
        Some(section) => problems.take(Parameters::compile(section.schema, &section.path)),
    }
}
