//! Paths parsed and followed.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn find(path: &str, value: &Value) -> Vec<Value> {
    let found = JsonPath::parse(path).unwrap().find(value).unwrap();
    found.into_iter().map(Cow::into_owned).collect()
}

#[test]
fn paths_lead_to_values() {
    let value = json!({
        "a": {"b": [1, 2, 3, 4], "x.y": "dotted"},
        "list": [{"type": "A", "n": 1, "ok": true}, {"type": "B)", "n": 2}],
    });
    for (path, expected) in [
        (".a.b", json!([[1, 2, 3, 4]])),
        ("{.a.b[0]}", json!([1])),
        (".a.b[-1]", json!([4])),
        (".a.b[1:3]", json!([2, 3])),
        (".a.b[:2]", json!([1, 2])),
        (".a.b[::2]", json!([1, 3])),
        (".a.b[*]", json!([1, 2, 3, 4])),
        (".a.b[0,2]", json!([1, 3])),
        (r".a.x\.y", json!(["dotted"])),
        (r".a['x\.y']", json!(["dotted"])),
        (".list[*].type", json!(["A", "B)"])),
        (".list[?(@.type=='A')].n", json!([1])),
        (".list[?(@.type==\"B)\")].n", json!([2])),
        (".list[?(@.n>1)].type", json!(["B)"])),
        (".list[?(@.n!=1)].type", json!(["B)"])),
        (".list[?(@.ok)].type", json!(["A"])),
        (".list[?(@.ok==true)].type", json!(["A"])),
        ("..type", json!(["A", "B)"])),
        (".missing.field", json!([])),
        ("$.a['b'][0]", json!([1])),
    ] {
        assert_eq!(json!(find(path, &value)), expected, "{path}");
    }
}

#[test]
fn paths_that_cannot_be_followed_are_errors() {
    let value = json!({"a": [1], "s": "x"});
    for path in [".a[5]", ".s[0]", ".s[?(@.x)]", ".a[?(@<'x')]", ".a[0:1:0]"] {
        assert!(
            JsonPath::parse(path).unwrap().find(&value).is_err(),
            "{path}"
        );
    }
    for path in [
        ".a[",
        ".a[x]",
        ".a[?(@.x]",
        ".a[?(@.x)",
        "foo",
        "....",
        ".a['x",
        "#",
    ] {
        assert!(JsonPath::parse(path).is_err(), "{path}");
    }
}

proptest! {
    #[test]
    fn no_path_panics(path in "[.\\[\\]?(@)'\"a*:,0-9=<!\\\\$ -]{0,32}") {
        let value = json!({"a": [{"a": 1}, [0, "x"], null], "0": {"a": {}}});
        if let Ok(path) = JsonPath::parse(&path) {
            let _ = path.find(&value);
        }
    }
}
