//! What names may look like, with the complaints of a Kubernetes server.

const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;
const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS_1035: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const QUALIFIED_WORDS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

fn characters(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

fn bytes(limit: usize) -> String {
    format!("must be no more than {limit} bytes")
}

fn complaint(words: &str, pattern: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|text| format!("'{text}', ")).collect();
    // Two blanks around "or" are no slip: that is how real servers say it.
    let examples = examples.join(" or ");
    format!("{words} (e.g. {examples}regex used for validation is '{pattern}')")
}

fn framed(text: &str, edge: fn(u8) -> bool, inner: fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => {
            edge(*first) && edge(*last) && bytes.iter().all(|byte| inner(*byte))
        }
        _ => false,
    }
}

fn lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    framed(text, lower, |byte| lower(byte) || byte == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_qualified(text: &str) -> bool {
    framed(
        text,
        |byte| byte.is_ascii_alphanumeric(),
        |byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte),
    )
}

/// A DNS-1123 label.
pub(super) fn label(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.len() > LABEL_MAX {
        found.push(characters(LABEL_MAX));
    }
    if !is_label(text) {
        found.push(if is_subdomain(text) {
            "must not contain dots".to_owned()
        } else {
            complaint(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
                LABEL,
                &["my-name", "123-abc"],
            )
        });
    }
    found
}

/// A DNS-1123 subdomain.
pub(super) fn subdomain(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.len() > SUBDOMAIN_MAX {
        found.push(characters(SUBDOMAIN_MAX));
    }
    if !is_subdomain(text) {
        found.push(complaint(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            &format!("{LABEL}(\\.{LABEL})*"),
            &["example.com"],
        ));
    }
    found
}

/// A DNS-1035 label.
pub(super) fn label_1035(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.len() > LABEL_MAX {
        found.push(characters(LABEL_MAX));
    }
    if !(is_label(text) && text.starts_with(|first: char| first.is_ascii_lowercase())) {
        found.push(complaint(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            DNS_1035,
            &["my-name", "abc-123"],
        ));
    }
    found
}

/// `[prefix/]name`, as for the key of a label.
pub(super) fn qualified(text: &str) -> Vec<String> {
    let examples = ["MyName", "my.name", "123-abc"];
    let words = complaint(QUALIFIED_WORDS, QUALIFIED, &examples);
    let mut found = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                found.push("prefix part must be non-empty".to_owned());
            } else {
                for text in subdomain(prefix) {
                    let long = text == characters(SUBDOMAIN_MAX);
                    let text = if long { bytes(SUBDOMAIN_MAX) } else { text };
                    found.push(format!("prefix part {text}"));
                }
            }
            *name
        }
        _ => {
            return vec![format!(
                "a valid label key {words} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        found.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_MAX {
        found.push(format!("name part {}", bytes(LABEL_MAX)));
    }
    if !is_qualified(name) {
        found.push(format!("name part {words}"));
    }
    found
}

/// The value of a label.
pub(super) fn label_value(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.len() > LABEL_MAX {
        found.push(bytes(LABEL_MAX));
    }
    if !(text.is_empty() || is_qualified(text)) {
        found.push(complaint(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            &format!("({QUALIFIED})?"),
            &["MyValue", "my_value", "12345"],
        ));
    }
    found
}

/// A name that gets more letters may end in a dash.
pub(super) fn prefix(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let last = rest.char_indices().last().map_or(0, |(at, _)| at);
            format!("{}a", &rest[..last])
        }
        _ => text.to_owned(),
    }
}
