//! What may be declared to be outside, and what is said about the rest.

use serde_json::{Value, json};

use super::*;

fn read(written: Value) -> Result<Outside, String> {
    let written: ExternalDependency = serde_json::from_value(written).unwrap();
    written
        .resolve("external[0]")
        .map_err(|problem| problem.to_string())
}

fn host(name: &str) -> Result<Outside, String> {
    read(json!({ "host": name, "ports": [{ "port": 443 }] }))
}

fn range(cidr: &str) -> Result<Outside, String> {
    read(json!({ "cidr": cidr, "ports": [{ "port": 5432 }] }))
}

#[test]
fn a_host_or_a_range_with_its_ports() {
    let written = json!({ "host": "api.example.com", "ports": [{ "port": 443 }, { "port": 53, "protocol": "UDP" }] });
    assert_eq!(
        read(written).unwrap(),
        Outside {
            place: Place::Host("api.example.com".to_owned()),
            ports: vec![(443, "TCP"), (53, "UDP")],
        }
    );
    for (written, read) in [
        ("203.0.113.0/24", "203.0.113.0/24"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("203.0.113.7/32", "203.0.113.7/32"),
        ("2001:DB8:0::/32", "2001:db8::/32"),
        ("::/0", "::/0"),
    ] {
        assert_eq!(range(written).unwrap().place, Place::Range(read.to_owned()));
    }
    assert!(host("*.s3.example.com").is_ok());
}

#[test]
fn exactly_one_place() {
    let ports = json!([{ "port": 1 }]);
    assert_eq!(
        read(json!({ "host": "a.b", "cidr": "10.0.0.0/8", "ports": ports })).unwrap_err(),
        "external[0]: has both host and cidr: only one can be meant"
    );
    assert_eq!(
        read(json!({ "name": "nothing", "ports": ports })).unwrap_err(),
        "external[0]: has neither host nor cidr: give one of them"
    );
}

#[test]
fn what_is_no_host_outside_is_refused_with_a_remedy() {
    for name in [
        "",
        "example",
        "*.",
        "*",
        "a..b",
        "Api.example.com",
        "a.*.com",
        "-a.b",
        "a.b.",
        "https://a.b",
        "a.b:443",
    ] {
        let problem = host(name).unwrap_err();
        assert!(problem.starts_with("external[0].host: is "), "{problem}");
        assert!(problem.contains("such as api.example.com"), "{problem}");
    }
    assert_eq!(
        host("203.0.113.7").unwrap_err(),
        "external[0].host: is the address 203.0.113.7: give cidr: 203.0.113.7/32 instead"
    );
    for name in ["db.shop.svc.cluster.local", "db.shop.svc"] {
        let problem = host(name).unwrap_err();
        assert!(problem.contains("dependencies.endpoints"), "{problem}");
    }
}

#[test]
fn what_is_no_range_is_refused_with_a_remedy() {
    for cidr in [
        "203.0.113.0",
        "203.0.113.0/33",
        "203.0.113.0/+8",
        "203.0.113.0/",
        "x/8",
        "::/129",
        "10.0.0/8",
    ] {
        let problem = range(cidr).unwrap_err();
        assert!(problem.contains("must be a range such as"), "{problem}");
    }
    assert_eq!(
        range("10.1.2.3/8").unwrap_err(),
        "external[0].cidr: is \"10.1.2.3/8\", which starts within its range: give 10.0.0.0/8, or 10.1.2.3/32 for it alone"
    );
}

#[test]
fn ports_are_named_and_exist() {
    let with = |ports: Value| read(json!({ "host": "a.b", "ports": ports })).unwrap_err();
    assert_eq!(
        with(json!([])),
        "external[0].ports: is empty: name the ports that are used"
    );
    for port in [0, -1, 65536] {
        assert_eq!(
            with(json!([{ "port": 1 }, { "port": port }])),
            format!("external[0].ports[1].port: is {port}, must be from 1 to 65535")
        );
    }
    assert_eq!(
        with(json!([{ "port": 1, "protocol": "SCTP" }])),
        "external[0].ports[0].protocol: is \"SCTP\", must be TCP or UDP"
    );
}
