//! Strategic merge patches of built-in kinds.

use quadrille_apiserver::kinds;
use quadrille_machinery::patch;
use rand::{Rng, rngs::StdRng};
use serde_json::{Map, Value, json};

use super::replay::whole_numbers;

/// What a random part of an object looks like.
enum Part {
    Text,
    Whole,
    Object(&'static [(&'static str, Part)]),
    Map,
    List(&'static Part),
    /// A list whose entries have a key.
    Keyed(&'static str, &'static Part),
}

const PORT: Part = Part::Object(&[
    ("containerPort", Part::Whole),
    ("port", Part::Whole),
    ("protocol", Part::Text),
    ("name", Part::Text),
]);
const ENV: Part = Part::Object(&[("name", Part::Text), ("value", Part::Text)]);
const MOUNT: Part = Part::Object(&[("mountPath", Part::Text), ("name", Part::Text)]);
const CONTAINER: Part = Part::Object(&[
    ("name", Part::Text),
    ("image", Part::Text),
    ("command", Part::List(&Part::Text)),
    ("env", Part::Keyed("name", &ENV)),
    ("ports", Part::Keyed("containerPort", &PORT)),
    ("volumeMounts", Part::Keyed("mountPath", &MOUNT)),
    (
        "resources",
        Part::Object(&[("limits", Part::Map), ("requests", Part::Map)]),
    ),
]);
const VOLUME: Part = Part::Object(&[
    ("name", Part::Text),
    ("emptyDir", Part::Object(&[("medium", Part::Text)])),
    ("hostPath", Part::Object(&[("path", Part::Text)])),
]);
const TOLERATION: Part = Part::Object(&[("key", Part::Text), ("value", Part::Text)]);
const POD: Part = Part::Object(&[
    ("containers", Part::Keyed("name", &CONTAINER)),
    ("initContainers", Part::Keyed("name", &CONTAINER)),
    ("volumes", Part::Keyed("name", &VOLUME)),
    ("tolerations", Part::List(&TOLERATION)),
    (
        "imagePullSecrets",
        Part::Keyed("name", &Part::Object(&[("name", Part::Text)])),
    ),
    ("nodeSelector", Part::Map),
    ("restartPolicy", Part::Text),
]);
const METADATA: Part = Part::Object(&[
    ("name", Part::Text),
    ("labels", Part::Map),
    ("finalizers", Part::List(&Part::Text)),
    (
        "ownerReferences",
        Part::Keyed(
            "uid",
            &Part::Object(&[("uid", Part::Text), ("name", Part::Text)]),
        ),
    ),
]);
const KINDS: [(&str, &str, &str, Part); 4] = [
    (
        "",
        "v1",
        "Pod",
        Part::Object(&[("metadata", METADATA), ("spec", POD)]),
    ),
    (
        "apps",
        "v1",
        "Deployment",
        Part::Object(&[
            ("metadata", METADATA),
            (
                "spec",
                Part::Object(&[
                    ("replicas", Part::Whole),
                    (
                        "template",
                        Part::Object(&[("metadata", METADATA), ("spec", POD)]),
                    ),
                    (
                        "strategy",
                        Part::Object(&[
                            ("type", Part::Text),
                            ("rollingUpdate", Part::Object(&[("maxSurge", Part::Whole)])),
                        ]),
                    ),
                ]),
            ),
        ]),
    ),
    (
        "",
        "v1",
        "Service",
        Part::Object(&[
            ("metadata", METADATA),
            (
                "spec",
                Part::Object(&[
                    ("ports", Part::Keyed("port", &PORT)),
                    ("selector", Part::Map),
                    ("externalIPs", Part::List(&Part::Text)),
                ]),
            ),
        ]),
    ),
    (
        "",
        "v1",
        "ServiceAccount",
        Part::Object(&[
            ("metadata", METADATA),
            (
                "secrets",
                Part::Keyed("name", &Part::Object(&[("name", Part::Text)])),
            ),
        ]),
    ),
];

/// A random object and a random patch.
pub(super) fn question(random: &mut StdRng) -> Value {
    let (_, _, kind, part) = &KINDS[random.random_range(0..KINDS.len())];
    json!({
        "ask": "strategic",
        "strategic": {
            "kind": kind,
            "object": part.value(random, false),
            "patch": part.value(random, true),
        },
    })
}

const WORDS: [&str; 4] = ["a", "b", "c", "d"];

fn word(random: &mut StdRng) -> &'static str {
    WORDS[random.random_range(0..WORDS.len())]
}

