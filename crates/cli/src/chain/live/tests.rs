//! How what is wrong with a component is told.

use serde_json::json;

use super::*;

fn objects(parameters: &Value, workloads: usize) -> Vec<Value> {
    let mut objects = quadrille_render::library::documents();
    let api = "openchoreo.dev/v1alpha1";
    objects.push(json!({
        "apiVersion": api, "kind": "Component", "metadata": { "name": "cart", "namespace": "default" },
        "spec": {
            "owner": { "projectName": "shop" }, "parameters": parameters,
            "componentType": { "kind": "ClusterComponentType", "name": "deployment/service" },
        },
    }));
    for index in 0..workloads {
        objects.push(json!({
            "apiVersion": api, "kind": "Workload", "metadata": { "name": format!("cart-{index}") },
            "spec": {
                "owner": { "projectName": "shop", "componentName": "cart" },
                "container": { "image": "cart:1" },
                "endpoints": { "http": { "type": "HTTP", "port": 80, "visibility": ["external"] } },
            },
        }));
    }
    objects
}

fn told(parameters: &Value, workloads: usize, sees_plane: bool) -> Result<String, Vec<Wrong>> {
    let live = Live {
        name: "cart".to_owned(),
        objects: objects(parameters, workloads),
        sees_plane,
    };
    live.snapshot(&"development".into())
        .map(|snapshot| snapshot.name)
}

#[test]
fn what_is_wrong_with_a_component_is_told_before_anything_is_written() {
    let wrong = told(&json!({ "readinessPath": 7 }), 1, true).unwrap_err();
    assert_eq!(
        wrong[0].field.as_deref(),
        Some("spec.parameters.readinessPath"),
        "{wrong:?}"
    );
    let none = told(&json!({}), 0, true).unwrap_err();
    assert!(none[0].words.contains("no Workload"), "{none:?}");
    let two = told(&json!({}), 2, true).unwrap_err();
    assert!(two[0].words.contains("2 Workloads"), "{two:?}");
}

#[test]
fn documents_are_about_components_by_name_and_by_owner() {
    let document = |kind: &str, name: &str, owner: &str| Document {
        place: String::new(),
        object: json!({
            "kind": kind, "metadata": { "name": name },
            "spec": { "owner": { "componentName": owner } },
        }),
        source: crate::documents::Source::default(),
    };
    let documents = [
        document("Component", "cart", ""),
        document("Workload", "w", "cart"),
        document("ReleaseBinding", "b", "till"),
        document("Environment", "staging", ""),
    ];
    assert_eq!(touched(&documents), ["cart", "till"]);
}

#[test]
fn a_plane_that_may_not_be_seen_is_not_judged() {
    let wrong = told(&json!({}), 1, true).unwrap_err();
    assert!(wrong[0].words.contains("external gateway"), "{wrong:?}");
    assert!(told(&json!({}), 1, false).unwrap().starts_with("cart-"));
    assert!(told(&json!({ "readinessPath": 7 }), 1, false).is_err());
}
