//! `format`: which ones count, and what they demand of a string.

use std::net::Ipv6Addr;

use serde_json::Value;

use super::pattern;
use crate::{
    names::{dns_1123_label, dns_1123_subdomain},
    schema::Type,
};

const STRING_FORMATS: [&str; 26] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

/// The format if it means anything for this type; formats that the server does not know are ignored.
pub(super) fn known(format: Option<&str>, ty: Option<Type>) -> Option<&str> {
    let format = format?;
    let counts = match ty {
        None | Some(Type::String) => {
            let plain = format.replace('-', "");
            STRING_FORMATS.contains(&plain.as_str())
        }
        Some(Type::Integer) => matches!(format, "int32" | "int64"),
        Some(Type::Number) => matches!(format, "float" | "double"),
        Some(Type::Object | Type::Array | Type::Boolean) => false,
    };
    counts.then_some(format)
}

/// The formats in a schema that are ignored.
pub(crate) fn unrecognized(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(format) = schema.get("format").and_then(Value::as_str) {
        let ty = match schema.get("type").and_then(Value::as_str) {
            Some("integer") => Some(Type::Integer),
            Some("number") => Some(Type::Number),
            Some("boolean" | "object" | "array") => Some(Type::Boolean),
            _ => None,
        };
        if !format.is_empty() && known(Some(format), ty).is_none() {
            found.push(format.to_owned());
        }
    }
    let inner = |value: &Value| found_below(value);
    for keyword in ["items", "not", "additionalProperties"] {
        found.extend(schema.get(keyword).into_iter().flat_map(inner));
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let choices = schema.get(keyword).and_then(Value::as_array);
        found.extend(choices.into_iter().flatten().flat_map(inner));
    }
    let fields = schema.get("properties").and_then(Value::as_object);
    found.extend(
        fields
            .into_iter()
            .flat_map(|fields| fields.values())
            .flat_map(inner),
    );
    found
}

fn found_below(schema: &Value) -> Vec<String> {
    if schema.is_object() {
        unrecognized(schema)
    } else {
        Vec::new()
    }
}

fn matches(expression: &str, text: &str) -> bool {
    pattern::compile(expression).is_ok_and(|regex| regex.is_match(text))
}

/// Whether a string has the format.
pub(super) fn accepts(format: &str, text: &str) -> bool {
    match format.replace('-', "").as_str() {
        "uri" => is_uri(text),
        "email" => is_email(text),
        "hostname" => is_hostname(text),
        "ipv4" => ipv4(text),
        "ipv6" => text.contains(':') && ipv6(text),
        "cidr" => is_cidr(text),
        "mac" => is_mac(text),
        "uuid" => matches(
            r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$",
            text,
        ),
        "uuid3" => matches(
            r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$",
            text,
        ),
        "uuid4" => matches(
            r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$",
            text,
        ),
        "uuid5" => matches(
            r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$",
            text,
        ),
        "isbn" => isbn10(text) || isbn13(text),
        "isbn10" => isbn10(text),
        "isbn13" => isbn13(text),
        "creditcard" => is_credit_card(text),
        "ssn" => matches(r"^\d{3}[- ]?\d{2}[- ]?\d{4}$", text),
        "hexcolor" => matches(r"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", text),
        "rgbcolor" => matches(
            r"^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$",
            text,
        ),
        "byte" => matches(
            r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$",
            text,
        ),
        "bsonobjectid" => matches(r"^[0-9a-fA-F]{24}$", text),
        "date" => is_date(text),
        "datetime" => is_date_time(text),
        "duration" => is_duration(text),
        "k8sshortname" => dns_1123_label(text).is_empty(),
        "k8slongname" => dns_1123_subdomain(text).is_empty(),
        _ => true,
    }
}

/// Leading zeros are tolerated, as old Go versions did.
fn ipv4(text: &str) -> bool {
    let parts: Vec<_> = text.split('.').collect();
    parts.len() == 4
        && parts.iter().all(|part| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_digit())
                && part.parse::<u16>().is_ok_and(|number| number < 256)
        })
        || (text.contains('.') && text.contains(':') && ipv6(text))
}

fn ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let longest = if address.contains(':') { 128 } else { 32 };
    let address_fine = if longest == 128 {
        ipv6(address)
    } else {
        ipv4(address)
    };
    let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    address_fine && digits && length.parse::<u8>().is_ok_and(|bits| bits <= longest)
}

fn is_mac(text: &str) -> bool {
    [
        r"^([0-9a-fA-F]{2}:){5,7}[0-9a-fA-F]{2}$",
        r"^([0-9a-fA-F]{2}-){5,7}[0-9a-fA-F]{2}$",
        r"^([0-9a-fA-F]{4}\.){2,3}[0-9a-fA-F]{4}$",
    ]
    .iter()
    .any(|form| matches(form, text))
        && ![7].contains(&text.split([':', '-']).count())
}

