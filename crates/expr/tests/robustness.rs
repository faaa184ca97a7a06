//! Any text at all: the compiler answers, quickly and without a panic.

use proptest::prelude::*;
use quadrille_expr::{Bindings, Env, Library, Type, Value, escape, unescape};
use serde_json::json;

fn env() -> Env {
    Env::kubernetes()
        .library(Library::Math)
        .variable("i", Type::Int)
        .variable("s", Type::String)
        .variable("l", Type::list(Type::Int))
        .variable("m", Type::map(Type::String, Type::Dyn))
}

fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ".",
        "+",
        "-",
        "*",
        "/",
        "%",
        "!",
        "?",
        ":",
        "==",
        "!=",
        "<",
        "<=",
        "&&",
        "||",
        " in ",
        "true",
        "null",
        "1",
        "1.5",
        "1u",
        "'a'",
        "b'a'",
        "i",
        "s",
        "l",
        "m",
        "x",
        ".map(x, ",
        ".all(x, ",
        ".filter(x, ",
        "has(m.a",
        "size(",
        "int(",
        "dyn(",
        "type(",
        ".?",
        "[?",
        "optional.of(",
        ".orValue(",
        ".format(",
        "'%s'",
        ".matches(",
        "duration(",
        "\\",
        "'",
        "\"",
        "`",
        "@",
        "\n",
        "\u{0}",
        "ü",
        "r'",
        "\"\"\"",
        "0x",
        "1e9",
        ".sort()",
        ".join(",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn tokens_in_any_order_do_no_harm(tokens in prop::collection::vec(token(), 0..40)) {
        let text = tokens.concat();
        if let Ok(program) = env().compile(&text) {
            let data = json!({"a": 1, "b": [1, "x", null]});
            let vars = Bindings::new()
                .with("i", 3)
                .with("s", "text")
                .with("l", Value::list(vec![Value::Int(1), Value::Int(2)]))
                .with("m", Value::json(&data, &Type::Dyn));
            let evaluation = program.evaluate(&vars, 10_000);
            let estimate = program.estimate(None);
            prop_assert!(estimate.min <= estimate.max);
            if evaluation.result.is_ok() {
                prop_assert!(evaluation.cost <= estimate.max, "{text}: {evaluation:?} {estimate:?}");
            }
        }
    }

    #[test]
    fn characters_in_any_order_do_no_harm(text in "\\PC{0,60}") {
        let _ = env().compile(&text);
    }

    #[test]
    fn patterns_in_any_order_do_no_harm(pattern in "[a-c()\\[\\]{}*+?|^$.\\\\0-9wdsbpQE,:<>=!-]{0,24}") {
        let env = Env::kubernetes().variable("p", Type::String);
        let program = env.compile("'aabbcc'.matches(p)").unwrap();
        let _ = program.evaluate(&Bindings::new().with("p", pattern), 100_000);
    }

    #[test]
    fn names_survive_escaping(name in "[a-zA-Z_./-][a-zA-Z0-9_./-]{0,20}") {
        // Runs of underscores can be read in two ways; a server has the same blind spot.
        prop_assume!(!name.contains("__") && !name.contains("_-") && !name.contains("-_"));
        prop_assume!(!name.contains("_.") && !name.contains("._"));
        prop_assume!(!name.contains("_/") && !name.contains("/_"));
        let escaped = escape(&name).unwrap();
        prop_assert!(escaped.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_'));
        prop_assert_eq!(unescape(&escaped), Some(name));
    }
}
