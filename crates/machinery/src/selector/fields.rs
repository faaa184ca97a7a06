//! Field selectors.

use std::fmt;

use super::SelectorError;

/// One demand on one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRequirement {
    /// The field's path, such as `metadata.name`.
    pub field: String,
    /// The wanted (or unwanted) value.
    pub value: String,
    /// Whether the value is the wanted one (`=`) or the unwanted one (`!=`).
    pub equal: bool,
}

/// All demands must hold; none selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    /// The demands, in the order in which they print.
    pub requirements: Vec<FieldRequirement>,
}

impl FieldSelector {
    /// Reads `a=b,c!=d`; `\\`, `\,` and `\=` escape those characters in values.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut terms = split_terms(text);
        terms.sort_unstable();
        let mut requirements = Vec::new();
        for term in terms.into_iter().filter(|term| !term.is_empty()) {
            let Some((field, equal, value)) = split_term(term) else {
                return Err(SelectorError(format!(
                    "invalid selector: '{text}'; can't understand '{term}'"
                )));
            };
            requirements.push(FieldRequirement {
                field: field.to_owned(),
                value: unescape(value)?,
                equal,
            });
        }
        Ok(Self { requirements })
    }

    /// Whether nothing is demanded.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether an object is selected; `lookup` gives a field's value, and "" for an unset one.
    pub fn matches<'a>(&self, mut lookup: impl FnMut(&str) -> std::borrow::Cow<'a, str>) -> bool {
        self.requirements
            .iter()
            .all(|wanted| (lookup(&wanted.field) == wanted.value) == wanted.equal)
    }

    /// The one value that a field must have, if the selector says so.
    pub fn exact(&self, field: &str) -> Option<&str> {
        self.requirements
            .iter()
            .find(|wanted| wanted.equal && wanted.field == field)
            .map(|wanted| wanted.value.as_str())
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, wanted) in self.requirements.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let sign = if wanted.equal { "=" } else { "!=" };
            write!(
                out,
                "{comma}{}{sign}{}",
                wanted.field,
                escape(&wanted.value)
            )?;
        }
        Ok(())
    }
}

/// Splits at commas that no backslash escapes.
fn split_terms(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let mut start = 0;
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms
}

/// The field, whether it must be equal, and the raw value.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    for (at, _) in term.char_indices() {
        let rest = &term[at..];
        for (sign, equal) in [("!=", false), ("==", true), ("=", true)] {
            if let Some(value) = rest.strip_prefix(sign) {
                return Some((&term[..at], equal, value));
            }
        }
    }
    None
}

fn escape(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace(',', "\\,")
        .replace('=', "\\=")
}

fn unescape(value: &str) -> Result<String, SelectorError> {
    let mut plain = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(next @ ('\\' | ',' | '=')) => plain.push(next),
                other => {
                    let sequence: String = other.into_iter().collect();
                    return Err(SelectorError(format!(
                        "invalid field selector: invalid escape sequence: \\{sequence}"
                    )));
                }
            },
            // Real servers print the character's number here.
            ',' | '=' => {
                return Err(SelectorError(format!(
                    "invalid field selector: unescaped character in value: {}",
                    u32::from(letter)
                )));
            }
            other => plain.push(other),
        }
    }
    Ok(plain)
}
