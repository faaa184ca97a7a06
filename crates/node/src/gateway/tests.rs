//! Gateways and routes that are right, and those that are not.

use quadrille_planes::feed::News;
use serde_json::json;

use super::*;

pub(super) const NOW: &str = "2026-01-01T00:00:00Z";

pub(super) fn world(objects: &[(Kind, Value)]) -> World {
    let mut world = World::default();
    let class = json!({
        "metadata": { "name": "local", "generation": 1 },
        "spec": { "controllerName": CONTROLLERS[0] },
    });
    world.hear(Kind::Class, News::Changed(class.into()));
    for (kind, object) in objects {
        world.hear(*kind, News::Changed(object.clone().into()));
    }
    world
}

pub(super) fn gateway(listeners: &Value) -> (Kind, Value) {
    let object = json!({
        "metadata": { "namespace": "infra", "name": "public", "generation": 2 },
        "spec": { "gatewayClassName": "local", "listeners": listeners },
    });
    (Kind::Gateway, object)
}

pub(super) fn web() -> Value {
    json!({
        "name": "web", "port": 80, "protocol": "HTTP", "hostname": "*.example.com",
        "allowedRoutes": { "namespaces": { "from": "All" } },
    })
}

pub(super) fn service() -> (Kind, Value) {
    let object = json!({
        "metadata": { "namespace": "shop", "name": "cart" }, "spec": { "ports": [{ "port": 8080 }] },
    });
    (Kind::Service, object)
}

pub(super) fn route(change: impl FnOnce(&mut Value)) -> (Kind, Value) {
    let mut object = json!({
        "metadata": { "namespace": "shop", "name": "cart", "generation": 1 },
        "spec": {
            "parentRefs": [{ "namespace": "infra", "name": "public" }],
            "hostnames": ["cart.example.com"],
            "rules": [{ "backendRefs": [{ "name": "cart", "port": 8080 }] }],
        },
    });
    change(&mut object["spec"]);
    (Kind::Http, object)
}

/// `Type=Status/Reason` of the conditions of a list.
pub(super) fn short(conditions: &Value) -> Vec<String> {
    let list = conditions.as_array().into_iter().flatten();
    list.map(|condition| {
        let text = |field: &str| condition[field].as_str().unwrap().to_owned();
        format!("{}={}/{}", text("type"), text("status"), text("reason"))
    })
    .collect()
}

/// Gives every object the status that it should have.
pub(super) fn write_down(world: &mut World) {
    for wanted in decide(world, NOW) {
        let place = &wanted.place;
        let object = world.get(wanted.kind, &place.namespace, &place.name);
        let mut object = object.unwrap().clone();
        object["status"] = wanted.status;
        world.hear(wanted.kind, News::Changed(object.into()));
    }
}

/// What is said about the one route.
fn said_of_route(world: &World) -> Vec<String> {
    let wanted = decide(world, NOW);
    let route = wanted
        .iter()
        .find(|wanted| wanted.kind == Kind::Http)
        .unwrap();
    short(&route.status["parents"][0]["conditions"])
}

fn said_of_gateway(world: &World) -> (Vec<String>, Value) {
    let wanted = decide(world, NOW);
    let gateway = wanted
        .iter()
        .find(|wanted| wanted.kind == Kind::Gateway)
        .unwrap();
    (short(&gateway.status["conditions"]), gateway.status.clone())
}

#[test]
fn a_sound_route_is_accepted_and_counted_and_then_nothing_is_left_to_say() {
    let mut world = world(&[gateway(&json!([web()])), service(), route(|_| {})]);
    assert_eq!(
        said_of_route(&world),
        ["Accepted=True/Accepted", "ResolvedRefs=True/ResolvedRefs"]
    );
    let (conditions, status) = said_of_gateway(&world);
    assert_eq!(
        conditions,
        ["Accepted=True/Accepted", "Programmed=True/Programmed"]
    );
    assert_eq!(status["listeners"][0]["attachedRoutes"], 1);
    assert_eq!(status["addresses"][0]["value"], "127.0.0.1");
    write_down(&mut world);
    assert_eq!(decide(&world, "2027-01-01T00:00:00Z"), []);
}

#[test]
fn what_is_wrong_with_a_parent_a_host_or_a_backend_is_the_reason() {
    let said = |change: fn(&mut Value)| {
        said_of_route(&world(&[
            gateway(&json!([web()])),
            service(),
            route(change),
        ]))
        .join(" ")
    };
    let accepted = "Accepted=True/Accepted";
    for (change, wanted) in [
        (
            (|spec: &mut Value| spec["parentRefs"][0]["name"] = json!("none")) as fn(&mut Value),
            "Accepted=False/NoMatchingParent ResolvedRefs=True/ResolvedRefs".to_owned(),
        ),
        (
            |spec| spec["parentRefs"][0]["sectionName"] = json!("other"),
            "Accepted=False/NoMatchingParent ResolvedRefs=True/ResolvedRefs".to_owned(),
        ),
        (
            |spec| spec["hostnames"] = json!(["cart.example.org"]),
            "Accepted=False/NoMatchingListenerHostname ResolvedRefs=True/ResolvedRefs".to_owned(),
        ),
        (
            |spec| spec["rules"][0]["backendRefs"][0]["name"] = json!("none"),
            format!("{accepted} ResolvedRefs=False/BackendNotFound"),
        ),
        (
            |spec| spec["rules"][0]["backendRefs"][0]["port"] = json!(1),
            format!("{accepted} ResolvedRefs=False/BackendNotFound"),
        ),
        (
            |spec| spec["rules"][0]["backendRefs"][0]["kind"] = json!("Teapot"),
            format!("{accepted} ResolvedRefs=False/InvalidKind"),
        ),
        (
            |spec| spec["rules"][0]["backendRefs"][0]["namespace"] = json!("far"),
            format!("{accepted} ResolvedRefs=False/RefNotPermitted"),
        ),
    ] {
        assert_eq!(said(change), wanted);
    }
}

