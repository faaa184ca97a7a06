//! Writes by several managers to one object: server-side apply, updates, patches, through several versions,
//! before and after a change of the definition.

use rand::{Rng, rngs::StdRng, seq::IndexedRandom};
use serde_json::{Map, Value, json};

use super::{
    shape::{NAMES, Shape},
    value::{self, Faults},
};

pub(super) const KIND: &str = "Thing";
const V1: &str = "example.com/v1";
const V2: &str = "example.com/v2";

/// One served version.
#[derive(Clone)]
struct Version {
    name: &'static str,
    spec: Shape,
    status: Shape,
}

impl Version {
    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"spec": self.spec.schema(), "status": self.status.schema()},
        })
    }

    fn with_other_rules(&self, random: &mut StdRng) -> Self {
        // What is atomic as a whole leaves nothing to ask.
        let granular = |shape: Shape| match shape {
            Shape::Object {
                fields,
                keeps_unknown,
                embedded,
                ..
            } => Shape::Object {
                fields,
                atomic: false,
                keeps_unknown,
                embedded,
            },
            other => other,
        };
        Self {
            name: self.name,
            spec: granular(self.spec.with_other_rules(random)),
            status: granular(self.status.with_other_rules(random)),
        }
    }
}

/// A random sequence.
pub(super) fn question(random: &mut StdRng) -> Value {
    let first = Version {
        name: V1,
        spec: Shape::top(random, 3),
        status: Shape::top(random, 1),
    };
    let mut versions = vec![first.clone()];
    if random.random_bool(0.4) {
        let second = Version { name: V2, ..first };
        versions.push(if random.random_bool(0.5) {
            second.with_other_rules(random)
        } else {
            second
        });
    }
    let later = if random.random_bool(0.3) {
        let others = versions
            .iter()
            .map(|version| version.with_other_rules(random));
        others.collect()
    } else {
        versions.clone()
    };
    let mut reset = Map::new();
    if random.random_bool(0.3) {
        reset.insert(V1.to_owned(), json!([["status"]]));
    }
    if random.random_bool(0.1) {
        reset.insert(V2.to_owned(), json!([["spec"], ["metadata"]]));
    }
    let phases = [versions, later];
    let schemas = phases.each_ref().map(|versions| {
        let schemas = versions
            .iter()
            .map(|version| (version.name.to_owned(), version.schema()));
        schemas.collect::<Map<_, _>>()
    });
    json!({
        "ask": "sequence",
        "sequence": {
            "kind": KIND,
            "versions": schemas,
            "reset": reset,
            "writes": Writer::new(random).writes(random, &phases),
        },
    })
}

/// Makes writes; remembers the last body, so that the next is often close to it.
struct Writer {
    faults: Faults,
    is_kubectl: bool,
    has_many_managers: bool,
    last: Value,
}

impl Writer {
    fn new(random: &mut StdRng) -> Self {
        let mut sometimes =
            |share: f64, rate: f64| if random.random_bool(share) { rate } else { 0.0 };
        let faults = Faults {
            wrong_type: sometimes(0.2, 0.02),
            null: sometimes(0.4, 0.05),
            duplicate: sometimes(0.2, 0.1),
            missing_key: sometimes(0.2, 0.1),
        };
        Self {
            faults,
            is_kubectl: random.random_bool(0.1),
            has_many_managers: random.random_bool(0.1),
            last: json!({}),
        }
    }

    fn writes(mut self, random: &mut StdRng, phases: &[Vec<Version>; 2]) -> Vec<Value> {
        let count = random.random_range(2..14);
        let mut writes = Vec::new();
        for at in 0..count {
            let phase = usize::from(at > count / 2);
            let Some(version) = phases[phase].choose(random) else {
                continue;
            };
            writes.push(self.write(random, phase, version));
            if self.has_many_managers && self.last.get("kind").is_some() {
                for label in 0..3 {
                    writes.push(self.label(random, phase, version, label));
                }
            }
        }
        writes
    }

    fn write(&mut self, random: &mut StdRng, phase: usize, version: &Version) -> Value {
        let verb = match random.random_range(0..20) {
            0..=11 => "apply",
            12..=16 => "update",
            17..=18 => "merge",
            _ => "json",
        };
        let body = match verb {
            "merge" => self.merge_patch(random, version),
            "json" => self.json_patch(random, version),
            _ => self.object(random, version, verb == "apply"),
        };
        let manager = if self.is_kubectl && random.random_bool(0.5) {
            "kubectl".to_owned()
        } else if self.has_many_managers && verb != "apply" {
            format!("u{}", random.random_range(0..30))
        } else {
            format!("m{}", random.random_range(0..4))
        };
        json!({
            "verb": verb,
            "phase": phase,
            "manager": manager,
            "apiVersion": version.name,
            "subresource": if random.random_bool(0.1) { "status" } else { "" },
            "force": random.random_bool(0.4),
            "body": body,
        })
    }

