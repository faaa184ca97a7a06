//! `cargo xtask bench engine`: what the engine makes of a server. The yardstick is the server's own limit: a bare
//! client that sends the same writes in the same run. `quad-controller` runs in a process of its own, so that its
//! memory and processor time are its own; requests are counted from the server's log.

pub(super) mod fixture;
pub(super) mod phases;
mod race;
mod scale;

use std::{thread, time::Duration};

use anyhow::Result;

use self::race::Race;
use super::{
    board::Board,
    controller::Controller,
    numbers::{Numbers, fraction, per_second},
    report::Report,
    requests::{self, Log},
    subject::Subject,
};

/// Options of `cargo xtask bench engine`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many releases.
    #[arg(long, default_value_t = 1000)]
    releases: usize,
    /// How long everything is left alone, in seconds.
    #[arg(long, default_value_t = 120)]
    rest: u64,
    /// How many objects are harmed.
    #[arg(long, default_value_t = 200)]
    drift: usize,
    /// How many releases for scale, on the embedded server; 0 leaves that out.
    #[arg(long, default_value_t = 10_000)]
    scale: usize,
    /// Only this server: embedded or real.
    #[arg(long)]
    only: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut report = Report::new("engine");
    report.fact("releases", arguments.releases);
    report.fact("objects per release", fixture::OBJECTS);
    report.fact("real", "kube-apiserver and etcd, no controller manager");
    let runtime = tokio::runtime::Runtime::new()?;
    let wanted = |name: &str| arguments.only.as_deref().is_none_or(|only| only == name);
    if wanted("embedded") {
        runtime.block_on(async {
            let subject = Subject::embedded_api().await?;
            let done = measure(&subject, arguments, &mut report).await;
            subject.end();
            done
        })?;
    }
    if wanted("real") {
        runtime.block_on(async {
            let subject = Subject::real_logged().await?;
            let done = measure(&subject, arguments, &mut report).await;
            subject.end();
            done
        })?;
    }
    if arguments.scale > 0 && wanted("embedded") {
        runtime.block_on(async {
            let subject = Subject::embedded_api().await?;
            let done = scale::measure(&subject, arguments.scale, &mut report).await;
            subject.end();
            done
        })?;
    }
    report.finish()?;
    Ok(())
}

/// What is asked of a server's engine.
struct Goals {
    single_p50: f64,
    /// Releases per second; nothing where the limit is the only yardstick.
    per_second: Option<f64>,
}

