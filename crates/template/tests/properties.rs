//! What holds for every input: nothing panics, order does not matter, and what is accepted is never of
//! the wrong type later.

mod support;

use proptest::prelude::*;
use quadrille_template::{
    BindingSource, Blueprint, Budget, Context, Definition, Limits, RenderError, Section, Template,
};
use serde_json::{Map, Value as Json, json};

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let number = (mixed ^ (mixed >> 31)) % (most as u64);
        usize::try_from(number).expect("below a usize")
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// What a value can be.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Text,
    Whole,
    Number,
    Truth,
    List(Box<Shape>),
    Map(Box<Shape>),
    Object(Vec<(String, Shape)>),
}

fn shape(dice: &mut Dice, depth: usize) -> Shape {
    let most = if depth == 0 { 4 } else { 7 };
    match dice.below(most) {
        0 => Shape::Text,
        1 => Shape::Whole,
        2 => Shape::Number,
        3 => Shape::Truth,
        4 => Shape::List(Box::new(shape(dice, depth - 1))),
        5 => Shape::Map(Box::new(shape(dice, depth - 1))),
        _ => {
            let fields = 1 + dice.below(3);
            let field = |at: usize| (format!("f{at}"), shape(dice, depth - 1));
            Shape::Object((0..fields).map(field).collect())
        }
    }
}

fn schema(shape: &Shape) -> Json {
    match shape {
        Shape::Text => json!({"type": "string"}),
        Shape::Whole => json!({"type": "integer"}),
        Shape::Number => json!({"type": "number"}),
        Shape::Truth => json!({"type": "boolean"}),
        Shape::List(item) => json!({"type": "array", "items": schema(item)}),
        Shape::Map(value) => json!({"type": "object", "additionalProperties": schema(value)}),
        Shape::Object(fields) => {
            let fields: Map<String, Json> = fields
                .iter()
                .map(|(name, shape)| (name.clone(), schema(shape)))
                .collect();
            json!({"type": "object", "properties": fields})
        }
    }
}

fn value(dice: &mut Dice, shape: &Shape) -> Json {
    match shape {
        Shape::Text => Json::from(dice.pick(&["", "a", "12", "x-y"])),
        Shape::Whole => dice.pick(&[json!(0), json!(3), json!(-7), json!(2.0)]),
        Shape::Number => dice.pick(&[json!(1.5), json!(2), json!(-0.25)]),
        Shape::Truth => Json::from(dice.below(2) == 0),
        Shape::List(item) => (0..dice.below(3)).map(|_| value(dice, item)).collect(),
        Shape::Map(item) => {
            let count = dice.below(3);
            let entries: Map<String, Json> = (0..count)
                .map(|at| (format!("k{at}"), value(dice, item)))
                .collect();
            Json::Object(entries)
        }
        Shape::Object(fields) => {
            let entries: Map<String, Json> = fields
                .iter()
                .map(|(name, shape)| (name.clone(), value(dice, shape)))
                .collect();
            Json::Object(entries)
        }
    }
}

/// Writes expressions: usually of the type that is asked for, sometimes of another.
struct Writer<'w> {
    dice: &'w mut Dice,
    /// What can be named, and what it is.
    known: Vec<(String, Shape)>,
    loops: usize,
}

