//! What a client can read (`Accept`) and what it sent (`Content-Type`).

use http::{HeaderMap, header};
use quadrille_machinery::status::Status;

/// The form in which a client wants an object or a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The object itself.
    Object,
    /// `PartialObjectMetadata`, or a list of them.
    Metadata {
        /// The form of a list was asked for.
        list: bool,
        /// Its version of `meta.k8s.io`.
        version: MetaVersion,
    },
    /// `Table`, of this version of `meta.k8s.io`.
    Table(MetaVersion),
}

/// Versions of `meta.k8s.io` that carry tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetaVersion {
    V1,
    V1Beta1,
}

impl MetaVersion {
    /// The `apiVersion` text.
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// One clause of an `Accept` header.
struct Clause<'a> {
    media: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f32,
}

impl<'a> Clause<'a> {
    fn parameter(&self, name: &str) -> Option<&'a str> {
        let mut parameters = self.parameters.iter();
        parameters
            .find(|(key, _)| *key == name)
            .map(|(_, value)| *value)
    }
}

fn clauses(header: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = header
        .split(',')
        .filter_map(|clause| {
            let mut parts = clause.split(';').map(str::trim);
            let media = parts.next().filter(|media| !media.is_empty())?;
            let mut quality = 1.0;
            let mut parameters = Vec::new();
            for part in parts {
                let (key, value) = part.split_once('=').unwrap_or((part, ""));
                let value = value.trim_matches('"');
                if key.eq_ignore_ascii_case("q") {
                    quality = value.parse().unwrap_or(0.0);
                } else {
                    parameters.push((key, value));
                }
            }
            Some(Clause {
                media,
                parameters,
                quality,
            })
        })
        .collect();
    // A stable sort: among equals, the client's own order decides.
    clauses.sort_by(|left, right| right.quality.total_cmp(&left.quality));
    clauses
}

/// What the refusal lists as readable.
const MEDIA_TYPES: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
/// The same for streams of events.
const STREAM_TYPES: &str =
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

/// What is asked for, as far as refusals tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// An object of a built-in kind.
    Object,
    /// A collection of a built-in kind, as a list or as events.
    Collection,
    /// A question, which is never shown as a table.
    Review,
    /// Anything of a custom kind. Built-in kinds have a router in front that compares media types on its own.
    Custom,
}

impl Endpoint {
    /// The endpoint that one of the verbs of a resource reaches.
    pub(crate) fn of(built_in: bool, verb: &str) -> Self {
        match verb {
            _ if !built_in => Self::Custom,
            "list" | "watch" => Self::Collection,
            _ => Self::Object,
        }
    }
}

/// The best form that the client accepts and the endpoint can give.
pub(crate) fn form(headers: &HeaderMap, endpoint: Endpoint) -> Result<Form, Status> {
    let header = accepted(headers);
    if header.is_empty() {
        return Ok(Form::Object);
    }
    let clauses = clauses(header);
    let routed = clauses.iter().any(|clause| is_written(clause.media));
    if !routed && endpoint != Endpoint::Custom {
        let streams = match endpoint {
            Endpoint::Collection => format!(", {STREAM_TYPES}"),
            _ => String::new(),
        };
        return Err(Status {
            details: serde_json::json!({}),
            ..Status::not_acceptable(format!(
                "406: Not Acceptable\n\nAvailable representations: {MEDIA_TYPES}{streams}"
            ))
        });
    }
    for clause in clauses {
        if !matches!(
            clause.media,
            "application/json" | "application/yaml" | "application/*" | "*/*"
        ) {
            continue;
        }
        let version = match clause.parameter("v") {
            None | Some("v1") => MetaVersion::V1,
            Some("v1beta1") => MetaVersion::V1Beta1,
            Some(_) => continue,
        };
        match clause.parameter("as") {
            None => return Ok(Form::Object),
            Some("Table") if endpoint != Endpoint::Review => return Ok(Form::Table(version)),
            Some(form @ ("PartialObjectMetadata" | "PartialObjectMetadataList")) => {
                if clause.parameter("g") == Some("meta.k8s.io") {
                    let list = form.ends_with("List");
                    return Ok(Form::Metadata { list, version });
                }
            }
            Some(_) => {}
        }
    }
    Err(Status::not_acceptable(format!(
        "only the following media types are accepted: {MEDIA_TYPES}"
    )))
}

