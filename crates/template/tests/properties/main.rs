//! What holds for every input: nothing panics, order does not matter, and what is accepted is never of
//! the wrong type later.

mod random;
#[path = "../support/mod.rs"]
mod support;

use proptest::prelude::*;
use quadrille_template::{
    Blueprint, Budget, Cause, Context, Definition, Limits, Problems, RenderError, ResourceSource,
    RuleSource, Section, Template,
};
use random::{Dice, Shape, Writer, names, schema, shape, value};
use serde_json::{Value as Json, json};

/// Whether an error is about types, rather than about values.
fn is_about_types(error: &RenderError) -> bool {
    match &error.cause {
        Cause::WrongType { .. } | Cause::NoJson(_) => true,
        Cause::Evaluation(words) => [
            "no such overload",
            "conversion",
            "unsupported",
            "expected",
            "invalid",
        ]
        .iter()
        .any(|part| words.contains(part)),
        _ => false,
    }
}

/// A random type: an object with expressions wherever there may be one, over random parameters.
struct RandomType {
    schema: Json,
    given: Json,
    include_when: String,
    for_each: String,
    template: Json,
    rule: String,
}

/// What to loop over, and what its items should be: a parameter, seldom of the wrong type. A list that is written out may
/// have items of many types, of which nothing is known beforehand.
fn looped(dice: &mut Dice, known: &[(String, Shape)]) -> (String, Shape) {
    let lists = known.iter().filter_map(|(name, shape)| match shape {
        Shape::List(item) => Some((name.clone(), (**item).clone())),
        _ => None,
    });
    let lists: Vec<(String, Shape)> = lists.collect();
    if dice.below(8) == 0 {
        let (name, _) = dice.pick(known);
        return (name, Shape::Whole);
    }
    if lists.is_empty() {
        return ("lists.range(2)".to_owned(), Shape::Whole);
    }
    dice.pick(&lists)
}

impl RandomType {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let fields = (0..4)
            .map(|at| (format!("p{at}"), shape(&mut dice, 2)))
            .collect();
        let parameters = Shape::Object(fields);
        let wanted = shape(&mut dice, 1);
        let mut known = Vec::new();
        names("parameters", &parameters, &mut known);
        let given = value(&mut dice, &parameters);
        let (looped, item) = looped(&mut dice, &known);
        let mut writer = Writer {
            dice: &mut dice,
            known,
            loops: 0,
        };
        let mut written = |shape: &Shape, depth| format!("${{{}}}", writer.of(shape, depth));
        let include_when = written(&Shape::Truth, 1);
        let for_each = format!("${{{looped}}}");
        let rule = written(&Shape::Truth, 2);
        let (key, text) = (written(&Shape::Text, 1), written(&Shape::Text, 1));
        names("item", &item, &mut writer.known);
        let value = format!("${{{}}}", writer.of(&wanted, 3));
        let metadata = json!({ "name": format!("a{text}") });
        let template =
            json!({ "apiVersion": "v1", "kind": "K", "metadata": metadata, key: 1, "x": value });
        Self {
            schema: schema(&parameters),
            given,
            include_when,
            for_each,
            template,
            rule,
        }
    }

    /// Nothing where the type is refused; else every error of rendering it.
    fn tried(&self) -> Result<Option<Vec<RenderError>>, Problems> {
        let variables = support::language().untyped(&[]);
        let mut definition = Definition::new(&variables);
        definition.parameters = Some(Section {
            path: "schema".to_owned(),
            schema: &self.schema,
        });
        definition.rules.push(RuleSource {
            path: "rule".to_owned(),
            rule: &self.rule,
            message: "m",
        });
        definition.resources.push(ResourceSource {
            path: "resource".to_owned(),
            id: "r",
            plane: "",
            include_when: Some(&self.include_when),
            for_each: Some(&self.for_each),
            var: Some("item"),
            template: &self.template,
        });
        let Ok(blueprint) = Blueprint::compile(&definition) else {
            return Ok(None);
        };
        let resolved = blueprint.parameters().resolve(Some(&self.given))?;
        let budget = Budget::default();
        let context = Context::new(&budget).with("parameters", &resolved);
        let broken = blueprint.check_rules(&context).into_iter();
        let mut errors: Vec<RenderError> = broken.filter_map(|failure| failure.cause).collect();
        errors.extend(blueprint.resources()[0].render(&context).err());
        Ok(Some(errors))
    }
}

#[test]
fn what_is_compiled_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Blueprint>();
    shared::<Template>();
    shared::<quadrille_template::Variables>();
}

