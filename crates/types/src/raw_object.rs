//! A Kubernetes object that is carried, not understood.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::schema;

/// An object as compact JSON text with sorted keys.
///
/// Text takes a fraction of the memory of a tree, and because the form is canonical, equal objects have
/// equal text: digests can be taken of it as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RawObject(Arc<str>);

impl RawObject {
    /// The canonical text of a value.
    pub fn new(value: &Value) -> Self {
        Self(value.to_string().into())
    }

    /// From text that somebody wrote from a value: it is canonical already.
    pub fn of_text(text: &Arc<str>) -> Self {
        Self(Arc::clone(text))
    }

    /// The JSON text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The JSON text, shared.
    pub fn shared(&self) -> &Arc<str> {
        &self.0
    }

    /// The object as a tree.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.0).expect("the text was written by us from a value")
    }
}

impl From<Value> for RawObject {
    fn from(value: Value) -> Self {
        Self::new(&value)
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl JsonSchema for RawObject {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RawObject".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schema::whole_object(generator)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_objects_have_equal_text_whatever_their_order_was() {
        let one: RawObject =
            serde_json::from_str(r#"{"b": 1, "a": {"y": [1, 2], "x": null}}"#).unwrap();
        let two: RawObject = serde_json::from_str(r#"{"a":{"x":null,"y":[1,2]},"b":1}"#).unwrap();
        assert_eq!(one, two);
        assert_eq!(one.text(), r#"{"a":{"x":null,"y":[1,2]},"b":1}"#);
        assert_eq!(one.value(), json!({"a": {"x": null, "y": [1, 2]}, "b": 1}));
    }
}
