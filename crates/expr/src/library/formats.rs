//! Named formats of text, and what is wrong with a text that does not have one.

use std::any::Any;

use base64::Engine as _;

use super::{Table, declare, name_types, shapes, url_text::Url};
use crate::{
    call::{Call, Native},
    env::{Body, Env},
    error::EvalError,
    ty::Type,
    value::{Moment, Opaque, Value},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const FORMATS: Table = &[
    (
        "validate",
        validate,
        &["format-validate: kubernetes.NamedFormat.(string) -> optional_type(list(string))"],
    ),
    (
        "format.named",
        named,
        &["format-named: (string) -> optional_type(kubernetes.NamedFormat)"],
    ),
];

/// A format by its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedFormat {
    name: &'static str,
    check: fn(&str) -> Vec<String>,
    pattern_size: u64,
}

impl NamedFormat {
    /// Length of the pattern that costs are counted by.
    pub(crate) fn pattern_size(&self) -> u64 {
        self.pattern_size
    }
}

const fn format(
    name: &'static str,
    pattern_size: u64,
    check: fn(&str) -> Vec<String>,
) -> NamedFormat {
    NamedFormat {
        name,
        check,
        pattern_size,
    }
}

static NAMED: [NamedFormat; 13] = [
    format("dns1123Label", 30, shapes::label),
    format("dns1123Subdomain", 60, shapes::subdomain),
    format("dns1035Label", 30, shapes::label_1035),
    format("qualifiedName", 60, shapes::qualified),
    format("dns1123LabelPrefix", 30, |text| {
        shapes::label(&shapes::prefix(text))
    }),
    format("dns1123SubdomainPrefix", 60, |text| {
        shapes::subdomain(&shapes::prefix(text))
    }),
    format("dns1035LabelPrefix", 30, |text| {
        shapes::label_1035(&shapes::prefix(text))
    }),
    format("labelValue", 40, shapes::label_value),
    format("uri", 1103, |text| {
        Url::parse(text).err().into_iter().collect()
    }),
    format("uuid", 70, |text| {
        unless(is_uuid(text), "does not match the UUID format")
    }),
    format("byte", 84, |text| unless(is_base64(text), "invalid base64")),
    format("date", 70, |text| {
        unless(Moment::parse_date(text).is_some(), "invalid date")
    }),
    format("datetime", 70, |text| {
        unless(Moment::parse(text).is_some(), "invalid datetime")
    }),
];

fn unless(fine: bool, complaint: &str) -> Vec<String> {
    if fine {
        Vec::new()
    } else {
        vec![complaint.to_owned()]
    }
}

fn is_uuid(text: &str) -> bool {
    let plain: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = plain.iter().map(|part| part.len()).collect();
    let shaped = lengths == [8, 4, 4, 4, 12] || lengths == [32];
    shaped
        && plain
            .iter()
            .all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_base64(text: &str) -> bool {
    let decoded = base64::engine::general_purpose::STANDARD.decode(text);
    decoded.is_ok_and(|bytes| !bytes.is_empty())
}

impl Opaque for NamedFormat {
    fn type_of(&self) -> Type {
        Type::object("kubernetes.NamedFormat", [])
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other
            .as_any()
            .downcast_ref::<Self>()
            .is_some_and(|other| self.name == other.name)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

pub(super) fn install(env: &mut Env) {
    declare(env, FORMATS);
    for format in &NAMED {
        let name = format!("format.{}", format.name);
        let signature = format!("{name}: () -> kubernetes.NamedFormat");
        env.add(&name, &[&signature], &Body::Native(constant as Native));
    }
    name_types(
        env,
        &[(
            "kubernetes.NamedFormat",
            Type::object("kubernetes.NamedFormat", []),
        )],
    );
}

fn find(name: &str) -> Option<Value<'static>> {
    NAMED
        .iter()
        .find(|format| format.name == name)
        .map(|format| Value::opaque(*format))
}

fn constant<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match call.function.strip_prefix("format.").and_then(find) {
        Some(format) => Ok(format),
        None => call.refuse(args),
    }
}

fn named<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(name)] => Ok(find(name).map_or(Value::Optional(None), Value::some)),
        _ => call.refuse(args),
    }
}

fn validate<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [format, Value::String(text)] = args else {
        return call.refuse(args);
    };
    let Some(format) = format.downcast::<NamedFormat>() else {
        return call.refuse(args);
    };
    let complaints = (format.check)(text);
    if complaints.is_empty() {
        return Ok(Value::Optional(None));
    }
    Ok(Value::some(Value::list(
        complaints.into_iter().map(Value::from).collect(),
    )))
}