#[test]
fn what_is_accepted_is_never_of_the_wrong_type_later() {
    let (mut accepted, mut rendered) = (0, 0);
    for seed in 0..4000 {
        let random = RandomType::new(seed);
        let told = |words: String| {
            let RandomType { schema, given, .. } = &random;
            format!("seed {seed}: {words}\nof {schema}\nwith {given}")
        };
        let tried = random.tried();
        let Some(errors) = tried.unwrap_or_else(|wrong| panic!("{}", told(wrong.to_string())))
        else {
            continue;
        };
        accepted += 1;
        rendered += usize::from(errors.is_empty());
        if let Some(error) = errors.iter().find(|error| is_about_types(error)) {
            panic!("{}", told(error.to_string()));
        }
    }
    // Else nothing would be shown.
    assert!(accepted > 1000, "only {accepted} were accepted");
    assert!(rendered > 500, "only {rendered} were rendered");
}

/// A tree with its maps written in any order.
fn shuffled(dice: &mut Dice, tree: &Json) -> String {
    match tree {
        Json::Object(fields) => {
            let mut parts: Vec<String> = fields
                .iter()
                .map(|(name, value)| {
                    format!("{}:{}", Json::from(name.as_str()), shuffled(dice, value))
                })
                .collect();
            for at in (1..parts.len()).rev() {
                parts.swap(at, dice.below(at + 1));
            }
            format!("{{{}}}", parts.join(","))
        }
        Json::Array(items) => {
            let parts: Vec<String> = items.iter().map(|item| shuffled(dice, item)).collect();
            format!("[{}]", parts.join(","))
        }
        scalar => scalar.to_string(),
    }
}

#[test]
fn the_order_of_what_is_given_changes_no_byte() {
    let tree = json!({
        "labels": "${oc_merge(p.labels, {'z': 'y', 'a': 'b'})}",
        "list": "${p.labels.transformList(k, v, k + '=' + v)}",
        "text": "all: ${p.labels} and ${p}",
        "${p.key}": {"b": "${p}", "a": ["${p.labels.map(k, k)}"]},
    });
    let values = json!({"labels": {"c": "1", "a": "2", "b": "3"}, "key": "k", "deep": {"y": {"b": 1, "a": 2}, "x": []}});
    let variables = support::language().untyped(&["p"]);
    let mut seen = Vec::new();
    for seed in 0..50 {
        let mut dice = Dice(seed);
        let tree: Json = serde_json::from_str(&shuffled(&mut dice, &tree)).unwrap();
        let values: Json = serde_json::from_str(&shuffled(&mut dice, &values)).unwrap();
        let template = Template::compile(&variables, &tree, "t").unwrap();
        let budget = Budget::default();
        let rendered = template
            .render(&Context::new(&budget).with("p", &values))
            .unwrap();
        seen.push(rendered.to_string());
    }
    seen.dedup();
    assert_eq!(seen.len(), 1, "{seen:#?}");
}

/// Pieces that texts with expressions are made of.
const PIECES: [&str; 24] = [
    "${",
    "}",
    "{",
    "'",
    "\"",
    "\\",
    "p",
    ".a",
    "[0]",
    " + ",
    "1",
    "'x'",
    "oc_omit()",
    "oc_merge(p, p)",
    ".map(x, x)",
    "?",
    ":",
    "has(p.a)",
    "[?(@.a=='b')]",
    "/",
    "~1",
    "$",
    "é",
    "lists.range(100)",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_panics(picked in prop::collection::vec(0..PIECES.len(), 0..14)) {
        let text: String = picked.iter().map(|at| PIECES[*at]).collect();
        let input = json!({
            "context": {"p": {"a": [1, {"a": "b"}], "l": {"x": 1}}},
            "template": {&text: [&text, {"k": &text}]},
            "resources": [{"id": &text, "includeWhen": &text, "forEach": &text, "template": {"apiVersion": "v1", "kind": "K", "metadata": {"name": &text}}}],
            "rules": [{"rule": &text, "message": &text}],
        });
        support::run(&input);
        let patch = json!({
            "context": {"p": {"a": [1, {"a": "b"}]}},
            "given": [{"apiVersion": "v1", "kind": "K", "metadata": {"name": "a"}, "a": [{"a": "b"}, 1]}],
            "patches": [{"target": {"group": "", "version": "v1", "kind": "K"}, "operations": [
                {"op": "add", "path": format!("/{text}"), "value": &text},
                {"op": "remove", "path": &text},
            ]}],
        });
        support::run(&patch);
    }

    #[test]
    fn a_budget_is_kept(steps in 1_u64..5000, bytes in 1_usize..5000) {
        let variables = support::language().untyped(&["p"]);
        let tree = json!({"a": "${lists.range(50).map(x, lists.range(20))}", "b": ["${p}", "text ${p}"]});
        let template = Template::compile(&variables, &tree, "t").unwrap();
        let values = json!({"k": "v".repeat(100)});
        let budget = Budget::new(Limits { steps, bytes, depth: 20 });
        match template.render(&Context::new(&budget).with("p", &values)) {
            Err(error) => prop_assert!(error.cause.is_limit(), "{}", error),
            Ok(rendered) => prop_assert!(rendered.to_string().len() <= bytes),
        }
    }
}
