//! How a pod is to be run: what of its spec and annotations matters to a node.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    kinds::Kind,
    read::{self, int, list, text},
    seen::is_on_host,
};

/// Annotations that a runtime may look at begin with this.
pub const ANNOTATION_PREFIX: &str = "node.quadrille.dev/";

/// When containers that ended are started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Whatever their exit code.
    Always,
    /// When they failed.
    OnFailure,
    /// Not at all.
    Never,
}

/// A container to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Its name in the pod.
    pub name: Box<str>,
    /// What it runs.
    pub image: Box<str>,
    /// Whether it must end well before the next one starts.
    pub is_init: bool,
    /// Whether it is started like an init container, and then stays.
    pub is_sidecar: bool,
}

/// A port that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPort {
    /// Its name.
    pub name: Box<str>,
    /// Its number.
    pub number: u16,
    /// What is spoken there.
    pub protocol: Box<str>,
}

/// How a pod is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// All containers, those that run first first.
    pub containers: Box<[Container]>,
    /// What happens when one ends.
    pub restart: Restart,
    /// What the pod's annotations ask of the node, by their names without the prefix.
    pub annotations: BTreeMap<Box<str>, Box<str>>,
    /// Whether the pod is there to do something and end.
    pub is_job: bool,
    /// Whether it uses the node's own address.
    pub is_on_host: bool,
    /// Config maps and secrets without which it can't start: plural and name.
    pub needs: Box<[(&'static str, Box<str>)]>,
    /// Ports that have names.
    pub named_ports: Box<[NamedPort]>,
    /// How long it may take to end, in seconds.
    pub grace_seconds: i64,
}

impl Plan {
    /// Reads a pod.
    pub(crate) fn read(pod: &Value) -> Self {
        let spec = &pod["spec"];
        let annotations = pod["metadata"]["annotations"].as_object();
        let init = list(&spec["initContainers"])
            .iter()
            .map(|value| (value, true));
        let others = list(&spec["containers"]).iter().map(|value| (value, false));
        let containers = init.chain(others).map(|(value, is_init)| Container {
            name: text(&value["name"]).into(),
            image: text(&value["image"]).into(),
            is_init,
            is_sidecar: is_init && value["restartPolicy"] == "Always",
        });
        Self {
            containers: containers.collect(),
            restart: match text(&spec["restartPolicy"]) {
                "Never" => Restart::Never,
                "OnFailure" => Restart::OnFailure,
                _ => Restart::Always,
            },
            annotations: annotations
                .into_iter()
                .flatten()
                .filter_map(|(name, value)| {
                    let name = name.strip_prefix(ANNOTATION_PREFIX)?;
                    Some((name.into(), text(value).into()))
                })
                .collect(),
            is_job: read::controller(pod).is_some_and(|owner| owner.kind == Kind::Job),
            is_on_host: is_on_host(spec),
            needs: needs(spec),
            named_ports: named_ports(spec),
            grace_seconds: int(&spec["terminationGracePeriodSeconds"]),
        }
    }
}

/// What a pod's volumes and environment refer to and must exist.
fn needs(spec: &Value) -> Box<[(&'static str, Box<str>)]> {
    let mut found: Vec<(&'static str, Box<str>)> = Vec::new();
    let mut add = |plural, reference: &Value, field: &str| {
        let name = text(&reference[field]);
        if !name.is_empty() && reference["optional"] != true {
            found.push((plural, name.into()));
        }
    };
    for volume in list(&spec["volumes"]) {
        add("configmaps", &volume["configMap"], "name");
        add("secrets", &volume["secret"], "secretName");
    }
    for container in list(&spec["initContainers"])
        .iter()
        .chain(list(&spec["containers"]))
    {
        for source in list(&container["envFrom"]) {
            add("configmaps", &source["configMapRef"], "name");
            add("secrets", &source["secretRef"], "name");
        }
        for variable in list(&container["env"]) {
            add(
                "configmaps",
                &variable["valueFrom"]["configMapKeyRef"],
                "name",
            );
            add("secrets", &variable["valueFrom"]["secretKeyRef"], "name");
        }
    }
    found.sort();
    found.dedup();
    found.into()
}

fn named_ports(spec: &Value) -> Box<[NamedPort]> {
    let containers = list(&spec["containers"]).iter();
    let ports = containers.flat_map(|container| list(&container["ports"]));
    ports
        .filter(|port| !text(&port["name"]).is_empty())
        .map(|port| {
            let protocol = match text(&port["protocol"]) {
                "" => "TCP",
                protocol => protocol,
            };
            let number = u16::try_from(int(&port["containerPort"])).unwrap_or(0);
            NamedPort {
                name: text(&port["name"]).into(),
                number,
                protocol: protocol.into(),
            }
        })
        .collect()
}
