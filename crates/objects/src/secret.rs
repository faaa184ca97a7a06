//! Secrets as servers keep them.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};

/// Writes `stringData` of a Secret as `data`. A server does so too, but leaves the ownership of the written fields
/// behind at fields that are no longer there: then nobody could tell that somebody else changed a value.
pub(crate) fn spell_out(object: &mut Value) {
    if object["apiVersion"] != "v1" || object["kind"] != "Secret" {
        return;
    }
    // What is no text is left for the server to refuse.
    let plain = object["stringData"].as_object();
    let Some(plain) = plain.filter(|plain| plain.values().all(Value::is_string)) else {
        return;
    };
    let encoded: Map<String, Value> = plain
        .iter()
        .map(|(key, value)| {
            let value = BASE64_STANDARD.encode(value.as_str().unwrap_or_default());
            (key.clone(), Value::String(value))
        })
        .collect();
    match &mut object["data"] {
        Value::Object(data) => data.extend(encoded),
        data @ Value::Null => *data = Value::Object(encoded),
        _ => return,
    }
    if let Some(object) = object.as_object_mut() {
        object.remove("stringData");
    }
}

/// What stands for something that may not be shown.
pub const HIDDEN: &str = "********";

/// Takes away what a Secret holds; its keys stay. Other objects stay as they are.
pub fn hide(object: &mut Value) {
    if object["apiVersion"] != "v1" || object["kind"] != "Secret" {
        return;
    }
    // Some tools put a copy into an annotation.
    let fields = ["/data", "/stringData", "/metadata/annotations"];
    for field in fields {
        match object.pointer_mut(field) {
            Some(Value::Object(held)) => {
                for value in held.values_mut() {
                    *value = HIDDEN.into();
                }
            }
            None | Some(Value::Null) => {}
            Some(other) => *other = HIDDEN.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_values_become_data_and_win_over_it() {
        let mut secret = json!({
            "apiVersion": "v1", "kind": "Secret",
            "data": {"a": "eA==", "b": "eA=="}, "stringData": {"b": "y"},
        });
        spell_out(&mut secret);
        assert_eq!(
            secret,
            json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "eA==", "b": "eQ=="}})
        );
    }

    #[test]
    fn what_a_secret_holds_is_hidden_and_nothing_else() {
        let mut secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": "a", "annotations": {"copy": "canary"}},
            "data": {"a": "canary"}, "stringData": {"b": {"c": "canary"}},
        });
        hide(&mut secret);
        let hidden = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": "a", "annotations": {"copy": HIDDEN}},
            "data": {"a": HIDDEN}, "stringData": {"b": HIDDEN},
        });
        assert_eq!(secret, hidden);
        let plain = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}});
        let mut same = plain.clone();
        hide(&mut same);
        assert_eq!(same, plain);
    }

    #[test]
    fn what_is_no_text_and_what_is_no_secret_stays() {
        for object in [
            json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"b": 1}}),
            json!({"apiVersion": "v1", "kind": "Secret", "data": 7, "stringData": {"b": "y"}}),
            json!({"apiVersion": "example.com/v1", "kind": "Secret", "stringData": {"b": "y"}}),
        ] {
            let mut same = object.clone();
            spell_out(&mut same);
            assert_eq!(same, object);
        }
    }
}