    /// One of many small updates by many managers: the oldest of them are folded into one.
    fn label(&self, random: &mut StdRng, phase: usize, version: &Version, at: u32) -> Value {
        let mut body = self.last.clone();
        body["apiVersion"] = json!(version.name);
        body["metadata"]["uid"] = json!("u");
        body["metadata"]["labels"] =
            json!({format!("l{at}"): random.random_range(0..100).to_string()});
        json!({
            "verb": "update",
            "phase": phase,
            "manager": format!("w{}", random.random_range(0..30)),
            "apiVersion": version.name,
            "body": body,
        })
    }

    fn object(&mut self, random: &mut StdRng, version: &Version, is_apply: bool) -> Value {
        let mut faults = self.faults;
        if is_apply {
            // An applied list with duplicates is refused: often enough, but not always.
            faults.duplicate /= 5.0;
        }
        let mut body =
            json!({"apiVersion": version.name, "kind": KIND, "metadata": metadata(random)});
        if random.random_bool(0.9) {
            body["spec"] = match self.last.get("spec") {
                Some(spec) if random.random_bool(0.5) => {
                    value::changed(&version.spec, spec, random, faults)
                }
                _ => value::of(&version.spec, random, faults),
            };
        }
        if random.random_bool(0.3) {
            body["status"] = value::of(&version.status, random, faults);
        }
        if is_apply && random.random_bool(0.01) {
            body["metadata"]["managedFields"] = json!([]);
        }
        if !is_apply {
            body["metadata"]["uid"] = json!("u");
            if let Some(entries) = strange_entries(random) {
                body["metadata"]["managedFields"] = entries;
            }
        }
        self.last = body.clone();
        if self.is_kubectl && random.random_bool(0.4) {
            let applied = body.to_string();
            body["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
                json!(applied);
        }
        body
    }

    fn merge_patch(&self, random: &mut StdRng, version: &Version) -> Value {
        let faults = Faults {
            null: 0.2,
            ..self.faults
        };
        let mut patch = json!({"spec": value::of(&version.spec, random, faults)});
        if !patch["spec"].is_object() {
            patch["spec"] = json!({});
        }
        if random.random_bool(0.3) {
            patch["metadata"] = json!({"labels": {"a": value::any(random, 0)}});
        }
        patch
    }

    fn json_patch(&self, random: &mut StdRng, version: &Version) -> Value {
        let mut steps = Vec::new();
        for _ in 0..random.random_range(1..3) {
            let name = NAMES.choose(random).copied().unwrap_or("a");
            let path = format!("/spec/{name}");
            let known = self.last["spec"].get(name).is_some();
            let field = match &version.spec {
                Shape::Object { fields, .. } => fields.iter().find(|(field, _)| field == name),
                _ => None,
            };
            let Some((_, shape)) = field else { continue };
            steps.push(if known && random.random_bool(0.4) {
                json!({"op": "remove", "path": path})
            } else {
                let op = if known { "replace" } else { "add" };
                json!({"op": op, "path": path, "value": value::of(shape, random, self.faults)})
            });
        }
        steps.into()
    }
}

fn metadata(random: &mut StdRng) -> Value {
    let mut metadata = json!({"name": "n"});
    let one_of = |random: &mut StdRng, share: f64, two: [&str; 2]| {
        random
            .random_bool(share)
            .then(|| two[usize::from(random.random_bool(0.5))].to_owned())
    };
    if random.random_bool(0.3) {
        metadata["labels"] = json!({});
        for name in ["a", "b"] {
            if let Some(value) = one_of(random, 0.5, ["1", "2"]) {
                metadata["labels"][name] = json!(value);
            }
        }
    }
    if let Some(name) = one_of(random, 0.2, ["x/y", "z/w"]) {
        metadata["finalizers"] = json!([name]);
    }
    if let Some(value) = one_of(random, 0.15, ["1", "2"]) {
        metadata["annotations"] = json!({"q": value});
    }
    if let Some(uid) = one_of(random, 0.1, ["u1", "u2"]) {
        metadata["ownerReferences"] =
            json!([{"apiVersion": "v1", "kind": "X", "name": "o", "uid": uid}]);
    }
    metadata
}

/// What clients may write into `managedFields`: nothing, nonsense, and entries of their own.
fn strange_entries(random: &mut StdRng) -> Option<Value> {
    let own = |manager: &str, operation: &str, version: &str, fields: Value| {
        json!([{
            "manager": manager, "operation": operation, "apiVersion": version,
            "fieldsType": "FieldsV1", "fieldsV1": fields,
        }])
    };
    Some(match random.random_range(0..40) {
        0 => json!([]),
        1 => json!([{}]),
        2 => json!([{"manager": "x", "operation": "Bad"}]),
        3 => own(
            "x",
            "Update",
            V1,
            json!({"f:spec": {"f:a": {}, "f:b": {".": {}, "f:a": {}}}}),
        ),
        4 => own(
            "m1",
            "Apply",
            V1,
            json!({"f:spec": {
                "f:a": {},
                "f:b": {".": {}, "f:a": {}},
                "f:c": {"k:{\"k0\":\"x\"}": {".": {}, "f:a": {}}, "v:1": {}, "i:0": {}, "q:z": {}},
            }}),
        ),
        5 => own(
            "m1",
            "Apply",
            "example.com/v0",
            json!({"f:spec": {"f:a": {}}}),
        ),
        _ => return None,
    })
}
