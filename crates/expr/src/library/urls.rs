//! Absolute URLs.

use std::{any::Any, collections::BTreeMap};

use super::{Table, declare, name_types, url_text::Url};
use crate::{
    call::Call,
    env::Env,
    error::EvalError,
    ty::Type,
    value::{Key, Map, Opaque, Text, Value},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const URLS: Table = &[
    ("url", url, &["string_to_url: (string) -> kubernetes.URL"]),
    ("isURL", is_url, &["is_url_string: (string) -> bool"]),
    (
        "getScheme",
        scheme,
        &["url_get_scheme: kubernetes.URL.() -> string"],
    ),
    (
        "getHost",
        host,
        &["url_get_host: kubernetes.URL.() -> string"],
    ),
    (
        "getHostname",
        hostname,
        &["url_get_hostname: kubernetes.URL.() -> string"],
    ),
    (
        "getPort",
        port,
        &["url_get_port: kubernetes.URL.() -> string"],
    ),
    (
        "getEscapedPath",
        path,
        &["url_get_escaped_path: kubernetes.URL.() -> string"],
    ),
    (
        "getQuery",
        query,
        &["url_get_query: kubernetes.URL.() -> map(string, list(string))"],
    ),
];

impl Opaque for Url {
    fn type_of(&self) -> Type {
        Type::object("kubernetes.URL", [])
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

pub(super) fn install(env: &mut Env) {
    declare(env, URLS);
    name_types(
        env,
        &[("kubernetes.URL", Type::object("kubernetes.URL", []))],
    );
}

fn url<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::String(text)] = args else {
        return call.refuse(args);
    };
    call.reserve(text.len())?;
    let url = Url::parse(text).map_err(|error| {
        EvalError::new(format!(
            "URL parse error during conversion from string: {error}"
        ))
    })?;
    Ok(Value::opaque(url))
}

fn is_url<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(Url::parse(text).is_ok())),
        _ => call.refuse(args),
    }
}

fn part(call: &mut Call<'_>, args: &[Value<'_>], read: fn(&Url) -> String) -> Outcome<'static> {
    match args.first().and_then(Value::downcast::<Url>) {
        Some(url) => call.made(read(url)),
        None => call.refuse(args),
    }
}

fn scheme<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(call, args, |url| url.scheme.clone())
}

fn host<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(call, args, |url| url.host.clone())
}

fn hostname<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(call, args, |url| url.hostname().to_owned())
}

fn port<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(call, args, |url| url.port().to_owned())
}

fn path<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(call, args, Url::escaped_path)
}

fn query<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let Some(url) = args.first().and_then(Value::downcast::<Url>) else {
        return call.refuse(args);
    };
    let mut found: BTreeMap<String, Vec<Value<'a>>> = BTreeMap::new();
    for (key, value) in url.query() {
        call.reserve(key.len() + value.len() + 2 * size_of::<Value<'_>>())?;
        found.entry(key).or_default().push(Value::from(value));
    }
    let entries = found
        .into_iter()
        .map(|(key, values)| (Key::String(Text::Shared(key.into())), Value::list(values)))
        .collect();
    Ok(Value::Map(Map::new(entries)))
}
