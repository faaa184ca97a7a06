//! Random values of a shape, right and wrong ones.

use rand::{Rng, rngs::StdRng, seq::IndexedRandom};
use serde_json::{Map, Value, json};

use super::shape::{NAMES, Shape};

/// How often something is wrong with a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    pub(super) wrong_type: f64,
    pub(super) null: f64,
    pub(super) duplicate: f64,
    pub(super) missing_key: f64,
}

/// A value of a shape.
pub(super) fn of(shape: &Shape, random: &mut StdRng, faults: Faults) -> Value {
    if random.random_bool(faults.wrong_type) {
        return any(random, 2);
    }
    if random.random_bool(faults.null) {
        return Value::Null;
    }
    match shape {
        Shape::Text => json!(pick(random, &["x", "y", "z", ""])),
        Shape::Whole => json!(random.random_range(0..3)),
        Shape::Number => pick(random, &[json!(1), json!(1.0), json!(2.5), json!(0)]),
        Shape::Flag => json!(random.random_bool(0.5)),
        Shape::Time => json!(pick(
            random,
            &["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"]
        )),
        Shape::IntOrString => pick(random, &[json!(0), json!(1), json!("50%")]),
        Shape::Any => any(random, 3),
        Shape::Free => loop {
            let value = any(random, 3);
            if value.is_object() {
                break value;
            }
        },
        Shape::Object {
            fields,
            keeps_unknown,
            embedded,
            ..
        } => {
            let mut object = some_fields(fields, 0.6, random, faults);
            if *keeps_unknown && random.random_bool(0.5) {
                object.insert("zz".to_owned(), any(random, 2));
            } else if random.random_bool(0.003) {
                object.insert("unknown".to_owned(), json!(1));
            }
            if *embedded && random.random_bool(0.5) {
                let metadata = json!({"labels": {"a": "b"}, "name": "x"});
                object.insert("metadata".to_owned(), metadata);
                object.insert("kind".to_owned(), json!("Foo"));
            }
            Value::Object(object)
        }
        Shape::Map { of: inner, .. } => (0..random.random_range(0..4))
            .map(|_| {
                let name = pick(random, &NAMES).to_owned();
                (name, of(inner, random, faults))
            })
            .collect::<Map<_, _>>()
            .into(),
        Shape::List(inner) => (0..random.random_range(0..3))
            .map(|_| of(inner, random, faults))
            .collect(),
        Shape::Set(inner) => set(inner, random, faults),
        Shape::Keyed { .. } => keyed(shape, random, faults),
    }
}

fn pick<T: Clone>(random: &mut StdRng, from: &[T]) -> T {
    let at = random.random_range(0..from.len());
    from[at].clone()
}

fn some_fields(
    fields: &[(String, Shape)],
    share: f64,
    random: &mut StdRng,
    faults: Faults,
) -> Map<String, Value> {
    let mut object = Map::new();
    for (name, shape) in fields {
        if random.random_bool(share) {
            object.insert(name.clone(), of(shape, random, faults));
        }
    }
    object
}

fn set(inner: &Shape, random: &mut StdRng, faults: Faults) -> Value {
    let mut entries: Vec<Value> = Vec::new();
    for _ in 0..random.random_range(0..5) {
        let entry = of(inner, random, faults);
        let same = |known: &Value| {
            *known == entry || (known.as_f64().is_some() && known.as_f64() == entry.as_f64())
        };
        if random.random_bool(faults.duplicate) || !entries.iter().any(same) {
            entries.push(entry);
        }
    }
    entries.into()
}

fn keyed(shape: &Shape, random: &mut StdRng, faults: Faults) -> Value {
    let Shape::Keyed { keys, fields, .. } = shape else {
        return json!([]);
    };
    let mut entries: Vec<Value> = Vec::new();
    let mut seen: Vec<Vec<Value>> = Vec::new();
    for _ in 0..random.random_range(0..5) {
        let mut entry = Map::new();
        let mut identity = Vec::new();
        for key in keys {
            let optional = key.default.is_some();
            let left_out = if optional { 0.3 } else { faults.missing_key };
            if random.random_bool(left_out) {
                identity.push(key.default.clone().unwrap_or_default());
            } else {
                let value = of(&key.shape, random, Faults::default());
                identity.push(value.clone());
                entry.insert(key.name.clone(), value);
            }
        }
        if seen.contains(&identity) && !random.random_bool(faults.duplicate) {
            continue;
        }
        seen.push(identity);
        entry.extend(some_fields(fields, 0.5, random, faults));
        entries.push(entry.into());
    }
    entries.into()
}

/// Anything, nested at most so deep.
pub(super) fn any(random: &mut StdRng, depth: u32) -> Value {
    match random.random_range(0..if depth == 0 { 5 } else { 8 }) {
        0 => json!("s"),
        1 => json!(random.random_range(0..3)),
        2 => json!(random.random_bool(0.5)),
        3 => json!(1.5),
        4 if random.random_bool(0.2) => Value::Null,
        4 => json!("t"),
        5 => (0..random.random_range(0..3))
            .map(|_| any(random, depth - 1))
            .collect(),
        _ => (0..random.random_range(0..3))
            .map(|_| {
                let name = pick(random, &NAMES).to_owned();
                (name, any(random, depth - 1))
            })
            .collect::<Map<_, _>>()
            .into(),
    }
}

/// An object with one field changed, added or gone.
pub(super) fn changed(shape: &Shape, old: &Value, random: &mut StdRng, faults: Faults) -> Value {
    let (Shape::Object { fields, .. }, Value::Object(old)) = (shape, old) else {
        return of(shape, random, faults);
    };
    let mut new = old.clone();
    let Some((name, inner)) = fields.choose(random) else {
        return new.into();
    };
    match new.get(name) {
        Some(value) if random.random_bool(0.8) => {
            let value = changed(inner, value, random, faults);
            new.insert(name.clone(), value);
        }
        Some(_) => {
            new.remove(name);
        }
        None => {
            new.insert(name.clone(), of(inner, random, faults));
        }
    }
    new.into()
}
