//! Patches.

use quadrille_machinery::{decode, patch};
use serde_json::{Value, json};

use super::LISTS;

pub(super) const SEEDS: &[&str] = &[
    r#"[{"op":"add","path":"/spec/list/-","value":1},{"op":"remove","path":"/metadata/labels/a"},{"op":"test","path":"/spec/name","value":"x"}]"#,
    r#"[{"op":"copy","from":"/spec","path":"/spec/map/copy"},{"op":"move","from":"/spec/list/0","path":"/spec/list/1"},{"op":"replace","path":"","value":{}}]"#,
    r#"{"metadata":{"labels":{"a":null,"b":"c"}},"spec":{"list":[{"name":"x","$patch":"delete"}]}}"#,
    r#"{"spec":{"$setElementOrder/items":[{"name":"b"},{"name":"a"}],"items":[{"name":"a","value":2}],"$retainKeys":["items"]}}"#,
    r#"{"spec":{"$deleteFromPrimitiveList/set":["a"],"map":{"$patch":"replace","k":"v"}}}"#,
    "apiVersion: v1\nkind: Thing\nspec: &a\n  list: [1, 2]\n  other: *a\n",
];
pub(super) const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"a\"",
    "null",
    "1",
    "\"$patch\"",
    "\"delete\"",
    "\"replace\"",
    "\"$setElementOrder/items\"",
    "\"$retainKeys\"",
    "\"$deleteFromPrimitiveList/x\"",
    "\"op\"",
    "\"path\"",
    "\"/spec/list/0\"",
    "~0",
    "~1",
    "/-",
    "/",
    "\"copy\"",
    "{\"a\":",
    "[[",
    "&a ",
    "*a ",
    "- ",
    "\n",
    "  ",
    "!!str ",
    "\\ud800",
    "\u{feff}",
];

fn current() -> Value {
    json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x", "labels": {"a": "b"}},
        "spec": {"name": "x", "list": [1, 2, 3], "items": [{"name": "a", "value": 1}], "set": ["a", "b"], "map": {"k": "v"}}})
}

pub(super) fn run(input: &[u8]) {
    let current = current();
    let _json = patch::json(&current, input, true);
    let _merge = patch::merge(&current, input, true);
    let _strategic = patch::strategic(&current, input, LISTS.root(), true);
    let _yaml = decode::yaml(input);
}
