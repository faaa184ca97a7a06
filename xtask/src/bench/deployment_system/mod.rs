//! `cargo xtask bench deployment-system`: many Deployments with two endpoints each, from what people write to Ready; then
//! one changed group that some of them use. Measured twice: as `quad up` runs it, all in one process, and with the
//! controllers in a process of their own, so that the server's log tells what they ask for.

mod fixture;
mod phases;

use std::time::Duration;

use anyhow::Result;

use self::phases::Boards;
use super::{
    controller::Controller,
    numbers::{Numbers, fraction, per_second},
    objects::{OURS, until_ready},
    process,
    report::Report,
    requests::{self, Log},
    subject::Subject,
};

/// Options of `cargo xtask bench deployment-system`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many Deployments.
    #[arg(long, default_value_t = 500)]
    deployments: usize,
    /// How many of them use the group that is changed.
    #[arg(long, default_value_t = 200)]
    users: usize,
    /// How many projects they are in.
    #[arg(long, default_value_t = 25)]
    projects: usize,
    /// How long everything is left alone, in seconds.
    #[arg(long, default_value_t = 30)]
    rest: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut report = Report::new("deployment-system");
    report.fact("deployments", arguments.deployments);
    report.fact("users of the group", arguments.users);
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

/// `quad up` with its organization.
async fn equipped() -> Result<Subject> {
    let subject = Subject::embedded().await?;
    let mut connection = subject.endpoint.connect().await?;
    until_ready(&mut connection, &format!("{OURS}/environments/development")).await?;
    until_ready(
        &mut connection,
        &format!("{OURS}/deploymentpipelines/default"),
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
    let (count, users) = (arguments.deployments, arguments.users);
    let mut boards = Boards::open(endpoint).await?;
    phases::begin(endpoint, arguments.projects).await?;
    // The first one finds a platform that has never been asked for anything.
    phases::deploy(endpoint, &mut boards, 0..1, arguments.projects, users).await?;
    if let Some(apart) = &mut apart {
        apart.log.since()?;
    }
    let took = phases::deploy(endpoint, &mut boards, 1..count, arguments.projects, users).await?;
    let what = "applied until it and its two endpoints are Ready, all of them, s";
    numbers.one(what, "deploy_s", took.as_secs_f64());
    let rate = per_second(count - 1, took);
    numbers.one("the same, per second", "deployments_per_s", rate);
    if let Some(apart) = &mut apart {
        requests_of(apart, "deployment", count - 1, numbers)?;
    }
    memory(subject, apart.as_ref(), "deployed", numbers)?;

    if let Some(apart) = &mut apart {
        rest(apart, arguments.rest, numbers).await?;
    }
    let rolled = phases::edit_group(endpoint, &mut boards, users).await?;
    let what = "a group changed until all that use it are rolled, s";
    numbers.one(what, "group_s", rolled.took.as_secs_f64());
    if let Some(apart) = &mut apart {
        requests_of(apart, "roll", users, numbers)?;
    }
    let touched = fraction(rolled.touched, 1);
    numbers.one("others touched by that", "others_touched", touched);
    numbers.at_most("others touched by a changed group", touched, 0.0, "");
    memory(subject, apart.as_ref(), "rolled", numbers)?;

    let took = phases::delete(endpoint, &mut boards, count).await?;
    let rate = per_second(count, took);
    numbers.one(
        "deleted with all they had, per second",
        "deletes_per_s",
        rate,
    );
    Ok(())
}

/// What the controllers asked for since the last look, for each of so many.
fn requests_of(apart: &mut Apart, of: &str, many: usize, numbers: &mut Numbers<'_>) -> Result<()> {
    let asked = apart.log.since()?;
    let each = fraction(requests::work(&asked), many);
    numbers.one(
        &format!("requests per {of}"),
        &format!("requests_per_{of}"),
        each,
    );
    for (what, count) in asked {
        let each = fraction(count, many);
        numbers.one(&format!("  {what}"), &format!("{of} {what}"), each);
    }
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
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let asked = fraction(requests::work(&apart.log.since()?), 1);
    numbers.one("requests at rest", "rest_requests", asked);
    numbers.at_most("requests at rest", asked, 0.0, "");
    Ok(())
}