impl Part {
    fn value(&self, random: &mut StdRng, is_patch: bool) -> Value {
        match self {
            Self::Text => json!(word(random)),
            Self::Whole => json!(random.random_range(1..5)),
            Self::Map => {
                let mut map = Map::new();
                for _ in 0..random.random_range(0..3) {
                    let gone = is_patch && random.random_bool(0.2);
                    let value = if gone {
                        Value::Null
                    } else {
                        json!(word(random))
                    };
                    map.insert(word(random).to_owned(), value);
                }
                if is_patch && random.random_bool(0.05) {
                    map.insert("$patch".to_owned(), json!("replace"));
                }
                map.into()
            }
            Self::List(of) => {
                let mut list: Vec<Value> = Vec::new();
                for _ in 0..random.random_range(0..3) {
                    let entry = of.value(random, false);
                    if !list.contains(&entry) {
                        list.push(entry);
                    }
                }
                list.into()
            }
            Self::Object(fields) => object(fields, random, is_patch),
            Self::Keyed(key, of) => keyed(key, of, random, is_patch),
        }
    }
}

fn object(fields: &[(&str, Part)], random: &mut StdRng, is_patch: bool) -> Value {
    let mut object = Map::new();
    for (name, part) in fields {
        if is_patch && random.random_bool(0.08) {
            object.insert((*name).to_owned(), Value::Null);
            continue;
        }
        if !random.random_bool(0.5) {
            continue;
        }
        object.insert((*name).to_owned(), part.value(random, is_patch));
        if is_patch && random.random_bool(0.1) {
            lists_of(part, name, random, &mut object);
        }
    }
    if is_patch && random.random_bool(0.05) {
        let directive = if random.random_bool(0.7) {
            "replace"
        } else {
            "delete"
        };
        object.insert("$patch".to_owned(), json!(directive));
    }
    if is_patch && random.random_bool(0.05) {
        let kept: Vec<_> = object
            .keys()
            .filter(|name| !name.starts_with('$'))
            .collect();
        let kept = json!(kept);
        object.insert("$retainKeys".to_owned(), kept);
    }
    object.into()
}

/// Directives beside a list: the order of its entries, or what is to go from it.
fn lists_of(part: &Part, name: &str, random: &mut StdRng, object: &mut Map<String, Value>) {
    match part {
        Part::Keyed(key, _) => {
            let keys: Vec<Value> = object[name]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|entry| Some(json!({(*key): entry.get(*key)?})))
                .collect();
            object.insert(format!("$setElementOrder/{name}"), json!(keys));
        }
        Part::List(Part::Text) if random.random_bool(0.5) => {
            // What is both added and taken away is there or not as Go's maps please.
            let gone = json!(word(random));
            let added = object[name].as_array();
            if added.is_none_or(|added| !added.contains(&gone)) {
                object.insert(format!("$deleteFromPrimitiveList/{name}"), json!([gone]));
            }
        }
        _ => {}
    }
}

fn keyed(key: &str, of: &Part, random: &mut StdRng, is_patch: bool) -> Value {
    let mut list: Vec<Value> = Vec::new();
    for _ in 0..random.random_range(0..4) {
        let mut entry = of.value(random, is_patch);
        if let Some(fields) = entry.as_object_mut() {
            fields.remove("$patch");
            fields.remove("$retainKeys");
        }
        if entry[key].is_null() {
            entry[key] = match key {
                "containerPort" | "port" => json!(random.random_range(1..5)),
                _ => json!(word(random)),
            };
        }
        if list.iter().any(|known| known[key] == entry[key]) {
            continue;
        }
        if is_patch && random.random_bool(0.1) {
            entry = json!({(key): entry[key], "$patch": "delete"});
        }
        list.push(entry);
    }
    if is_patch && random.random_bool(0.05) {
        list.push(json!({"$patch": "replace"}));
    }
    list.into()
}

/// Compares the outcome of a patch.
pub(super) fn difference(question: &Value, answer: &Value) -> Option<String> {
    let (group, version, kind, _) = KINDS
        .iter()
        .find(|(_, _, kind, _)| question["kind"] == *kind)?;
    let schema = kinds::load().schema(group, version, kind)?;
    let patch = question["patch"].to_string();
    let ours = patch::strategic(&question["object"], patch.as_bytes(), schema.root(), false);
    match (answer.get("object"), ours) {
        (None, Err(_)) => None,
        (Some(expected), Ok(patched)) => {
            let (mut expected, mut got) = (expected.clone(), patched.value);
            whole_numbers(&mut expected);
            whole_numbers(&mut got);
            (expected != got).then(|| format!("object {expected}\n    ours {got}"))
        }
        (expected, ours) => Some(format!(
            "object {expected:?} error {:?}\n    ours {ours:?}",
            answer.get("error")
        )),
    }
}