impl Writer<'_> {
    fn of(&mut self, wanted: &Shape, depth: usize) -> String {
        if self.dice.below(12) == 0 {
            let other = shape(self.dice, 1);
            return self.of(&other, depth.saturating_sub(1));
        }
        let named: Vec<String> = self
            .known
            .iter()
            .filter(|(_, shape)| shape == wanted)
            .map(|(name, _)| name.clone())
            .collect();
        if !named.is_empty() && self.dice.below(3) > 0 {
            return self.dice.pick(&named);
        }
        if depth == 0 {
            return self.literal(wanted);
        }
        if self.dice.below(6) == 0 {
            let truth = self.of(&Shape::Truth, depth - 1);
            let (one, two) = (self.of(wanted, depth - 1), self.of(wanted, depth - 1));
            return format!("({truth} ? {one} : {two})");
        }
        match wanted {
            Shape::Text => self.text(depth),
            Shape::Whole => self.whole(depth),
            Shape::Number => {
                let (one, two) = (self.of(wanted, depth - 1), self.of(wanted, depth - 1));
                let sign = self.dice.pick(&["+", "-", "*"]);
                format!("({one} {sign} {two})")
            }
            Shape::Truth => self.truth(depth),
            Shape::List(item) => self.list(item, depth),
            Shape::Map(_) | Shape::Object(_) => self.literal(wanted),
        }
    }

    fn literal(&mut self, wanted: &Shape) -> String {
        match wanted {
            Shape::Text => self.dice.pick(&["'a'", "''", "'x-y'"]).to_owned(),
            Shape::Whole => self.dice.pick(&["0", "1", "42"]).to_owned(),
            Shape::Number => self.dice.pick(&["0.5", "2.0"]).to_owned(),
            Shape::Truth => self.dice.pick(&["true", "false"]).to_owned(),
            Shape::List(item) => format!("[{}]", self.literal(item)),
            Shape::Map(item) => format!("{{'k': {}}}", self.literal(item)),
            Shape::Object(_) => "{'f0': 1, 'f1': 'x'}".to_owned(),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        match self.dice.below(6) {
            0 => {
                let (one, two) = (
                    self.of(&Shape::Text, depth - 1),
                    self.of(&Shape::Text, depth - 1),
                );
                format!("({one} + {two})")
            }
            1 => format!("string({})", self.of(&Shape::Whole, depth - 1)),
            2 => format!("{}.upperAscii()", self.of(&Shape::Text, depth - 1)),
            3 => {
                let list = self.of(&Shape::List(Box::new(Shape::Text)), depth - 1);
                format!("{list}.join('-')")
            }
            4 => {
                let (one, two) = (
                    self.of(&Shape::Text, depth - 1),
                    self.of(&Shape::Text, depth - 1),
                );
                format!("oc_generate_name({one}, {two})")
            }
            _ => format!("oc_hash({})", self.of(&Shape::Text, depth - 1)),
        }
    }

    fn whole(&mut self, depth: usize) -> String {
        match self.dice.below(3) {
            0 => {
                let (one, two) = (
                    self.of(&Shape::Whole, depth - 1),
                    self.of(&Shape::Whole, depth - 1),
                );
                let sign = self.dice.pick(&["+", "-", "*", "/", "%"]);
                format!("({one} {sign} {two})")
            }
            1 => {
                let list = shape(self.dice, 1);
                format!("size({})", self.of(&Shape::List(Box::new(list)), depth - 1))
            }
            _ => format!("int({})", self.of(&Shape::Number, depth - 1)),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        let simple = self.dice.pick(&[Shape::Text, Shape::Whole, Shape::Number]);
        match self.dice.below(6) {
            0 => {
                let (one, two) = (self.of(&simple, depth - 1), self.of(&simple, depth - 1));
                let sign = self.dice.pick(&["==", "!=", "<", ">="]);
                format!("({one} {sign} {two})")
            }
            1 => {
                let (one, two) = (
                    self.of(&Shape::Truth, depth - 1),
                    self.of(&Shape::Truth, depth - 1),
                );
                let sign = self.dice.pick(&["&&", "||"]);
                format!("({one} {sign} {two})")
            }
            2 => format!("!{}", self.of(&Shape::Truth, depth - 1)),
            3 => {
                let list = self.of(&Shape::List(Box::new(simple.clone())), depth - 1);
                format!("({} in {list})", self.of(&simple, depth - 1))
            }
            4 => {
                let list = self.of(&Shape::List(Box::new(simple.clone())), depth - 1);
                let test = self.inside(&simple, |writer| writer.of(&Shape::Truth, depth - 1));
                format!("{list}.all({}, {})", test.0, test.1)
            }
            _ => {
                let name = self.dice.below(self.known.len().max(1));
                match self.known.get(name) {
                    Some((name, _)) if name.contains('.') => format!("has({name})"),
                    _ => "true".to_owned(),
                }
            }
        }
    }

    fn list(&mut self, item: &Shape, depth: usize) -> String {
        let list = Shape::List(Box::new(item.clone()));
        match self.dice.below(5) {
            0 => format!(
                "({} + {})",
                self.of(&list, depth - 1),
                self.of(&list, depth - 1)
            ),
            1 => {
                let from = shape(self.dice, 0);
                let range = self.of(&Shape::List(Box::new(from.clone())), depth - 1);
                let made = self.inside(&from, |writer| writer.of(item, depth - 1));
                format!("{range}.map({}, {})", made.0, made.1)
            }
            2 => {
                let range = self.of(&list, depth - 1);
                let test = self.inside(item, |writer| writer.of(&Shape::Truth, depth - 1));
                format!("{range}.filter({}, {})", test.0, test.1)
            }
            3 => {
                let from = shape(self.dice, 0);
                let range = self.of(&Shape::Map(Box::new(from.clone())), depth - 1);
                let made = self.inside(&from, |writer| writer.of(item, depth - 1));
                format!("{range}.transformList(key, {}, {})", made.0, made.1)
            }
            _ => format!("{}.distinct()", self.of(&list, depth - 1)),
        }
    }

    /// Something that sees one more variable.
    fn inside(
        &mut self,
        shape: &Shape,
        write: impl FnOnce(&mut Self) -> String,
    ) -> (String, String) {
        let name = format!("v{}", self.loops);
        self.loops += 1;
        self.known.push((name.clone(), shape.clone()));
        let written = write(self);
        self.known.pop();
        (name, written)
    }
}

/// Everything that can be named in values of a shape.
fn names(path: &str, shape: &Shape, into: &mut Vec<(String, Shape)>) {
    into.push((path.to_owned(), shape.clone()));
    if let Shape::Object(fields) = shape {
        for (name, field) in fields {
            names(&format!("{path}.{name}"), field, into);
        }
    }
}

/// Whether an error is about types, rather than about values.
fn is_about_types(error: &RenderError) -> bool {
    let words = error.to_string();
    [
        "no such overload",
        "conversion",
        "must give",
        "unsupported",
        "expected",
        "invalid",
    ]
    .iter()
    .any(|part| words.contains(part))
}

/// How many of the random expressions were accepted, to show that the property is not empty.
fn accepted_are_sound(seed: u64) -> Result<bool, String> {
    let mut dice = Dice(seed);
    let fields = (0..4)
        .map(|at| (format!("p{at}"), shape(&mut dice, 2)))
        .collect();
    let parameters = Shape::Object(fields);
    let wanted = shape(&mut dice, 1);
    let mut known = Vec::new();
    names("parameters", &parameters, &mut known);
    let given = value(&mut dice, &parameters);
    let mut writer = Writer {
        dice: &mut dice,
        known,
        loops: 0,
    };
    let written = writer.of(&wanted, 3);
    let (schema, tree) = (schema(&parameters), json!({"x": format!("${{{written}}}")}));
    let variables = support::language().untyped(&[]);
    let mut definition = Definition::new(&variables);
    definition.parameters = Some(Section {
        path: "schema".to_owned(),
        schema: &schema,
    });
    definition.bindings.push(BindingSource {
        path: "x".to_owned(),
        value: &tree,
    });
    let Ok(blueprint) = Blueprint::compile(&definition) else {
        return Ok(false);
    };
    let resolved = blueprint.parameters().resolve(Some(&given));
    let resolved = resolved.map_err(|problems| format!("{given} by {schema}: {problems}"))?;
    let budget = Budget::default();
    let context = Context::new(&budget).with("parameters", &resolved);
    match blueprint.bindings()[0].render(&context) {
        Err(error) if is_about_types(&error) => {
            Err(format!("{written}\nwith {resolved}\nof {schema}\n{error}"))
        }
        _ => Ok(true),
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
    let mut accepted = 0;
    for seed in 0..3000 {
        match accepted_are_sound(seed) {
            Ok(sound) => accepted += usize::from(sound),
            Err(words) => panic!("seed {seed}: {words}"),
        }
    }
    assert!(accepted > 1000, "only {accepted} were accepted");
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
