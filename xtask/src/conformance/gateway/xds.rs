//! From a dump of what Envoy would be told over the wire to a file that it reads: routes within listeners, addresses within
//! clusters, and everything on loopback.

use std::{
    collections::BTreeMap,
    net::{IpAddr, TcpListener, UdpSocket},
};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::{backend::Backends, case::Gateway};

const MANAGER: &str = "http_connection_manager.v3.HttpConnectionManager";

/// A configuration, and where it listens.
pub(super) struct Served {
    pub(super) configuration: Value,
    pub(super) admin: u16,
    /// By gateway, and the port that the gateway's own listener has (the one for HTTP as 80).
    ports: BTreeMap<(String, u16), u16>,
}

impl Served {
    /// The port on loopback that stands for a port of a gateway.
    pub(super) fn port(&self, gateway: Gateway, port: u16) -> anyhow::Result<u16> {
        let found = self.ports.get(&(gateway.name().to_owned(), port));
        found
            .copied()
            .with_context(|| format!("{} does not listen on {port}", gateway.name()))
    }
}

/// The parts of a dump that matter, of one gateway.
struct Dump<'a> {
    endpoints: BTreeMap<&'a str, &'a Value>,
    routes: BTreeMap<&'a str, &'a Value>,
    clusters: Vec<&'a Value>,
    listeners: Vec<&'a Value>,
}

impl<'a> Dump<'a> {
    fn read(dump: &'a Value) -> Self {
        let parts = |list: &str, path: &str| {
            let configs = dump["configs"].as_array().into_iter().flatten();
            let entries = configs.filter_map(|config| config[list].as_array());
            let entries = entries.flatten().filter_map(|entry| entry.pointer(path));
            entries.collect::<Vec<&Value>>()
        };
        let by = |name: &str, list: Vec<&'a Value>| {
            let named = list.into_iter();
            named
                .filter_map(|entry| Some((entry.get(name)?.as_str()?, entry)))
                .collect()
        };
        Self {
            endpoints: by(
                "clusterName",
                parts("dynamicEndpointConfigs", "/endpointConfig"),
            ),
            routes: by("name", parts("dynamicRouteConfigs", "/routeConfig")),
            clusters: parts("dynamicActiveClusters", "/cluster"),
            listeners: parts("dynamicListeners", "/activeState/listener"),
        }
    }
}

pub(super) fn configuration(dump: &Value, backends: &Backends) -> anyhow::Result<Served> {
    let admin = free_port("TCP")?;
    let mut ports = BTreeMap::new();
    let mut listeners = Vec::new();
    let mut clusters: BTreeMap<String, Value> = BTreeMap::new();
    for (key, part) in dump["xds"].as_object().context("a dump without xds")? {
        let gateway = key.rsplit('/').next().unwrap_or_default();
        let dump = Dump::read(part);
        for cluster in &dump.clusters {
            let cluster = local_cluster(cluster, &dump, backends)?;
            let name = cluster["name"]
                .as_str()
                .context("a cluster without a name")?;
            clusters.insert(name.to_owned(), cluster.clone());
        }
        for listener in &dump.listeners {
            let mut listener = unwrapped(listener);
            let address = &mut listener["address"]["socketAddress"];
            let known = address["portValue"]
                .as_u64()
                .context("a listener without a port")?;
            // Ports below 1024 are moved up by ten thousand, since nobody needs privileges there.
            let known = u16::try_from(if known > 10_000 {
                known - 10_000
            } else {
                known
            })?;
            let transport = address["protocol"].as_str().unwrap_or("TCP").to_owned();
            let port = free_port(&transport)?;
            address["address"] = json!("127.0.0.1");
            address["portValue"] = json!(port);
            listener["name"] = json!(format!("{gateway}/{known}"));
            put_routes(&mut listener, &dump)?;
            ports.insert((gateway.to_owned(), known), port);
            listeners.push(listener);
        }
    }
    ensure!(!listeners.is_empty(), "the translator made no listeners");
    let clusters: Vec<Value> = clusters.into_values().collect();
    let configuration = json!({
        "admin": { "address": { "socketAddress": { "address": "127.0.0.1", "portValue": admin } } },
        "staticResources": { "listeners": listeners, "clusters": clusters },
    });
    Ok(Served {
        configuration,
        admin,
        ports,
    })
}

