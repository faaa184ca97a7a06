//! What an environment can add to the language: functions of any number of arguments, methods that stand
//! for fields, objects that may be used as maps.

use quadrille_expr::{Bindings, COST_LIMIT, Env, EvalError, Field, Library, Options, Type, Value};
use serde_json::{Value as Json, json};

fn env() -> Env {
    let field = |name: &str, ty: Type| {
        let name = name.to_owned();
        (name.clone(), Field { name, ty })
    };
    let object = Type::object(
        "object(o)",
        [field("a", Type::Int), field("b", Type::String)],
    );
    Env::with(&[Library::Standard, Library::Optionals, Library::TwoVariables])
        .options(Options {
            objects_as_maps: true,
            ..Options::default()
        })
        .variable("o", object)
        .variable("d", Type::Dyn)
        .variable("x", Type::Dyn)
        .function(
            "count",
            &["count: (list(dyn)) -> int"],
            |_, args| match args {
                [Value::List(list)] => Ok(Value::Int(i64::try_from(list.len()).unwrap_or(0))),
                _ => Err(EvalError::new("a list")),
            },
        )
        .gathering("count")
        .function("less", &["less: (int, int) -> int"], |_, args| match args {
            [Value::Int(one), Value::Int(two)] => Ok(Value::Int(one - two)),
            _ => Err(EvalError::new("numbers")),
        })
        .chaining("less")
        .shorthand(("x", "names"), ("d", "list"), false)
        .shorthand(("x", "of"), ("d", "map"), true)
}

fn value(text: &str) -> Json {
    let program = env().compile(text).expect("an expression");
    let (o, d) = (
        json!({"a": 1, "b": "c"}),
        json!({"list": ["p", "q"], "map": {"k": 1}}),
    );
    let vars = Bindings::new()
        .with("o", Value::json(&o, &Type::Dyn))
        .with("d", Value::json(&d, &Type::Dyn))
        .with("x", Value::Null);
    let evaluation = program.evaluate(&vars, COST_LIMIT);
    evaluation.result.expect("a value").to_json().expect("JSON")
}

fn refusal(text: &str) -> String {
    env().compile(text).expect_err("a mistake").to_string()
}

#[test]
fn arguments_are_gathered_into_a_list() {
    assert_eq!(value("count(1, 'a', true)"), 3);
    assert_eq!(value("count([1, 2])"), 2);
    assert!(refusal("count(1)").contains("no matching overload"));
}

#[test]
fn calls_are_chained_from_the_left() {
    assert_eq!(value("less(10, 3, 2)"), 5);
    assert_eq!(value("less(10, 3)"), 7);
    assert!(refusal("less(1, 2, 'a')").contains("no matching overload"));
}

#[test]
fn methods_stand_for_fields_of_another_variable() {
    assert_eq!(value("x.names() + x.names()"), json!(["p", "q", "p", "q"]));
    assert_eq!(value("x.of('k').orValue(0)"), 1);
    assert_eq!(value("x.of('z').orValue(0)"), 0);
    assert!(refusal("x.names(1)").contains("takes no argument"));
    assert!(refusal("d.names()").contains("undeclared reference to 'names'"));
    let program = env()
        .compile("x.names().size() + d.other.a")
        .expect("an expression");
    let reads: Vec<_> = program.reads().collect();
    assert_eq!(reads, [("d", Some("list")), ("d", Some("other"))]);
}

#[test]
fn what_an_expression_looks_at_is_known() {
    let reads = |text: &str| -> Vec<(String, Option<String>)> {
        let program = env().compile(text).expect("an expression");
        let owned = |(name, field): (&str, Option<&str>)| (name.into(), field.map(Into::into));
        program.reads().map(owned).collect()
    };
    let field = |name: &str| vec![("o".to_owned(), Some(name.to_owned()))];
    let whole = vec![("o".to_owned(), None)];
    for text in ["o.a", "has(o.a)", "o.?a", "o['a']", "o[?'a']", "o.a + 1"] {
        assert_eq!(reads(text), field("a"), "{text}");
    }
    for text in ["o", "size(o)", "{'k': o}", "o[string(1)]", "'a' in o"] {
        assert_eq!(reads(text), whole, "{text}");
    }
}

#[test]
fn objects_may_be_used_as_maps() {
    assert_eq!(value("o.map(k, k)"), json!(["a", "b"]));
    assert_eq!(value("o.transformList(k, v, k)"), json!(["a", "b"]));
    assert_eq!(value("o['b'] == 'c' && 'a' in o && size(o) == 2"), true);
    assert_eq!(value("true ? o : {}"), json!({"a": 1, "b": "c"}));
    assert_eq!(value("false ? o : {}"), json!({}));
}

#[test]
fn a_map_that_is_no_object_does_not_become_one() {
    // `a` would be an integer by the type of `o`, and text by the other side.
    assert!(refusal("(true ? o : {'a': 'x'}).a + 1").contains("no matching overload"));
    assert!(refusal("o.c").contains("undefined field 'c'"));
}