#[test]
fn a_listener_says_whose_routes_it_takes() {
    let mut closed = web();
    closed["allowedRoutes"] = json!({});
    let same = world(&[gateway(&json!([closed])), service(), route(|_| {})]);
    assert_eq!(
        said_of_route(&same)[0],
        "Accepted=False/NotAllowedByListeners"
    );
    let mut labelled = web();
    labelled["allowedRoutes"]["namespaces"] =
        json!({ "from": "Selector", "selector": { "matchLabels": { "team": "shop" } } });
    let namespace = json!({ "metadata": { "name": "shop", "labels": { "team": "shop" } } });
    let objects = [
        gateway(&json!([labelled])),
        service(),
        route(|_| {}),
        (Kind::Namespace, namespace),
    ];
    assert_eq!(said_of_route(&world(&objects))[0], "Accepted=True/Accepted");
    assert_eq!(
        said_of_route(&world(&objects[..3]))[0],
        "Accepted=False/NotAllowedByListeners"
    );
}

#[test]
fn a_grant_lets_a_route_use_what_is_elsewhere() {
    let far = json!({
        "metadata": { "namespace": "far", "name": "cart" }, "spec": { "ports": [{ "port": 8080 }] },
    });
    let grant = json!({
        "metadata": { "namespace": "far", "name": "shop" },
        "spec": {
            "from": [{ "group": GROUP, "kind": "HTTPRoute", "namespace": "shop" }],
            "to": [{ "group": "", "kind": "Service" }],
        },
    });
    let route = route(|spec| spec["rules"][0]["backendRefs"][0]["namespace"] = json!("far"));
    let objects = [
        gateway(&json!([web()])),
        (Kind::Service, far),
        route,
        (Kind::Grant, grant),
    ];
    assert_eq!(
        said_of_route(&world(&objects))[1],
        "ResolvedRefs=True/ResolvedRefs"
    );
    assert_eq!(
        said_of_route(&world(&objects[..3]))[1],
        "ResolvedRefs=False/RefNotPermitted"
    );
}

#[test]
fn listeners_that_cannot_work_are_named_and_the_others_do() {
    let secure = json!({
        "name": "secure", "port": 443, "protocol": "HTTPS",
        "tls": { "certificateRefs": [{ "name": "none" }] },
    });
    let (conditions, status) = said_of_gateway(&world(&[gateway(&json!([web(), secure]))]));
    assert_eq!(
        conditions,
        [
            "Accepted=True/ListenersNotValid",
            "Programmed=True/Programmed"
        ]
    );
    let listener = &status["listeners"][1]["conditions"];
    assert_eq!(
        short(listener)[2],
        "ResolvedRefs=False/InvalidCertificateRef"
    );
    assert_eq!(short(listener)[3], "Programmed=False/Invalid");

    let (conditions, _) = said_of_gateway(&world(&[gateway(&json!([secure]))]));
    assert_eq!(
        conditions,
        [
            "Accepted=False/ListenersNotValid",
            "Programmed=False/Invalid"
        ]
    );

    let mut twin = web();
    twin["name"] = json!("twin");
    let (_, status) = said_of_gateway(&world(&[gateway(&json!([web(), twin]))]));
    assert_eq!(
        short(&status["listeners"][0]["conditions"])[1],
        "Conflicted=True/HostnameConflict"
    );
}

#[test]
fn gateways_and_parents_of_others_are_left_to_them() {
    let foreign = json!({
        "metadata": { "name": "local" }, "spec": { "controllerName": "example.com/other" },
    });
    let objects = [
        gateway(&json!([web()])),
        route(|_| {}),
        (Kind::Class, foreign),
    ];
    assert_eq!(decide(&world(&objects), NOW), []);
}

#[test]
fn a_backend_is_accepted_where_somebody_looks_after_gateways() {
    let backend = json!({
        "metadata": { "namespace": "shop", "name": "far", "generation": 1 },
        "spec": { "endpoints": [{ "fqdn": { "hostname": "far.example.com", "port": 443 } }] },
    });
    let mut world = world(&[(Kind::Backend, backend.clone())]);
    let wanted = decide(&world, NOW);
    let said = wanted.iter().find(|wanted| wanted.kind == Kind::Backend);
    assert_eq!(
        short(&said.unwrap().status["conditions"]),
        ["Accepted=True/Accepted"]
    );
    write_down(&mut world);
    assert_eq!(decide(&world, "2027-01-01T00:00:00Z"), []);

    let mut nobody = World::default();
    nobody.hear(Kind::Backend, News::Changed(backend.into()));
    assert_eq!(decide(&nobody, NOW), []);
}
