//! Expressions that want to take for ever, to fill memory or to exhaust the stack.

use std::{sync::mpsc, time::Duration};

use quadrille_expr::{Bindings, COST_LIMIT, Env, EvalError, Library, Type, Value};

/// The stack that an async runtime gives its workers.
const STACK: usize = 2 << 20;
/// Something that takes longer has no bound.
const DEADLINE: Duration = Duration::from_mins(1);

/// How an expression ended, on a small stack and in reasonable time.
fn attempt(expr: String) -> Result<Result<(), EvalError>, String> {
    let (done, finished) = mpsc::channel::<()>();
    let worker = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || {
            // Told also when it panics.
            let _done = done;
            let env = Env::kubernetes()
                .library(Library::Bindings)
                .variable("s", Type::String)
                .variable("l", Type::list(Type::Int));
            let program = env.compile(&expr).map_err(|error| error.to_string())?;
            let _ = program.estimate(None);
            let vars = Bindings::new()
                .with("s", Value::from("a".repeat(100_000)))
                .with("l", Value::list((0..1000).map(Value::Int).collect()));
            let result = program.evaluate(&vars, COST_LIMIT).result;
            Ok(result.map(|value| drop(value.to_string())))
        });
    let told = finished.recv_timeout(DEADLINE);
    assert_eq!(told, Err(mpsc::RecvTimeoutError::Disconnected), "no end");
    worker
        .expect("a thread")
        .join()
        .expect("no panic and no overflow")
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn as_deep_as_allowed_fits_on_a_small_stack() {
    for (open, inner, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{1: ", "1", "}"),
        ("int(", "1", ")"),
        ("true ? 1 : ", "2", ""),
        ("[1].map(x, ", "1", ")"),
        ("[1].exists(x, true || ", "true", ")"),
        ("[1].all(x, ", "true", ")"),
        ("!(true && ", "false", ")"),
        ("optional.of(", "1", ")"),
        ("cel.bind(x, [1], ", "1", ")"),
    ] {
        for depth in [124, 249] {
            let outcome = attempt(nested(open, inner, close, depth));
            assert!(outcome.is_ok() || depth > 124, "{open}");
        }
    }
}

#[test]
fn deeper_is_refused() {
    for (open, inner, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("1+(", "1", ")"),
        ("-(", "1", ")"),
    ] {
        for depth in [300, 10_000, 30_000] {
            let message = attempt(nested(open, inner, close, depth)).unwrap_err();
            assert!(
                message.contains("limit") || message.contains("exceeded"),
                "{message}"
            );
        }
    }
    let chain = format!("1{}", "+1".repeat(40_000));
    assert!(
        attempt(chain)
            .unwrap_err()
            .contains("max recursion depth exceeded")
    );
    let fields = format!("l{}", ".a".repeat(40_000));
    assert!(
        attempt(fields)
            .unwrap_err()
            .contains("max recursion depth exceeded")
    );
}

#[test]
fn a_constant_can_be_collected_many_times() {
    let outcome = attempt("lists.range(300000).map(x, 'a').size()".to_owned());
    assert_eq!(outcome.unwrap(), Ok(()));
}

#[test]
fn a_megabyte_is_refused_unread() {
    let message = attempt("1 + ".repeat(300_000)).unwrap_err();
    assert!(
        message.contains("expression code point size exceeds limit"),
        "{message}"
    );
}

#[test]
fn loops_within_loops_run_out_of_budget() {
    let outcome = attempt("l.all(a, l.all(b, l.all(c, l.all(d, a + b + c + d >= 0))))".into());
    assert_eq!(outcome, Ok(Err(EvalError::CostLimit)));
    let outcome = attempt("l.map(a, l.map(b, l.map(c, l + l + l + l))).size() > 0".into());
    assert_eq!(outcome, Ok(Err(EvalError::CostLimit)));
}

