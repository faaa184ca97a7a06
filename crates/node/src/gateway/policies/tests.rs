//! Policies for what is there, for what is not, and for what has one already.

use quadrille_planes::feed::News;

use super::{
    super::tests::{NOW, gateway, route, service, short, web, world, write_down},
    *,
};

fn policy(name: &str, created: &str, spec: &Value) -> (Kind, Value) {
    let object = json!({
        "metadata": {
            "namespace": "shop", "name": name, "generation": 3, "creationTimestamp": created,
        },
        "spec": spec,
    });
    (Kind::Security, object)
}

fn for_route(name: &str) -> Value {
    json!({ "targetRefs": [{ "group": GROUP, "kind": "HTTPRoute", "name": name }] })
}

/// A gateway, a service and a route, and these policies.
fn with(policies: &[(Kind, Value)]) -> World {
    let mut objects = vec![gateway(&json!([web()])), service(), route(|_| {})];
    objects.extend_from_slice(policies);
    world(&objects)
}

/// Per ancestor of a policy, its name and what is said.
fn said(world: &World, name: &str) -> Vec<String> {
    let wanted = decide(world, NOW);
    let Some(wanted) = wanted.iter().find(|wanted| &*wanted.place.name == name) else {
        return Vec::new();
    };
    let ancestors = list(&wanted.status["ancestors"]).iter();
    ancestors
        .map(|entry| {
            let reference = &entry["ancestorRef"];
            let conditions = short(&entry["conditions"]).join(" ");
            format!(
                "{} {} {conditions}",
                text(&reference["kind"]),
                text(&reference["name"])
            )
        })
        .collect()
}

#[test]
fn a_policy_is_accepted_for_the_gateway_of_its_route_and_then_nothing_is_left_to_say() {
    for kind in Kind::POLICIES {
        let (_, object) = policy("cart", NOW, &for_route("cart"));
        let mut world = with(&[(kind, object)]);
        let wanted = decide(&world, NOW);
        assert_eq!(wanted.len(), 1);
        let ancestor = &wanted[0].status["ancestors"][0];
        assert_eq!(
            ancestor["ancestorRef"],
            json!({ "group": GROUP, "kind": "Gateway", "namespace": "infra", "name": "public" })
        );
        assert_eq!(ancestor["controllerName"], CONTROLLERS[0]);
        assert_eq!(ancestor["conditions"][0]["observedGeneration"], 3);
        assert_eq!(short(&ancestor["conditions"]), ["Accepted=True/Accepted"]);
        write_down(&mut world);
        assert_eq!(decide(&world, "2027-01-01T00:00:00Z"), []);
    }
}

#[test]
fn a_target_that_is_not_there_stands_for_its_gateway_until_it_comes() {
    let mut world = with(&[policy("cart", NOW, &for_route("none"))]);
    assert_eq!(
        said(&world, "cart"),
        ["HTTPRoute none Accepted=False/TargetNotFound"]
    );
    write_down(&mut world);
    let (kind, mut object) = route(|_| {});
    object["metadata"]["name"] = json!("none");
    world.hear(kind, News::Changed(object.into()));
    assert_eq!(
        said(&world, "cart"),
        ["Gateway public Accepted=True/Accepted"]
    );
}

#[test]
fn a_section_that_is_not_there_is_not_found() {
    let mut rule = for_route("cart");
    rule["targetRefs"][0]["sectionName"] = json!("orders");
    let world = with(&[policy("cart", NOW, &rule)]);
    assert_eq!(
        said(&world, "cart"),
        ["Gateway public Accepted=False/TargetNotFound"]
    );
}

