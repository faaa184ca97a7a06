//! Sets that can and cannot be understood.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn set(objects: &[(&str, Value)]) -> Result<Vec<Desired>, Vec<String>> {
    let texts: Vec<(&str, Arc<str>)> = objects
        .iter()
        .map(|(id, object)| (*id, object.to_string().into()))
        .collect();
    read(texts.iter().map(|(id, text)| (*id, text)))
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

fn config(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "n"}})
}

#[test]
fn objects_are_read_with_their_identity_and_stage() {
    let read = set(&[
        ("a", config("a")),
        (
            "d",
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "d", "namespace": "n"}, "spec": {"replicas": 2},
            }),
        ),
        (
            "h",
            json!({
                "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": "h", "namespace": "n"},
                "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}},
            }),
        ),
    ])
    .unwrap();
    assert_eq!(read[0].identity, Identity::new("", "ConfigMap", "n", "a"));
    assert_eq!(
        (read[0].stage, read[1].stage),
        (Stage::Config, Stage::Workloads)
    );
    assert!(read[1].has_replicas && !read[0].has_replicas);
    assert!(autoscaled(&read).contains(&read[1].identity));
    assert_eq!(kinds(&read).len(), 3);
}

#[test]
fn what_cannot_be_understood_is_named_with_its_id_and_the_fix() {
    let cases = [
        (json!(7), "object: must be a Kubernetes object"),
        (json!({"kind": "X"}), "object.apiVersion: is missing"),
        (json!({"apiVersion": "v1"}), "object.kind: is missing"),
        (
            json!({"apiVersion": "a/b/c", "kind": "X", "metadata": {"name": "x"}}),
            "object.apiVersion: is no version",
        ),
        (
            json!({"apiVersion": "v1", "kind": "ConfigMap"}),
            "object.metadata.name: is missing: give the object a name",
        ),
        (
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "x-"}}),
            "generateName cannot be found again",
        ),
        (
            config("../../secrets/x"),
            "object.metadata.name: is no name",
        ),
        (
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": 3}}),
            "object.metadata.namespace: is no name",
        ),
        (
            json!({"apiVersion": "v1", "kind": "List", "items": []}),
            "object.kind: is a list",
        ),
        (
            json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}),
            "no kind that can be kept",
        ),
        (
            json!({"apiVersion": "openchoreo.dev/v1alpha1", "kind": "Release", "metadata": {"name": "x"}}),
            "belongs to the control plane",
        ),
    ];
    for (object, words) in cases {
        let problems = set(&[("the-id", object.clone())]).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert!(
            problems[0].starts_with("resource \"the-id\": ") && problems[0].contains(words),
            "{object}: {}",
            problems[0]
        );
    }
}

#[test]
fn duplicates_and_excess_are_told_all_at_once() {
    let problems = set(&[
        ("a", config("a")),
        ("a", config("b")),
        ("c", config("a")),
        ("", config("d")),
    ])
    .unwrap_err();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[1].contains("id: is given twice"), "{problems:?}");
    assert!(
        problems[2].contains("ConfigMap n/a, which resource \"a\" is too"),
        "{problems:?}"
    );

    let long = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"},
        "data": {"x": "x".repeat(LONGEST_OBJECT)},
    });
    assert!(set(&[("x", long)]).unwrap_err()[0].contains("is too large"));
    let ids: Vec<String> = (0..=MOST_OBJECTS).map(|n| format!("c{n}")).collect();
    let many: Vec<_> = ids.iter().map(|id| (id.as_str(), config(id))).collect();
    assert!(set(&many).unwrap_err()[0].contains("is one too many"));
}

proptest! {
    #[test]
    fn any_text_is_understood_or_refused(id in ".{0,8}", text in ".{0,64}") {
        let text: Arc<str> = text.into();
        let _ = read([(id.as_str(), &text)]);
    }
}
