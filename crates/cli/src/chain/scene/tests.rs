//! What is read off a live cluster.

use serde_json::json;

use super::*;

/// A pipeline `development → staging → production (approval)`.
pub(in crate::chain) fn pipeline(enforcement: &str) -> Resolved {
    let paths = json!([
        { "sourceEnvironmentRef": "development", "targetEnvironmentRefs": [{ "name": "staging" }] },
        { "sourceEnvironmentRef": "staging", "targetEnvironmentRefs": [
            { "name": "production", "requiresApproval": true }] },
    ]);
    let spec = json!({ "promotionPaths": paths, "enforcement": enforcement });
    serde_json::from_value::<quadrille_types::DeploymentPipelineSpec>(spec)
        .unwrap()
        .resolve()
        .unwrap()
}

/// A binding of `cart` with a status.
pub(in crate::chain) fn binding(
    environment: &str,
    release: &str,
    status: &Value,
) -> ReleaseBinding {
    serde_json::from_value(json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ReleaseBinding",
        "metadata": { "name": format!("cart-{environment}"), "generation": 3 },
        "spec": {
            "owner": { "projectName": "shop", "componentName": "cart" },
            "environment": environment, "releaseName": release,
        },
        "status": status,
    }))
    .unwrap()
}

/// A condition of the third generation.
pub(in crate::chain) fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "observedGeneration": 3, "lastTransitionTime": "2026-11-16T06:00:00Z",
    })
}

/// A binding whose release runs and is ready.
pub(in crate::chain) fn ready(environment: &str, release: &str) -> ReleaseBinding {
    let status = json!({
        "observedGeneration": 3, "currentRelease": release,
        "conditions": [condition("Ready", "True", "Ready", "")],
        "history": [{ "releaseName": release, "since": "2026-11-16T06:00:00Z", "readyAt": "2026-11-16T06:00:01Z" }],
    });
    binding(environment, release, &status)
}

pub(in crate::chain) fn scene(bindings: Vec<ReleaseBinding>) -> Scene {
    Scene {
        component: serde_json::from_value(json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Component", "metadata": { "name": "cart" },
            "spec": { "owner": { "projectName": "shop" }, "componentType": { "name": "deployment/service" } },
        }))
        .unwrap(),
        pipeline: pipeline("Advisory"),
        bindings,
        older: None,
    }
}

#[test]
fn a_mistyped_environment_names_the_nearest_or_the_pipeline() {
    let scene = scene(vec![ready("attic", "cart-1")]);
    assert_eq!(scene.environment("staging").unwrap().as_str(), "staging");
    assert_eq!(scene.environment("attic").unwrap().as_str(), "attic");
    let said = scene.environment("stagin").unwrap_err().to_string();
    assert!(said.contains("Did you mean staging?"), "{said}");
    let said = scene.environment("moon").unwrap_err().to_string();
    assert!(
        said.contains("development → staging → production (approval)"),
        "{said}"
    );
}

#[test]
fn a_pipeline_is_walked_and_branches_are_walked_from_where_they_begin() {
    let names = |pipeline: &Resolved| -> Vec<String> {
        let paths = paths(pipeline);
        paths
            .iter()
            .map(|path| {
                let names = path.iter().map(ToString::to_string);
                names.collect::<Vec<_>>().join(" ")
            })
            .collect()
    };
    assert_eq!(names(&pipeline("")), ["development staging production"]);
    let spec = json!({ "promotionPaths": [
        { "sourceEnvironmentRef": "a", "targetEnvironmentRefs": [{ "name": "b" }, { "name": "c" }] },
        { "sourceEnvironmentRef": "c", "targetEnvironmentRefs": [{ "name": "d" }] },
    ] });
    let spec: quadrille_types::DeploymentPipelineSpec = serde_json::from_value(spec).unwrap();
    assert_eq!(names(&spec.resolve().unwrap()), ["a b", "a c d"]);
}

#[test]
fn two_bindings_in_one_environment_are_named() {
    let mut other = ready("staging", "cart-1");
    other.metadata.name = Some("other".to_owned());
    let scene = scene(vec![ready("staging", "cart-1"), other]);
    let said = scene.binding(&"staging".into()).unwrap_err().to_string();
    assert!(said.contains("cart-staging and other"), "{said}");
    let never = scene.bound(&"production".into()).unwrap_err().to_string();
    assert!(
        never.contains("quad promote cart --to production"),
        "{never}"
    );
}
