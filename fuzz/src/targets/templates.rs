//! Templates, schemas of parameters, paths of patches.

use std::sync::LazyLock;

use quadrille_machinery::decode;
use quadrille_template::{
    BindingSource, Blueprint, Budget, COMPONENT_MACROS, Candidate, Context, Definition, Language,
    Limits, OperationSource, Parameters, PatchSource, TargetSource, Variables,
};
use serde_json::{Value, json};

pub(super) const SEEDS: &[&str] = &[
    r#"{"a":"${p.n + 1}","b":["x-${p.s}","${p.l.map(x, x * 2)}"],"${p.s}":"${oc_omit()}"}"#,
    r#"{"a":"${oc_merge(p.m, {'z': 1})}","b":"${has(p.x) ? p.x : oc_omit()}","c":"${p.?q.orValue('}')}"}"#,
    r#"{"a":"${p.m.transformList(k, v, k + string(v))}","b":"${oc_generate_name('a', p.s)}${oc_hash(p.s)}"}"#,
    r##"{"type":"object","$defs":{"P":{"type":"integer","default":1}},"properties":{"n":{"$ref":"#/$defs/P"},"s":{"type":"string","pattern":"^a"}}}"##,
    r#"{"type":"object","properties":{"l":{"type":"array","items":{"type":"number"}},"m":{"type":"object","additionalProperties":{"type":"integer"}}},"required":["s"]}"#,
    r#"["/l/0","/m/${p.s}/-","/l[*]/x","/o[?(@.name=='a')]/v","/a~1b~0c","/l[-]"]"#,
];
pub(super) const WORDS: &[&str] = &[
    "${",
    "}",
    "\"",
    "'",
    "{",
    "[",
    "]",
    ",",
    ":",
    "p.",
    "p.l",
    "p.m",
    "oc_omit()",
    "oc_merge(",
    ".map(x, ",
    ".transformMap(k, v, ",
    "?(@.a=='b')",
    "[*]",
    "/-",
    "~1",
    "\"$ref\":\"#/$defs/P\"",
    "\"default\":{}",
    "\"type\":\"object\"",
    "\"properties\":{\"a\":",
    "\"anyOf\":[{}]",
    "lists.range(99999999)",
    "'a'.format([",
    "\\",
    "null",
    "1e999",
    "9223372036854775807",
    "configurations.toVolumes()",
];

static VARIABLES: LazyLock<Variables> = LazyLock::new(|| {
    let language = Language::new(|_, parts| parts.join("-")).macros(COMPONENT_MACROS);
    language.untyped(&["p", "derived"])
});

struct Object {
    plane: String,
    value: Value,
}

impl Candidate for Object {
    fn plane(&self) -> &str {
        &self.plane
    }

    fn object(&self) -> &Value {
        &self.value
    }

    fn object_mut(&mut self) -> &mut Value {
        &mut self.value
    }
}

fn values() -> Value {
    json!({"n": 3, "s": "abc", "l": [1, 2, 3], "m": {"k": 1, "j": 2}, "o": [{"name": "a"}, {"name": "b"}]})
}

/// All texts of a value.
fn texts<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, found)),
        _ => {}
    }
}

pub(super) fn run(input: &[u8]) {
    let Ok(decoded) = decode::json(input) else {
        return;
    };
    let tree = decoded.value;
    if let Ok(schema) = Parameters::compile(&tree, "schema") {
        let _values = schema.resolve(Some(&values()));
        let (_unknown, _editor, _rows) = (
            schema.unknown(&values()),
            schema.json_schema(),
            schema.outline(),
        );
    }
    let mut definition = Definition::new(&VARIABLES);
    definition.bindings.push(BindingSource {
        path: "template".to_owned(),
        value: &tree,
    });
    render(&definition);
    let mut paths = Vec::new();
    texts(&tree, &mut paths);
    for path in paths.into_iter().take(20) {
        for op in ["add", "replace", "remove"] {
            let mut definition = Definition::new(&VARIABLES);
            let operations = vec![OperationSource {
                op,
                path,
                value: Some(&tree),
            }];
            let target = TargetSource {
                group: "",
                version: "v1",
                kind: "K",
                condition: None,
            };
            definition.patches.push(PatchSource {
                path: "patch".to_owned(),
                plane: "x",
                target,
                for_each: None,
                var: None,
                operations,
            });
            render(&definition);
        }
    }
}

fn render(definition: &Definition<'_>) {
    let Ok(blueprint) = Blueprint::compile(definition) else {
        return;
    };
    let (values, derived) = (values(), json!({}));
    let budget = Budget::new(Limits {
        steps: 200_000,
        ..Limits::default()
    });
    let context = Context::new(&budget)
        .with("p", &values)
        .with("derived", &derived);
    for template in blueprint.bindings() {
        let _rendered = template.render(&context);
    }
    let mut object = json!({"apiVersion": "v1", "kind": "K", "l": [1, [2]], "m": {"abc": [1]}});
    object["o"] = values["o"].clone();
    let plane = "x".to_owned();
    let mut objects = [Object {
        plane,
        value: object,
    }];
    for patch in blueprint.patches() {
        let _changed = patch.apply(&context, &mut objects);
    }
}
