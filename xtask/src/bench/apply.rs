//! `cargo xtask bench apply`: what server-side apply costs. In process: time and allocations of one apply. Over the
//! wire: applies per second of 32 clients, on the embedded server and on kube-apiserver with etcd, in the same run.

use std::{
    collections::BTreeMap,
    hint::black_box,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow};
use http::Method;
use quadrille_apiserver::kinds;
use quadrille_machinery::{
    managed::{self, OneSchema, Resets, Write},
    schema::Schema,
    structural,
};
use serde_json::{Value, json};
use stats_alloc::Region;

use super::{
    Numbers, add_row,
    load::{Call, Until, create_namespace, drive},
    measure,
    report::{Bound, Goal, Report},
    subject::Subject,
};
use crate::MEMORY;

/// Options of `cargo xtask bench apply`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How long each operation is measured, in seconds.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
}

/// Clients that apply at once.
const CLIENTS: usize = 32;
/// Entries of the long list.
const ENTRIES: usize = 1000;
const NAMESPACE: &str = "bench-apply";
const APPLY: &str = "application/apply-patch+yaml";

/// What is applied: the names of its kind, its schema, and its state by number.
struct Workload {
    name: &'static str,
    api_version: &'static str,
    kind: &'static str,
    path: String,
    schema: Schema,
    object: fn(name: &str, state: usize) -> Value,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let workloads = [deployment()?, long_list()];
    let mut report = Report::new("apply");
    report.fact("seconds per operation", arguments.seconds);
    report.fact("clients", CLIENTS);
    report.fact("entries of the list", ENTRIES);
    report.fact("real", "kube-apiserver and etcd together");
    for workload in &workloads {
        for (what, numbers) in in_process(workload)? {
            add_row(&mut report, &what, &numbers);
        }
    }
    let runtime = tokio::runtime::Runtime::new()?;
    let time = Until::Elapsed(Duration::from_secs(arguments.seconds));
    let work = async |subject: &Subject| over_the_wire(subject, &workloads, time).await;
    let embedded = runtime.block_on(measure(Subject::embedded, work))?;
    let real = runtime.block_on(measure(Subject::real, work))?;
    for (what, numbers) in &embedded {
        add_row(&mut report, &format!("{what}, embedded"), numbers);
        let Some(reference) = real.get(what) else {
            continue;
        };
        add_row(&mut report, &format!("{what}, real"), reference);
        report.goal(Goal {
            what: format!("{what}: per second, embedded / real"),
            bound: Bound::AtLeast(2.0),
            measured: numbers["per second"] / reference["per second"],
            unit: "×".to_owned(),
            profile: None,
        });
    }
    report.finish()?;
    Ok(())
}

fn deployment() -> Result<Workload> {
    let schema = kinds::load().schema("apps", "v1", "Deployment");
    Ok(Workload {
        name: "Deployment",
        api_version: "apps/v1",
        kind: "Deployment",
        path: format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments"),
        schema: schema.context("no schema for Deployment")?,
        object: |name, state| {
            json!({
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": name, "labels": {"app": name, "tier": "web"}},
                "spec": {
                    "replicas": 2,
                    "selector": {"matchLabels": {"app": name}},
                    "template": {
                        "metadata": {"labels": {"app": name}, "annotations": {"state": state.to_string()}},
                        "spec": {"containers": [{
                            "name": "web",
                            "image": "example.com/web:1",
                            "ports": [{"containerPort": 8080, "name": "http"}],
                            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                            "readinessProbe": {"httpGet": {"path": "/", "port": "http"}},
                        }]},
                    },
                },
            })
        },
    })
}

fn list_schema() -> Value {
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "entries": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "value": {"type": "integer"},
            }},
        },
    }}}})
}

fn long_list() -> Workload {
    Workload {
        name: "list-map of 1,000",
        api_version: "bench.example.com/v1",
        kind: "Listing",
        path: format!("/apis/bench.example.com/v1/namespaces/{NAMESPACE}/listings"),
        schema: structural::schema(Some(&list_schema())),
        object: |name, state| {
            let entries: Vec<Value> = (0..ENTRIES)
                .map(|number| {
                    let value = if number == 500 { state } else { number };
                    json!({"name": format!("entry-{number}"), "value": value})
                })
                .collect();
            json!({
                "apiVersion": "bench.example.com/v1",
                "kind": "Listing",
                "metadata": {"name": name},
                "spec": {"entries": entries},
            })
        },
    }
}

