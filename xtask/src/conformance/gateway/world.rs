//! What a translator needs beside our objects: gateways, namespaces and Services.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use anyhow::{Context, bail, ensure};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use quadrille_render::{
    Documents,
    routes::{Address, Audience},
};
use serde_json::{Value, json};

use super::case::{Case, Cases, Gateway, Request};
use crate::workspace;

/// The namespace of the gateways.
const PLANE: &str = "openchoreo-data-plane";
/// Kinds that are no business of a gateway.
const OTHERS: [&str; 2] = ["NetworkPolicy", "CiliumNetworkPolicy"];

/// What was rendered.
pub(super) struct Rendered {
    objects: Vec<Value>,
    /// Where each is reached: by kind and name, of those of each case.
    addresses: BTreeMap<String, Vec<Address>>,
    of_case: BTreeMap<String, Vec<String>>,
}

/// Renders all cases at once; what cannot be rendered is an error, there are golden tests for that.
pub(super) fn rendered(cases: &Cases) -> anyhow::Result<Rendered> {
    let mut rendered = Rendered {
        objects: Vec::new(),
        addresses: BTreeMap::new(),
        of_case: BTreeMap::new(),
    };
    for case in &cases.each {
        let (secrets, documents): (Vec<Value>, Vec<Value>) = case
            .documents
            .iter()
            .cloned()
            .partition(|document| document["kind"] == "Secret");
        let documents = cases.base.iter().cloned().chain(documents).collect();
        for (whose, outcome) in Documents::read(documents)?.exposures() {
            let exposure = outcome.with_context(|| format!("{}: {whose}", case.name))?;
            let objects = exposure.objects.into_iter().map(|planned| planned.object);
            rendered.objects.extend(objects.filter(|object| {
                let kind = object["kind"].as_str().unwrap_or_default();
                !OTHERS.contains(&kind)
            }));
            ensure!(
                !rendered.addresses.contains_key(&whose),
                "two cases have {whose}"
            );
            let known = rendered.of_case.entry(case.name.clone()).or_default();
            known.push(whose.clone());
            rendered.addresses.insert(whose, exposure.addresses);
        }
        rendered.objects.extend(secrets.into_iter().map(stored));
    }
    Ok(rendered)
}

/// A Secret as a server stores it, which is how the translator reads it.
fn stored(mut secret: Value) -> Value {
    let written = secret["stringData"].take();
    for (key, text) in written.as_object().into_iter().flatten() {
        let text = text.as_str().unwrap_or_default();
        secret["data"][key.as_str()] = json!(BASE64_STANDARD.encode(text));
    }
    if let Some(fields) = secret.as_object_mut() {
        fields.remove("stringData");
    }
    secret
}

impl Rendered {
    /// The host that a request is for.
    pub(super) fn host(&self, request: &Request, case: &Case) -> anyhow::Result<String> {
        if let Some(host) = &request.host {
            return Ok(host.clone());
        }
        let known = self.of_case.get(&case.name).context("exposes nothing")?;
        let whose = match &request.of {
            Some(whose) => whose,
            None => known.first().context("exposes nothing")?,
        };
        let audience = match request.address_of.unwrap_or(request.by) {
            Gateway::External => Audience::Public,
            Gateway::Internal => Audience::Organization,
        };
        let addresses = self.addresses.get(whose);
        let addresses = addresses.with_context(|| format!("there is no {whose}"))?;
        let found = addresses
            .iter()
            .find(|address| address.audience == audience);
        let found = found.with_context(|| format!("{whose} has no address for {audience:?}"))?;
        Ok(found.host.clone())
    }

