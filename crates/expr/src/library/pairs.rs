//! Loops over two variables: the function behind those that make maps.

use super::{Table, declare};
use crate::{
    call::Call,
    env::Env,
    error::EvalError,
    value::{Key, Map, Value},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const PAIRS: Table = &[(
    "cel.@mapInsert",
    insert,
    &[
        "@mapInsert_map_key_value: (map(K, V), K, V) -> map(K, V)",
        "@mapInsert_map_map: (map(K, V), map(K, V)) -> map(K, V)",
    ],
)];

pub(super) fn install(env: &mut Env) {
    declare(env, PAIRS);
}

fn insert<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (map, added) = match args {
        [Value::Map(map), key, value] => (map, vec![(key.clone(), value.clone())]),
        [Value::Map(map), Value::Map(more)] => (map, more.iter().collect()),
        _ => return call.refuse(args),
    };
    let mut entries = match map {
        Map::Entries(entries) => (**entries).clone(),
        other => other
            .iter()
            .filter_map(|(key, value)| Key::of(&key).map(|key| (key, value)))
            .collect(),
    };
    for (key, value) in added {
        let Some(place) = Key::of(&key) else {
            return Err(EvalError::new(format!(
                "unsupported key type: {}",
                key.type_name()
            )));
        };
        call.reserve(2 * size_of::<Value<'_>>())?;
        if entries.insert(place, value).is_some() {
            let message = format!("insert failed: key {} already exists", key.show());
            return Err(EvalError::new(message));
        }
    }
    Ok(Value::Map(Map::new(entries)))
}
