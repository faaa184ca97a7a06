//! The sentences around decode errors: what a real server puts into its 400 and into `Warning` headers.

use std::fmt;

use super::{DecodeError, Document, StrictError, document::Node};

/// How much of a body a complaint shows.
const SUMMARY_BYTES: usize = 30;
/// The anonymous Go struct that a real server reads `apiVersion` and `kind` into; it shows in complaints.
const ENVELOPE_TYPE: &str = r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

impl fmt::Display for StrictError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(path) => write!(out, "unknown field {path:?}"),
            Self::Duplicate(path) => write!(out, "duplicate field {path:?}"),
            Self::JsonPatch(error) => write!(out, "json patch {error}"),
            Self::Yaml(lines) => write!(out, "yaml: unmarshal errors:\n  {}", lines.join("\n  ")),
        }
    }
}

/// `apiVersion` and `kind` of a body; empty when absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// `apiVersion`.
    pub api_version: String,
    /// `kind`.
    pub kind: String,
}

impl Envelope {
    /// The group: empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    /// The version within the group.
    pub fn version(&self) -> &str {
        self.api_version
            .split_once('/')
            .map_or(self.api_version.as_str(), |(_, version)| version)
    }
}

/// Reads `apiVersion` and `kind`, the first thing a server does with a body.
pub fn envelope(document: &Document<'_>) -> Result<Envelope, DecodeError> {
    let fields = match document.root() {
        Node::Object(fields) => fields.as_slice(),
        Node::Null => &[],
        other => {
            return Err(DecodeError(format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type {ENVELOPE_TYPE}",
                other.word()
            )));
        }
    };
    let mut envelope = Envelope::default();
    for (name, node) in fields {
        let target = match name.as_ref() {
            "apiVersion" => &mut envelope.api_version,
            "kind" => &mut envelope.kind,
            _ => continue,
        };
        match node {
            Node::String(text) => *target = text.to_string(),
            Node::Null => {}
            other => {
                return Err(DecodeError(format!(
                    "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go struct field .{name} of type string",
                    other.word()
                )));
            }
        }
    }
    if envelope.api_version.matches('/').count() > 1 {
        return Err(DecodeError(format!(
            "unexpected GroupVersion string: {}",
            envelope.api_version
        )));
    }
    Ok(envelope)
}

/// The start of a body as complaints show it: text for JSON objects, else hexadecimal.
pub fn summary(body: &[u8]) -> String {
    let start = &body[..body.len().min(SUMMARY_BYTES)];
    let dots = if body.len() > SUMMARY_BYTES {
        " ..."
    } else {
        ""
    };
    match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{dots}", String::from_utf8_lossy(start)),
        Some(_) => {
            let hex: Vec<_> = start.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{}{dots}", hex.concat())
        }
    }
}

/// The message of the 400 for a body that is no object at all, or whose kind is unknown yet.
/// Syntax errors of JSON are found while looking for the kind, and say so.
pub fn unrecognized(wanted_kind: &str, error: &DecodeError, body: &[u8]) -> String {
    let looking = if is_json_syntax(&error.0) {
        "couldn't get version/kind; json parse error: "
    } else {
        ""
    };
    format!(
        "the object provided is unrecognized (must be of type {wanted_kind}): {looking}{error} ({})",
        summary(body)
    )
}

fn is_json_syntax(text: &str) -> bool {
    text.starts_with("invalid character ") || text == "unexpected end of JSON input"
}

/// The message of the 400 for a body of a known kind that does not fit.
pub fn not_handled(envelope: &Envelope, wanted_kind: &str, error: &str) -> String {
    format!(
        "{} in version {:?} cannot be handled as a {wanted_kind}: {error}",
        envelope.kind,
        envelope.version()
    )
}

/// What `fieldValidation=Strict` answers: `strict decoding error: unknown field "spec.foo"`.
pub fn strict_message(errors: &[StrictError]) -> String {
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    format!("strict decoding error: {}", texts.join(", "))
}

/// What `fieldValidation=Warn` puts into `Warning` headers, one each.
pub fn warnings(errors: &[StrictError]) -> Vec<String> {
    errors
        .iter()
        .flat_map(|error| match error {
            StrictError::Yaml(lines) => lines.clone(),
            other => vec![other.to_string()],
        })
        .collect()
}