async fn measure(subject: &Subject, arguments: &Arguments, report: &mut Report) -> Result<()> {
    let server = subject.name();
    eprintln!("measuring {server}");
    let endpoint = &subject.endpoint;
    let mut connection = endpoint.connect().await?;
    for namespace in [fixture::NAMESPACE, fixture::LIMIT] {
        for call in fixture::ground(namespace) {
            phases::send(&mut connection, call).await?;
        }
    }
    let goals = match server {
        "embedded" => Goals {
            single_p50: 10.0,
            per_second: Some(200.0),
        },
        _ => Goals {
            single_p50: 40.0,
            per_second: None,
        },
    };
    let mut numbers = Numbers { server, report };
    let mut board = Board::open(endpoint, &fixture::releases(fixture::NAMESPACE)).await?;

    let first = Controller::start(&subject.kubeconfig, fixture::NAMESPACE).await?;
    phases::create(endpoint, &mut board, 0, 1).await?;
    let status = phases::status(endpoint, &phases::name(0)).await?;
    phases::delete(endpoint, &mut board, 0, 1).await?;
    let singles = phases::singles(endpoint, &mut board, 100).await?;
    numbers.latency("one release on an idle system", "single", &singles);
    numbers.at_most(
        "one release on an idle system: p50",
        singles.percentile(50),
        goals.single_p50,
        "ms",
    );
    drop(first);

    let controller = Controller::start(&subject.kubeconfig, fixture::NAMESPACE).await?;
    // Whoever takes the lead first reads everything; then the work begins.
    phases::create(endpoint, &mut board, 0, 1).await?;
    let count = arguments.releases;
    let mut log = Log::from_here(&subject.requests)?;
    let busy = controller.processor_seconds()?;
    let race = Race::run(endpoint, &mut board, count, &status).await?;
    let asked = log.since()?;
    numbers.one(
        "a bare client with the same writes",
        "limit_releases_per_s",
        race.bare(),
    );
    let releases_per_s = race.engine();
    numbers.one("new releases", "releases_per_s", releases_per_s);
    let own = controller.processor_seconds()? - busy;
    let cores = thread::available_parallelism()?;
    let profile = format!(
        "the controllers took {own:.2} s of the {:.2} s that {cores} processors had, which the server did not get; turn by \
         turn: {}",
        race.took.as_secs_f64() * f64::from(u16::try_from(cores.get())?),
        race.turns(),
    );
    eprintln!("{server}: {profile}");
    numbers.at_least_or(
        "new releases: of the limit",
        race.ratio(),
        0.8,
        "×",
        profile,
    );
    if let Some(goal) = goals.per_second {
        numbers.at_least("new releases per second", releases_per_s, goal, "/s");
    }
    let per_release = fraction(requests::work(&asked), count - 1);
    numbers.one(
        "requests per new release",
        "requests_per_release",
        per_release,
    );
    // A status that changes once more while this is counted is no request of a new release: hundredths are enough.
    let rounded = (per_release * 100.0).round() / 100.0;
    numbers.at_most("requests per new release", rounded, 8.0, "");
    for (what, many) in asked {
        numbers.one(
            &format!("  {what}"),
            &format!("requests {what}"),
            fraction(many, count - 1),
        );
    }
    numbers.one("processor seconds for them", "create_cpu_s", own);

    let took = phases::change(endpoint, &mut board, count).await?;
    numbers.one(
        "one object changed in each",
        "changes_per_s",
        per_second(count, took),
    );
    log.since()?;

    phases::all_healthy(endpoint, &mut board, count).await?;
    let told = log.since()?;
    numbers.one(
        "requests per change of health",
        "health_requests",
        fraction(requests::work(&told), count),
    );
    rest(&controller, &mut log, arguments.rest, &mut numbers).await?;

    let mended = phases::drift(endpoint, count, arguments.drift).await?;
    numbers.latency("drift restored", "drift", &mended);
    numbers.at_most("drift restored: p99", mended.percentile(99), 1000.0, "ms");

    let took = phases::delete(endpoint, &mut board, 0, 50).await?;
    numbers.one("50 deleted", "delete_50_s", took.as_secs_f64());
    numbers.at_most("50 deleted", took.as_secs_f64(), 3.0, "s");
    let took = phases::delete(endpoint, &mut board, 50, count).await?;
    numbers.one(
        "the rest deleted",
        "deletes_per_s",
        per_second(count - 50, took),
    );
    let peak = controller.peak()?;
    numbers.one("peak memory of the controllers", "peak_mib", peak);
    numbers.at_most("peak memory of the controllers", peak, 40.0, "MiB");
    numbers.one(
        "processor seconds in all",
        "cpu_s",
        controller.processor_seconds()?,
    );
    Ok(())
}

/// Leaves everything alone for a while.
async fn rest(
    controller: &Controller,
    log: &mut Log,
    seconds: u64,
    numbers: &mut Numbers<'_>,
) -> Result<()> {
    requests::settle(log).await?;
    let busy = controller.processor_seconds()?;
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let asked = log.since()?;
    let busy = controller.processor_seconds()? - busy;
    let work = fraction(requests::work(&asked), 1);
    numbers.one(
        "requests at rest, watches and lease aside",
        "rest_requests",
        work,
    );
    numbers.at_most("requests at rest", work, 0.0, "");
    numbers.one("processor seconds at rest", "rest_cpu_s", busy);
    Ok(())
}
