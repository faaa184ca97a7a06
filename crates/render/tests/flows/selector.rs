//! Label selectors: the part of them that we render.

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) type Labels = BTreeMap<String, String>;

/// Whether labels are selected. A key is looked up as it is written.
pub(crate) fn selects(selector: &Value, labels: &Labels) -> bool {
    only(selector, &["matchLabels", "matchExpressions"]);
    let equal = fields(&selector["matchLabels"])
        .all(|(key, value)| labels.get(key).map(String::as_str) == value.as_str());
    let hold = items(&selector["matchExpressions"]).all(|expression| {
        only(expression, &["key", "operator"]);
        let is_there = labels.contains_key(expression["key"].as_str().unwrap());
        match expression["operator"].as_str().unwrap() {
            "Exists" => is_there,
            "DoesNotExist" => !is_there,
            other => panic!("{other}"),
        }
    });
    equal && hold
}

/// The entries of a list, none where it is missing.
pub(crate) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The fields of an object, none where it is missing.
pub(crate) fn fields(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

/// Sees to it that nothing is overlooked: a field that is not understood could change everything.
pub(crate) fn only(object: &Value, known: &[&str]) {
    for (field, _) in fields(object) {
        assert!(known.contains(&field.as_str()), "{field} in {object}");
    }
}
