//! Families without a cluster.

use super::*;
use crate::style::Style;

fn member(kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": kind, "spec": spec,
        "metadata": { "name": name, "namespace": "acme", "uid": format!("{kind}-{name}") },
        "status": { "conditions": [{ "type": "Ready", "status": "True" }] },
    })
}

fn family() -> Family {
    let mut release = member(
        "Release",
        "cart-dev",
        &json!({ "environmentName": "dev", "owner": { "projectName": "shop", "componentName": "cart" } }),
    );
    release["status"]["resources"] = json!([
        { "kind": "Deployment", "namespace": "cell", "name": "cart", "uid": "d", "healthStatus": "Healthy" },
    ]);
    let replica_set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": { "name": "cart-1", "namespace": "cell", "uid": "r", "ownerReferences": [{ "uid": "d", "controller": true }] },
        "spec": { "replicas": 1 },
        "status": { "replicas": 1, "readyReplicas": 1, "availableReplicas": 1, "fullyLabeledReplicas": 1 },
    });
    Family {
        organization: Err(NO_ORGANIZATION),
        members: vec![
            member("Project", "shop", &json!({})),
            member("Environment", "dev", &json!({ "dataPlaneRef": "local" })),
            member("Environment", "prod", &json!({ "dataPlaneRef": "far" })),
            member("DataPlane", "local", &json!({})),
            release,
        ],
        made: Made::of(vec![replica_set]),
    }
}

/// The tree without what is said of health.
fn drawn(branch: &Branch) -> String {
    let text = branch.text(None, Style::plain());
    let lines = text.lines().map(|line| {
        let end = line.find("  ●").unwrap_or(line.len());
        let end = line.find("  ○").unwrap_or(end);
        [&line[..end], "\n"].concat()
    });
    lines.collect()
}

#[test]
fn an_organization_holds_all_and_a_release_is_below_its_project() {
    assert_eq!(
        drawn(&family().organization("acme").unwrap()),
        "Organization acme\n\
         ├─ Project shop\n\
         │  └─ Release cart-dev\n\
         │     └─ Deployment cell/cart\n\
         │        └─ ReplicaSet cart-1\n\
         ├─ Environment dev\n\
         ├─ Environment prod\n\
         └─ DataPlane local\n"
    );
}

#[test]
fn a_plane_holds_its_environments_and_they_hold_what_runs_in_them() {
    let family = family();
    let plane = family.members[3].clone();
    assert_eq!(
        drawn(&family.below(&plane)),
        "DataPlane local\n\
         └─ Environment dev\n   \
         └─ Release cart-dev\n      \
         └─ Deployment cell/cart\n         \
         └─ ReplicaSet cart-1\n"
    );
    let environment = family.members[2].clone();
    assert_eq!(drawn(&family.below(&environment)), "Environment prod\n");
}
