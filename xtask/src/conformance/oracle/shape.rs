//! Random schemas of custom resources.

use rand::{Rng, rngs::StdRng, seq::IndexedRandom};
use serde_json::{Map, Value, json};

/// Names of fields and of keys of maps: few, so that writes meet.
pub(super) const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A type, as far as merging and validation care.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Text,
    Whole,
    Number,
    Flag,
    Time,
    IntOrString,
    /// Anything at all.
    Any,
    /// An object about which nothing is known.
    Free,
    Object {
        fields: Vec<(String, Shape)>,
        atomic: bool,
        keeps_unknown: bool,
        embedded: bool,
    },
    Map {
        of: Box<Shape>,
        atomic: bool,
    },
    /// A list that is one unit.
    List(Box<Shape>),
    Set(Box<Shape>),
    Keyed {
        keys: Vec<Key>,
        fields: Vec<(String, Shape)>,
        atomic: bool,
    },
}

/// A key of a keyed list.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) default: Option<Value>,
}

impl Shape {
    fn scalar(random: &mut StdRng) -> Self {
        match random.random_range(0..4) {
            0 => Self::Text,
            1 => Self::Whole,
            2 => Self::Flag,
            _ => Self::Number,
        }
    }

    /// A random type, nested at most so deep.
    pub(super) fn random(random: &mut StdRng, depth: u32) -> Self {
        if depth == 0 {
            return match random.random_range(0..9) {
                0..=4 => Self::scalar(random),
                5 => Self::Any,
                6 => Self::IntOrString,
                7 => Self::Time,
                _ => Self::Free,
            };
        }
        match random.random_range(0..16) {
            0..=1 => Self::scalar(random),
            2 => Self::Any,
            3 => Self::IntOrString,
            4..=6 => Self::Object {
                fields: fields(random, depth),
                atomic: random.random_bool(0.15),
                keeps_unknown: random.random_bool(0.15),
                embedded: false,
            },
            7..=8 => Self::Map {
                of: Box::new(Self::random(random, depth - 1)),
                atomic: random.random_bool(0.2),
            },
            9 => Self::List(Box::new(Self::random(random, depth - 1))),
            10..=11 => Self::Set(Box::new(Self::scalar(random))),
            12..=14 => Self::Keyed {
                keys: (0..random.random_range(1..3))
                    .map(|at| Key::random(random, at))
                    .collect(),
                fields: fields(random, depth),
                atomic: random.random_bool(0.15),
            },
            _ => Self::Object {
                fields: fields(random, depth - 1),
                atomic: false,
                keeps_unknown: random.random_bool(0.5),
                embedded: random.random_bool(0.3),
            },
        }
    }

    /// An object with a few random fields, as `spec` and `status` are.
    pub(super) fn top(random: &mut StdRng, depth: u32) -> Self {
        Self::Object {
            fields: fields(random, depth),
            atomic: false,
            keeps_unknown: random.random_bool(0.05),
            embedded: false,
        }
    }

    /// The same fields with other rules for merging: what a new version of a schema may bring.
    pub(super) fn with_other_rules(&self, random: &mut StdRng) -> Self {
        let flip = |random: &mut StdRng, atomic: bool| atomic != random.random_bool(0.3);
        let others = |random: &mut StdRng, fields: &[(String, Self)]| {
            fields
                .iter()
                .map(|(name, shape)| (name.clone(), shape.with_other_rules(random)))
                .collect::<Vec<_>>()
        };
        match self {
            Self::Object {
                fields,
                atomic,
                keeps_unknown,
                embedded,
            } => Self::Object {
                fields: others(random, fields),
                atomic: flip(random, *atomic),
                keeps_unknown: *keeps_unknown,
                embedded: *embedded,
            },
            Self::Map { of, atomic } => Self::Map {
                of: Box::new(of.with_other_rules(random)),
                atomic: flip(random, *atomic),
            },
            Self::List(of) => Self::List(Box::new(of.with_other_rules(random))),
            Self::Set(of) if random.random_bool(0.3) => Self::List(of.clone()),
            Self::Keyed {
                keys,
                fields,
                atomic,
            } => {
                let fields = others(random, fields);
                if random.random_bool(0.3) {
                    let keys = keys.iter().map(|key| (key.name.clone(), key.shape.clone()));
                    return Self::List(Box::new(Self::Object {
                        fields: fields.into_iter().chain(keys).collect(),
                        atomic: *atomic,
                        keeps_unknown: false,
                        embedded: false,
                    }));
                }
                Self::Keyed {
                    keys: keys.clone(),
                    fields,
                    atomic: flip(random, *atomic),
                }
            }
            other => other.clone(),
        }
    }

