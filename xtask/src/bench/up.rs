//! `cargo xtask bench up`: a new `quad up`, from its start to a release that is Ready; at rest; and with many pods.

use std::{
    fs,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    engine::phases,
    load::create_namespace,
    objects::{OURS, create, until, until_ready},
    process,
    report::{Bound, Goal, Report},
    subject::Subject,
};
use crate::workspace;

/// Options of `cargo xtask bench up`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many pods.
    #[arg(long, default_value_t = 10_000)]
    pods: usize,
    /// How often it is started on an empty folder.
    #[arg(long, default_value_t = 5)]
    starts: usize,
    /// For how long it is watched at rest, in seconds.
    #[arg(long, default_value_t = 60)]
    rest: u64,
}

/// Pods of one Deployment.
const REPLICAS: usize = 100;
/// How long a process may still tidy up before it counts as at rest.
const SETTLE: Duration = Duration::from_secs(10);

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut report = Report::new("up");
    report.fact("pods", arguments.pods);
    report.fact("starts", arguments.starts);
    runtime.block_on(measure(arguments, &mut report))?;
    report.finish()?;
    Ok(())
}

async fn measure(arguments: &Arguments, report: &mut Report) -> Result<()> {
    let mut starts = Vec::new();
    for round in 1..arguments.starts {
        eprintln!("start {round} of {}", arguments.starts);
        let subject = Subject::embedded().await?;
        starts.push(Start::of(&subject).await?);
        subject.end();
    }
    let subject = Subject::embedded().await?;
    starts.push(Start::of(&subject).await?);
    let parts: [(&str, Part, Option<f64>); 3] = [
        ("start to the API ready", |start| start.api, Some(1000.0)),
        (
            "start to all controllers ready",
            |start| start.controllers,
            None,
        ),
        ("start to a release Ready", |start| start.release, None),
    ];
    for (what, part, goal) in parts {
        let milliseconds = median(&starts, part);
        report.measured(format!("{what}, median"), &[("ms", milliseconds)]);
        report.number("embedded", what, milliseconds);
        if let Some(most) = goal {
            report.goal(at_most(what, milliseconds, most, "ms"));
        }
    }
    rest(&subject, "with a release", arguments, report, true).await?;
    pods(&subject, arguments, report).await?;
    rest(
        &subject,
        &format!("with {} pods", arguments.pods),
        arguments,
        report,
        false,
    )
    .await?;
    subject.end();
    Ok(())
}

/// One of the times of a start.
type Part = fn(&Start) -> Duration;

/// When what was there, counted from the start of the process.
struct Start {
    api: Duration,
    controllers: Duration,
    release: Duration,
}

impl Start {
    async fn of(subject: &Subject) -> Result<Self> {
        let mut connection = subject.endpoint.connect().await?;
        let ready = [
            "dataplanes/default",
            "environments/production",
            "deploymentpipelines/default",
            "projects/default",
        ];
        for path in ready {
            until_ready(&mut connection, &format!("{OURS}/{path}")).await?;
        }
        until_ready(&mut connection, "/api/v1/nodes/quadrille").await?;
        let controllers = subject.began.elapsed();
        let text = fs::read_to_string(workspace::root().join("samples/hello.yaml"))?;
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text)?;
        for document in documents {
            create(&mut connection, &format!("{OURS}/releases"), &document).await?;
        }
        until_ready(&mut connection, &format!("{OURS}/releases/hello-web")).await?;
        Ok(Self {
            api: subject.start,
            controllers,
            release: subject.began.elapsed(),
        })
    }
}

fn median(starts: &[Start], part: Part) -> f64 {
    let mut times: Vec<Duration> = starts.iter().map(part).collect();
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    middle.as_secs_f64() * 1000.0
}

/// Memory and processor time when nothing happens.
async fn rest(
    subject: &Subject,
    when: &str,
    arguments: &Arguments,
    report: &mut Report,
    has_goals: bool,
) -> Result<()> {
    eprintln!("at rest {when}");
    tokio::time::sleep(SETTLE).await;
    let share =
        process::processor_share(&subject.pids, Duration::from_secs(arguments.rest)).await?;
    let memory = process::resident(&subject.pids)?;
    report.measured(
        format!("at rest {when}"),
        &[("MiB", memory), ("% CPU", share)],
    );
    report.number("embedded", &format!("MiB at rest {when}"), memory);
    report.number("embedded", &format!("% CPU at rest {when}"), share);
    if has_goals {
        let (program, data) = process::program_and_data(&subject.pids)?;
        report.goal(Goal {
            profile: Some(format!(
                "{program:.1} MiB are the program itself, mapped from its file; {data:.1} MiB are data"
            )),
            ..at_most("memory at rest", memory, 60.0, "MiB")
        });
        report.goal(at_most("processor at rest", share, 0.1, "% CPU"));
    }
    Ok(())
}

/// Makes Deployments until there are that many pods, and waits until all of them are ready.
async fn pods(subject: &Subject, arguments: &Arguments, report: &mut Report) -> Result<()> {
    eprintln!("{} pods", arguments.pods);
    let mut connection = subject.endpoint.connect().await?;
    phases::send(&mut connection, create_namespace("crowd")).await?;
    let deployments = arguments.pods.div_ceil(REPLICAS);
    let began = Instant::now();
    for index in 0..deployments {
        create(
            &mut connection,
            "/apis/apps/v1/namespaces/crowd/deployments",
            &deployment(index),
        )
        .await?;
    }
    for index in 0..deployments {
        let path = format!("/apis/apps/v1/namespaces/crowd/deployments/crowd-{index}");
        until(&mut connection, &path, |object| {
            object["status"]["readyReplicas"] == REPLICAS
        })
        .await?;
    }
    let took = began.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    let rate = (deployments * REPLICAS) as f64 / took;
    let what = format!("{} pods created and ready", deployments * REPLICAS);
    report.measured(what, &[("s", took), ("pods per second", rate)]);
    report.number("embedded", "pods_per_s", rate);
    Ok(())
}

fn deployment(index: usize) -> Value {
    let name = format!("crowd-{index}");
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name },
        "spec": {
            "replicas": REPLICAS,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{ "name": "main", "image": "registry.example.com/main:1" }] },
            },
        },
    })
}

fn at_most(what: &str, measured: f64, most: f64, unit: &str) -> Goal {
    Goal {
        what: what.to_owned(),
        bound: Bound::AtMost(most),
        measured,
        unit: unit.to_owned(),
        profile: None,
    }
}
