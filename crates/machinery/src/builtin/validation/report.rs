//! Collects field errors, with words for the checks that many kinds share.

use serde_json::{Value, json};

use crate::{
    field_error::{FieldError, Kind},
    names,
    quantity::Quantity,
};

/// The errors found so far.
#[derive(Default)]
pub(super) struct Report {
    pub(super) errors: Vec<FieldError>,
}

const NOT_NEGATIVE: &str = "must be greater than or equal to 0";
const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

impl Report {
    /// A field that must be there.
    pub(super) fn required(&mut self, path: impl Into<String>) {
        self.errors.push(FieldError::required(path, ""));
    }

    /// A field that must be there, and why.
    pub(super) fn required_because(&mut self, path: impl Into<String>, why: &str) {
        self.errors.push(FieldError::required(path, why));
    }

    /// A value that is no good.
    pub(super) fn invalid(&mut self, path: impl Into<String>, value: &Value, why: &str) {
        self.errors
            .push(FieldError::invalid(path, value.clone(), why));
    }

    /// A value that is no good, shown in words of its own.
    pub(super) fn invalid_shown(&mut self, path: impl Into<String>, shown: &str, why: &str) {
        self.shown(Kind::Invalid, path, shown, why);
    }

    /// An error whose value is shown in words of its own.
    pub(super) fn shown(&mut self, kind: Kind, path: impl Into<String>, shown: &str, why: &str) {
        let separator = if why.is_empty() { "" } else { ": " };
        self.errors.push(FieldError {
            kind,
            field: path.into(),
            value: None,
            detail: format!("{shown}{separator}{why}"),
        });
    }

    /// A field that may not be set, or not changed.
    pub(super) fn forbidden(&mut self, path: impl Into<String>, why: &str) {
        self.errors.push(FieldError::forbidden(path, why));
    }

    /// A text with too many characters.
    pub(super) fn too_long(&mut self, path: impl Into<String>, most: usize) {
        self.errors.push(FieldError {
            kind: Kind::TooLong,
            field: path.into(),
            value: None,
            detail: format!("may not be more than {most} bytes"),
        });
    }

    /// A list with too many entries.
    pub(super) fn at_most(&mut self, path: impl Into<String>, entries: &[Value], most: usize) {
        if entries.len() > most {
            self.errors.push(FieldError {
                kind: Kind::TooMany,
                field: path.into(),
                value: Some(json!(entries.len())),
                detail: format!("must have at most {most} items"),
            });
        }
    }

    /// A value that must be unique.
    pub(super) fn duplicate(&mut self, path: impl Into<String>, value: &Value) {
        self.errors.push(FieldError::duplicate(path, value.clone()));
    }

    /// A reference to something that is not there.
    pub(super) fn not_found(&mut self, path: impl Into<String>, value: &Value) {
        self.errors.push(FieldError {
            kind: Kind::NotFound,
            field: path.into(),
            value: Some(value.clone()),
            detail: String::new(),
        });
    }

    /// A text that must be one of several, also when it is missing.
    pub(super) fn one_of(&mut self, path: impl Into<String>, value: &Value, supported: &[&str]) {
        let text = value.as_str().unwrap_or_default();
        if !supported.contains(&text) {
            let error = FieldError::not_supported(path, json!(text), supported);
            self.errors.push(error);
        }
    }

    /// A text that must be one of several if it is there.
    pub(super) fn one_of_if_set(
        &mut self,
        path: impl Into<String>,
        value: &Value,
        supported: &[&str],
    ) {
        if value.is_string() {
            self.one_of(path, value, supported);
        }
    }

    /// Complaints of a name rule.
    pub(super) fn names(&mut self, path: &str, value: &str, complaints: Vec<String>) {
        for complaint in complaints {
            self.errors
                .push(FieldError::invalid(path, json!(value), complaint));
        }
    }

    /// A required DNS-1123 label.
    pub(super) fn label_name(&mut self, path: &str, value: &Value) {
        match value.as_str().unwrap_or_default() {
            "" => self.required(path),
            name => self.names(path, name, names::dns_1123_label(name)),
        }
    }

    /// A DNS-1123 subdomain, if it is there.
    pub(super) fn subdomain_if_set(&mut self, path: &str, value: &Value) {
        if let Some(name) = value.as_str().filter(|name| !name.is_empty()) {
            self.names(path, name, names::dns_1123_subdomain(name));
        }
    }