    /// The type as a definition writes it.
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Whole => json!({"type": "integer"}),
            Self::Number => json!({"type": "number"}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Time => json!({"type": "string", "format": "date-time"}),
            Self::IntOrString => json!({"x-kubernetes-int-or-string": true}),
            Self::Any => json!({"x-kubernetes-preserve-unknown-fields": true}),
            Self::Free => json!({"type": "object"}),
            Self::Object {
                fields,
                atomic,
                keeps_unknown,
                embedded,
            } => {
                let mut schema = object(fields.iter().map(|(name, shape)| (name, shape.schema())));
                mark(&mut schema, "x-kubernetes-map-type", *atomic, "atomic");
                mark(
                    &mut schema,
                    "x-kubernetes-preserve-unknown-fields",
                    *keeps_unknown,
                    true,
                );
                mark(
                    &mut schema,
                    "x-kubernetes-embedded-resource",
                    *embedded,
                    true,
                );
                schema
            }
            Self::Map { of, atomic } => {
                let mut schema = json!({"type": "object", "additionalProperties": of.schema()});
                mark(&mut schema, "x-kubernetes-map-type", *atomic, "atomic");
                schema
            }
            Self::List(of) => {
                json!({"type": "array", "items": of.schema(), "x-kubernetes-list-type": "atomic"})
            }
            Self::Set(of) => {
                json!({"type": "array", "items": of.schema(), "x-kubernetes-list-type": "set"})
            }
            Self::Keyed {
                keys,
                fields,
                atomic,
            } => {
                let fields = fields.iter().map(|(name, shape)| (name, shape.schema()));
                let keyed = keys.iter().map(|key| (&key.name, key.schema()));
                let mut items = object(fields.chain(keyed));
                let required: Vec<_> = keys
                    .iter()
                    .filter(|key| key.default.is_none())
                    .map(|key| &key.name)
                    .collect();
                if !required.is_empty() {
                    items["required"] = json!(required);
                }
                mark(&mut items, "x-kubernetes-map-type", *atomic, "atomic");
                json!({
                    "type": "array",
                    "items": items,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": keys.iter().map(|key| &key.name).collect::<Vec<_>>(),
                })
            }
        }
    }
}

impl Key {
    fn random(random: &mut StdRng, at: usize) -> Self {
        let shape = match random.random_range(0..3) {
            0 => Shape::Whole,
            _ => Shape::Text,
        };
        let default = random.random_bool(0.3).then(|| match shape {
            Shape::Whole => json!(random.random_range(0..3)),
            _ => json!(*["x", "y", ""].choose(random).unwrap_or(&"x")),
        });
        Self {
            name: format!("k{at}"),
            shape,
            default,
        }
    }

    fn schema(&self) -> Value {
        let mut schema = self.shape.schema();
        if let Some(default) = &self.default {
            schema["default"] = default.clone();
        }
        schema
    }
}

fn fields(random: &mut StdRng, depth: u32) -> Vec<(String, Shape)> {
    let count = random.random_range(1..4);
    NAMES[..count]
        .iter()
        .map(|name| {
            let shape = Shape::random(random, depth.saturating_sub(1));
            ((*name).to_owned(), shape)
        })
        .collect()
}

fn object<'a>(fields: impl Iterator<Item = (&'a String, Value)>) -> Value {
    let fields: Map<String, Value> = fields
        .map(|(name, schema)| (name.clone(), schema))
        .collect();
    json!({"type": "object", "properties": fields})
}

fn mark(schema: &mut Value, extension: &str, set: bool, value: impl Into<Value>) {
    if set {
        schema[extension] = value.into();
    }
}
