//! `cargo xtask bench chain`: many components, from what developers write to pods that are ready; then edits of a
//! workload and of the type that all of them have. Measured twice: as `quad up` runs it, all in one process, and with the
//! controllers in a process of their own, so that the server's log tells what they ask for.

mod fixture;
mod phases;

use std::time::Duration;

use anyhow::Result;

use super::{
    board::Board,
    controller::Controller,
    numbers::{Numbers, fraction, per_second},
    objects::{OURS, until_ready},
    process,
    report::Report,
    requests::{self, Log},
    subject::Subject,
};

/// Options of `cargo xtask bench chain`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many components.
    #[arg(long, default_value_t = 1000)]
    components: usize,
    /// How many projects they are in.
    #[arg(long, default_value_t = 50)]
    projects: usize,
    /// How many edits of a workload are measured.
    #[arg(long, default_value_t = 300)]
    edits: usize,
    /// How long everything is left alone, in seconds.
    #[arg(long, default_value_t = 60)]
    rest: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut report = Report::new("chain");
    report.fact("components", arguments.components);
    report.fact("projects", arguments.projects);
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let subject = equipped().await?;
        let mut numbers = Numbers {
            server: "one process",
            report: &mut report,
        };
        measure(&subject, None, arguments, &mut numbers).await?;
        subject.end();

        let subject = equipped().await?.without_controllers().await?;
        let apart = Apart {
            controller: Controller::start_for_all(&subject.kubeconfig).await?,
            log: Log::from_here(&subject.requests)?,
        };
        let mut numbers = Numbers {
            server: "controllers apart",
            report: &mut report,
        };
        measure(&subject, Some(apart), arguments, &mut numbers).await?;
        subject.end();
        anyhow::Ok(())
    })?;
    report.finish()?;
    Ok(())
}

/// `quad up` with everything that it brings.
async fn equipped() -> Result<Subject> {
    let subject = Subject::embedded().await?;
    let mut connection = subject.endpoint.connect().await?;
    let cluster = "/apis/openchoreo.dev/v1alpha1";
    until_ready(&mut connection, &format!("{OURS}/environments/development")).await?;
    until_ready(
        &mut connection,
        &format!("{OURS}/deploymentpipelines/default"),
    )
    .await?;
    until_ready(
        &mut connection,
        &format!("{cluster}/clustertraits/configuration"),
    )
    .await?;
    until_ready(
        &mut connection,
        &format!("{cluster}/clustercomponenttypes/service"),
    )
    .await?;
    Ok(subject)
}

/// Controllers in a process of their own, and what they ask the server for.
struct Apart {
    controller: Controller,
    log: Log,
}

async fn measure(
    subject: &Subject,
    mut apart: Option<Apart>,
    arguments: &Arguments,
    numbers: &mut Numbers<'_>,
) -> Result<()> {
    eprintln!("measuring {}", numbers.server);
    let endpoint = &subject.endpoint;
    let count = arguments.components;
    let mut board = Board::open(endpoint, &format!("{OURS}/releasebindings")).await?;
    phases::projects(endpoint, arguments.projects).await?;
    // The first one finds a platform that has never been asked for anything.
    phases::deploy(endpoint, &mut board, 0..1, arguments.projects).await?;
    if let Some(apart) = &mut apart {
        apart.log.since()?;
    }
    let took = phases::deploy(endpoint, &mut board, 1..count, arguments.projects).await?;
    let rate = per_second(count - 1, took);
    numbers.one(
        "from nothing to Ready, per second",
        "components_per_s",
        rate,
    );
    if let Some(apart) = &mut apart {
        let asked = apart.log.since()?;
        let each = fraction(requests::work(&asked), count - 1);
        numbers.one("requests per component", "requests_per_component", each);
        for (what, many) in asked {
            let each = fraction(many, count - 1);
            numbers.one(&format!("  {what}"), &format!("requests {what}"), each);
        }
    }
    memory(subject, apart.as_ref(), "deployed", numbers)?;

    let edits = phases::edits(endpoint, arguments.edits, count).await?;
    numbers.latency("a workload edited until its Deployment is", "edit", &edits);
    let slowest = edits.percentile(99);
    numbers.at_most("a workload edited: p99", slowest, 300.0, "ms");

    let took = phases::edit_type(endpoint).await?;
    let what = "the type of all edited until all have it, s";
    numbers.one(what, "type_edit_s", took.as_secs_f64());
    if let Some(apart) = &mut apart {
        rest(apart, arguments.rest, numbers).await?;
    }
    memory(subject, apart.as_ref(), "edited", numbers)?;

    let took = phases::delete(endpoint, &mut board, count).await?;
    let rate = per_second(count, took);
    numbers.one(
        "deleted with all they had, per second",
        "deletes_per_s",
        rate,
    );
    Ok(())
}

fn memory(
    subject: &Subject,
    apart: Option<&Apart>,
    when: &str,
    numbers: &mut Numbers<'_>,
) -> Result<()> {
    let server = process::resident(&subject.pids)?;
    let name = format!("mib_{when}");
    numbers.one(&format!("memory of quad up, {when}, MiB"), &name, server);
    if let Some(apart) = apart {
        let what = format!("memory of the controllers, {when}, MiB");
        let own = apart.controller.resident()?;
        numbers.one(&what, &format!("controllers_{name}"), own);
    }
    Ok(())
}

/// Leaves everything alone for a while.
async fn rest(apart: &mut Apart, seconds: u64, numbers: &mut Numbers<'_>) -> Result<()> {
    requests::settle(&mut apart.log).await?;
    let busy = apart.controller.processor_seconds()?;
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let asked = fraction(requests::work(&apart.log.since()?), 1);
    let what = "requests at rest, watches and lease aside";
    numbers.one(what, "rest_requests", asked);
    numbers.at_most("requests at rest", asked, 0.0, "");
    let busy = apart.controller.processor_seconds()? - busy;
    numbers.one("processor seconds at rest", "rest_cpu_s", busy);
    Ok(())
}
