//! Mistakes that others have made with endpoints, each with the test that shows that it is not made here. What comes out in
//! full is in `tests/exposed`.

use std::collections::{BTreeMap, BTreeSet};

use quadrille_types::{DataPlaneSpec, EnvironmentSpec};
use serde_json::{Map, json};

use super::*;

/// What the endpoints of these tests are rendered from.
struct World {
    environment: EnvironmentSpec,
    plane: DataPlaneSpec,
    annotations: BTreeMap<String, String>,
    labels: Map<String, Value>,
}

impl World {
    fn new() -> Self {
        let read = |value| serde_json::from_value(value).unwrap();
        Self {
            environment: serde_json::from_value(json!({ "gateway": {
                "dnsPrefix": "dev", "security": { "remoteJwks": { "uri": "https://idp/jwks" } },
            }}))
            .unwrap(),
            plane: read(json!({ "gateway": {
                "publicVirtualHost": "apis.test", "organizationVirtualHost": "internal.test",
            }})),
            annotations: BTreeMap::new(),
            labels: Map::from_iter([("component-name".to_owned(), json!("cart"))]),
        }
    }

    fn expose(&self, name: &str, spec: &Value, taken: &[Claim]) -> Result<Exposure, RenderError> {
        let spec: EndpointSpec = serde_json::from_value(spec.clone()).unwrap();
        self.with(name, &spec, taken, plan)
    }

    fn with<T>(
        &self,
        name: &str,
        spec: &EndpointSpec,
        taken: &[Claim],
        what: impl Fn(&EndpointInputs<'_>) -> T,
    ) -> T {
        what(&EndpointInputs {
            name,
            called: name,
            spec,
            is_web_application: false,
            place: Place {
                organization: "acme",
                project: "shop",
                component: "cart",
                environment: "development",
                environment_spec: &self.environment,
                plane: "plane",
                plane_spec: &self.plane,
                plane_annotations: &self.annotations,
                namespace: "cell",
                labels: &self.labels,
                pods: &self.labels,
                service: "cart-main",
            },
            taken,
        })
    }
}

fn spec(visibilities: &Value) -> Value {
    let mut spec = json!({
        "type": "REST",
        "backendRef": { "basePath": "/api", "type": "componentRef", "componentRef": { "port": 9090 } },
    });
    if !visibilities.is_null() {
        spec["networkVisibilities"] = visibilities.clone();
    }
    spec
}

fn tokens() -> Value {
    json!([{ "name": "tokens", "type": "oauth2", "policySpec": { "oauth2": { "jwt": { "authorization": {
        "apiType": "REST",
        "rest": {
            "claimsToHeaders": [],
            "operations": [{ "target": "/items", "method": "GET", "scopes": ["read"] }],
        },
    }}}}}])
}

fn of_kind<'a>(exposure: &'a Exposure, kind: &str) -> Vec<&'a Value> {
    let objects = exposure.objects.iter().map(|planned| &planned.object);
    objects.filter(|object| object["kind"] == kind).collect()
}

#[test]
fn two_endpoints_of_one_deployment_share_no_object_and_are_told_apart_by_a_label() {
    let world = World::new();
    let open = json!({ "public": { "enable": true } });
    let mut seen = BTreeSet::new();
    for (name, base) in [("one", "/one"), ("two", "/two")] {
        let mut spec = spec(&open);
        spec["backendRef"]["basePath"] = json!(base);
        for planned in world.expose(name, &spec, &[]).unwrap().objects {
            assert!(seen.insert(planned.id), "shared");
            assert_eq!(
                planned.object["metadata"]["labels"][labels::endpoint::NAME],
                name
            );
        }
    }
}

#[test]
fn policies_of_the_organization_are_not_looked_for_among_those_of_the_world() {
    let world = World::new();
    let only = json!({ "organization": { "enable": true, "policies": tokens() } });
    let exposure = world.expose("e", &spec(&only), &[]).unwrap();
    let policies = of_kind(&exposure, "SecurityPolicy");
    assert_eq!(policies.len(), 2, "of the operation, and of all else");
    let both = json!({
        "organization": { "enable": true },
        "public": { "enable": true, "policies": tokens() },
    });
    let exposure = world.expose("e", &spec(&both), &[]).unwrap();
    for policy in of_kind(&exposure, "SecurityPolicy") {
        let gateway = &policy["metadata"]["labels"][GATEWAY_VISIBILITY];
        assert_eq!(gateway, "gateway-external");
    }
}

