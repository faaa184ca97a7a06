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

#[test]
fn labels_say_who_belongs_to_whom_in_the_deployment_system() {
    let owned = json!({ "owner": { "projectName": "shop" } });
    let labelled = |kind: &str, name: &str, labels: &[(&str, &str)]| {
        let mut object = member(kind, name, &json!({}));
        for (key, value) in labels {
            object["metadata"]["labels"][*key] = json!(value);
        }
        object
    };
    let of_cart = [(hierarchy::PROJECT, "shop"), (hierarchy::COMPONENT, "cart")];
    let mut of_main = of_cart.to_vec();
    of_main.push((hierarchy::DEPLOYMENT_TRACK, "main"));
    let mut track = labelled("DeploymentTrack", "cart-main", &of_cart);
    track["metadata"]["labels"][hierarchy::NAME] = json!("main");
    let family = Family {
        organization: Err(NO_ORGANIZATION),
        members: vec![
            member("Project", "shop", &json!({})),
            member("Component", "cart", &owned),
            track,
            labelled("DeployableArtifact", "cart-1", &of_main),
            labelled("Deployment", "cart-dev", &of_main),
            labelled("ConfigurationGroup", "redis", &[]),
        ],
        made: Made::default(),
    };
    assert_eq!(
        drawn(&family.organization("acme").unwrap()),
        "Organization acme\n\
         ├─ Project shop\n\
         │  └─ Component cart\n\
         │     └─ DeploymentTrack cart-main\n\
         │        ├─ DeployableArtifact cart-1\n\
         │        └─ Deployment cart-dev\n\
         └─ ConfigurationGroup redis\n"
    );
}
