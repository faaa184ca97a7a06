//! The parts of a definition, compiled one by one.

use crate::{
    definition::{
        OperationSource, PatchSource, PostRuleSource, RemoveSource, ResourceSource, RuleSource,
        TargetSource,
    },
    loops::{Loop, Place, condition},
    patch::{Op, Operation, OperationPath, Patch, Remove, path},
    problem::{Problem, Problems},
    resource::Resource,
    rule::{PostRule, Rule},
    target::{RESOURCE, Target},
    template::Template,
    text::Text,
    variables::Scope,
};

pub(super) struct Compiler {
    pub(super) scope: Scope,
    pub(super) problems: Problems,
}

/// The operations that there are.
const OPS: [&str; 3] = ["add", "replace", "remove"];

impl Compiler {
    /// Compiles all of a list; what fails is noted and left out.
    pub(super) fn each<S, T>(
        &mut self,
        sources: &[S],
        compile: impl Fn(&Scope, &S, &mut Problems) -> Option<T>,
    ) -> Vec<T> {
        let mut compiled = Vec::with_capacity(sources.len());
        for source in sources {
            compiled.extend(compile(&self.scope, source, &mut self.problems));
        }
        compiled
    }
}

/// A condition that may be absent: the outer option says whether it compiles.
#[expect(clippy::option_option, reason = "absent and broken are two things")]
fn optional(
    scope: &Scope,
    text: Option<&str>,
    path: &str,
    problems: &mut Problems,
) -> Option<Option<std::sync::Arc<crate::expression::Expression>>> {
    match text {
        None => Some(None),
        Some(text) => problems.take(condition(scope, text, path)).map(Some),
    }
}

pub(super) fn rule(
    scope: &Scope,
    source: &RuleSource<'_>,
    problems: &mut Problems,
) -> Option<Rule> {
    let path = format!("{}.rule", source.path);
    Some(Rule {
        written: source.rule.to_owned(),
        condition: problems.take(condition(scope, source.rule, &path))?,
        message: source.message.to_owned(),
    })
}

pub(super) fn resource(
    scope: &Scope,
    source: &ResourceSource<'_>,
    problems: &mut Problems,
) -> Option<Resource> {
    // The loop's variable cannot be seen here: the condition comes first.
    let at = format!("{}.includeWhen", source.path);
    let include_when = optional(scope, source.include_when, &at, problems);
    let (turns, inside) =
        Loop::compile(scope, (source.for_each, source.var), &source.path, problems);
    let at = format!("{}.template", source.path);
    let template = problems.take(Template::within(&inside, source.template, &at));
    Some(Resource {
        id: source.id.to_owned(),
        plane: source.plane.to_owned(),
        path: source.path.clone(),
        include_when: include_when?,
        turns,
        template: template?,
    })
}

pub(super) fn patch(
    scope: &Scope,
    source: &PatchSource<'_>,
    problems: &mut Problems,
) -> Option<Patch> {
    let turns = (source.for_each, source.var);
    let aim = (&source.target, source.plane);
    let (turns, inside, target) = aimed(scope, turns, aim, &source.path, problems);
    let mut operations = Vec::with_capacity(source.operations.len());
    for (at, operation) in source.operations.iter().enumerate() {
        let at = format!("{}.operations[{at}]", source.path);
        operations.extend(self::operation(&inside, operation, &at, problems));
    }
    Some(Patch {
        subject: format!("patch of {}", source.target.kind),
        path: source.path.clone(),
        target: target?,
        turns,
        operations,
    })
}

fn operation(
    scope: &Scope,
    source: &OperationSource<'_>,
    at: &str,
    problems: &mut Problems,
) -> Option<Operation> {
    let op = Op::named(source.op);
    if op.is_none() {
        let mut problem = Problem::new(
            format!("{at}.op"),
            format!("there is no operation `{}`", source.op),
        );
        problem.remedy = crate::problem::suggest(source.op, OPS);
        problems.push(problem);
    }
    if op.is_some_and(|op| op != Op::Remove) && source.value.is_none() {
        let words = format!("`{}` needs a value", source.op);
        problems.push(Problem::new(format!("{at}.value"), words));
    }
    let value_at = format!("{at}.value");
    let value = source
        .value
        .map(|value| problems.take(Template::within(scope, value, &value_at)));
    let path_at = format!("{at}.path");
    let text = problems.take(Text::compile(scope, source.path, &path_at))?;
    let path = if text.is_fixed() {
        let steps = path::parse(source.path).map_err(|error| {
            let words = format!("`{}` is no path: {error}", source.path);
            Problems::from(Problem::new(&*path_at, words))
        });
        OperationPath::Fixed(source.path.to_owned(), problems.take(steps)?)
    } else {
        OperationPath::Made(text)
    };
    Some(Operation {
        op: op?,
        path,
        value: match value {
            None => None,
            Some(value) => Some(value?),
        },
        at: path_at,
    })
}

/// A loop, the place inside it, and the objects that each turn is about.
fn aimed<'s>(
    scope: &'s Scope,
    turns: (Option<&str>, Option<&str>),
    (source, plane): (&TargetSource<'_>, &str),
    path: &str,
    problems: &mut Problems,
) -> (Loop, Place<'s>, Option<Target>) {
    let (turns, inside) = Loop::compile(scope, turns, path, problems);
    let target = target(&inside, source, plane, path, problems);
    (turns, inside, target)
}

fn target(
    scope: &Scope,
    source: &TargetSource<'_>,
    plane: &str,
    path: &str,
    problems: &mut Problems,
) -> Option<Target> {
    let path = format!("{path}.target");
    for (name, text) in [("version", source.version), ("kind", source.kind)] {
        if text.is_empty() {
            problems.push(Problem::new(format!("{path}.{name}"), "is required"));
        }
    }
    let inside = scope.with(RESOURCE, quadrille_expr::Type::Dyn);
    let at = format!("{path}.where");
    Some(Target {
        plane: plane.to_owned(),
        group: source.group.to_owned(),
        version: source.version.to_owned(),
        kind: source.kind.to_owned(),
        condition: optional(&inside, source.condition, &at, problems)?,
        path,
    })
}

pub(super) fn remove(
    scope: &Scope,
    source: &RemoveSource<'_>,
    problems: &mut Problems,
) -> Option<Remove> {
    let turns = (source.for_each, source.var);
    let aim = (&source.target, source.plane);
    let (turns, _, target) = aimed(scope, turns, aim, &source.path, problems);
    Some(Remove {
        subject: format!("removal of {}", source.target.kind),
        target: target?,
        turns,
    })
}

pub(super) fn post_rule(
    scope: &Scope,
    source: &PostRuleSource<'_>,
    problems: &mut Problems,
) -> Option<PostRule> {
    let at = format!("{}.when", source.path);
    let when = optional(scope, source.when, &at, problems);
    let turns = (source.for_each, source.var);
    let aim = (&source.target, source.plane);
    let (turns, inside, target) = aimed(scope, turns, aim, &source.path, problems);
    let with_resource = inside.with(RESOURCE, quadrille_expr::Type::Dyn);
    let at = format!("{}.rule", source.path);
    let condition = problems.take(condition(&with_resource, source.rule, &at));
    Some(PostRule {
        path: source.path.clone(),
        when: when?,
        turns,
        target: target?,
        must_match: source.must_match,
        condition: condition?,
        message: source.message.to_owned(),
    })
}