/// A part of a dump by itself: there it says which type it has, where it is used nobody asks.
fn unwrapped(part: &Value) -> Value {
    let mut part = part.clone();
    if let Some(fields) = part.as_object_mut() {
        fields.remove("@type");
    }
    part
}

/// Writes routes where a listener would ask for them.
fn put_routes(value: &mut Value, dump: &Dump<'_>) -> anyhow::Result<()> {
    match value {
        Value::Object(fields) => {
            let is_manager = fields
                .get("@type")
                .and_then(Value::as_str)
                .is_some_and(|kind| kind.ends_with(MANAGER));
            if is_manager && let Some(asked) = fields.remove("rds") {
                let name = asked["routeConfigName"].as_str().unwrap_or_default();
                let routes = dump.routes.get(name);
                let routes = routes.with_context(|| format!("no routes called {name}"))?;
                fields.insert("routeConfig".to_owned(), unwrapped(routes));
            }
            fields
                .values_mut()
                .try_for_each(|value| put_routes(value, dump))
        }
        Value::Array(items) => items
            .iter_mut()
            .try_for_each(|value| put_routes(value, dump)),
        _ => Ok(()),
    }
}

/// A cluster with its addresses, which are those of our backends unless they are on loopback already.
fn local_cluster(cluster: &Value, dump: &Dump<'_>, backends: &Backends) -> anyhow::Result<Value> {
    let mut cluster = unwrapped(cluster);
    let name = cluster["name"].as_str().unwrap_or_default().to_owned();
    let asked = cluster.get("edsClusterConfig").cloned();
    if let Some(asked) = asked {
        let service = asked["serviceName"].as_str().unwrap_or(&name);
        let endpoints = dump
            .endpoints
            .get(service)
            .or_else(|| dump.endpoints.get(name.as_str()));
        let endpoints = endpoints.with_context(|| format!("no addresses for {name}"))?;
        cluster["loadAssignment"] = unwrapped(endpoints);
    }
    // How its addresses would be found: they are written down instead.
    let fields = cluster.as_object_mut().context("a cluster is an object")?;
    for way in ["edsClusterConfig", "clusterType"] {
        fields.remove(way);
    }
    cluster["type"] = json!("STATIC");
    move_addresses(&mut cluster["loadAssignment"], backends);
    Ok(cluster)
}

fn move_addresses(value: &mut Value, backends: &Backends) {
    match value {
        Value::Object(fields) => {
            // A name that would be looked up is known to Envoy as the host's own; so it is here.
            let known = fields
                .get("address")
                .map(|address| &address["socketAddress"]["address"]);
            let known = known.and_then(Value::as_str).map(str::to_owned);
            if let Some(name) = known.filter(|known| known.parse::<IpAddr>().is_err()) {
                fields.insert("hostname".to_owned(), json!(name));
            }
            if let Some(address) = fields.get_mut("socketAddress")
                && address["address"] != "127.0.0.1"
            {
                let port = address["portValue"].as_u64().unwrap_or_default();
                address["address"] = json!("127.0.0.1");
                address["portValue"] = json!(backends.port_for(port));
            }
            fields
                .values_mut()
                .for_each(|value| move_addresses(value, backends));
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|value| move_addresses(value, backends)),
        _ => {}
    }
}

fn free_port(transport: &str) -> anyhow::Result<u16> {
    let address = if transport == "UDP" {
        UdpSocket::bind("127.0.0.1:0")?.local_addr()?
    } else {
        TcpListener::bind("127.0.0.1:0")?.local_addr()?
    };
    Ok(address.port())
}
