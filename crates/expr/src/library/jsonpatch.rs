//! Keys in JSON patches.

use super::{Table, declare};
use crate::{call::Call, env::Env, error::EvalError, value::Value};

const JSON_PATCH: Table = &[(
    "jsonpatch.escapeKey",
    escape_key,
    &["string_jsonpatch_escapeKey_string: (string) -> string"],
)];

pub(super) fn install(env: &mut Env) {
    declare(env, JSON_PATCH);
}

fn escape_key<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::String(text)] => call.made(text.replace('~', "~0").replace('/', "~1")),
        _ => call.refuse(args),
    }
}
