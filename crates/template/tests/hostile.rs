//! The worst that a definition of the largest allowed size can ask for: each ends, on a worker's stack, with
//! an error that names the bound, or with a result.

mod support;

use std::{sync::mpsc, thread, time::Duration};

use serde_json::{Map, Value as Json, json};

/// The stack that an async runtime gives its workers.
const STACK: usize = 2 << 20;
/// Something that takes longer has no bound.
const DEADLINE: Duration = Duration::from_mins(1);

/// What comes of an input, as text.
fn attempt(input: Json) -> String {
    let (done, finished) = mpsc::channel::<()>();
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        // Told also when it panics.
        let _done = done;
        let came = support::run(&input);
        let words = came.get("error").or(came.get("problems"));
        words.map_or_else(|| "fine".to_owned(), Json::to_string)
    });
    let told = finished.recv_timeout(DEADLINE);
    assert_eq!(told, Err(mpsc::RecvTimeoutError::Disconnected), "no end");
    let joined = worker.expect("a thread").join();
    joined.expect("no panic and no overflow")
}

fn object() -> Json {
    json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "a"}})
}

#[test]
fn a_template_with_very_many_expressions() {
    let list: Vec<Json> = (0..60_000)
        .map(|_| json!("${p.a + 1} and ${p.a}"))
        .collect();
    assert_eq!(
        attempt(json!({"context": {"p": {"a": 1}}, "template": list})),
        "fine"
    );
}

#[test]
fn very_many_mistakes() {
    let list: Vec<Json> = (0..5_000)
        .map(|at| Json::from(format!("${{nope{at} + 'a'}}")))
        .collect();
    assert!(attempt(json!({"context": {}, "template": list})).contains("nope4999"));
}

#[test]
fn deep_templates_and_deep_values() {
    let nest = |inner: Json, depth: usize| (0..depth).fold(inner, |inner, _| json!([inner]));
    let deep =
        json!({"context": {"p": {"d": nest(json!(1), 60)}}, "template": nest(json!("${p.d}"), 60)});
    assert!(attempt(deep).contains("nests deeper than 110 levels"));
    let deeper = json!({"context": {}, "template": nest(json!("${1}"), 115)});
    assert!(attempt(deeper).contains("nests deeper than 110 levels"));
}

#[test]
fn loops_inside_loops() {
    let text = "${lists.range(2000).map(a, lists.range(2000).map(b, lists.range(2000)))}";
    let words = attempt(json!({"context": {}, "template": text}));
    assert!(
        words.contains("steps") || words.contains("builds too much"),
        "{words}"
    );
}

#[test]
fn a_list_that_holds_itself_over_and_over() {
    let double = "${[[[[[[[[[[p, p], p], p], p], p], p], p], p], p], p].map(a, [a, a]).map(a, [a, a, a, a])}";
    let wide: Vec<Json> = (0..20_000).map(Json::from).collect();
    let words = attempt(json!({"context": {"p": wide}, "template": double}));
    assert!(words.contains("larger than 4194304 bytes"), "{words}");
}

#[test]
fn objects_without_end() {
    let resources =
        json!([{"id": "a", "forEach": "${lists.range(1000000)}", "template": object()}]);
    let words = attempt(json!({"context": {}, "resources": resources}));
    assert!(words.contains("larger than 4194304 bytes"), "{words}");
}

#[test]
fn a_patch_that_looks_at_everything_a_million_times() {
    let given: Vec<Json> = (0..1000).map(|_| object()).collect();
    let patch = json!({"forEach": "${lists.range(1000000)}", "target": {"group": "", "version": "v1", "kind": "Other"},
        "operations": [{"op": "add", "path": "/x", "value": 1}]});
    let words = attempt(json!({"context": {}, "given": given, "patches": [patch]}));
    assert!(words.contains("more than 5000000 steps"), "{words}");
}

#[test]
fn a_patch_of_very_many_places() {
    let patch = |path: &str, value: Json| {
        json!([{"target": {"group": "", "version": "v1", "kind": "K"},
            "operations": [{"op": "add", "path": path, "value": value}]}])
    };
    let mut wide = object();
    wide["l"] = (0..70_000).map(|_| json!({})).collect();
    let words =
        attempt(json!({"context": {}, "given": [&wide], "patches": patch("/l[*]/x", json!(1))}));
    assert!(words.contains("more than 65536 places"), "{words}");
    wide["l"] = (0..20_000).map(|_| json!({})).collect();
    let large = json!("x".repeat(1000));
    let words =
        attempt(json!({"context": {}, "given": [&wide], "patches": patch("/l[*]/x", large)}));
    assert!(words.contains("larger than 4194304 bytes"), "{words}");
}

#[test]
fn a_large_definition_used_very_often() {
    let choices: Vec<Json> = (0..20_000)
        .map(|at| Json::from(format!("choice-{at}")))
        .collect();
    let uses: Map<String, Json> = (0..20_000)
        .map(|at| (format!("p{at}"), json!({"$ref": "#/$defs/Big"})))
        .collect();
    let schema = json!({"type": "object", "$defs": {"Big": {"type": "string", "enum": choices}}, "properties": uses});
    let words = attempt(json!({"parameters": {"openAPIV3Schema": schema}}));
    assert!(words.contains("larger than 2 MiB"), "{words}");
}

#[test]
fn names_as_long_as_a_request() {
    let name = "a".repeat(1 << 20);
    let words = attempt(json!({"parameters": {"openAPIV3Schema": {"type": "object", &name: 1}}}));
    assert!(words.contains("schemas know no keyword"));
}
