//! An endpoint is reached by the gateways that it is visible through, at its own port, and by nobody else.

use serde_json::{Value, json};

use crate::{
    given::document,
    world::{ENVIRONMENT, Port, World},
};

const PORT: Port = Port {
    number: 9090,
    transport: "TCP",
};

fn gateway(name: &str) -> Value {
    json!({
        "name": name, "namespace": "gateways", "https": { "host": format!("{name}.test"), "port": 443 },
    })
}

fn documents(is_cilium: bool, visibilities: &Value) -> Vec<Value> {
    let provider = if is_cilium { "cilium" } else { "standard" };
    let mut endpoint = document(
        "Endpoint",
        "api",
        &json!({}),
        &json!({
            "type": "REST",
            "backendRef": { "type": "componentRef", "componentRef": { "port": PORT.number } },
            "networkVisibilities": visibilities,
        }),
    );
    endpoint["metadata"]["labels"] = json!({
        "openchoreo.dev/organization": "acme", "openchoreo.dev/project": "shop",
        "openchoreo.dev/component": "cart", "openchoreo.dev/deployment-track": "main",
        "openchoreo.dev/environment": ENVIRONMENT, "openchoreo.dev/deployment": "cart-dev",
        "openchoreo.dev/name": "api",
    });
    let plane = json!({ "openchoreo.dev/networkpolicyprovider": provider });
    vec![
        document("Environment", ENVIRONMENT, &json!({}), &json!({})),
        document(
            "Project",
            "shop",
            &json!({}),
            &json!({ "deploymentPipelineRef": "p" }),
        ),
        document(
            "DataPlane",
            "default",
            &plane,
            &json!({ "gateway": { "ingress": { "external": gateway("out"), "internal": gateway("in") } } }),
        ),
        document(
            "Component",
            "cart",
            &json!({}),
            &json!({ "owner": { "projectName": "shop" }, "type": "Service" }),
        ),
        endpoint,
    ]
}

/// Who gets in: the pods of the external gateway, those of the internal one, one that only looks like them, one of the
/// cell, one from anywhere.
fn who_gets_in(is_cilium: bool, visibilities: &Value, port: Port) -> [bool; 5] {
    let mut world = World::exposed("shop", "cart", documents(is_cilium, visibilities));
    let of = |name| {
        [
            ("gateway.envoyproxy.io/owning-gateway-name", name),
            ("gateway.envoyproxy.io/owning-gateway-namespace", "gateways"),
        ]
    };
    let cell = [("openchoreo.dev/project", "other")];
    let parties = [
        world.stranger("envoy-gateway-system", &[], &of("out")),
        world.stranger("envoy-gateway-system", &[], &of("in")),
        world.stranger("cell-of-another", &cell, &of("out")),
        world.beside("cart"),
        world.stranger("anywhere", &[], &[]),
    ];
    let cart = world.component("cart");
    parties.map(|party| world.allows(&party, &cart, port))
}

#[test]
fn only_the_gateway_of_an_endpoint_reaches_it() {
    let public = json!({ "public": { "enable": true } });
    let organization = json!({ "organization": { "enable": true } });
    let both = json!({ "public": { "enable": true }, "organization": { "enable": true } });
    for is_cilium in [false, true] {
        let gets_in = |visibilities| who_gets_in(is_cilium, visibilities, PORT);
        assert_eq!(gets_in(&public), [true, false, false, false, false]);
        assert_eq!(gets_in(&organization), [false, true, false, false, false]);
        assert_eq!(gets_in(&both), [true, true, false, false, false]);
    }
}

#[test]
fn a_gateway_reaches_no_port_but_the_endpoints() {
    let both = json!({ "public": { "enable": true }, "organization": { "enable": true } });
    let other = Port {
        number: 9091,
        ..PORT
    };
    for is_cilium in [false, true] {
        assert_eq!(who_gets_in(is_cilium, &both, other), [false; 5]);
    }
}
