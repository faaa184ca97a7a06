//! Objects of ours that are made for others of ours: an instance's binding, a Deployment's Endpoints.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quadrille_machinery::patch::merge;
use quadrille_planes::Trouble;
use serde::Serialize;
use serde_json::{Value, json};

use crate::releases::Context;

type Words = BTreeMap<String, String>;

/// Makes one.
pub(super) async fn make(
    context: &Context,
    collection: &str,
    child: &impl Serialize,
) -> Result<(), Trouble> {
    let mut object = json!(child);
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    match context.control.create(collection.to_owned(), &object).await {
        // The watch brings it, or it is somebody else's, which its own status tells.
        Err(Trouble::AlreadyExists(_)) => Ok(()),
        made => made.map(drop),
    }
}

/// What has to change of one; nothing if nothing has to. Labels and annotations that others put there are theirs.
pub(super) fn difference<S: Serialize>(
    known: (&ObjectMeta, &S),
    wanted: (&ObjectMeta, &S),
) -> Option<Value> {
    let is_there = |has: &Option<Words>, wants: &Option<Words>| {
        let mut wanted = wants.iter().flatten();
        wanted.all(|(key, value)| has.as_ref().and_then(|has| has.get(key)) == Some(value))
    };
    let ((has, before), (wants, after)) = (known, wanted);
    let is_labelled =
        is_there(&has.labels, &wants.labels) && is_there(&has.annotations, &wants.annotations);
    let spec = merge::between(&json!(before), &json!(after));
    if spec.is_none() && is_labelled {
        return None;
    }
    Some(json!({
        "metadata": {
            "resourceVersion": has.resource_version,
            "labels": wants.labels,
            "annotations": wants.annotations.clone().unwrap_or_default(),
        },
        "spec": spec.unwrap_or_else(|| json!({})),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_changed_and_what_others_wrote_stays() {
        let labelled = |words: &[(&str, &str)]| ObjectMeta {
            resource_version: Some("7".to_owned()),
            labels: Some(
                words
                    .iter()
                    .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                    .collect(),
            ),
            ..ObjectMeta::default()
        };
        let there = labelled(&[("ours", "1"), ("theirs", "2")]);
        let wanted = labelled(&[("ours", "1")]);
        let spec = json!({ "image": "a", "left": true });
        assert_eq!(difference((&there, &spec), (&wanted, &spec)), None);
        let next = json!({ "image": "b" });
        let patch = difference((&there, &spec), (&wanted, &next)).unwrap();
        assert_eq!(patch["spec"], json!({ "image": "b", "left": null }));
        assert_eq!(patch["metadata"]["resourceVersion"], "7");
        let relabelled = labelled(&[("ours", "3")]);
        let patch = difference((&there, &spec), (&relabelled, &spec)).unwrap();
        assert_eq!(patch["metadata"]["labels"], json!({ "ours": "3" }));
        assert_eq!(patch["spec"], json!({}));
    }
}
