//! The suite `gateway`: what is rendered for Endpoints and APIs, translated by Envoy Gateway's own translator and served by
//! a real Envoy in front of a backend that answers with what it got.
//!
//! ```text
//!   case documents ─► our renderer ─► objects ─► egctl ─► dump ─► static configuration ─► Envoy on loopback
//!                                                     requests of the cases ─► Envoy ─► backend
//! ```
//! A case is a file of `tests/conformance/gateway`: its requests first, then documents over those of `base.yaml`. All
//! cases share one Envoy; each has components of its own.

mod backend;
mod case;
mod client;
mod envoy;
mod tokens;
mod world;
mod xds;

use std::path::PathBuf;

use anyhow::{Context, ensure};

use self::{backend::Backends, case::Case, client::Client, envoy::Envoy, tokens::Issuer};
use super::{
    expectations::Expectations,
    scoreboard::{self, Outcome},
};
use crate::{assets, workspace};

/// Options of `cargo xtask conformance gateway`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Only requests whose name contains this; prints no score.
    #[arg(value_name = "FILTER")]
    filter: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let egctl = assets::egctl()?;
    let envoy = assets::envoy()?;
    let runtime = tokio::runtime::Runtime::new()?;
    let outcomes = runtime.block_on(ask_all(&egctl, &envoy, arguments.filter.as_deref()))?;
    if arguments.filter.is_some() {
        for outcome in &outcomes {
            let mark = if outcome.passed { "ok    " } else { "FAILED" };
            println!("{mark} {}\n{}", outcome.test, outcome.detail);
        }
        return Ok(());
    }
    let path = workspace::root().join("tests/conformance/gateway.yaml");
    scoreboard::finish("gateway", &outcomes, &Expectations::read(&path)?)
}

async fn ask_all(
    egctl: &std::path::Path,
    envoy: &std::path::Path,
    filter: Option<&str>,
) -> anyhow::Result<Vec<Outcome>> {
    let issuer = Issuer::new()?;
    let backends = Backends::start(issuer.key_set()).await?;
    let folder = workspace::root().join("tests/conformance/gateway");
    let cases = Case::read_all(&folder, &backends.key_set_url())?;
    let rendered = world::rendered(&cases)?;
    let dump = world::translated(egctl, &rendered)?;
    let served = xds::configuration(&dump, &backends)?;
    let results: PathBuf = workspace::results("conformance")?.join("gateway");
    let envoy = Envoy::start(envoy, &served, &results).await?;
    let client = Client::new(&served, &issuer);
    let mut outcomes = Vec::new();
    for case in &cases.each {
        for request in &case.requests {
            let name = format!("{}: {}", case.name, request.name);
            if filter.is_some_and(|filter| !name.contains(filter)) {
                continue;
            }
            let host = rendered.host(request, case).with_context(|| name.clone())?;
            let outcome = match client.ask(request, &host).await {
                Ok(()) => Outcome::passed(name),
                Err(error) => Outcome::failed(name, format!("{error:#}")),
            };
            outcomes.push(outcome);
        }
    }
    ensure!(
        envoy.is_running()?,
        "Envoy has ended; see {}",
        results.display()
    );
    Ok(outcomes)
}
