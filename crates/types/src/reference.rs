//! References that are a plain name in one generation and `{kind, name}` in another.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{problem::Problem, schema};

/// A reference as written: `default`, or `{kind: ClusterDataPlane, name: default}`.
///
/// A server cannot check such a field, so anything may be in it; reading never fails, [`Self::resolve`]
/// does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NameOrReference(Value);

/// What a reference means: a kind of our group and a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    /// The kind that is referred to.
    pub kind: String,
    /// The object's name.
    pub name: String,
}

impl Reference {
    /// The reference of a kind that may have been left out, and a name.
    pub fn given(kind: Option<&str>, default_kind: &str, name: &str) -> Self {
        Self {
            kind: kind.unwrap_or(default_kind).to_owned(),
            name: name.to_owned(),
        }
    }
}

impl NameOrReference {
    /// The older form: only a name.
    pub fn name(name: impl Into<String>) -> Self {
        Self(Value::String(name.into()))
    }

    /// The newer form: kind and name.
    pub fn to(kind: &str, name: &str) -> Self {
        Self(json!({ "kind": kind, "name": name }))
    }

    /// Reads the reference. `kinds` are the allowed ones; the first is meant where none is written.
    pub fn resolve(&self, field: &str, kinds: &[&str]) -> Result<Reference, Problem> {
        let default_kind = kinds.first().copied().unwrap_or_default();
        let (kind, name) = match &self.0 {
            Value::String(name) => (default_kind, name.as_str()),
            Value::Object(object) => {
                let text = |key: &str| match object.get(key) {
                    None | Some(Value::Null) => Ok(None),
                    Some(Value::String(text)) => Ok(Some(text.as_str())),
                    Some(_) => Err(Problem::new(format!("{field}.{key}"), "must be a string")),
                };
                if let Some(unknown) = object.keys().find(|key| *key != "kind" && *key != "name") {
                    return Err(Problem::new(
                        format!("{field}.{unknown}"),
                        "is unknown: a reference has kind and name",
                    ));
                }
                let kind = text("kind")?.unwrap_or(default_kind);
                let name = text("name")?
                    .ok_or_else(|| Problem::new(format!("{field}.name"), "is missing"))?;
                (kind, name)
            }
            _ => {
                return Err(Problem::new(
                    field,
                    "must be a name, or an object with kind and name",
                ));
            }
        };
        if name.is_empty() {
            return Err(Problem::new(field, "names nothing"));
        }
        if !kinds.contains(&kind) {
            let allowed = kinds.join(" or ");
            return Err(Problem::new(
                format!("{field}.kind"),
                format!("is {kind:?}, must be {allowed}"),
            ));
        }
        Ok(Reference {
            kind: kind.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl JsonSchema for NameOrReference {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NameOrReference".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schema::anything(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(yaml: Value) -> Result<Reference, String> {
        let written: NameOrReference = serde_json::from_value(yaml).unwrap();
        written
            .resolve("spec.dataPlaneRef", &["DataPlane", "ClusterDataPlane"])
            .map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_name_and_an_object_mean_the_same() {
        assert_eq!(
            read(json!("local")),
            read(json!({"kind": "DataPlane", "name": "local"}))
        );
        assert_eq!(read(json!("local")), read(json!({"name": "local"})));
        assert_eq!(
            read(json!({"kind": "ClusterDataPlane", "name": "x"}))
                .unwrap()
                .kind,
            "ClusterDataPlane"
        );
    }

    #[test]
    fn what_cannot_be_meant_is_named_with_its_field() {
        let cases = [
            (
                json!(7),
                "spec.dataPlaneRef: must be a name, or an object with kind and name",
            ),
            (json!(""), "spec.dataPlaneRef: names nothing"),
            (
                json!({"kind": "DataPlane"}),
                "spec.dataPlaneRef.name: is missing",
            ),
            (
                json!({"name": ["a"]}),
                "spec.dataPlaneRef.name: must be a string",
            ),
            (
                json!({"kind": "Pod", "name": "a"}),
                "spec.dataPlaneRef.kind: is \"Pod\", must be DataPlane or ClusterDataPlane",
            ),
            (
                json!({"name": "a", "nmae": "b"}),
                "spec.dataPlaneRef.nmae: is unknown: a reference has kind and name",
            ),
        ];
        for (written, words) in cases {
            assert_eq!(read(written).unwrap_err(), words);
        }
    }
}
