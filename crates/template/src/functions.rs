//! Functions that templates have beyond CEL: names, hashes, merging, leaving out.

use std::collections::BTreeMap;

use quadrille_expr::{Call, Env, EvalError, Key, Map, Value};

use crate::{language::NameMaker, output};

/// The longest name of most objects, and the longest label.
const NAME_LIMIT: usize = 253;
const LABEL_LIMIT: usize = 63;

/// Adds the functions to an environment.
pub(crate) fn install(env: Env, names: NameMaker) -> Env {
    let name = |function: &str, limit: usize, env: Env| {
        let signatures = [
            format!("{function}_string: (string) -> string"),
            format!("{function}_list: (list(dyn)) -> string"),
        ];
        let signatures = signatures.each_ref().map(String::as_str);
        env.function(function, &signatures, move |call, args| {
            made_name(call, args, limit, names)
        })
        .gathering(function)
    };
    let env = name("oc_generate_name", NAME_LIMIT, env);
    let env = name("oc_dns_label", LABEL_LIMIT, env);
    env.function(
        "oc_omit",
        &["oc_omit: () -> dyn"],
        |_, _| Ok(output::omit()),
    )
    .function("oc_hash", &["oc_hash_string: (string) -> string"], hash)
    .function(
        "oc_merge",
        &["oc_merge_maps: (map(string, dyn), map(string, dyn)) -> map(string, dyn)"],
        merge,
    )
    .chaining("oc_merge")
}

fn made_name<'a>(
    call: &mut Call<'_>,
    args: &[Value<'a>],
    limit: usize,
    names: NameMaker,
) -> Result<Value<'a>, EvalError> {
    call.reserve(limit)?;
    match args {
        [Value::String(part)] => Ok(Value::text(names(limit, &[part]))),
        [Value::List(list)] => {
            let items: Vec<Value<'a>> = list.iter().collect();
            // Whatever is no text has no part in a name.
            let parts: Vec<&str> = items
                .iter()
                .filter_map(|item| match item {
                    Value::String(part) => Some(&**part),
                    _ => None,
                })
                .collect();
            Ok(Value::text(names(limit, &parts)))
        }
        _ => Err(EvalError::new("a name is made of texts")),
    }
}

/// FNV-1a of 32 bits as eight hexadecimal digits.
fn hash<'a>(_: &mut Call<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [Value::String(text)] = args else {
        return Err(EvalError::new("oc_hash takes one text"));
    };
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    Ok(Value::text(format!("{hash:08x}")))
}

/// Entries of both maps; where they share a key, that of the second.
fn merge<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [Value::Map(first), Value::Map(second)] = args else {
        return Err(EvalError::new("oc_merge takes maps"));
    };
    call.reserve((first.len() + second.len()) * 2 * size_of::<Value<'_>>())?;
    let mut merged = BTreeMap::new();
    for (key, value) in first.iter().chain(second.iter()) {
        match Key::of(&key) {
            Some(place @ Key::String(_)) => {
                merged.insert(place, value);
            }
            _ => return Err(EvalError::new("oc_merge takes maps with text as keys")),
        }
    }
    Ok(Value::Map(Map::Entries(merged.into())))
}
