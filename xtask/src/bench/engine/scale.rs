//! Ten thousand releases: memory, and what a restart costs.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::{
    super::{
        board::Board,
        controller::Controller,
        numbers::{Numbers, fraction, per_second},
        report::Report,
        requests::{self, Log},
        subject::Subject,
    },
    fixture, phases,
};

pub(super) async fn measure(subject: &Subject, count: usize, report: &mut Report) -> Result<()> {
    eprintln!("measuring {count} releases");
    let endpoint = &subject.endpoint;
    let mut connection = endpoint.connect().await?;
    for call in fixture::ground(fixture::NAMESPACE) {
        phases::send(&mut connection, call).await?;
    }
    let mut numbers = Numbers {
        server: "embedded",
        report,
    };
    let mut board = Board::open(endpoint, &fixture::releases(fixture::NAMESPACE)).await?;
    let controller = Controller::start(&subject.kubeconfig, fixture::NAMESPACE).await?;
    let took = phases::create(endpoint, &mut board, 0, count).await?;
    numbers.one(
        &format!("{count} new releases"),
        "scale_releases_per_s",
        per_second(count, took),
    );
    let peak = controller.peak()?;
    numbers.one(
        &format!("peak memory with {count} releases"),
        "scale_peak_mib",
        peak,
    );
    numbers.one(
        &format!("memory with {count} releases"),
        "scale_mib",
        controller.resident()?,
    );
    drop(controller);

    let mut log = Log::from_here(&subject.requests)?;
    let controller = Controller::start(&subject.kubeconfig, fixture::NAMESPACE).await?;
    let began = Instant::now();
    phases::send(
        &mut connection,
        fixture::change(&phases::name(count / 2), 2),
    )
    .await?;
    let changed = phases::name(count / 2);
    board
        .until("the change is applied", |board| {
            let state = board.state(&changed);
            state.is_some_and(|state| state.generation == 2 && state.is_applied)
        })
        .await?;
    let took = began.elapsed().as_secs_f64();
    numbers.one("restart to the first change applied, s", "restart_s", took);
    numbers.at_most("restart to the first change applied", took, 2.0, "s");
    // All lists must have been read before one can say that nothing followed.
    settle(&mut log, &controller, &mut numbers).await?;
    let peak = peak.max(controller.peak()?);
    numbers.at_most(&format!("memory with {count} releases"), peak, 150.0, "MiB");
    Ok(())
}

/// Waits until the controllers have read everything, and counts what they wrote after the restart.
async fn settle(log: &mut Log, controller: &Controller, numbers: &mut Numbers<'_>) -> Result<()> {
    let (mut asked, mut applied) = (0, 0);
    loop {
        let busy = controller.processor_seconds()?;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let since = log.since()?;
        asked += requests::work(&since);
        applied += requests::applies(&since);
        if controller.processor_seconds()? - busy < 0.05 {
            break;
        }
    }
    numbers.one(
        "requests after a restart and one change",
        "restart_requests",
        fraction(asked, 1),
    );
    // The user changed one object.
    let again = fraction(applied.saturating_sub(1), 1);
    numbers.at_most("objects applied again after a restart", again, 0.0, "");
    Ok(())
}
