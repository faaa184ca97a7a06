//! Runs one script against one server and writes down what came back.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use http::Method;
use quadrille_testkit::assets;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::{
    places::{fill, fill_value, lookup, remove},
    refusal,
    script::{Action, Piece, Script, Step},
    watching::Watching,
    written::written,
};
use crate::{
    wire::{Answer, Connection, Endpoint},
    workspace,
};

/// How long `wait` polls.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long it rests in between.
const PAUSE: Duration = Duration::from_millis(20);
/// The key of a result that did not come.
const GAVE_UP: &str = "gave up waiting";
/// The definitions of custom resources, which the runner deletes after each script.
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Admission policies and their bindings. A script's policies select its own namespace only.
const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
/// What one step gave.
#[derive(Clone)]
pub(super) struct Record {
    /// The request in short.
    pub(super) title: String,
    /// Status, headers and body; or events.
    pub(super) result: Value,
}

impl Record {
    /// Whether a `wait` was in vain.
    pub(super) fn gave_up(&self) -> bool {
        self.result.get(GAVE_UP).is_some()
    }
}

/// Runs `script` on `server` in a namespace that ends with `suffix`.
pub(super) async fn run(script: &Script, server: &Endpoint, suffix: &str) -> Result<Vec<Record>> {
    let mut runner = Runner::new(script, server, suffix);
    runner.prepare_namespace().await?;
    let mut records = Vec::new();
    for (index, step) in script.content.steps.iter().enumerate() {
        let (title, result) = runner
            .step(step)
            .await
            .with_context(|| format!("step {}", index + 1))?;
        records.push(Record {
            title: format!("{}. {title}", index + 1),
            result: focus(result, step, &runner.names),
        });
    }
    runner.remove_definitions().await?;
    Ok(records)
}

/// Leaves what the step wants compared.
fn focus(mut result: Value, step: &Step, names: &BTreeMap<String, String>) -> Value {
    for place in &step.ignore {
        remove(&mut result, &fill(place, names));
    }
    if result.get("body").is_some() {
        if step.any_order {
            sort_causes(&mut result["body"]);
        }
        refusal::normalize(&mut result["body"]);
    }
    if result.get(GAVE_UP).is_some() {
        return result;
    }
    if step.quiet {
        return lookup(&result, ".status").cloned().unwrap_or(result);
    }
    if step.only.is_empty() {
        return result;
    }
    step.only
        .iter()
        .map(|place| {
            let found = lookup(&result, &fill(place, names));
            (place.clone(), found.cloned().unwrap_or_default())
        })
        .collect::<Map<_, _>>()
        .into()
}

/// Sorts the causes of a refusal, and the list of them in its message.
fn sort_causes(status: &mut Value) {
    let Some(mut causes) = status["details"]["causes"].as_array().cloned() else {
        return;
    };
    let told = |causes: &[Value]| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let parts = causes
            .iter()
            .map(|cause| format!("{}: {}", text(&cause["field"]), text(&cause["message"])));
        parts.collect::<Vec<_>>().join(", ")
    };
    let before = told(&causes);
    causes.sort_by_key(Value::to_string);
    let message = status["message"].as_str().unwrap_or_default();
    status["message"] = message.replace(&before, &told(&causes)).into();
    status["details"]["causes"] = causes.into();
}

struct Runner<'a> {
    server: &'a Endpoint,
    names: BTreeMap<String, String>,
    watches: BTreeMap<String, Watching>,
    connection: Option<Connection>,
    definitions: Vec<String>,
}

impl<'a> Runner<'a> {
    fn new(script: &Script, server: &'a Endpoint, suffix: &str) -> Self {
        let namespace = format!("{}-{suffix}", script.name.replace(['/', '_'], "-"));
        let mut names: BTreeMap<_, _> = [
            ("core", "/api/v1"),
            ("apps", "/apis/apps/v1"),
            ("autoscaling1", "/apis/autoscaling/v1"),
            ("autoscaling", "/apis/autoscaling/v2"),
            ("batch", "/apis/batch/v1"),
            ("coordination", "/apis/coordination.k8s.io/v1"),
            ("discovery", "/apis/discovery.k8s.io/v1"),
            ("events", "/apis/events.k8s.io/v1"),
            ("networking", "/apis/networking.k8s.io/v1"),
            ("policy", "/apis/policy/v1"),
            ("rbac", "/apis/rbac.authorization.k8s.io/v1"),
        ]
        .into_iter()
        .map(|(name, prefix)| (name.to_owned(), format!("{prefix}/namespaces/{namespace}")))
        .collect();
        for (name, path) in [
            ("crds", DEFINITIONS),
            ("policies", POLICIES),
            ("bindings", BINDINGS),
        ] {
            names.insert(name.to_owned(), path.to_owned());
        }
        names.insert("ns".to_owned(), namespace);
        names.extend(script.content.vars.clone());
        Self {
            server,
            names,
            watches: BTreeMap::new(),
            connection: None,
            definitions: Vec::new(),
        }
    }

