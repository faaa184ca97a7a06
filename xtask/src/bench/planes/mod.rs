//! `cargo xtask bench planes`: many planes, three of which misbehave. The others must not notice.

mod server;

use std::time::Instant;

use anyhow::{Context, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures::{StreamExt as _, stream};
use http::Method;
use serde_json::{Value, json};

use self::server::{Mood, PlaneServer};
use super::{
    board::Board,
    controller::Controller,
    engine::{fixture, phases},
    load::{Call, Seen, create_namespace},
    report::{Bound, Goal, Report},
    subject::Subject,
};

/// Options of `cargo xtask bench planes`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many planes.
    #[arg(long, default_value_t = 100)]
    planes: usize,
    /// How many changes are measured, at least.
    #[arg(long, default_value_t = 1000)]
    samples: usize,
}

/// Changes under way at once.
const AT_ONCE: usize = 16;
/// The planes that misbehave, and how.
const TROUBLED: [Mood; 3] = [Mood::Hangs, Mood::Fails, Mood::Slow];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut report = Report::new("planes");
    report.fact("planes", arguments.planes);
    runtime.block_on(async {
        let subject = Subject::embedded_api().await?;
        let done = measure(&subject, arguments, &mut report).await;
        subject.end();
        done
    })?;
    report.finish()?;
    Ok(())
}

async fn measure(subject: &Subject, arguments: &Arguments, report: &mut Report) -> Result<()> {
    let endpoint = &subject.endpoint;
    let mut planes = Vec::new();
    for _ in 0..arguments.planes {
        planes.push(PlaneServer::start().await?);
    }
    let mut connection = endpoint.connect().await?;
    phases::send(&mut connection, create_namespace(fixture::NAMESPACE)).await?;
    for (index, plane) in planes.iter().enumerate() {
        for call in ground(index, plane) {
            phases::send(&mut connection, call).await?;
        }
    }
    let mut board = Board::open(endpoint, &fixture::releases(fixture::NAMESPACE)).await?;
    let controller = Controller::start(&subject.kubeconfig, fixture::NAMESPACE).await?;
    let count = arguments.planes;
    board
        .until("all planes have their release", |board| {
            board.count(|state| state.is_applied) == count
        })
        .await?;
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    let each = |value: f64| value / count as f64;
    let sockets = each(controller.sockets()?);
    report.measured("connections per plane", &[("", sockets)]);
    let memory = each(controller.resident()?);
    report.measured("memory of the controllers per plane, MiB", &[("", memory)]);

    let healthy = TROUBLED.len()..count;
    let rounds = arguments.samples.div_ceil(healthy.len());
    let before = changes(subject, &mut board, healthy.clone(), rounds, 2).await?;
    for (plane, mood) in planes.iter().zip(TROUBLED) {
        plane.be(mood);
    }
    // Those in trouble have work to do, too.
    for index in 0..TROUBLED.len() {
        phases::send(&mut connection, change(index, 1_000_000)).await?;
    }
    let after = changes(subject, &mut board, healthy.clone(), rounds, 2 + rounds).await?;
    for (what, seen) in [("all are well", &before), ("three are not", &after)] {
        let numbers = [
            ("p50 ms", seen.percentile(50)),
            ("p99 ms", seen.percentile(99)),
        ];
        report.measured(format!("a change, {what}"), &numbers);
    }
    let bound = (before.percentile(99) * 1.5).max(before.percentile(99) + 50.0);
    report.goal(Goal {
        what: "a change on a plane that is well while three are not: p99".to_owned(),
        bound: Bound::AtMost(bound),
        measured: after.percentile(99),
        unit: "ms".to_owned(),
        profile: None,
    });
    for plane in &planes {
        plane.be(Mood::Well);
    }
    board
        .until("the troubled ones have caught up", |board| {
            board.count(|state| state.is_applied) == count
        })
        .await
}

/// Changes the releases of some planes, round by round, and measures each until it is applied.
async fn changes(
    subject: &Subject,
    board: &mut Board,
    planes: std::ops::Range<usize>,
    rounds: usize,
    from: usize,
) -> Result<Seen> {
    let endpoint = &subject.endpoint;
    let began = Instant::now();
    let mut latencies = Vec::new();
    for round in 0..rounds {
        let sending = planes.clone().map(|index| async move {
            let mut connection = endpoint.connect().await?;
            let sent = Instant::now();
            let answer = phases::send(&mut connection, change(index, from + round)).await?;
            let answer: Value = serde_json::from_slice(&answer)?;
            let generation = answer["metadata"]["generation"].as_i64();
            Ok::<_, anyhow::Error>((index, sent, generation.context("a generation")?))
        });
        let sent: Vec<Result<_>> = stream::iter(sending)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let sent: Vec<(usize, Instant, i64)> = sent.into_iter().collect::<Result<_>>()?;
        board
            .until("the changes of a round are applied", |board| {
                sent.iter().all(|(index, _, generation)| {
                    let state = board.state(&name(*index));
                    state.is_some_and(|state| state.generation >= *generation && state.is_applied)
                })
            })
            .await?;
        for (index, sent, _) in sent {
            let at = board.state(&name(index)).and_then(|state| state.at);
            latencies.push(at.context("it was seen")?.saturating_duration_since(sent));
        }
    }
    Ok(Seen::new(latencies, began.elapsed()))
}

fn name(index: usize) -> String {
    format!("plane-{index:03}")
}

/// The plane, its credentials, its environment and its release.
fn ground(index: usize, plane: &PlaneServer) -> Vec<Call> {
    let name = name(index);
    let namespace = fixture::NAMESPACE;
    let post = |path: &str, object: Value| Call {
        method: Method::POST,
        target: format!(
            "{path}/namespaces/{namespace}/{}",
            object["plural"].as_str().unwrap_or("secrets")
        ),
        content_type: "application/json",
        body: object["object"].to_string().into(),
    };
    let ours = |plural: &str, kind: &str, spec: Value| {
        let object = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": kind,
            "metadata": { "name": name }, "spec": spec,
        });
        post(
            "/apis/openchoreo.dev/v1alpha1",
            json!({ "plural": plural, "object": object }),
        )
    };
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name },
        "data": { "kubeconfig": STANDARD.encode(&plane.kubeconfig) },
    });
    vec![
        post("/api/v1", json!({ "plural": "secrets", "object": secret })),
        ours(
            "dataplanes",
            "DataPlane",
            json!({ "kubernetesCluster": { "secretRef": name } }),
        ),
        ours(
            "environments",
            "Environment",
            json!({ "dataPlaneRef": name }),
        ),
        ours(
            "releases",
            "Release",
            json!({
                "owner": { "projectName": "shop", "componentName": name },
                "environmentName": name,
                "resources": [{ "id": "config", "object": {
                    "apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": { "name": "config", "namespace": "default" }, "data": { "value": "1" },
                }}],
            }),
        ),
    ]
}

fn change(index: usize, value: usize) -> Call {
    fixture::change(&name(index), value)
}