/// Refuses a client that would rather read events as YAML, which is no stream.
pub(crate) fn stream(headers: &HeaderMap) -> Result<(), Status> {
    if prefers_yaml(headers) {
        return Err(Status::not_acceptable(format!(
            "only the following media types are accepted: {STREAM_TYPES}"
        )));
    }
    Ok(())
}

/// The media types that the client accepts, the best first; nothing said is anything.
pub(crate) fn media_types(headers: &HeaderMap) -> Vec<&str> {
    let header = accepted(headers);
    if header.is_empty() {
        return vec!["*/*"];
    }
    clauses(header).iter().map(|clause| clause.media).collect()
}

/// Whether the client would rather read YAML than JSON.
pub(crate) fn prefers_yaml(headers: &HeaderMap) -> bool {
    let clauses = clauses(accepted(headers));
    let mut known = clauses.iter().map(|clause| clause.media);
    known.find(|media| is_written(media)) == Some("application/yaml")
}

fn accepted(headers: &HeaderMap) -> &str {
    let header = headers.get(header::ACCEPT);
    header.and_then(|value| value.to_str().ok()).unwrap_or("")
}

fn is_written(media: &str) -> bool {
    media == "*/*" || MEDIA_TYPES.split(", ").any(|written| written == media)
}

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFormat {
    Json,
    Yaml,
}

/// The format of a request body; JSON when the client doesn't say.
pub(crate) fn body_format(headers: &HeaderMap) -> Result<BodyFormat, Status> {
    let header = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    match header.split(';').next().unwrap_or("").trim() {
        "" if !header.is_empty() => Err(unknown_format()),
        "" | "application/json" => Ok(BodyFormat::Json),
        "application/yaml" => Ok(BodyFormat::Yaml),
        _ => Err(unknown_format()),
    }
}

fn unknown_format() -> Status {
    Status::unsupported_media_type(format!(
        "the body of the request was in an unknown format - accepted media types include: {MEDIA_TYPES}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(accept: &str) -> Result<Form, Status> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().unwrap());
        form(&headers, Endpoint::Object)
    }

    #[test]
    fn kubectl_gets_a_table_before_json() {
        let accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(asked(accept), Ok(Form::Table(MetaVersion::V1)));
    }

    #[test]
    fn where_there_are_no_tables_only_the_next_choice_helps() {
        let mut headers = HeaderMap::new();
        let mut asked = |accept: &str| {
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            form(&headers, Endpoint::Review)
        };
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        assert_eq!(asked(table).unwrap_err().code, 406);
        assert_eq!(
            asked(&format!("{table},application/json")),
            Ok(Form::Object)
        );
    }

    #[test]
    fn protobuf_first_falls_back_to_json() {
        assert_eq!(
            asked("application/vnd.kubernetes.protobuf,application/json"),
            Ok(Form::Object)
        );
    }

    #[test]
    fn quality_orders_clauses() {
        let accept = "application/json;q=0.5,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1;q=0.9";
        assert_eq!(
            asked(accept),
            Ok(Form::Metadata {
                list: false,
                version: MetaVersion::V1
            })
        );
    }

    #[test]
    fn what_nobody_writes_is_refused() {
        assert_eq!(asked("image/png").unwrap_err().code, 406);
        assert_eq!(asked("application/*").unwrap_err().code, 406);
    }

    #[test]
    fn only_custom_kinds_read_any_application() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, "application/*".parse().unwrap());
        assert_eq!(form(&headers, Endpoint::Custom), Ok(Form::Object));
    }

    #[test]
    fn events_are_not_written_in_yaml() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, "application/yaml".parse().unwrap());
        assert_eq!(stream(&headers).unwrap_err().code, 406);
    }
}
