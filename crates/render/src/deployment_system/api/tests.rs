//! Mistakes that others have made with APIs and their classes. What comes out in full is in `tests/exposed`.

use std::collections::BTreeMap;

use quadrille_types::{DataPlaneSpec, EnvironmentSpec};
use serde_json::{Map, json};

use super::*;

fn expose(class: &Value, api: &Value) -> Result<Exposure, RenderError> {
    let environment: EnvironmentSpec =
        serde_json::from_value(json!({ "gateway": { "dnsPrefix": "dev" } })).unwrap();
    let plane: DataPlaneSpec = serde_json::from_value(json!({ "gateway": {
        "publicVirtualHost": "apis.test", "organizationVirtualHost": "internal.test",
    }}))
    .unwrap();
    let class: ApiClassSpec = serde_json::from_value(class.clone()).unwrap();
    let api: ServiceApi = serde_json::from_value(api.clone()).unwrap();
    let labels = Map::from_iter([("component-name".to_owned(), json!("cart"))]);
    plan(&ApiInputs {
        whose: "ServiceBinding cart",
        field: "spec.apis.cart-api",
        binding: "cart",
        api: "cart-api",
        spec: &api,
        class: "guarded",
        class_spec: &class,
        place: Place {
            organization: "acme",
            project: "shop",
            component: "cart",
            environment: "development",
            environment_spec: &environment,
            plane: "plane",
            plane_spec: &plane,
            plane_annotations: &BTreeMap::new(),
            namespace: "cell",
            labels: &labels,
            pods: &labels,
            service: "cart",
        },
        taken: &[],
    })
}

fn api(levels: &Value) -> Value {
    json!({
        "className": "guarded", "type": "REST",
        "rest": { "backend": { "port": 80, "basePath": "/v1" }, "exposeLevels": levels },
    })
}

fn guarded() -> Value {
    json!({ "restPolicy": { "defaults": {
        "authentication": { "type": "jwt", "jwt": { "jwks": "http://idp/jwks", "issuer": "https://idp" } },
        "rateLimit": { "requests": 10, "window": "1m" },
    }}})
}

#[test]
fn an_api_without_levels_is_neither_open_nor_protected_elsewhere() {
    let exposure = expose(&guarded(), &api(&json!([]))).unwrap();
    assert_eq!(exposure, Exposure::default());
}

#[test]
fn each_level_has_the_policies_that_are_about_its_own_route() {
    let exposure = expose(&guarded(), &api(&json!(["Public", "Organization"]))).unwrap();
    let objects = || exposure.objects.iter().map(|planned| &planned.object);
    for kind in ["SecurityPolicy", "BackendTrafficPolicy"] {
        let about: Vec<&Value> = objects()
            .filter(|object| object["kind"] == kind)
            .map(|object| &object["spec"]["targetRefs"][0]["name"])
            .collect();
        let routes: Vec<&Value> = objects()
            .filter(|object| object["kind"] == "HTTPRoute")
            .map(|object| &object["metadata"]["name"])
            .collect();
        assert_eq!(about, routes, "{kind}");
    }
}

#[test]
fn a_class_that_cannot_be_kept_opens_nothing() {
    for (class, field) in [
        (
            json!({ "rateLimit": { "requests": 1, "window": "soon" } }),
            "rateLimit.window",
        ),
        (
            json!({ "authentication": { "type": "magic" } }),
            "authentication.type",
        ),
        (
            json!({ "authentication": { "type": "jwt" } }),
            "authentication.jwt",
        ),
        (
            json!({ "security": { "blockedIPs": ["x"] } }),
            "security.blockedIPs[0]",
        ),
    ] {
        let class = json!({ "restPolicy": { "public": class } });
        let error = expose(&class, &api(&json!(["Public"])))
            .unwrap_err()
            .to_string();
        let wanted = format!("APIClass guarded: spec.restPolicy.public.{field}");
        assert!(error.starts_with(&wanted), "{error}");
    }
}

#[test]
fn what_is_said_for_a_level_replaces_single_fields_and_erases_none() {
    let class = json!({ "restPolicy": {
        "defaults": { "circuitBreaker": { "enabled": true, "maxConnections": 50, "maxParallelRetries": 1 } },
        "public": { "circuitBreaker": { "enabled": true, "maxConnections": 5 } },
    }});
    let exposure = expose(&class, &api(&json!(["Public"]))).unwrap();
    let policy = exposure
        .objects
        .iter()
        .find(|planned| planned.object["kind"] == "BackendTrafficPolicy")
        .unwrap();
    assert_eq!(
        policy.object["spec"]["circuitBreaker"],
        json!({ "maxConnections": 5, "maxParallelRetries": 1 })
    );
}

#[test]
fn hosts_are_those_of_the_environment_and_its_plane() {
    let exposure = expose(&json!({}), &api(&json!(["Public", "Organization"]))).unwrap();
    let urls: Vec<String> = exposure
        .addresses
        .iter()
        .map(crate::routes::Address::url)
        .collect();
    assert_eq!(
        urls,
        [
            "https://dev.apis.test/shop/cart/v1",
            "https://dev.internal.test/shop/cart/v1"
        ]
    );
}

#[test]
fn rest_without_its_part_is_told_and_nothing_panics() {
    let error = expose(
        &json!({}),
        &json!({ "className": "guarded", "type": "REST" }),
    )
    .unwrap_err();
    assert!(
        error.to_string().contains("spec.apis.cart-api.rest"),
        "{error}"
    );
}