/// One apply after the other, without a server: of a changed and of an unchanged configuration.
fn in_process(workload: &Workload) -> Result<Numbers> {
    let blank = managed::blank_builtin(workload.schema.root(), workload.api_version, workload.kind);
    let versions = OneSchema {
        api_version: workload.api_version,
        schema: workload.schema.root(),
    };
    let write = Write {
        manager: "bench",
        api_version: workload.api_version,
        kind: workload.kind,
        subresource: "",
        now: "2026-01-01T00:00:00Z",
        versions: &versions,
        reset: &Resets::none(),
        blank: &blank,
    };
    let apply = |live: Option<&Value>, config: &Value| {
        managed::apply(live, config, &write, false)
            .map(|applied| applied.object)
            .map_err(|error| anyhow!("{}", error.status().message))
    };
    let configs = [0, 1].map(|state| (workload.object)("a", state));
    let live = apply(None, &configs[0])?;
    let mut numbers = Numbers::new();
    for (what, config) in ["unchanged", "changed"].into_iter().zip(&configs) {
        let once = || apply(Some(&live), config).map(black_box);
        once()?;
        let began = Instant::now();
        let mut count = 0_u32;
        while began.elapsed() < Duration::from_secs(1) {
            once()?;
            count += 1;
        }
        let micros = began.elapsed().as_secs_f64() * 1e6 / f64::from(count);
        let region = Region::new(MEMORY);
        once()?;
        let stats = region.change();
        #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
        let (allocations, bytes) = (stats.allocations as f64, stats.bytes_allocated as f64);
        numbers.insert(
            format!("{}, {what}, in process", workload.name),
            BTreeMap::from([
                ("µs", micros),
                ("allocations", allocations),
                ("KiB allocated", bytes / 1024.0),
            ]),
        );
    }
    Ok(numbers)
}

/// All clients apply, each to an object of its own, a new state each time.
async fn over_the_wire(subject: &Subject, workloads: &[Workload], time: Until) -> Result<Numbers> {
    let endpoint = &subject.endpoint;
    drive(endpoint, 1, Until::Sent(1), |_, _| {
        create_namespace(NAMESPACE)
    })
    .await?;
    drive(endpoint, 1, Until::Sent(1), |_, _| create_definition()).await?;
    until_served(subject).await?;
    let mut numbers = Numbers::new();
    for workload in workloads {
        let (path, object) = (workload.path.clone(), workload.object);
        let call = move |client: usize, count: usize| {
            let name = format!("client-{client}");
            Call {
                method: Method::PATCH,
                target: format!("{path}/{name}?fieldManager=bench"),
                content_type: APPLY,
                body: object(&name, count).to_string().into(),
            }
        };
        let seen = drive(endpoint, CLIENTS, time, call).await?;
        let what = format!("{}, {CLIENTS} clients", workload.name);
        numbers.insert(what, seen.numbers());
    }
    Ok(numbers)
}

fn create_definition() -> Call {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "listings.bench.example.com"},
        "spec": {
            "group": "bench.example.com",
            "scope": "Namespaced",
            "names": {"plural": "listings", "singular": "listing", "kind": "Listing", "listKind": "ListingList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": list_schema()}}],
        },
    });
    Call {
        method: Method::POST,
        target: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions".to_owned(),
        content_type: "application/json",
        body: definition.to_string().into(),
    }
}

/// Waits until the new kind can be used, with its schema.
async fn until_served(subject: &Subject) -> Result<()> {
    let deadline = Instant::now() + Duration::from_mins(1);
    let target = format!("/apis/bench.example.com/v1/namespaces/{NAMESPACE}/listings");
    loop {
        let mut connection = subject.endpoint.connect().await?;
        let answer = connection
            .send(Method::GET, &target, &[], bytes::Bytes::new())
            .await?;
        if answer.status == 200 {
            return Ok(());
        }
        anyhow::ensure!(Instant::now() < deadline, "the new kind is not served");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
