//! Base64.

use base64::{
    Engine as _,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::{Table, declare};
use crate::{call::Call, env::Env, error::EvalError, value::Value};

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// Without padding, and careless about bits that nobody needs.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

const ENCODERS: Table = &[
    (
        "base64.decode",
        decode,
        &["base64_decode_string: (string) -> bytes"],
    ),
    (
        "base64.encode",
        encode,
        &["base64_encode_bytes: (bytes) -> string"],
    ),
];

pub(super) fn install(env: &mut Env) {
    declare(env, ENCODERS);
}

fn decode<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::String(text)] = args else {
        return call.refuse(args);
    };
    call.reserve(text.len())?;
    let padded = base64::engine::general_purpose::STANDARD.decode(&**text);
    // What lacks its padding is read as well.
    let decoded = padded.or_else(|error| LENIENT.decode(&**text).map_err(|_| error));
    match decoded {
        Ok(bytes) => Ok(Value::bytes(bytes)),
        Err(error) => {
            let at = match error {
                base64::DecodeError::InvalidByte(at, _)
                | base64::DecodeError::InvalidLastSymbol(at, _) => at,
                base64::DecodeError::InvalidLength(length) => length - length % 4,
                base64::DecodeError::InvalidPadding => text.len(),
            };
            Err(EvalError::new(format!(
                "illegal base64 data at input byte {at}"
            )))
        }
    }
}

fn encode<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Bytes(bytes)] => {
            call.reserve(bytes.len() * 4 / 3 + 4)?;
            Ok(Value::from(
                base64::engine::general_purpose::STANDARD.encode(bytes),
            ))
        }
        _ => call.refuse(args),
    }
}