#[test]
fn what_is_beside_a_protected_operation_is_closed() {
    let world = World::new();
    let visible = json!({ "public": { "enable": true, "policies": tokens() } });
    let exposure = world.expose("e", &spec(&visible), &[]).unwrap();
    let routes = of_kind(&exposure, "HTTPRoute");
    let all = routes
        .iter()
        .find(|route| route["spec"]["rules"][0]["matches"][0]["path"]["type"] == "PathPrefix")
        .unwrap();
    let policies = of_kind(&exposure, "SecurityPolicy");
    let policy = policies
        .iter()
        .find(|policy| policy["spec"]["targetRefs"][0]["name"] == all["metadata"]["name"])
        .unwrap();
    assert_eq!(
        policy["spec"]["authorization"],
        json!({ "defaultAction": "Deny" })
    );
}

#[test]
fn where_nothing_is_said_nobody_is_let_in() {
    let exposure = World::new().expose("e", &spec(&json!(null)), &[]).unwrap();
    assert_eq!(exposure, Exposure::default());
}

#[test]
fn gateways_are_where_the_plane_has_them() {
    let world = World::new();
    let visible = json!({ "public": { "enable": true } });
    let exposure = world.expose("e", &spec(&visible), &[]).unwrap();
    let parent = &of_kind(&exposure, "HTTPRoute")[0]["spec"]["parentRefs"][0];
    assert_eq!(parent["namespace"], "openchoreo-data-plane");
}

#[test]
fn a_substitution_names_only_what_its_pattern_captures() {
    let world = World::new();
    for (base, target) in [
        ("/api/", "/items/"),
        ("", "/"),
        ("/", "/items"),
        ("api", "items"),
    ] {
        let mut policies = tokens();
        policies[0]["policySpec"]["oauth2"]["jwt"]["authorization"]["rest"]["operations"][0]["target"] =
            json!(target);
        let mut spec = spec(&json!({ "public": { "enable": true, "policies": policies } }));
        spec["backendRef"]["basePath"] = json!(base);
        let exposure = world.expose("e", &spec, &[]).unwrap();
        let filter = of_kind(&exposure, "HTTPRouteFilter")[0];
        let rewrite = &filter["spec"]["urlRewrite"]["path"]["replaceRegexMatch"];
        let (pattern, substitution) = (
            rewrite["pattern"].as_str().unwrap(),
            rewrite["substitution"].as_str().unwrap(),
        );
        let captures = regex::Regex::new(pattern).unwrap().captures_len() - 1;
        assert_eq!(
            captures > 0,
            substitution.contains(r"\1"),
            "{base} {target}: {pattern}"
        );
    }
}

#[test]
fn every_type_has_the_route_that_carries_it() {
    let world = World::new();
    for (kind, route) in [
        ("HTTP", "HTTPRoute"),
        ("REST", "HTTPRoute"),
        ("GraphQL", "HTTPRoute"),
        ("Websocket", "HTTPRoute"),
        ("gRPC", "GRPCRoute"),
        ("TCP", "TCPRoute"),
        ("UDP", "UDPRoute"),
    ] {
        let mut spec = spec(&json!({ "organization": { "enable": true } }));
        spec["type"] = json!(kind);
        let exposure = world.expose("e", &spec, &[]).unwrap();
        assert_eq!(of_kind(&exposure, route).len(), 1, "{kind}");
        assert_eq!(exposure.addresses.len(), 1, "{kind}");
    }
}

#[test]
fn the_address_has_the_base_path_and_is_the_organizations_where_the_world_is_not_let_in() {
    let world = World::new();
    let visible = json!({ "organization": { "enable": true } });
    let exposure = world.expose("e", &spec(&visible), &[]).unwrap();
    let urls = exposure.urls().unwrap();
    assert_eq!(urls.public, None);
    assert_eq!(
        urls.organization.as_deref(),
        Some("https://dev.internal.test/shop/cart/api")
    );
}

#[test]
fn the_same_endpoint_gives_the_same_bytes_so_that_nothing_is_written_twice() {
    let world = World::new();
    let visible = json!({ "public": { "enable": true, "policies": tokens() } });
    let once = world.expose("e", &spec(&visible), &[]).unwrap();
    assert_eq!(once, world.expose("e", &spec(&visible), &[]).unwrap());
}

#[test]
fn an_endpoint_that_is_visible_to_nobody_leaves_nothing_to_clean_up() {
    let world = World::new();
    let visible = json!({ "public": { "enable": false }, "organization": { "enable": false } });
    let exposure = world.expose("e", &spec(&visible), &[]).unwrap();
    assert!(exposure.objects.is_empty());
}

#[test]
fn a_path_that_another_has_is_told_with_its_field() {
    let world = World::new();
    let written = spec(&json!({ "public": { "enable": true } }));
    let read: EndpointSpec = serde_json::from_value(written.clone()).unwrap();
    let taken = world.with("first", &read, &[], claims).unwrap();
    let error = world
        .expose("second", &written, &taken)
        .unwrap_err()
        .to_string();
    assert!(error.contains("spec.backendRef.basePath"), "{error}");
    assert!(error.contains("Endpoint first"), "{error}");
}