#[test]
fn of_two_for_one_route_the_older_has_it_and_a_section_is_another_target() {
    let older = "2025-01-01T00:00:00Z";
    let mut rule = for_route("cart");
    rule["targetRefs"][0]["sectionName"] = json!("orders");
    let (_, mut named) = route(|spec| spec["rules"][0]["name"] = json!("orders"));
    named["metadata"]["name"] = json!("cart");
    let mut world = with(&[
        policy("a-late-one", NOW, &for_route("cart")),
        policy("b-early-one", older, &for_route("cart")),
        policy("of-a-rule", NOW, &rule),
    ]);
    world.hear(Kind::Http, News::Changed(named.into()));
    let accepted = ["Gateway public Accepted=True/Accepted"];
    assert_eq!(said(&world, "b-early-one"), accepted);
    assert_eq!(
        said(&world, "a-late-one"),
        ["Gateway public Accepted=False/Conflicted"]
    );
    assert_eq!(said(&world, "of-a-rule"), accepted);

    // Policies of different kinds are not in each other's way.
    let (_, other) = policy("traffic", NOW, &for_route("cart"));
    world.hear(Kind::BackendTraffic, News::Changed(other.into()));
    assert_eq!(said(&world, "traffic"), accepted);
}

#[test]
fn a_gateway_is_its_own_ancestor_and_trouble_with_one_target_counts() {
    let (_, mut object) = policy(
        "all",
        NOW,
        &json!({ "targetRef": { "group": GROUP, "kind": "Gateway", "name": "public" } }),
    );
    object["metadata"]["namespace"] = json!("infra");
    let accepted = ["Gateway public Accepted=True/Accepted"];
    assert_eq!(
        said(&with(&[(Kind::ClientTraffic, object)]), "all"),
        accepted
    );

    let mut second = route(|_| {});
    second.1["metadata"]["name"] = json!("orders");
    let mut both = for_route("cart");
    let more = for_route("orders")["targetRefs"][0].clone();
    both["targetRefs"].as_array_mut().unwrap().push(more);
    let world = with(&[
        second,
        policy("first", "2025-01-01T00:00:00Z", &for_route("orders")),
        policy("both", NOW, &both),
    ]);
    assert_eq!(
        said(&world, "both"),
        ["Gateway public Accepted=False/Conflicted"]
    );
}

#[test]
fn targets_may_be_selected_by_their_labels() {
    let (_, mut labelled) = route(|_| {});
    labelled["metadata"]["labels"] = json!({ "tier": "web" });
    let select = |tier: &str| {
        let spec = json!({
            "targetSelectors": [{ "kind": "HTTPRoute", "matchLabels": { "tier": tier } }],
        });
        let mut world = with(&[policy("cart", NOW, &spec)]);
        world.hear(Kind::Http, News::Changed(labelled.clone().into()));
        said(&world, "cart")
    };
    assert_eq!(select("web"), ["Gateway public Accepted=True/Accepted"]);
    assert_eq!(select("other"), [""; 0]);
}

#[test]
fn what_other_controllers_say_stays_and_what_is_theirs_is_left_to_them() {
    let theirs = json!({
        "ancestorRef": { "name": "theirs" }, "controllerName": "example.com/other",
        "conditions": [{ "type": "Accepted", "status": "True", "reason": "Accepted" }],
    });
    let (kind, mut object) = policy("cart", NOW, &for_route("cart"));
    object["status"] = json!({ "ancestors": [theirs] });
    let world = with(&[(kind, object)]);
    let wanted = decide(&world, NOW);
    assert_eq!(wanted[0].status["ancestors"][0], theirs);
    assert_eq!(list(&wanted[0].status["ancestors"]).len(), 2);

    let foreign = json!({
        "metadata": { "name": "theirs" }, "spec": { "controllerName": "example.com/other" },
    });
    let (kind, mut their_gateway) = gateway(&json!([web()]));
    their_gateway["spec"]["gatewayClassName"] = json!("theirs");
    let world = with(&[
        (Kind::Class, foreign),
        (kind, their_gateway),
        policy("cart", NOW, &for_route("cart")),
    ]);
    assert_eq!(said(&world, "cart"), [""; 0]);
}
