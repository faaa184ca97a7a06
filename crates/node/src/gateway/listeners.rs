//! Listeners of a gateway: what each accepts, and what is wrong with it.

use quadrille_machinery::selector::LabelSelector;
use serde_json::{Value, json};

use super::{
    GROUP,
    condition::Condition,
    world::{Kind, World},
};
use crate::{
    read::{Place, int, list, text},
    world::Kinds as _,
};

/// A listener and what there is to say about it.
#[derive(Debug)]
pub(super) struct Listener<'a> {
    pub(super) name: &'a str,
    pub(super) port: i64,
    pub(super) hostname: &'a str,
    pub(super) kinds: Vec<Kind>,
    pub(super) accepted: Condition,
    conflicted: Condition,
    pub(super) resolved: Condition,
    allowed: &'a Value,
}

/// The listeners of a gateway.
pub(super) fn of<'a>(world: &World, place: &Place, gateway: &'a Value) -> Vec<Listener<'a>> {
    let all = list(&gateway["spec"]["listeners"]);
    all.iter()
        .map(|listener| {
            let (kinds, unknown) = kinds(listener);
            let protocol = text(&listener["protocol"]);
            let accepted = if by_protocol(protocol).is_empty() {
                let why = format!("the protocol {protocol} is not supported");
                Condition::no("Accepted", "UnsupportedProtocol", why)
            } else {
                Condition::yes("Accepted", "Accepted", "the listener is accepted")
            };
            Listener {
                name: text(&listener["name"]),
                port: int(&listener["port"]),
                hostname: text(&listener["hostname"]),
                conflicted: conflict(listener, all),
                resolved: certificates(world, place, listener, unknown),
                kinds,
                accepted,
                allowed: &listener["allowedRoutes"]["namespaces"],
            }
        })
        .collect()
}

fn by_protocol(protocol: &str) -> &'static [Kind] {
    match protocol {
        "HTTP" | "HTTPS" => &[Kind::Http, Kind::Grpc],
        "TLS" => &[Kind::Tls, Kind::Tcp],
        "TCP" => &[Kind::Tcp],
        "UDP" => &[Kind::Udp],
        _ => &[],
    }
}

/// The kinds of routes that a listener takes, and one that it names and can't take.
fn kinds(listener: &Value) -> (Vec<Kind>, Option<&str>) {
    let possible = by_protocol(text(&listener["protocol"]));
    let named = list(&listener["allowedRoutes"]["kinds"]);
    if named.is_empty() {
        return (possible.to_vec(), None);
    }
    let mut kinds = Vec::new();
    let mut unknown = None;
    for entry in named {
        let is_it = |kind: &&Kind| {
            entry["group"].as_str().unwrap_or(GROUP) == GROUP && entry["kind"] == kind.name()
        };
        match possible.iter().find(is_it) {
            Some(kind) => kinds.push(*kind),
            None => unknown = Some(text(&entry["kind"])),
        }
    }
    (kinds, unknown)
}

/// Two listeners of a port must be told apart by their hosts, and speak one protocol.
fn conflict(listener: &Value, all: &[Value]) -> Condition {
    let others = all
        .iter()
        .filter(|other| other["name"] != listener["name"] && other["port"] == listener["port"]);
    let is_udp = |listener: &Value| listener["protocol"] == "UDP";
    for other in others.filter(|other| is_udp(other) == is_udp(listener)) {
        let name = text(&other["name"]);
        if other["protocol"] != listener["protocol"] {
            let why = format!("the listener {name} has the same port and another protocol");
            return Condition::yes("Conflicted", "ProtocolConflict", why);
        }
        if text(&other["hostname"]) == text(&listener["hostname"]) {
            let why = format!("the listener {name} has the same port and the same host");
            return Condition::yes("Conflicted", "HostnameConflict", why);
        }
    }
    Condition::no(
        "Conflicted",
        "NoConflicts",
        "no other listener is in the way",
    )
}

fn certificates(
    world: &World,
    place: &Place,
    listener: &Value,
    unknown: Option<&str>,
) -> Condition {
    let no = |reason, why: String| Condition::no("ResolvedRefs", reason, why);
    if let Some(kind) = unknown {
        let protocol = text(&listener["protocol"]);
        return no(
            "InvalidRouteKinds",
            format!("a listener for {protocol} takes no {kind}"),
        );
    }
    for reference in list(&listener["tls"]["certificateRefs"]) {
        let name = text(&reference["name"]);
        let namespace = reference["namespace"].as_str().unwrap_or(&place.namespace);
        let kind = reference["kind"].as_str().unwrap_or("Secret");
        if kind != "Secret" || !text(&reference["group"]).is_empty() {
            return no(
                "InvalidCertificateRef",
                format!("certificates are in Secrets, not in a {kind}"),
            );
        }
        if !world.is_granted(
            (Kind::Gateway, &place.namespace),
            ("", kind, namespace, name),
        ) {
            return no(
                "RefNotPermitted",
                format!("no ReferenceGrant in {namespace} allows to use the Secret {name}"),
            );
        }
        if world.get(Kind::Secret, namespace, name).is_none() {
            return no(
                "InvalidCertificateRef",
                format!("there is no Secret {namespace}/{name}"),
            );
        }
    }
    Condition::yes(
        "ResolvedRefs",
        "ResolvedRefs",
        "everything that it refers to is there",
    )
}

impl Listener<'_> {
    /// Whether it works.
    pub(super) fn is_sound(&self) -> bool {
        self.accepted.is_true && !self.conflicted.is_true && self.resolved.is_true
    }

    /// What to say about it.
    pub(super) fn conditions(&self) -> Vec<Condition> {
        let programmed = if self.is_sound() {
            Condition::yes("Programmed", "Programmed", "the listener is ready")
        } else {
            Condition::no(
                "Programmed",
                "Invalid",
                "the listener is not as it should be",
            )
        };
        vec![
            self.accepted.clone(),
            self.conflicted.clone(),
            self.resolved.clone(),
            programmed,
        ]
    }

    /// The kinds that it takes, as its status shows them.
    pub(super) fn supported_kinds(&self) -> Value {
        let kinds = self.kinds.iter();
        kinds
            .map(|kind| json!({ "group": GROUP, "kind": kind.name() }))
            .collect()
    }

    /// Whether it lets routes of a namespace in.
    pub(super) fn admits(&self, world: &World, own: &str, namespace: &str) -> bool {
        match self.allowed["from"].as_str().unwrap_or("Same") {
            "All" => true,
            "Same" => own == namespace,
            "Selector" => {
                let labels = world.get(Kind::Namespace, "", namespace);
                let labels = labels.and_then(|found| found["metadata"]["labels"].as_object());
                LabelSelector::from_value(&self.allowed["selector"])
                    .is_ok_and(|selector| selector.matches(labels))
            }
            _ => false,
        }
    }
}
