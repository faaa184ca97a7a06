//! `cargo xtask conformance SUITE`: runs a suite and holds its result against the committed expectations.
//! Every suite ends with one line `SUITE: PASSED/TOTAL`; `scoreboard` is what they share.

mod cel;
mod diff;
mod expectations;
mod gateway;
mod kube_rs;
mod kubectl;
mod kubernetes;
mod oracle;
mod scoreboard;
mod scripts;
mod target;

/// Options of `cargo xtask conformance`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    suite: Suite,
}

/// One suite each, in a file of its own.
#[derive(clap::Subcommand)]
enum Suite {
    /// The expression language's own conformance vectors.
    Cel(cel::Arguments),
    /// Request scripts against a real kube-apiserver and the embedded one: any difference fails.
    Diff(diff::Arguments),
    /// What is rendered for gateways, translated by Envoy Gateway and served by a real Envoy.
    Gateway(gateway::Arguments),
    /// kube-rs's own cluster tests, out of its published crates, unmodified.
    KubeRs(kube_rs::Arguments),
    /// What people type, on a real kube-apiserver and on the embedded one: any difference fails.
    Kubectl(diff::Arguments),
    /// Kubernetes' own conformance tests of the API machinery, the program unmodified.
    Kubernetes(kubernetes::Arguments),
    /// Random questions to the libraries that Kubernetes is made of, and to ours.
    Oracle(oracle::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.suite {
        Suite::Cel(arguments) => cel::run(arguments),
        Suite::Diff(arguments) => diff::run(arguments),
        Suite::Gateway(arguments) => gateway::run(arguments),
        Suite::KubeRs(arguments) => kube_rs::run(arguments),
        Suite::Kubectl(arguments) => kubectl::run(arguments),
        Suite::Kubernetes(arguments) => kubernetes::run(arguments),
        Suite::Oracle(arguments) => oracle::run(arguments),
    }
}

/// Builds what the suite `kube-rs` runs, so that it need not do so while tests are timed.
pub(crate) fn build_kube_rs() -> anyhow::Result<()> {
    kube_rs::build().map(drop)
}
