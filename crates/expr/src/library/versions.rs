//! Versions as semver.org defines them.

use std::{any::Any, cmp::Ordering};

use super::{Table, declare, name_types};
use crate::{
    call::Call,
    env::Env,
    error::EvalError,
    ty::Type,
    value::{Opaque, Value, number},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const VERSIONS: Table = &[
    (
        "semver",
        semver,
        &[
            "string_to_semver: (string) -> kubernetes.Semver",
            "string_bool_to_semver: (string, bool) -> kubernetes.Semver",
        ],
    ),
    (
        "isSemver",
        is_semver,
        &[
            "is_semver_string: (string) -> bool",
            "is_semver_string_bool: (string, bool) -> bool",
        ],
    ),
    (
        "isGreaterThan",
        is_greater,
        &["semver_is_greater_than: kubernetes.Semver.(kubernetes.Semver) -> bool"],
    ),
    (
        "isLessThan",
        is_less,
        &["semver_is_less_than: kubernetes.Semver.(kubernetes.Semver) -> bool"],
    ),
    (
        "compareTo",
        compare_to,
        &["semver_compare_to: kubernetes.Semver.(kubernetes.Semver) -> int"],
    ),
    (
        "major",
        major,
        &["semver_major: kubernetes.Semver.() -> int"],
    ),
    (
        "minor",
        minor,
        &["semver_minor: kubernetes.Semver.() -> int"],
    ),
    (
        "patch",
        patch,
        &["semver_patch: kubernetes.Semver.() -> int"],
    ),
];

/// A version as a value.
#[derive(Clone, Debug)]
struct Version {
    core: [u64; 3],
    before: Vec<Part>,
}

/// A part of what comes before a release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Word(String),
}

impl Version {
    /// Order of versions; a release comes after everything before it.
    fn order(&self, other: &Self) -> Ordering {
        let before = match (self.before.is_empty(), other.before.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => self.before.cmp(&other.before),
        };
        self.core.cmp(&other.core).then(before)
    }
}

impl Opaque for Version {
    fn type_of(&self) -> Type {
        Type::object("kubernetes.Semver", [])
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other
            .as_any()
            .downcast_ref::<Self>()
            .is_some_and(|other| self.order(other).is_eq())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

pub(super) fn install(env: &mut Env) {
    declare(env, VERSIONS);
    name_types(
        env,
        &[("kubernetes.Semver", Type::object("kubernetes.Semver", []))],
    );
}

fn parse(text: &str) -> Result<Version, String> {
    if text.is_empty() {
        return Err("Version string empty".to_owned());
    }
    let mut parts = text.splitn(3, '.');
    let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("No Major.Minor.Patch elements found".to_owned());
    };
    let (rest, build) = match rest.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (rest, None),
    };
    let (patch, before) = match rest.split_once('-') {
        Some((patch, before)) => (patch, Some(before)),
        None => (rest, None),
    };
    let core = [
        core_number("major", major)?,
        core_number("minor", minor)?,
        core_number("patch", patch)?,
    ];
    let mut found = Vec::new();
    for part in before.into_iter().flat_map(|before| before.split('.')) {
        found.push(prerelease(part)?);
    }
    for part in build.into_iter().flat_map(|build| build.split('.')) {
        if part.is_empty() {
            return Err("Build meta data is empty".to_owned());
        }
        if !word(part) {
            let quoted = number::quote(part);
            return Err(format!(
                "Invalid character(s) found in build meta data {quoted}"
            ));
        }
    }
    Ok(Version {
        core,
        before: found,
    })
}

fn word(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn core_number(what: &str, text: &str) -> Result<u64, String> {
    let capital = what[..1].to_uppercase() + &what[1..];
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        let quoted = number::quote(text);
        return Err(format!(
            "Invalid character(s) found in {what} number {quoted}"
        ));
    }
    if text.len() > 1 && text.starts_with('0') {
        let quoted = number::quote(text);
        return Err(format!(
            "{capital} number must not contain leading zeroes {quoted}"
        ));
    }
    let quoted = number::quote(text);
    if text.is_empty() {
        return Err(format!(
            "strconv.ParseUint: parsing {quoted}: invalid syntax"
        ));
    }
    text.parse()
        .map_err(|_| format!("strconv.ParseUint: parsing {quoted}: value out of range"))
}

fn prerelease(text: &str) -> Result<Part, String> {
    if text.is_empty() {
        return Err("Prerelease is empty".to_owned());
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        if text.len() > 1 && text.starts_with('0') {
            let quoted = number::quote(text);
            return Err(format!(
                "Numeric PreRelease version must not contain leading zeroes {quoted}"
            ));
        }
        return text.parse().map(Part::Number).map_err(|_| {
            format!(
                "strconv.ParseUint: parsing {}: value out of range",
                number::quote(text)
            )
        });
    }
    if !word(text) {
        return Err(format!(
            "Invalid character(s) found in prerelease {}",
            number::quote(text)
        ));
    }
    Ok(Part::Word(text.to_owned()))
}

/// Reads a version as people write it: `v1.2` is `1.2.0`.
fn parse_loosely(text: &str) -> Result<Version, String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text
        .splitn(3, '.')
        .map(|part| {
            if part.len() < 2 {
                return part.to_owned();
            }
            let bare = part.trim_start_matches('0');
            let digit = bare.starts_with(|first: char| first.is_ascii_digit());
            if digit {
                bare.to_owned()
            } else {
                format!("0{bare}")
            }
        })
        .collect();
    if parts.len() < 3 {
        if parts.last().is_some_and(|last| last.contains(['+', '-'])) {
            return Err("short version cannot contain PreRelease/Build meta data".to_owned());
        }
        parts.resize(3, "0".to_owned());
    }
    parse(&parts.join("."))
}

fn read(args: &[Value<'_>]) -> Option<Result<Version, String>> {
    match args {
        [Value::String(text)] | [Value::String(text), Value::Bool(false)] => Some(parse(text)),
        [Value::String(text), Value::Bool(true)] => Some(parse_loosely(text)),
        _ => None,
    }
}

fn semver<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match read(args) {
        Some(version) => Ok(Value::opaque(version.map_err(EvalError::new)?)),
        None => call.refuse(args),
    }
}

fn is_semver<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match read(args) {
        Some(version) => Ok(Value::Bool(version.is_ok())),
        None => call.refuse(args),
    }
}

fn order(call: &Call<'_>, args: &[Value<'_>]) -> Result<Ordering, EvalError> {
    let version = |place: usize| args.get(place).and_then(Value::downcast::<Version>);
    match (version(0), version(1)) {
        (Some(one), Some(two)) => Ok(one.order(two)),
        _ => call.refuse(args),
    }
}

fn is_greater<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(order(call, args)?.is_gt()))
}

fn is_less<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(order(call, args)?.is_lt()))
}

fn compare_to<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Int(order(call, args)? as i64))
}

fn core(call: &Call<'_>, args: &[Value<'_>], place: usize) -> Outcome<'static> {
    match args.first().and_then(Value::downcast::<Version>) {
        Some(version) => Ok(Value::Int(version.core[place].cast_signed())),
        None => call.refuse(args),
    }
}

fn major<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    core(call, args, 0)
}

fn minor<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    core(call, args, 1)
}

fn patch<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    core(call, args, 2)
}
