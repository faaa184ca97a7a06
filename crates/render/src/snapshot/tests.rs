//! What a snapshot holds, what it is called, and which components can have one.

use serde_json::{Value, json};

use super::*;

fn component(fields: &Value) -> ComponentSpec {
    let mut spec = json!({
        "owner": { "projectName": "shop" },
        "componentType": { "name": "deployment/service" },
    });
    for (name, value) in fields.as_object().unwrap() {
        spec[name] = value.clone();
    }
    serde_json::from_value(spec).unwrap()
}

fn component_type() -> ComponentTypeSpec {
    serde_json::from_value(json!({
        "workloadType": "deployment",
        "allowedTraits": [{ "name": "scaler" }],
        "traits": [{ "name": "config", "instanceName": "config" }],
        "resources": [{ "id": "deployment", "template": {} }],
    }))
    .unwrap()
}

fn traits() -> BTreeMap<Reference, TraitSpec> {
    let named = |name: &str| Reference::given(None, "Trait", name);
    [named("scaler"), named("config")]
        .map(|reference| (reference, TraitSpec::default()))
        .into()
}

fn taken(component: &ComponentSpec, image: &str) -> Result<Snapshot, Vec<String>> {
    let workload = serde_json::from_value(json!({ "container": { "image": image } })).unwrap();
    let taken = take("cart", component, &workload, &component_type(), &traits());
    taken.map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn the_same_content_has_the_same_name_and_another_has_another() {
    let plain = component(&json!({}));
    let one = taken(&plain, "cart:1").unwrap();
    assert_eq!(one, taken(&plain, "cart:1").unwrap());
    assert_eq!(one.name, format!("cart-{}", one.hash));
    assert_eq!(one.hash.len(), DIGITS);
    assert_ne!(one.name, taken(&plain, "cart:2").unwrap().name);
    let told = component(&json!({ "parameters": { "a": 1 } }));
    assert_ne!(one.name, taken(&told, "cart:1").unwrap().name);
}

#[test]
fn what_does_not_change_what_runs_changes_no_name() {
    let plain = taken(&component(&json!({})), "cart:1").unwrap();
    let deployed = taken(&component(&json!({ "autoDeploy": true })), "cart:1").unwrap();
    let elsewhere = taken(
        &component(&json!({ "owner": { "projectName": "other" } })),
        "cart:1",
    )
    .unwrap();
    assert_eq!(
        (&plain.hash, &plain.hash),
        (&deployed.hash, &elsewhere.hash)
    );
}

#[test]
fn traits_of_the_type_and_of_the_component_are_kept_sorted_with_their_kinds() {
    let spec = component(&json!({ "traits": [{ "name": "scaler", "instanceName": "s" }] }));
    let snapshot = taken(&spec, "cart:1").unwrap();
    let names: Vec<&str> = snapshot
        .spec
        .traits
        .iter()
        .map(|frozen| frozen.name.as_str())
        .collect();
    assert_eq!(names, ["config", "scaler"]);
    let profile = snapshot.spec.component_profile.unwrap();
    assert_eq!(profile.traits[0].kind.as_deref(), Some("Trait"));
    assert_eq!(snapshot.spec.component_type.name, "deployment/service");
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let spec = component(&json!({
        "componentType": { "name": "job/service" },
        "traits": [
            { "name": "ghost", "instanceName": "g" },
            { "name": "scaler", "instanceName": "config" },
        ],
    }));
    let problems = taken(&spec, "").unwrap_err();
    let expected = [
        "spec.componentType.name: says job, but ComponentType service runs a deployment",
        "spec.traits[0]: Trait ghost is not allowed by ComponentType service",
        "spec.traits[1].instanceName: is \"config\", which another trait of the component or its type has",
        "spec.traits: Trait \"ghost\" not found",
        "workload.container.image: is empty",
    ];
    assert_eq!(problems, expected);
}
