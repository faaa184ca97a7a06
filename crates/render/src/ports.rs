//! The ports of a workload's Service.

use std::collections::{BTreeMap, BTreeSet};

use quadrille_types::workload::EndpointPort;
use serde_json::{Value, json};

/// The longest name of a port.
const LONGEST: usize = 15;

/// One port for each endpoint, by name; endpoints that share port and transport share one.
pub(crate) fn of_service(endpoints: &BTreeMap<String, EndpointPort>) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut ports = Vec::new();
    for (endpoint, listens) in endpoints {
        let transport = listens.protocol.transport();
        if !seen.insert((listens.port, transport)) {
            continue;
        }
        let name = unique(&cleaned(endpoint, listens.port), &names);
        ports.push(json!({
            "name": name,
            "port": listens.port,
            "targetPort": listens.target_port,
            "protocol": transport,
        }));
        names.insert(name);
    }
    ports
}

/// What of an endpoint's name may be in a port's.
fn cleaned(endpoint: &str, port: i32) -> String {
    let lower = endpoint.to_ascii_lowercase().replace('_', "-");
    let kept: String = lower
        .chars()
        .filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-')
        .take(LONGEST)
        .collect();
    // A port's name starts and ends with a letter or digit, has a letter, and no two dashes together.
    let mut kept = kept.trim_matches('-').to_owned();
    while kept.contains("--") {
        kept = kept.replace("--", "-");
    }
    if kept.contains(|c: char| c.is_ascii_lowercase()) {
        kept
    } else {
        format!("port-{port}")
    }
}

fn unique(name: &str, taken: &BTreeSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut number = 2;
    while taken.contains(&candidate) {
        let suffix = format!("-{number}");
        let kept = name.len().min(LONGEST - suffix.len());
        candidate = format!("{}{suffix}", name[..kept].trim_end_matches('-'));
        number += 1;
    }
    candidate
}

/// Where pods of the older generations listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listens {
    /// The port by which others reach them.
    pub(crate) port: i32,
    /// The port that they listen on.
    pub(crate) target_port: i32,
    /// What the port carries.
    pub(crate) transport: &'static str,
}

impl From<&EndpointPort> for Listens {
    fn from(endpoint: &EndpointPort) -> Self {
        Self {
            port: endpoint.port,
            target_port: endpoint.target_port,
            transport: endpoint.protocol.transport(),
        }
    }
}

/// The older generations name ports after themselves.
fn older_name(port: i32, transport: &str) -> String {
    format!("ep-{port}-{}", transport.to_lowercase())
}

/// The ports of a container of the older generations, each once.
pub(crate) fn of_container(listens: &[Listens]) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let new = listens
        .iter()
        .filter(|listens| seen.insert((listens.target_port, listens.transport)));
    new.map(|listens| {
        let (port, transport) = (listens.target_port, listens.transport);
        json!({ "name": older_name(port, transport), "containerPort": port, "protocol": transport })
    })
    .collect()
}

/// The ports of a Service of the older generations, each once. One of them leaves out where a port leads to, where that
/// is a port of the same number.
pub(crate) fn of_older_service(listens: &[Listens], says_target: bool) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let new = listens
        .iter()
        .filter(|listens| seen.insert((listens.port, listens.transport)));
    new.map(|listens| {
        let (port, transport) = (listens.port, listens.transport);
        let mut written =
            json!({ "name": older_name(port, transport), "port": port, "protocol": transport });
        if says_target || listens.target_port != port {
            written["targetPort"] = listens.target_port.into();
        }
        written
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use quadrille_types::workload::{EndpointType, Visibility};

    use super::*;

    fn ports(endpoints: &[(&str, EndpointType, i32)]) -> Vec<String> {
        let endpoints = endpoints.iter().map(|(name, protocol, port)| {
            let port = EndpointPort {
                protocol: *protocol,
                port: *port,
                target_port: 9000,
                visibility: vec![Visibility::Project],
                display_name: None,
                base_path: None,
                schema: None,
            };
            ((*name).to_owned(), port)
        });
        let shown =
            |port: &Value| format!("{} {} {}", port["name"], port["port"], port["protocol"]);
        of_service(&endpoints.collect()).iter().map(shown).collect()
    }

    #[test]
    fn ports_are_named_after_endpoints_and_shared_ones_come_once() {
        use EndpointType::{Grpc, Http, Udp};
        assert_eq!(
            ports(&[
                ("web", Http, 80),
                ("dns", Udp, 53),
                ("also-web", Http, 80),
                ("grpc", Grpc, 53)
            ]),
            [
                r#""also-web" 80 "TCP""#,
                r#""dns" 53 "UDP""#,
                r#""grpc" 53 "TCP""#,
            ]
        );
    }

    #[test]
    fn names_are_made_to_fit_and_to_differ() {
        use EndpointType::Http;
        assert_eq!(
            ports(&[
                ("Public_API", Http, 1),
                ("public-api", Http, 2),
                ("a-name-that-is-too-long", Http, 3),
                ("a-name-that-is-tool", Http, 4),
                ("über", Http, 5),
                ("123", Http, 6),
                ("--", Http, 7),
            ]),
            [
                r#""port-7" 7 "TCP""#,
                r#""port-6" 6 "TCP""#,
                r#""public-api" 1 "TCP""#,
                r#""a-name-that-is" 3 "TCP""#,
                r#""a-name-that-i-2" 4 "TCP""#,
                r#""public-api-2" 2 "TCP""#,
                r#""ber" 5 "TCP""#,
            ]
        );
    }
}