fn is_uri(text: &str) -> bool {
    if text.is_empty()
        || text
            .bytes()
            .any(|byte| byte < 0x20 || byte == 0x7f || byte == b' ')
    {
        return false;
    }
    text.starts_with('/') || matches(r"^[A-Za-z][A-Za-z0-9+.-]*:.", text)
}

fn is_email(text: &str) -> bool {
    let address = match (text.rfind('<'), text.ends_with('>')) {
        (Some(start), true) => &text[start + 1..text.len() - 1],
        _ => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else {
        return false;
    };
    let atom = |text: &str| {
        matches(
            r"^[A-Za-z0-9!#$%&'*+/=?^_`{|}~\x{80}-\x{10FFFF}-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~\x{80}-\x{10FFFF}-]+)*$",
            text,
        )
    };
    let quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    (atom(local) || quoted) && atom(domain)
}

fn is_hostname(text: &str) -> bool {
    let form = r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\p{S}\p{L}-]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$";
    text.len() <= 255 && text.split('.').all(|part| part.len() <= 63) && matches(form, text)
}

fn is_date(text: &str) -> bool {
    matches(r"^\d{4}-\d{2}-\d{2}$", text) && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_date_time(text: &str) -> bool {
    if text.len() < 4 {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let Some((date, time)) = lower.split_once('t') else {
        return false;
    };
    is_date(date)
        && matches(
            r"^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]\d{2}:\d{2})$",
            time,
        )
}

fn is_duration(text: &str) -> bool {
    const UNITS: [&str; 20] = [
        "ns", "nano", "us", "µs", "micro", "ms", "milli", "s", "sec", "m", "min", "h", "hr",
        "hour", "d", "day", "w", "wk", "week", "μs",
    ];
    const LONG: [&str; 8] = [
        "nano", "micro", "milli", "sec", "min", "hour", "day", "week",
    ];
    if text == "0" || matches(r"^[-+]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$", text) {
        return true;
    }
    let Ok(parts) = pattern::compile(r"(\d+)\s*([A-Za-zµ]+)") else {
        return false;
    };
    parts.captures_iter(text).any(|found| {
        let unit = found[2].to_lowercase();
        UNITS.contains(&unit.as_str()) || LONG.iter().any(|long| unit.starts_with(long))
    })
}

fn isbn10(text: &str) -> bool {
    let plain = text.replace(['-', ' '], "");
    if !matches(r"^(?:[0-9]{9}X|[0-9]{10})$", &plain) {
        return false;
    }
    let sum: u32 = (1..)
        .zip(plain.chars())
        .map(|(at, digit)| at * digit.to_digit(10).unwrap_or(10))
        .sum();
    sum.is_multiple_of(11)
}

fn isbn13(text: &str) -> bool {
    let plain = text.replace(['-', ' '], "");
    if !matches(r"^[0-9]{13}$", &plain) {
        return false;
    }
    let digits: Vec<u32> = plain
        .chars()
        .filter_map(|digit| digit.to_digit(10))
        .collect();
    let sum: u32 = digits
        .iter()
        .zip([1, 3].into_iter().cycle())
        .map(|(digit, weight)| digit * weight)
        .sum();
    sum.is_multiple_of(10)
}

fn is_credit_card(text: &str) -> bool {
    let plain: String = text.chars().filter(char::is_ascii_digit).collect();
    let form = r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$";
    if !matches(form, &plain) {
        return false;
    }
    let sum: u32 = plain
        .chars()
        .rev()
        .enumerate()
        .filter_map(|(at, digit)| {
            let digit = digit.to_digit(10)?;
            let doubled = if at % 2 == 1 { digit * 2 } else { digit };
            Some(if doubled > 9 { doubled - 9 } else { doubled })
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_accept_what_a_server_accepts() {
        for (format, good, bad) in [
            ("ipv4", "10.0.0.1", "10.0.0"),
            ("ipv6", "::1", "10.0.0.1"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("mac", "01:23:45:67:89:ab", "01:23"),
            ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
            ("uri", "https://a.example/b", "not a uri"),
            ("email", "a@b.example", "a.b"),
            ("hostname", "a.example", "-a"),
            ("date", "2024-02-29", "2023-02-29"),
            ("date-time", "2024-02-29T10:00:00Z", "2024-02-29"),
            ("duration", "1h30m", "soon"),
            ("byte", "YWJj", "YWJ"),
            ("hexcolor", "#fff", "#ff"),
            ("isbn10", "0321751043", "0321751044"),
            ("isbn13", "978-0321751041", "978-0321751042"),
            ("creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"),
            ("k8s-short-name", "abc", "Abc"),
        ] {
            assert!(accepts(format, good), "{format} {good}");
            assert!(!accepts(format, bad), "{format} {bad}");
        }
        assert!(accepts("ipv4", "010.0.0.1"), "leading zeros are tolerated");
    }
}
