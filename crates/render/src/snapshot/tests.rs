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
fn a_name_that_is_not_that_of_the_content_seals_nothing() {
    let spec = component(&json!({ "traits": [{ "name": "scaler", "instanceName": "s" }] }));
    for spec in [component(&json!({})), spec] {
        let snapshot = taken(&spec, "cart:1").unwrap();
        let mut content = json!(snapshot.spec);
        assert!(is_sealed(&snapshot.name, "cart", &content));
        assert!(!is_sealed("cart-v1", "cart", &content));
        assert!(!is_sealed(&snapshot.name, "web", &content));
        content["workload"]["container"]["image"] = json!("evil:1");
        assert!(!is_sealed(&snapshot.name, "cart", &content));
    }
}

#[test]
fn a_password_does_not_get_into_a_release() {
    let schema = json!({ "openAPIV3Schema": { "type": "object", "properties": {
        "pin": { "type": "string", "format": "password" } } } });
    let mut component_type = json!(component_type());
    component_type["parameters"] = schema.clone();
    let component_type = serde_json::from_value(component_type).unwrap();
    let mut traits = traits();
    for found in traits.values_mut() {
        found.parameters = serde_json::from_value(schema.clone()).unwrap();
    }
    let spec = component(&json!({
        "parameters": { "pin": "canary" },
        "traits": [{ "name": "scaler", "instanceName": "s", "parameters": { "pin": "canary" } }],
    }));
    let workload = serde_json::from_value(json!({ "container": { "image": "i" } })).unwrap();
    let problems = take("cart", &spec, &workload, &component_type, &traits).unwrap_err();
    let fields: Vec<&str> = problems.iter().map(|one| one.field.as_str()).collect();
    assert_eq!(
        fields,
        ["spec.parameters.pin", "spec.traits[0].parameters.pin"]
    );
    assert!(!format!("{problems:?}").contains("canary"));
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
        "spec.traits[0]: Trait ghost is not allowed by ComponentType service; it allows [scaler]",
        "spec.traits[1].instanceName: is \"config\", which another trait of the component or its type has; give it one of its own",
        "spec.traits[0]: Trait \"ghost\" not found; make it first, or name another",
        "workload.container.image: is empty",
    ];
    assert_eq!(problems, expected);
}
