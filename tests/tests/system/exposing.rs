//! Every type of endpoint and every policy, through gateways that report on them.

use quadrille_types::{Deployment, Endpoint, SecretReference};
use serde_json::{Value, json};

use crate::orchard::{Orchard, endpoint_of, endpoint_release, image, template, with};

/// An endpoint template for the organization.
fn inside(name: &str, kind: &str, port: u16) -> Value {
    let mut template = template(name, port, &format!("/{name}"));
    template["spec"]["type"] = json!(kind);
    template["spec"]["networkVisibilities"] = json!({ "organization": { "enable": true } });
    template
}

#[tokio::test]
async fn every_type_of_endpoint_is_ready_by_the_route_that_carries_it() {
    let orchard = Orchard::open().await;
    let mut elsewhere = inside("elsewhere", "HTTP", 1);
    elsewhere["spec"]["backendRef"] = json!({
        "basePath": "/v2", "type": "target", "target": { "url": "http://weather.test" },
    });
    let templates = json!({ "endpointTemplates": [
        inside("http", "HTTP", 8080), inside("rest", "REST", 8080),
        inside("graph", "GraphQL", 8080), inside("socket", "Websocket", 8082),
        inside("rpc", "gRPC", 9000), inside("queue", "TCP", 5672), inside("names", "UDP", 5353),
        elsewhere,
    ]});
    orchard.service_with("cart", "shop", templates).await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    for (name, kind, starts) in [
        ("http", "HTTPRoute", "http://"),
        ("rest", "HTTPRoute", "http://"),
        ("graph", "HTTPRoute", "http://"),
        ("socket", "HTTPRoute", "ws://"),
        ("rpc", "GRPCRoute", "grpc://"),
        ("queue", "TCPRoute", "tcp://"),
        ("names", "UDPRoute", "udp://"),
        ("elsewhere", "HTTPRoute", "http://"),
    ] {
        let endpoint = endpoint_of("cart-dev", name);
        orchard.until_ready::<Endpoint>(&endpoint).await;
        let found = orchard.get::<Endpoint>(&endpoint).await.unwrap();
        let address = found["status"]["address"].as_str().unwrap_or_default();
        assert!(address.starts_with(starts), "{name}: {address}");
        let release = endpoint_release("cart-dev", name);
        let route = orchard.object(&release, kind).await;
        assert!(route.is_some(), "{name} has no {kind}");
    }
    orchard.everything_is_taken_strictly().await;
}

fn policy(name: &str, spec: &Value) -> Value {
    json!({ "name": name, "type": name, "policySpec": spec })
}

#[tokio::test]
async fn every_policy_of_an_endpoint_is_in_force_before_it_is_ready() {
    let orchard = Orchard::open().await;
    let jwks =
        json!({ "gateway": { "security": { "remoteJwks": { "uri": "http://idp.test/jwks" } } } });
    orchard.environment("dev", jwks).await;
    for name in ["clients", "ada"] {
        let reference = json!({
            "template": { "type": "Opaque" },
            "data": [{ "secretKey": ".htpasswd", "remoteRef": { "key": name } }],
        });
        orchard.put::<SecretReference>(name, &[], reference).await;
    }
    let tokens = json!({ "oauth2": { "jwt": {
        "claims": [{ "key": "group", "values": ["buyers"] }],
        "authorization": { "apiType": "REST", "rest": {
            "claimsToHeaders": [{ "name": "sub", "header": "x-user" }],
            "operations": [{ "target": "/items/{id}", "method": "GET", "scopes": ["items:read"] }],
        }},
    }}});
    let pages = json!({ "cors": {
        "allowOrigins": ["https://shop.test"], "allowMethods": ["GET"], "allowHeaders": ["x"],
        "exposeHeaders": ["x"], "maxAge": 600, "allowCredentials": true,
    }});
    let often = json!({ "rateLimit": {
        "apiLevel": { "timeUnit": "Minute", "requestLimit": 100 },
        "operationLevel": { "rest": [
            { "target": "/items", "method": "PUT", "timeUnit": "Second", "requestLimit": 5 }] },
    }});
    let keys = json!({ "apiKeyAuth": {
        "keySource": { "header": "x-api-key" }, "secretRefs": ["clients"] } });
    let people = json!({ "basicAuth": {
        "users": [{ "username": "ada", "passwordFromSecret": "ada" }],
        "header": "Authorization", "headerAuthScheme": "Basic" } });
    let guarded = |name: &str, policies: Value| {
        let public = json!({ "enable": true, "policies": policies });
        with(
            template(name, 8080, &format!("/{name}")),
            &json!({ "spec": { "networkVisibilities": { "public": public } } }),
        )
    };
    let templates = json!({ "endpointTemplates": [
        guarded("tokens", json!([policy("oauth2", &tokens), policy("cors", &pages)])),
        guarded("often", json!([policy("rate-limit", &often)])),
        guarded("keys", json!([policy("api-key", &keys)])),
        guarded("people", json!([policy("basic-auth", &people)])),
    ]});
    orchard.component("cart", "shop", "Service").await;
    let artifact = image("registry.test/cart:1", templates);
    orchard.artifact("cart-1", "cart", "shop", artifact).await;
    orchard.deploy("cart", "shop", "dev", "cart-1").await;
    for (name, kind) in [
        ("tokens", "SecurityPolicy"),
        ("often", "BackendTrafficPolicy"),
        ("keys", "SecurityPolicy"),
        ("people", "SecurityPolicy"),
    ] {
        let endpoint = endpoint_of("cart-dev", name);
        orchard.until_ready::<Endpoint>(&endpoint).await;
        let release = endpoint_release("cart-dev", name);
        let found = orchard.object(&release, kind).await;
        assert!(found.is_some(), "{name} has no {kind}");
    }
    orchard.everything_is_taken_strictly().await;
}