    /// A namespace of its own, with the objects that every namespace gets.
    async fn prepare_namespace(&mut self) -> Result<()> {
        let namespace = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.names["ns"]},
        });
        let json = [("Content-Type", "application/json")];
        let body = Bytes::from(namespace.to_string());
        let answer = self.send("POST", "/api/v1/namespaces", &json, body).await?;
        if answer.status != 201 {
            bail!(
                "creating namespace {}: {} {}",
                self.names["ns"],
                answer.status,
                String::from_utf8_lossy(&answer.body)
            );
        }
        for object in ["serviceaccounts/default", "configmaps/kube-root-ca.crt"] {
            let path = format!("{}/{object}", self.names["core"]);
            let result = self.poll(&path, &[], |status, _| status == 200).await?;
            ensure!(
                result.get(GAVE_UP).is_none(),
                "a new namespace gets no {object}"
            );
        }
        Ok(())
    }

    /// Takes away the definitions of this script, so that another one may bring the same.
    async fn remove_definitions(&mut self) -> Result<()> {
        for name in std::mem::take(&mut self.definitions) {
            let path = format!("{DEFINITIONS}/{name}");
            self.send("DELETE", &path, &[], Bytes::new()).await?;
            self.poll(&path, &[], |status, _| status == 404).await?;
        }
        Ok(())
    }

    async fn step(&mut self, step: &Step) -> Result<(String, Value)> {
        match step.action()? {
            Action::Tick => {
                next_second().await;
                Ok(("tick".to_owned(), Value::Null))
            }
            Action::Collect(name) => {
                let watching = self
                    .watches
                    .get_mut(name)
                    .with_context(|| format!("no watch is called {name}"))?;
                let wanted = if step.end {
                    None
                } else {
                    Some(step.events.unwrap_or(1))
                };
                let events = watching.collect(wanted, step.bookmarks).await;
                self.save(step, &events);
                Ok((format!("events of {name}"), events))
            }
            Action::Watch(path) => self.open_watch(step, path).await,
            Action::Wait(path) => {
                let target = self.target(path, step);
                let headers = self.headers(step, None);
                let holds = self.condition(step);
                let result = self.poll(&target, &headers, holds).await?;
                self.save(step, &result);
                Ok((format!("wait {target}"), result))
            }
            Action::Request(method, path, content_type) => {
                self.request(step, method, path, content_type).await
            }
        }
    }

    /// Whether an answer is the one that a step waits for; without conditions any is.
    fn condition(&self, step: &Step) -> impl Fn(u16, &Value) -> bool + use<> {
        let until = step.until.clone();
        let names = self.names.clone();
        move |status, body| {
            until.iter().all(|(place, wanted)| match place.as_str() {
                "status" => json!(status) == *wanted,
                place => {
                    lookup(body, &fill(place, &names)).unwrap_or(&Value::Null)
                        == &fill_value(wanted, &names)
                }
            })
        }
    }

    async fn request(
        &mut self,
        step: &Step,
        method: &str,
        path: &str,
        content_type: Option<&str>,
    ) -> Result<(String, Value)> {
        let target = self.target(path, step);
        let body = self.body(step)?;
        let content_type = content_type.filter(|_| !body.is_empty() || method == "PATCH");
        let headers = self.headers(step, content_type);
        let borrowed = borrow(&headers);
        let title = format!("{method} {target}");
        let holds = self.condition(step);
        let start = Instant::now();
        let (answer, result) = loop {
            let answer = match self.send(method, &target, &borrowed, body.clone()).await {
                Ok(answer) => answer,
                Err(error) => return Ok((title, json!({"failure": format!("{error:#}")}))),
            };
            let result = written(answer.status, &answer.headers, &answer.body);
            if holds(answer.status, &result["body"]) {
                break (answer, result);
            }
            if start.elapsed() > PATIENCE {
                return Ok((title, json!({GAVE_UP: result})));
            }
            tokio::time::sleep(PAUSE).await;
        };
        if answer.status == 201
            && target.starts_with(DEFINITIONS)
            && let Some(name) = lookup(&result, ".body.metadata.name").and_then(Value::as_str)
        {
            self.definitions.push(name.to_owned());
        }
        self.save(step, &result);
        Ok((title, result))
    }

    async fn open_watch(&mut self, step: &Step, path: &str) -> Result<(String, Value)> {
        let target = self.target(path, step);
        let separator = if target.contains('?') { '&' } else { '?' };
        let target = format!("{target}{separator}watch=true");
        let headers = self.headers(step, None);
        let answer = self
            .server
            .connect()
            .await?
            .open(Method::GET, &target, &borrow(&headers), Bytes::new())
            .await?;
        let title = format!("watch {target}");
        let (watching, result) = Watching::start(answer).await?;
        let name = step.name.clone().unwrap_or_else(|| "w".to_owned());
        if let Some(watching) = watching {
            self.watches.insert(name, watching);
        }
        Ok((title, result))
    }

    async fn poll(
        &mut self,
        target: &str,
        headers: &[(String, String)],
        holds: impl Fn(u16, &Value) -> bool,
    ) -> Result<Value> {
        let start = Instant::now();
        loop {
            let answer = self
                .send("GET", target, &borrow(headers), Bytes::new())
                .await?;
            let result = written(answer.status, &answer.headers, &answer.body);
            if holds(answer.status, &result["body"]) {
                return Ok(result);
            }
            if start.elapsed() > PATIENCE {
                return Ok(json!({GAVE_UP: result}));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn send(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Answer> {
        let mut connection = match self.connection.take().filter(|open| !open.is_closed()) {
            Some(connection) => connection,
            None => self.server.connect().await?,
        };
        let method = Method::from_bytes(method.as_bytes())?;
        let answer = connection.send(method, target, headers, body).await?;
        // A server that does not read a body to its end hangs up when it has answered.
        if answer.status != 413 {
            self.connection = Some(connection);
        }
        Ok(answer)
    }

    fn target(&self, path: &str, step: &Step) -> String {
        let mut target = fill(path, &self.names);
        for (name, value) in &step.query {
            let separator = if target.contains('?') { '&' } else { '?' };
            let value = match value {
                Value::String(text) => fill(text, &self.names),
                other => other.to_string(),
            };
            target.extend([
                separator.to_string(),
                encode(name),
                "=".to_owned(),
                encode(&value),
            ]);
        }
        target
    }

    fn headers(&self, step: &Step, content_type: Option<&str>) -> Vec<(String, String)> {
        let given = |name: &str| {
            step.headers
                .keys()
                .any(|key| key.eq_ignore_ascii_case(name))
        };
        let mut headers: Vec<_> = step
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), fill(value, &self.names)))
            .collect();
        let defaults = [
            ("User-Agent", Some("diff/1.0")),
            ("Accept", Some("application/json")),
            ("Content-Type", content_type),
        ];
        for (name, value) in defaults {
            if let Some(value) = value.filter(|_| !given(name)) {
                headers.push((name.to_owned(), value.to_owned()));
            }
        }
        headers
    }

    fn body(&self, step: &Step) -> Result<Bytes> {
        if let Some(body) = &step.body {
            return Ok(fill_value(body, &self.names).to_string().into());
        }
        if let Some(text) = &step.text {
            return Ok(fill(text, &self.names).into());
        }
        if let Some(pieces) = &step.pieces {
            let text: String = pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => fill(text, &self.names),
                    Piece::Repeat { repeat, times } => repeat.repeat(*times),
                })
                .collect();
            return Ok(text.into());
        }
        if let Some(file) = &step.file {
            return definition(file);
        }
        Ok(Bytes::new())
    }

    fn save(&mut self, step: &Step, result: &Value) {
        for (name, place) in &step.save {
            let found = lookup(result, &format!(".body{place}")).or_else(|| lookup(result, place));
            let text = match found {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => "missing".to_owned(),
            };
            self.names.insert(name.clone(), text);
        }
    }
}

/// A file of custom resource definitions as JSON: `SOURCE/NAME.yaml`, where the source is `quadrille` (our own)
/// or one of the projects whose definitions `cargo xtask assets` fetches.
fn definition(file: &str) -> Result<Bytes> {
    let (source, name) = file.split_once('/').context("a file is SOURCE/NAME.yaml")?;
    let path = if source == "quadrille" {
        workspace::root().join("deploy/crds").join(name)
    } else {
        assets::crds(source)?
            .into_iter()
            .find(|path| path.ends_with(name))
            .with_context(|| format!("{source} has no {name}"))?
    };
    let value: Value = serde_saphyr::from_str(&std::fs::read_to_string(path)?)?;
    Ok(value.to_string().into())
}

fn borrow(headers: &[(String, String)]) -> Vec<(&str, &str)> {
    headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

async fn next_second() {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let left = Duration::from_nanos(1_000_000_000 - u64::from(now.subsec_nanos()));
    // A little into the second, so that both servers see the same one.
    tokio::time::sleep(left + Duration::from_millis(50)).await;
}
