//! Objects of custom resources against their schema: pruning, defaults, validation.

use quadrille_machinery::structural;
use rand::{Rng, rngs::StdRng};
use serde_json::{Value, json};

use super::{
    replay::whole_numbers,
    rules,
    shape::Shape,
    value::{self, Faults},
};

/// A random schema with bounds and defaults, an object that mostly fits, and often one that it replaces.
pub(super) fn question(random: &mut StdRng) -> Value {
    let shape = Shape::top(random, 3);
    let mut spec = shape.schema();
    decorate(&mut spec, random, true);
    let has_rules = random.random_bool(0.6) && rules::are_comparable(&spec);
    if has_rules {
        rules::add(&mut spec, random);
    }
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    // What rules say of data that was never valid is not compared.
    let faults = if has_rules {
        Faults::default()
    } else {
        Faults {
            wrong_type: 0.03,
            null: 0.05,
            duplicate: 0.1,
            missing_key: 0.05,
        }
    };
    let first = value::of(&shape, random, faults);
    let update = random.random_bool(0.6);
    let second = if update {
        value::changed(&shape, &first, random, faults)
    } else {
        Value::Null
    };
    let with = |spec: Value| json!({"spec": spec, "metadata": {"name": "a"}});
    let (object, old) = if update {
        (with(second), with(first))
    } else {
        (with(first), Value::Null)
    };
    json!({
        "ask": "custom",
        "custom": {"schema": schema, "object": object, "old": old},
    })
}

/// Adds bounds, enums, patterns, defaults and required fields to a schema.
fn decorate(schema: &mut Value, random: &mut StdRng, is_top: bool) {
    if random.random_bool(0.1) && !is_top && schema.get("type").is_some() {
        schema["nullable"] = json!(true);
    }
    match schema["type"].as_str() {
        Some("string") if schema.get("format").is_none() => match random.random_range(0..6) {
            0 => schema["maxLength"] = json!(random.random_range(0..3)),
            1 => schema["minLength"] = json!(1),
            2 => schema["enum"] = json!(["x", "y"]),
            3 => schema["pattern"] = json!("^[xy]*$"),
            _ => {}
        },
        Some("integer" | "number") => match random.random_range(0..6) {
            0 => schema["minimum"] = json!(1),
            1 => schema["maximum"] = json!(1),
            2 => {
                schema["maximum"] = json!(2);
                schema["exclusiveMaximum"] = json!(true);
            }
            3 => schema["multipleOf"] = json!(2),
            _ => {}
        },
        Some("array") => {
            match random.random_range(0..6) {
                0 => schema["maxItems"] = json!(random.random_range(0..3)),
                1 => schema["minItems"] = json!(1),
                _ => {}
            }
            decorate_items(schema, random);
        }
        Some("object") => {
            if random.random_bool(0.1) && schema.get("properties").is_none() {
                schema["maxProperties"] = json!(1);
            }
            if let Some(of) = schema.get_mut("additionalProperties") {
                decorate(of, random, false);
            }
            let names: Vec<String> = schema["properties"]
                .as_object()
                .into_iter()
                .flat_map(|fields| fields.keys().cloned())
                .collect();
            for name in &names {
                decorate(&mut schema["properties"][name], random, false);
            }
            if random.random_bool(0.2) && schema.get("required").is_none() && !names.is_empty() {
                schema["required"] = json!([names[0]]);
            }
        }
        _ => {}
    }
    let simple = matches!(
        schema["type"].as_str(),
        Some("string" | "integer" | "boolean")
    );
    if simple && !is_top && random.random_bool(0.2) && schema.get("default").is_none() {
        schema["default"] = match schema["type"].as_str() {
            Some("string") if schema.get("format").is_some() => json!("2020-01-01T00:00:00Z"),
            Some("string") => json!("x"),
            Some("integer") => json!(1),
            _ => json!(true),
        };
    }
}

/// Keys of a list stay as they are: definitions have rules about them.
fn decorate_items(schema: &mut Value, random: &mut StdRng) {
    let keys: Vec<String> = schema["x-kubernetes-list-map-keys"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let items = &mut schema["items"];
    if keys.is_empty() {
        if items.get("properties").is_some() {
            decorate(items, random, true);
        }
        return;
    }
    let names: Vec<String> = items["properties"]
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.keys().cloned())
        .filter(|name| !keys.contains(name))
        .collect();
    for name in names {
        decorate(&mut items["properties"][name], random, false);
    }
}

/// Reads, prunes, defaults and validates with our code.
pub(super) fn difference(question: &Value, answer: &Value) -> Option<String> {
    let Some(expected) = answer.get("errors").and_then(Value::as_array) else {
        // Schemas that no server accepts are not asked about.
        return None;
    };
    let schema = structural::schema(Some(&question["schema"]));
    let root = schema.root();
    let read = |object: &Value| {
        let mut object = object.clone();
        let unknown = structural::prune(root, &mut object, true);
        structural::drop_nulls(root, &mut object);
        structural::default(root, &mut object);
        (object, unknown)
    };
    let old = question.get("old").filter(|old| !old.is_null());
    let old = old.map(|old| read(old).0);
    let (object, unknown) = read(&question["object"]);
    let (mut wanted, mut got) = (answer["object"].clone(), object.clone());
    whole_numbers(&mut wanted);
    whole_numbers(&mut got);
    if wanted != got {
        return Some(format!("object {wanted}\n    ours {got}"));
    }
    let mut pruned: Vec<&str> = answer["pruned"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    pruned.sort_unstable();
    if pruned != unknown {
        return Some(format!("pruned {pruned:?}\n    ours {unknown:?}"));
    }
    let mut errors = structural::validate(root, &object, old.as_ref());
    let compiled = structural::Rules::new(schema.clone());
    if compiled.exist() {
        match structural::blocks_rules(&errors) {
            Some(blocked) => errors.push(blocked),
            None => errors.extend(compiled.judge(&object, old.as_ref()).errors),
        }
    }
    let mut got: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let mut wanted: Vec<String> = expected
        .iter()
        .filter_map(|error| error.as_str().map(without_random_names))
        .collect();
    wanted.sort();
    got.sort();
    (wanted != got).then(|| format!("errors {wanted:#?}\n    ours {got:#?}"))
}

/// Real servers give the type of `self` a new name every time.
fn without_random_names(text: &str) -> String {
    let mut parts = text.split("selfType");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str("selfType");
        plain.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    }
    plain
}