    /// A number that may not be negative, if it is there.
    pub(super) fn not_negative(&mut self, path: impl Into<String>, value: &Value) {
        if value.as_i64().is_some_and(|number| number < 0) {
            self.invalid(path, value, NOT_NEGATIVE);
        }
    }

    /// A number that must be there and above zero.
    pub(super) fn positive(&mut self, path: impl Into<String>, number: i64) {
        if number <= 0 {
            self.invalid(path, &json!(number), "must be greater than zero");
        }
    }

    /// A number within bounds, if it is there.
    pub(super) fn within(&mut self, path: impl Into<String>, value: &Value, from: i64, to: i64) {
        if value
            .as_i64()
            .is_some_and(|number| !(from..=to).contains(&number))
        {
            let why = format!("must be between {from} and {to}, inclusive");
            self.invalid(path, value, &why);
        }
    }

    /// A path that leads down from where it starts.
    pub(super) fn descends(&mut self, path: &str, value: &Value) {
        let place = text(value);
        if place.starts_with('/') {
            self.invalid(path, value, "must be a relative path");
        }
        if place.split('/').any(|part| part == "..") {
            self.invalid(path, value, "must not contain '..'");
        }
    }

    /// A port number.
    pub(super) fn port(&mut self, path: impl Into<String>, number: i64) {
        if !(1..=65535).contains(&number) {
            self.invalid(
                path,
                &json!(number),
                "must be between 1 and 65535, inclusive",
            );
        }
    }

    /// A port by number or name.
    pub(super) fn port_or_name(&mut self, path: &str, value: &Value) {
        match value {
            Value::String(name) => {
                for complaint in port_name(name) {
                    self.invalid(path, value, complaint);
                }
            }
            number => self.port(path, number.as_i64().unwrap_or_default()),
        }
    }

    /// A whole number or a percentage, neither negative.
    pub(super) fn number_or_percent(&mut self, path: &str, value: &Value) {
        match value {
            Value::String(text) if percent(text).is_none() => self.invalid(path, value, PERCENT),
            Value::Null | Value::String(_) => {}
            number => self.not_negative(path, number),
        }
    }

    /// A percentage that may not exceed the whole.
    pub(super) fn at_most_hundred(&mut self, path: &str, value: &Value) {
        if value
            .as_str()
            .and_then(percent)
            .is_some_and(|percent| percent > 100)
        {
            self.invalid(path, value, "must not be greater than 100%");
        }
    }

    /// An IP address.
    pub(super) fn ip(&mut self, path: impl Into<String>, value: &Value) -> bool {
        let valid = value
            .as_str()
            .is_some_and(|text| text.parse::<std::net::IpAddr>().is_ok());
        if !valid {
            let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            self.invalid(path, value, why);
        }
        valid
    }

    /// An IP network.
    pub(super) fn cidr(&mut self, path: impl Into<String>, value: &Value) -> bool {
        let valid = value.as_str().and_then(network).is_some();
        if !valid {
            let why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
            self.invalid(path, value, why);
        }
        valid
    }
}

/// What is wrong with the name of a port.
pub(super) fn port_name(name: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    if name.is_empty() || name.len() > 15 {
        found.push("must be no more than 15 characters");
    }
    let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.chars().all(valid) {
        found.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    }
    if !name.contains(|c: char| c.is_ascii_lowercase()) {
        found.push("must contain at least one letter (a-z)");
    }
    if name.contains("--") {
        found.push("must not contain consecutive hyphens");
    }
    if name.starts_with('-') || name.ends_with('-') {
        found.push("must not begin or end with a hyphen");
    }
    found
}

/// The number before a percent sign.
pub(super) fn percent(text: &str) -> Option<u64> {
    text.strip_suffix('%')?.parse().ok()
}

/// Address and length of an IP network.
pub(super) fn network(text: &str) -> Option<(std::net::IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let address: std::net::IpAddr = address.parse().ok()?;
    let length: u8 = length.parse().ok()?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    (length <= longest).then_some((address, length))
}

/// The entries of a list.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a value; empty if it is none.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// An amount in billionths.
pub(super) fn amount(value: &Value) -> i128 {
    match Quantity::parse(text(value)) {
        Ok(Some(quantity)) => quantity.nanos(),
        _ => 0,
    }
}