    /// Everything that the translator reads.
    fn documents(&self) -> Vec<Value> {
        let mut namespaces = BTreeSet::from([PLANE.to_owned()]);
        let mut services: BTreeMap<(String, String), BTreeMap<i64, &str>> = BTreeMap::new();
        let mut listeners: BTreeMap<String, BTreeMap<i64, &str>> = BTreeMap::new();
        for object in &self.objects {
            let namespace = text(object, "/metadata/namespace");
            namespaces.insert(namespace.to_owned());
            let (listener, transport) = match text(object, "/kind") {
                "TCPRoute" => ("TCP", "TCP"),
                "UDPRoute" => ("UDP", "UDP"),
                _ => ("HTTP", "TCP"),
            };
            let rules = object.pointer("/spec/rules").and_then(Value::as_array);
            for rule in rules.into_iter().flatten() {
                let backends = rule["backendRefs"].as_array().into_iter().flatten();
                for backend in backends.filter(|backend| backend.get("kind").is_none()) {
                    let name = backend["name"].as_str().unwrap_or_default().to_owned();
                    let ports = services.entry((namespace.to_owned(), name)).or_default();
                    ports.insert(backend["port"].as_i64().unwrap_or_default(), transport);
                }
            }
            if let Some(port) = object.pointer("/spec/parentRefs/0/port") {
                let gateway = text(object, "/spec/parentRefs/0/name").to_owned();
                let ports = listeners.entry(gateway).or_default();
                ports.insert(port.as_i64().unwrap_or_default(), listener);
            }
        }
        let mut documents = vec![json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass",
            "metadata": { "name": "gateway" },
            "spec": { "controllerName": "gateway.envoyproxy.io/gatewayclass-controller" },
        })];
        for name in [Gateway::External, Gateway::Internal].map(Gateway::name) {
            documents.push(gateway(name, listeners.get(name)));
        }
        documents.extend(namespaces.into_iter().map(
            |name| json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }),
        ));
        for (number, ((namespace, name), ports)) in services.into_iter().enumerate() {
            let ports: Vec<Value> = ports
                .into_iter()
                .map(|(port, protocol)| {
                    json!({ "name": format!("p{port}"), "port": port, "protocol": protocol })
                })
                .collect();
            documents.push(json!({
                "apiVersion": "v1", "kind": "Service",
                "metadata": { "name": name, "namespace": namespace },
                "spec": { "clusterIP": format!("10.96.{}.{}", number / 250, number % 250 + 1), "ports": ports },
            }));
        }
        documents.extend(self.objects.iter().cloned());
        documents
    }
}

fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    let found = object.pointer(path).and_then(Value::as_str);
    found.unwrap_or_default()
}

fn gateway(name: &str, ports: Option<&BTreeMap<i64, &str>>) -> Value {
    let everybody = json!({ "namespaces": { "from": "All" } });
    let mut listeners =
        vec![json!({ "name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": everybody })];
    for (port, protocol) in ports.into_iter().flatten() {
        listeners.push(json!({
            "name": format!("p{port}"), "port": port, "protocol": protocol, "allowedRoutes": everybody,
        }));
    }
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": { "name": name, "namespace": PLANE },
        "spec": { "gatewayClassName": "gateway", "listeners": listeners },
    })
}

/// What the translator makes of it. Everything must be accepted: a policy that is refused would show as a wrong answer
/// only.
pub(super) fn translated(egctl: &Path, rendered: &Rendered) -> anyhow::Result<Value> {
    let folder = workspace::results("conformance")?.join("gateway");
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("objects.yaml");
    let mut input = String::new();
    for document in rendered.documents() {
        input.push_str("---\n");
        input.push_str(&serde_saphyr::to_string(&document)?);
    }
    std::fs::write(&file, input)?;
    let mut command = Command::new(egctl);
    command
        .args([
            "experimental",
            "translate",
            "--from",
            "gateway-api",
            "--to",
            "gateway-api,xds",
        ])
        .args(["--type", "all", "--output", "json", "--file"])
        .arg(&file);
    let output = workspace::output(&mut command)?;
    let dump: Value = serde_json::from_str(&output).context("read the translator's answer")?;
    std::fs::write(folder.join("dump.json"), serde_json::to_vec_pretty(&dump)?)?;
    let refused = refusals(&dump);
    if !refused.is_empty() {
        bail!("the translator refuses:\n{}", refused.join("\n"));
    }
    Ok(dump)
}

/// What the translator says against objects in their status.
fn refusals(dump: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let lists = dump.as_object().into_iter().flatten();
    let lists = lists.filter(|(name, _)| *name != "xds");
    let objects = lists.filter_map(|(_, list)| list.as_array()).flatten();
    for object in objects {
        let status = &object["status"];
        let parts = ["parents", "ancestors"].map(|part| status[part].as_array());
        for part in parts.into_iter().flatten().flatten() {
            let conditions = part["conditions"].as_array().into_iter().flatten();
            for condition in conditions.filter(|condition| condition["status"] == "False") {
                found.push(format!(
                    "{} {}: {} {}",
                    object["kind"].as_str().unwrap_or_default(),
                    object["metadata"]["name"],
                    condition["reason"],
                    condition["message"]
                ));
            }
        }
    }
    found
}
