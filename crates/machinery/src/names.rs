//! What names, label keys and label values may look like, with the words Kubernetes uses when they do not.
//!
//! Every rule gives a list of complaints; an empty list means that the name is fine.

mod object_meta;

pub use object_meta::{
    finalizer_warnings, validate_annotations, validate_field_manager, validate_kube_finalizers,
    validate_labels, validate_object_meta, validate_object_meta_change, validate_object_meta_shape,
    validate_object_meta_update,
};

/// Longest label value and longest name part of a qualified name.
const LABEL_MAX: usize = 63;
/// Longest DNS-1123 subdomain.
const SUBDOMAIN_MAX: usize = 253;
/// Random characters that a generated name ends in.
pub const GENERATED_SUFFIX: usize = 5;

const LABEL_FORMAT: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS_1035_FORMAT: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED_FORMAT: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const QUALIFIED_WORDS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/// A rule for the name of a kind: the name, and whether it is only a prefix (`generateName`).
pub type NameRule = fn(name: &str, prefix: bool) -> Vec<String>;

fn max_characters(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

/// Labels and qualified names are told their limit in bytes, DNS names in characters.
fn max_bytes(limit: usize) -> String {
    format!("must be no more than {limit} bytes")
}

/// A complaint that names the regular expression and gives examples.
pub fn format_error(words: &str, format: &str, examples: &[&str]) -> String {
    if examples.is_empty() {
        return format!("{words} (regex used for validation is '{format}')");
    }
    // Two blanks around "or" are no slip: that is how real servers say it.
    let examples: Vec<_> = examples.iter().map(|text| format!("'{text}', ")).collect();
    let examples = examples.join(" or ");
    format!("{words} (e.g. {examples}regex used for validation is '{format}')")
}

/// Whether bytes start and end with an `edge` byte and hold only `inner` bytes.
fn framed(text: &str, edge: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(&first), Some(&last)) => edge(first) && edge(last) && bytes.iter().all(|&b| inner(b)),
        _ => false,
    }
}

fn lower_or_digit(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn label_shaped(text: &str) -> bool {
    framed(text, lower_or_digit, |byte| {
        lower_or_digit(byte) || byte == b'-'
    })
}

fn subdomain_shaped(text: &str) -> bool {
    text.split('.').all(label_shaped)
}

fn qualified_shaped(text: &str) -> bool {
    framed(
        text,
        |byte| byte.is_ascii_alphanumeric(),
        |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
    )
}

/// The shape of a DNS-1123 label.
pub fn dns_1123_label(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > LABEL_MAX {
        errors.push(max_characters(LABEL_MAX));
    }
    if !label_shaped(value) {
        errors.push(if subdomain_shaped(value) {
            "must not contain dots".to_owned()
        } else {
            format_error(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
                LABEL_FORMAT,
                &["my-name", "123-abc"],
            )
        });
    }
    errors
}

/// The shape of a search domain: a DNS-1123 subdomain that may hold underscores.
pub fn search_domain(value: &str) -> Vec<String> {
    const FORMAT: &str = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
    let part = |part: &str| {
        let part = part.strip_prefix('_').unwrap_or(part);
        framed(part, lower_or_digit, |byte| {
            lower_or_digit(byte) || matches!(byte, b'-' | b'_')
        })
    };
    let mut errors = Vec::new();
    if value.len() > SUBDOMAIN_MAX {
        errors.push(max_characters(SUBDOMAIN_MAX));
    }
    if !value.split('.').all(part) {
        errors.push(format_error(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
            &format!("{FORMAT}(\\.{FORMAT})*"),
            &["example.com"],
        ));
    }
    errors
}

/// The shape of a DNS-1123 subdomain.
pub fn dns_1123_subdomain(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > SUBDOMAIN_MAX {
        errors.push(max_characters(SUBDOMAIN_MAX));
    }
    if !subdomain_shaped(value) {
        errors.push(format_error(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            &format!("{LABEL_FORMAT}(\\.{LABEL_FORMAT})*"),
            &["example.com"],
        ));
    }
    errors
}

/// The shape of a DNS-1035 label.
pub fn dns_1035_label(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > LABEL_MAX {
        errors.push(max_characters(LABEL_MAX));
    }
    if !(label_shaped(value) && value.as_bytes()[0].is_ascii_lowercase()) {
        errors.push(format_error(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            DNS_1035_FORMAT,
            &["my-name", "abc-123"],
        ));
    }
    errors
}

/// A label key, annotation key or finalizer: `[prefix/]name`.
pub fn qualified_name(value: &str) -> Vec<String> {
    let examples = ["MyName", "my.name", "123-abc"];
    let mut errors = Vec::new();
    let parts: Vec<_> = value.split('/').collect();
    let name = match parts[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                for text in dns_1123_subdomain(prefix) {
                    let too_long = text == max_characters(SUBDOMAIN_MAX);
                    let text = if too_long {
                        max_bytes(SUBDOMAIN_MAX)
                    } else {
                        text
                    };
                    errors.push(format!("prefix part {text}"));
                }
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                format_error(QUALIFIED_WORDS, QUALIFIED_FORMAT, &examples)
            )];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_MAX {
        errors.push(format!("name part {}", max_bytes(LABEL_MAX)));
    }
    if !qualified_shaped(name) {
        let text = format_error(QUALIFIED_WORDS, QUALIFIED_FORMAT, &examples);
        errors.push(format!("name part {text}"));
    }
    errors
}

/// A label's value.
pub fn label_value(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > LABEL_MAX {
        errors.push(max_bytes(LABEL_MAX));
    }
    if !(value.is_empty() || qualified_shaped(value)) {
        errors.push(format_error(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            &format!("({QUALIFIED_FORMAT})?"),
            &["MyValue", "my_value", "12345"],
        ));
    }
    errors
}

/// What may follow a name that gets characters appended: a trailing dash is fine there.
fn masked(name: &str, prefix: bool) -> std::borrow::Cow<'_, str> {
    if prefix && name.len() > 1 && name.ends_with('-') {
        let end = (0..=name.len() - 2)
            .rev()
            .find(|&at| name.is_char_boundary(at))
            .unwrap_or(0);
        return format!("{}a", &name[..end]).into();
    }
    name.into()
}

/// Names of most kinds: a DNS-1123 subdomain.
pub fn name_is_subdomain(name: &str, prefix: bool) -> Vec<String> {
    dns_1123_subdomain(&masked(name, prefix))
}

/// Names such as a namespace's: a DNS-1123 label.
pub fn name_is_label(name: &str, prefix: bool) -> Vec<String> {
    dns_1123_label(&masked(name, prefix))
}

/// Names such as a service's: a DNS-1035 label.
pub fn name_is_dns_1035_label(name: &str, prefix: bool) -> Vec<String> {
    dns_1035_label(&masked(name, prefix))
}

/// Names such as a role's: whatever fits into one path segment.
pub fn name_is_path_segment(name: &str, prefix: bool) -> Vec<String> {
    if !prefix && matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"]
        .into_iter()
        .filter(|part| name.contains(part))
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

/// `generateName` plus a random suffix; the base is cut so that the whole has at most 63 characters.
pub fn generate(base: &str, suffix: &str) -> String {
    let longest = LABEL_MAX - GENERATED_SUFFIX;
    let mut end = base.len().min(longest);
    while !base.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{suffix}", &base[..end])
}

#[cfg(test)]
mod tests;
