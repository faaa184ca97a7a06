//! `quad-controller`: the controllers alone, against any Kubernetes cluster.

use std::path::PathBuf;

use clap::Parser;
use kube::{
    Client,
    config::{KubeConfigOptions, Kubeconfig},
};
use quadrille_controllers::{Options, lease::Terms};

use crate::{
    failure::Failure,
    families::{self, Family},
    signals,
    up::console,
};

/// Quadrille's controllers: make planes match the Releases of a Kubernetes cluster.
#[derive(Debug, Parser)]
#[command(
    name = "quad-controller",
    version,
    before_help = "Examples:\n  quad-controller --kubeconfig ~/.kube/config    run against the cluster of a kubeconfig\n  quad-controller                                run in a pod, against the cluster around it",
    help_template = crate::arguments::TEMPLATE
)]
pub(crate) struct Arguments {
    /// The control plane's cluster [default: the cluster around the pod, or KUBECONFIG].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig to use.
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// Look after this namespace only.
    #[arg(long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// The namespace of the lease by which one of several controllers leads.
    #[arg(long, value_name = "NAMESPACE", default_value = "kube-system")]
    lease_namespace: String,
    /// Who this is, among several controllers [default: host name and process].
    #[arg(long, value_name = "NAME")]
    identity: Option<String>,
    /// Leave a family of kinds alone.
    #[arg(long, value_name = "FAMILY")]
    without: Vec<Family>,
    /// Show what goes on inside; twice: everything.
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    console::start(arguments.verbose);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new("the process cannot start its threads").because(&error))?;
    runtime.block_on(lead(arguments))
}

async fn lead(arguments: &Arguments) -> Result<(), Failure> {
    let mut stop = signals::Stop::listen()?;
    let client = connect(arguments).await?;
    let identity = arguments.identity.clone().unwrap_or_else(identity);
    let options = Options {
        control: client.clone(),
        local: client,
        namespace: arguments.namespace.clone(),
        lease: Terms::new(&arguments.lease_namespace, &identity),
        planes: quadrille_controllers::Settings::default(),
        clock: std::sync::Arc::new(quadrille_controllers::SystemClock),
        without: families::without(&arguments.without),
    };
    tracing::info!(target: "quad", "controllers of {identity} start");
    let working = async {
        loop {
            quadrille_controllers::run(&options).await;
        }
    };
    tokio::select! {
        () = working => {}
        () = stop.asked() => {}
    }
    quadrille_controllers::stop(&options).await;
    tracing::info!(target: "quad", "stopped");
    Ok(())
}

async fn connect(arguments: &Arguments) -> Result<Client, Failure> {
    let options = KubeConfigOptions {
        context: arguments.context.clone(),
        ..KubeConfigOptions::default()
    };
    let config = match &arguments.kubeconfig {
        Some(path) => {
            let unreadable = |error: &(dyn std::error::Error + 'static)| {
                Failure::new(format!("the kubeconfig {} cannot be used", path.display()))
                    .because(error)
                    .next("Name another one: quad-controller --kubeconfig FILE")
            };
            let read = Kubeconfig::read_from(path).map_err(|error| unreadable(&error))?;
            kube::Config::from_custom_kubeconfig(read, &options)
                .await
                .map_err(|error| unreadable(&error))?
        }
        None if arguments.context.is_some() => kube::Config::from_kubeconfig(&options)
            .await
            .map_err(|error| Failure::new("there is no such context").because(&error))?,
        None => kube::Config::infer().await.map_err(|error| {
            Failure::new("no cluster was found")
                .because(&error)
                .next("Name one: quad-controller --kubeconfig FILE")
        })?,
    };
    quadrille_planes::connect::over(&config)
        .map_err(|error| Failure::new("the cluster's credentials cannot be used").because(&error))
}

fn identity() -> String {
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    format!("{host}-{}", std::process::id())
}
