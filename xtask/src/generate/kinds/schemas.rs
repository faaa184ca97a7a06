//! OpenAPI schemas without prose and with short keys.
//!
//! | key | meaning | key | meaning |
//! |---|---|---|---|
//! | `n` | name of the definition | `g` | group, version, kind triples |
//! | `t` | type: `s i n b a o` | `f` | format |
//! | `r` | number of another definition | `p` | properties |
//! | `q` | required names | `i` | items |
//! | `m` | additional properties | `d` | default |
//! | `l` | list type: `a s m` | `k` | list map keys |
//! | `c` | atomic map | `s`, `e` | patch strategy, merge key |
//! | `o` | one of | `u` | unions, as they are |
//! | `x` | how an empty field is encoded (see `golang`) | `y` | Go name of a scalar type |
//! | `v` | values of an enumeration | | |

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};

use super::golang::Sources;
use super::resources::{GroupVersion, document};

/// All definitions in compact form, sorted by name.
pub(super) struct Definitions {
    /// The compact schemas.
    pub(super) compact: Vec<Value>,
    kinds: BTreeMap<(String, String, String), usize>,
}

impl Definitions {
    /// The number of the definition of a kind.
    pub(super) fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<usize> {
        self.kinds
            .get(&(group.to_owned(), version.to_owned(), kind.to_owned()))
            .copied()
    }
}

/// Reads the OpenAPI document of one group version.
pub(super) fn read(folder: &Path, version: &GroupVersion) -> anyhow::Result<Value> {
    let file = if version.group.is_empty() {
        format!("api__{}_openapi.json", version.version)
    } else {
        format!("apis__{}__{}_openapi.json", version.group, version.version)
    };
    document(&folder.join(file))
}

/// Joins the definitions of all documents and makes them compact.
pub(super) fn compact(documents: &[Value], sources: &Sources) -> anyhow::Result<Definitions> {
    let mut all: BTreeMap<&str, &Map<String, Value>> = BTreeMap::new();
    for document in documents {
        let schemas = document["components"]["schemas"]
            .as_object()
            .context("a document without schemas")?;
        for (name, schema) in schemas {
            let schema = schema.as_object().context("a schema is an object")?;
            all.entry(name).or_insert(schema);
        }
    }
    let numbers: BTreeMap<&str, usize> = all.keys().copied().zip(0..).collect();
    let mut kinds = BTreeMap::new();
    let mut compact = Vec::new();
    for (number, (name, schema)) in all.iter().enumerate() {
        let mut short = shorten(schema, &numbers).with_context(|| format!("definition {name}"))?;
        annotate(&mut short, name, sources).with_context(|| format!("definition {name}"))?;
        short.insert("n".into(), json!(name));
        let triples = group_version_kinds(schema);
        // `DeleteOptions` and `WatchEvent` belong to every group: their list is no fact of one kind.
        if triples.len() == 1 {
            short.insert("g".into(), json!(triples[0]));
            let [group, version, kind] = triples[0].clone();
            kinds.insert((group, version, kind), number);
        }
        compact.push(short.into());
    }
    Ok(Definitions { compact, kinds })
}

/// Adds what only the Go sources say about the fields of a definition.
fn annotate(
    definition: &mut Map<String, Value>,
    name: &str,
    sources: &Sources,
) -> anyhow::Result<()> {
    let Some(properties) = definition.get_mut("p").and_then(Value::as_object_mut) else {
        return Ok(());
    };
    for field in sources.fields(name)?.context("no Go struct")? {
        let Some(shape) = properties.get_mut(&field.json) else {
            continue;
        };
        if let Some(presence) = sources.presence(&field)? {
            shape["x"] = json!(presence);
        }
        if let Some((go_name, values)) = sources.scalar(&field)? {
            let scalar = innermost(shape);
            scalar["y"] = json!(go_name);
            if !values.is_empty() {
                scalar["v"] = json!(values);
            }
        }
    }
    Ok(())
}

fn innermost(shape: &mut Value) -> &mut Value {
    for nested in ["i", "m"] {
        if shape.get(nested).is_some() {
            return innermost(&mut shape[nested]);
        }
    }
    shape
}

fn group_version_kinds(schema: &Map<String, Value>) -> Vec<[String; 3]> {
    let triples = schema
        .get("x-kubernetes-group-version-kind")
        .and_then(Value::as_array);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    triples
        .into_iter()
        .flatten()
        .map(|triple| ["group", "version", "kind"].map(|key| text(&triple[key])))
        .collect()
}

/// The compact form of one schema; an unknown keyword is an error, so that nothing gets lost unnoticed.
fn shorten(
    schema: &Map<String, Value>,
    numbers: &BTreeMap<&str, usize>,
) -> anyhow::Result<Map<String, Value>> {
    let mut short = Map::new();
    for (keyword, value) in schema {
        let (key, value) = match keyword.as_str() {
            "description" | "x-kubernetes-group-version-kind" => continue,
            "type" => ("t", json!(initial(value)?)),
            "format" => ("f", value.clone()),
            "$ref" => ("r", json!(number(value, numbers)?)),
            "allOf" => match value.as_array().map(Vec::as_slice) {
                Some([reference]) => ("r", json!(number(&reference["$ref"], numbers)?)),
                _ => bail!("`allOf` of more than one reference"),
            },
            "properties" => ("p", shorten_each(value, numbers)?),
            "items" => ("i", shorten_value(value, numbers)?),
            "additionalProperties" => ("m", shorten_value(value, numbers)?),
            "required" => ("q", value.clone()),
            "default" => ("d", value.clone()),
            "enum" => ("v", value.clone()),
            "x-kubernetes-list-type" => ("l", json!(initial(value)?)),
            "x-kubernetes-list-map-keys" => ("k", value.clone()),
            "x-kubernetes-map-type" => ("c", json!(value == "atomic")),
            "x-kubernetes-patch-strategy" => ("s", value.clone()),
            "x-kubernetes-patch-merge-key" => ("e", value.clone()),
            "x-kubernetes-unions" => ("u", value.clone()),
            "oneOf" => {
                let choices = value.as_array().context("`oneOf` is a list")?;
                let choices = choices.iter().map(|choice| shorten_value(choice, numbers));
                ("o", choices.collect::<anyhow::Result<Vec<_>>>()?.into())
            }
            unknown => bail!("unknown keyword {unknown}"),
        };
        short.insert(key.to_owned(), value);
    }
    Ok(short)
}

fn shorten_value(schema: &Value, numbers: &BTreeMap<&str, usize>) -> anyhow::Result<Value> {
    let schema = schema.as_object().context("a schema is an object")?;
    Ok(shorten(schema, numbers)?.into())
}

fn shorten_each(schemas: &Value, numbers: &BTreeMap<&str, usize>) -> anyhow::Result<Value> {
    let schemas = schemas.as_object().context("schemas by name")?;
    let mut short = Map::new();
    for (name, schema) in schemas {
        short.insert(name.clone(), shorten_value(schema, numbers)?);
    }
    Ok(short.into())
}

fn initial(word: &Value) -> anyhow::Result<char> {
    let word = word.as_str().context("a word")?;
    word.chars().next().context("an empty word")
}

fn number(reference: &Value, numbers: &BTreeMap<&str, usize>) -> anyhow::Result<usize> {
    let reference = reference.as_str().context("a reference is a string")?;
    let name = reference
        .strip_prefix("#/components/schemas/")
        .context("a reference to a schema")?;
    numbers
        .get(name)
        .copied()
        .with_context(|| format!("no definition {name}"))
}
