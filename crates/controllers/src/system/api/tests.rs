//! What an API and its bindings say.

use serde_json::{Value, json};

use super::{
    super::known::{object, put, rest, service_binding, world},
    *,
};

fn api(name: &str, path: &str) -> Value {
    let mut spec = rest(path);
    spec["owner"] = json!({ "projectName": "shop", "componentName": "cart" });
    spec["environmentName"] = json!("development");
    object("API", name, 1, &spec)
}

fn binding(api: &str, second: u8) -> Value {
    let spec = json!({
        "apiName": api, "apiClassName": "default", "environmentName": "development",
        "releaseState": "Active",
    });
    object("APIBinding", &format!("{api}-development"), second, &spec)
}

/// A world with a service and an API of its component.
fn offered() -> Inner {
    let mut world = world();
    let spec = service_binding("cart", "development");
    let service = object("ServiceBinding", "cart", 1, &spec);
    put(&mut world.system.service_bindings, &service);
    put(&mut world.system.apis, &api("public", "/v1"));
    put(&mut world.system.api_bindings, &binding("public", 2));
    world
}

fn rendered_of(world: &Inner, name: &str) -> Rendered {
    let binding = world.system.api_bindings.find("acme", name).unwrap();
    render(world, binding)
}

fn reason(world: &Inner, name: &str) -> Option<Reason> {
    let rendered = rendered_of(world, name);
    rendered.err().map(|(reason, _)| reason)
}

#[test]
fn an_api_leads_to_the_service_of_its_component() {
    let world = offered();
    let (_, exposure) = rendered_of(&world, "public-development").ok().unwrap();
    let route = &exposure.objects[0].object;
    assert_eq!(route["kind"], "HTTPRoute");
    let backend = &route["spec"]["rules"][0]["backendRefs"][0];
    let service = backend["name"].as_str().unwrap();
    assert!(service.starts_with("cart-"), "{service}");
    assert_eq!(backend["port"], 8080);
}

#[test]
fn whatever_is_missing_has_its_reason() {
    let mut world = offered();
    let mut other = binding("public", 2);
    other["spec"]["apiClassName"] = json!("guarded");
    put(&mut world.system.api_bindings, &other);
    let name = "public-development";
    assert_eq!(reason(&world, name), Some(Reason::APIClassNotFound));
    other["spec"]["environmentName"] = json!("staging");
    put(&mut world.system.api_bindings, &other);
    assert_eq!(reason(&world, name), Some(Reason::ServiceBindingNotFound));
    other["spec"]["apiName"] = json!("none");
    put(&mut world.system.api_bindings, &other);
    assert_eq!(reason(&world, name), Some(Reason::APINotFound));
}

#[test]
fn an_address_is_had_by_whoever_was_there_first() {
    let mut world = offered();
    put(&mut world.system.apis, &api("again", "/v1"));
    put(&mut world.system.api_bindings, &binding("again", 3));
    assert_eq!(reason(&world, "public-development"), None);
    let (reason_of, words) = rendered_of(&world, "again-development").err().unwrap();
    assert_eq!(reason_of, Reason::InvalidConfiguration);
    assert!(words.contains("which API public has already"), "{words}");
    // A service that was there before has it; of the same moment too.
    let mut spec = service_binding("cart", "development");
    spec["apis"] = json!({ "own": rest("/v1") });
    let service = object("ServiceBinding", "cart", 2, &spec);
    put(&mut world.system.service_bindings, &service);
    let (_, words) = rendered_of(&world, "public-development").err().unwrap();
    assert!(
        words.contains("which ServiceBinding cart API own has already"),
        "{words}"
    );
    // One that came later does not, and says so itself.
    let service = object("ServiceBinding", "cart", 9, &spec);
    put(&mut world.system.service_bindings, &service);
    assert_eq!(reason(&world, "public-development"), None);
}

#[test]
fn an_api_is_ready_and_has_an_address_when_its_bindings_are() {
    let mut world = offered();
    let api = std::sync::Arc::clone(world.system.apis.find("acme", "public").unwrap());
    let said = |world: &Inner| {
        let step = decide(world, &api);
        (
            step.said[0].holds,
            step.said[0].reason,
            step.fields["address"].clone(),
        )
    };
    let (holds, reason, address) = said(&world);
    assert_eq!((holds, reason), (Holds::False, "ResourceHealthProgressing"));
    assert_eq!(address, Value::Null);
    let mut ready = binding("public", 2);
    ready["status"] = json!({ "conditions": [{
        "type": "Ready", "status": "True", "reason": "ResourcesActive", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }] });
    put(&mut world.system.api_bindings, &ready);
    let (holds, _, address) = said(&world);
    assert_eq!(holds, Holds::True);
    let address = address.as_str().unwrap().to_owned();
    assert!(address.ends_with("apis.test/shop/cart/v1"), "{address}");
    let bare = decide(&crate::releases::Inner::default(), &api);
    assert_eq!(bare.said[0].reason, "APIBindingNotFound");
}

#[test]
fn a_binding_of_an_api_goes_before_whatever_the_api_belongs_to() {
    let world = offered();
    let group = of_component("shop", "cart");
    let first = world.system.belongings("acme", &group).remove(0);
    let names: Vec<String> = first.iter().map(|one| one.thing.to_string()).collect();
    assert_eq!(names, ["APIBinding public-development"]);
}