#[test]
fn text_does_not_grow_without_end() {
    let doubled = "cel.bind(x, X + X, ".to_string().replace('X', "s");
    let mut expr = "x".to_owned();
    for _ in 0..30 {
        expr = format!("cel.bind(x, x + x, {expr})");
    }
    let outcome = attempt(format!("{doubled}{expr})"));
    assert!(
        matches!(&outcome, Ok(Err(error)) if error.is_limit()),
        "{outcome:?}"
    );
    let outcome = attempt("s.replace('', s)".into());
    assert_eq!(outcome, Ok(Err(EvalError::MemoryLimit)));
    let outcome = attempt("lists.range(9223372036854775807).size()".into());
    assert_eq!(outcome, Ok(Err(EvalError::MemoryLimit)));
    let outcome = attempt("'%.999999999f'.format([1.0])".into());
    assert!(matches!(outcome, Ok(Err(_)) | Err(_)), "{outcome:?}");
}

#[test]
fn lists_that_hold_themselves_again_and_again_do_not_explode() {
    let mut expr = "x".to_owned();
    for _ in 0..60 {
        expr = format!("cel.bind(x, [x, x], {expr})");
    }
    // The value is a small graph with 2^60 paths; only walking over it would hurt.
    let outcome = attempt(format!("cel.bind(x, [dyn(1)], size({expr}) == 2)"));
    assert!(outcome.is_ok() || outcome.is_err());
}

#[test]
fn comparing_endless_ways_through_a_list_ends() {
    let mut expr = "x == x".to_owned();
    for _ in 0..60 {
        expr = format!("cel.bind(x, [dyn(x), dyn(x)], {expr})");
    }
    let outcome = attempt(format!("cel.bind(x, [dyn(1)], {expr})"));
    assert_eq!(outcome, Ok(Err(EvalError::CostLimit)));
    let shown = expr.replace("x == x", "'%s'.format([x])");
    let outcome = attempt(format!("cel.bind(x, [dyn(1)], {shown})"));
    assert!(matches!(outcome, Ok(Err(_))), "{outcome:?}");
    let sought = expr.replace("x == x", "x.indexOf(x)");
    let outcome = attempt(format!("cel.bind(x, [dyn(1)], {sought})"));
    assert_eq!(outcome, Ok(Err(EvalError::CostLimit)));
}

#[test]
fn types_that_double_are_refused() {
    let mut expr = "[1]".to_owned();
    for _ in 0..60 {
        expr.push_str(".map(a, {a: a})");
    }
    let message = attempt(expr).unwrap_err();
    assert!(
        message.contains("type of expression is too large"),
        "{message}"
    );
}

#[test]
fn macros_that_repeat_their_target_are_refused_in_time() {
    let expr = format!("optional.of(1){}", ".optMap(x, x)".repeat(60));
    let message = attempt(expr).unwrap_err();
    assert!(message.contains("nodes"), "{message}");
}

#[test]
fn patterns_cannot_explode() {
    for pattern in [
        "(a*)*$",
        "(a|a)*b",
        "((a{0,1000}){0,1000}){0,1000}",
        "a{1,1000}{1,1000}",
        "(?:(?:(?:x{50}){50}){50}){50}",
    ] {
        let outcome = attempt(format!("s.matches('{pattern}')"));
        assert!(outcome.is_ok() || outcome.is_err());
        let outcome = attempt(format!("s.matches('' + '{pattern}')"));
        assert!(outcome.is_ok() || outcome.is_err());
    }
    let deep = nested("(", "a", ")", 5000);
    assert!(attempt(format!("s.matches('{deep}')")).is_err());
}

#[test]
fn membership_in_long_constants_is_quick() {
    let items: Vec<String> = (0..15_000).map(|number| number.to_string()).collect();
    let list = items.join(",");
    let outcome = attempt(format!("l.all(a, l.all(b, a in [{list}]))"));
    assert_eq!(outcome, Ok(Err(EvalError::CostLimit)));
}
