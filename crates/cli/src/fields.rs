//! Reading objects of any kind: fields that may be missing.

use serde_json::Value;

/// A text; empty where there is none.
pub(crate) fn text<'a>(of: &'a Value, field: &str) -> &'a str {
    of[field].as_str().unwrap_or_default()
}

/// The name of an object.
pub(crate) fn name(object: &Value) -> &str {
    text(&object["metadata"], "name")
}

/// The namespace of an object; empty for one of the whole cluster.
pub(crate) fn namespace(object: &Value) -> &str {
    text(&object["metadata"], "namespace")
}

/// The uid of an object.
pub(crate) fn uid(object: &Value) -> &str {
    text(&object["metadata"], "uid")
}

/// The items of a list; none where there is no list.
pub(crate) fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// What an object says about itself.
pub(crate) fn conditions(object: &Value) -> &[Value] {
    items(&object["status"]["conditions"])
}

/// What an object says about one matter, however its word is written.
pub(crate) fn condition<'a>(object: &'a Value, matter: &str) -> Option<&'a Value> {
    conditions(object)
        .iter()
        .find(|condition| text(condition, "type").eq_ignore_ascii_case(matter))
}

/// What an object that is on its way out waits for, in its own words.
pub(crate) fn waits_for(object: &Value) -> &str {
    let told = ["Finalizing", "Deleting"].map(|matter| condition(object, matter));
    let told = told.into_iter().flatten();
    let mut held = told.filter(|condition| condition["status"] == "True");
    held.next()
        .map_or("", |condition| text(condition, "message"))
}

/// What is in `namespace`, as people say it: `shop/cart`.
pub(crate) fn placed(namespace: &str, name: &str) -> String {
    if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}/{name}")
    }
}
