//! Every way to write down a plane, and what it means.

use serde_json::{Value, json};

use super::*;

const PEM: &str = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";

fn read(spec: Value) -> Result<Resolved, String> {
    serde_json::from_value::<DataPlaneSpec>(spec)
        .unwrap()
        .resolve("main")
        .map_err(|problem| problem.to_string())
}

fn connection(cluster: &Value) -> Result<Connection, String> {
    read(json!({ "kubernetesCluster": cluster })).map(|plane| plane.connection)
}

fn given(text: &str) -> Credential {
    Credential::Given(Sensitive::new(text))
}

fn in_secret(name: &str, key: &str) -> Credential {
    Credential::InSecret(SecretKey {
        namespace: None,
        name: name.to_owned(),
        key: key.to_owned(),
    })
}

#[test]
fn inline_credentials_are_decoded_and_the_certificate_wins_over_the_token() {
    let packed = STANDARD.encode(PEM);
    let meant = connection(&json!({
        "server": "https://plane:6443",
        "tls": {"ca": {"value": packed}},
        "auth": {
            "mtls": {"clientCert": {"value": packed}, "clientKey": {"secretRef": "keys"}},
            "bearerToken": {"value": "t0ken"},
        },
    }));
    let auth = Auth::Certificate {
        certificate: given(PEM),
        key: in_secret("keys", "tls.key"),
    };
    let expected = Connection::Direct {
        server: "https://plane:6443".to_owned(),
        ca: Some(given(PEM)),
        auth,
    };
    assert_eq!(meant, Ok(expected));
}

#[test]
fn a_token_is_taken_as_it_is_and_an_empty_authority_means_the_systems() {
    let meant = connection(&json!({
        "server": "https://plane",
        "tls": {"ca": {}},
        "auth": {"bearerToken": {"value": "t0ken"}},
    }));
    let expected = Connection::Direct {
        server: "https://plane".to_owned(),
        ca: None,
        auth: Auth::Token(given("t0ken")),
    };
    assert_eq!(meant, Ok(expected));
}

#[test]
fn a_kubeconfig_has_two_names_and_a_local_plane_needs_nothing() {
    let kubeconfig = Ok(Connection::Kubeconfig {
        secret: "kc".to_owned(),
    });
    assert_eq!(connection(&json!({"secretRef": "kc"})), kubeconfig);
    assert_eq!(
        connection(&json!({"name": "kind", "connectionConfigRef": "kc"})),
        kubeconfig
    );
    assert_eq!(
        connection(&json!({"inCluster": true})),
        Ok(Connection::Local)
    );
}

#[test]
fn an_agent_knows_the_plane_by_its_id_or_else_by_its_name() {
    let agent = json!({"clientCA": {"value": PEM}});
    let plane = |spec| match read(spec).unwrap().connection {
        Connection::Agent { plane, .. } => plane.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(plane(json!({"clusterAgent": agent})), "main");
    assert_eq!(
        plane(json!({"clusterAgent": agent, "planeID": "eu-1"})),
        "eu-1"
    );
}

#[test]
fn both_gateway_shapes_end_in_the_same_sides() {
    let plane = read(json!({
        "kubernetesCluster": {"inCluster": true},
        "gateway": {"publicVirtualHost": "apps.test", "organizationVirtualHost": "in.test"},
    }))
    .unwrap();
    assert_eq!(
        plane.sides.north.unwrap().host.as_deref(),
        Some("apps.test")
    );
    assert_eq!(plane.sides.west.unwrap().host.as_deref(), Some("in.test"));
    assert_eq!(plane.sides.south, None);

    let endpoint =
        json!({"name": "gw", "namespace": "gws", "https": {"host": "apps.test", "port": 443}});
    let plane = read(json!({
        "kubernetesCluster": {"inCluster": true},
        "gateway": {"ingress": {"external": endpoint}, "egress": {"internal": endpoint}},
    }))
    .unwrap();
    let north = plane.sides.north.clone().unwrap();
    assert_eq!(north.host.as_deref(), Some("apps.test"));
    assert_eq!(north.gateway.unwrap().name, "gw");
    assert!(plane.sides.east.is_some() && plane.sides.west.is_none());
}

#[test]
fn what_cannot_be_meant_is_named_with_its_field() {
    let both = json!({"kubernetesCluster": {"inCluster": true}, "clusterAgent": {"clientCA": {}}});
    assert!(read(both).unwrap_err().starts_with("spec: has both"));
    assert!(read(json!({})).unwrap_err().starts_with("spec: needs"));
    let ways = connection(&json!({"inCluster": true, "secretRef": "x"})).unwrap_err();
    assert!(ways.starts_with("spec.kubernetesCluster: must say in exactly one way"));
    let garbage = connection(&json!({
        "server": "s", "auth": {"mtls": {"clientCert": {"value": "???"}, "clientKey": {}}}
    }));
    assert_eq!(
        garbage.unwrap_err(),
        "spec.kubernetesCluster.auth.mtls.clientCert.value: is neither PEM nor PEM in base64"
    );
    let empty = connection(&json!({"server": "s", "auth": {"bearerToken": {"value": ""}}}));
    assert_eq!(
        empty.unwrap_err(),
        "spec.kubernetesCluster.auth.bearerToken: is empty"
    );
}

#[test]
fn secrets_are_not_printed() {
    let spec: DataPlaneSpec = serde_json::from_value(json!({
        "kubernetesCluster": {"server": "s", "auth": {"bearerToken": {"value": "t0ken"}}},
    }))
    .unwrap();
    assert!(!format!("{spec:?} {:?}", spec.resolve("main")).contains("t0ken"));
}
