//! `quad up`: starts everything in this process, says where it is, and stops it in order.

mod announce;
mod cluster;
pub(crate) mod console;
mod controllers;
mod defaults;
mod equipment;
mod first_look;
mod node;
mod sample;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use quadrille_apiserver::serve::{JsonLines, RequestLog};
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::TcpListener;

use self::{
    cluster::Cluster, controllers::Controllers, first_look::FirstLook, node::Node, sample::Sample,
};
use crate::{
    arguments::{Output, TEMPLATE},
    data_folder::{DataFolder, command_on, pasted, shown},
    failure::Failure,
    families::{self, Family},
    instance::{Facts, Lock, Refused},
    kubeconfig::Place,
    signals,
};

/// Start the platform here; Ctrl-C stops it, your data stays.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad up --sample greeter        start, with a component that runs from the first minute on\n  quad up --ephemeral --port 0    start on a free port and keep nothing",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// Where to keep data [default: quadrille/default in the state folder].
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// The port of the API on 127.0.0.1; 0 takes any free one.
    #[arg(long, default_value_t = 6440)]
    port: u16,
    /// Keep nothing: data lives in memory and is gone in the end.
    #[arg(long, conflicts_with = "data_dir")]
    ephemeral: bool,
    /// Make something that runs at once, unless it is there already.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["no_controllers", "no_node"])]
    sample: Option<Sample>,
    /// Only serve the API; run `quad-controller` yourself.
    #[arg(long)]
    no_controllers: bool,
    /// Leave a family of kinds alone.
    #[arg(long, value_name = "FAMILY", conflicts_with = "no_controllers")]
    without: Vec<Family>,
    /// Run no pods: no controllers of workloads, no scheduler, no simulated node.
    #[arg(long)]
    no_node: bool,
    /// Write the kubeconfig to this file too.
    #[arg(long, value_name = "FILE")]
    kubeconfig_out: Option<PathBuf>,
    /// Append a JSON line per request to this file.
    #[arg(long, value_name = "FILE")]
    request_log: Option<PathBuf>,
    /// Show every request, not only those that fail; twice: also what goes on inside.
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
    /// For scripts: `json` writes one line to standard output when ready.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// How long requests that are under way may take when everything stops.
const GRACE: Duration = Duration::from_secs(10);

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    console::start(arguments.verbose);
    raise_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new("the process cannot start its threads").because(&error))?;
    runtime.block_on(up(arguments))
}

/// A connection takes a file descriptor, and shells hand down few of them.
fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "the limit on open files stays as it is");
    }
}

async fn up(arguments: &Arguments) -> Result<(), Failure> {
    let started = Instant::now();
    // Everything that can be refused is asked before anything is written.
    let extra_kubeconfig = arguments.kubeconfig_out.as_deref().map(Place::check);
    let extra_kubeconfig = extra_kubeconfig.transpose()?;
    let logs = request_logs(arguments)?;
    let folder = if arguments.ephemeral {
        DataFolder::temporary()?
    } else {
        DataFolder::open(arguments.data_dir.as_deref())?
    };
    let mut lock = lock(&folder)?;
    let listener = listen(arguments.port).await?;
    let mut stop = signals::Stop::listen()?;

    let cluster = tokio::select! {
        cluster = announce::patiently(Cluster::start(&folder, listener, logs)) => cluster?,
        () = stop.asked() => return Ok(()),
    };
    if !arguments.no_controllers
        && let Err(failure) = defaults::make(&cluster.client()).await
    {
        // A policy may be against it. That is no reason not to start.
        tracing::warn!(target: "quad", "{failure}");
    }
    let controllers = (!arguments.no_controllers)
        .then(|| Controllers::start(cluster.client(), families::without(&arguments.without)));
    let node = (!arguments.no_node).then(|| Node::start(cluster.client()));
    let kubeconfig = Place::own(folder.kubeconfig());
    let text = cluster.kubeconfig()?;
    kubeconfig.write(&text)?;
    if let Some(place) = &extra_kubeconfig {
        place.write(&text)?;
    }
    let url = format!("https://{}", cluster.address());
    let facts = Facts {
        pid: i32::try_from(std::process::id()).unwrap_or_default(),
        url: url.clone(),
    };
    lock.tell(&facts).map_err(|error| {
        Failure::new(format!("{} cannot be written", folder.path().display())).because(&error)
    })?;

    let ready = announce::Ready {
        url: &url,
        folder: &folder,
        kubeconfig: extra_kubeconfig.as_ref().unwrap_or(&kubeconfig).path(),
        took: started.elapsed(),
        kinds: cluster.kinds(),
        has_controllers: controllers.is_some(),
        has_node: node.is_some(),
    };
    let client = cluster.client();
    let greeting = async {
        ready.begin(arguments.output)?;
        // Scripts don't wait for what only people look at.
        let is_looked_at = controllers.is_some() && arguments.output == Output::Text;
        let (seen, ()) = tokio::join!(
            FirstLook::of(&client, is_looked_at),
            equip(&client, controllers.is_some(), &arguments.without)
        );
        let outcomes = match arguments.sample {
            Some(sample) => sample::run(client.clone(), &url, sample).await?,
            None => Vec::new(),
        };
        ready.finish(arguments.output, &seen, &outcomes)?;
        std::future::pending::<Result<(), Failure>>().await
    };
    tokio::select! {
        failed = greeting => failed?,
        () = stop.asked() => {}
    }
    announce::stopping();
    let stopped = async {
        if let Some(node) = node {
            node.stop().await;
        }
        if let Some(controllers) = controllers {
            controllers.stop().await;
        }
        cluster.stop(GRACE).await;
    };
    tokio::select! {
        () = stopped => announce::stopped(&folder),
        () = stop.asked() => announce::cut(),
    }
    Ok(())
}

/// Brings what a platform is equipped with. That it cannot be brought is no reason not to start.
async fn equip(client: &kube::Client, has_controllers: bool, without: &[Family]) {
    if !has_controllers {
        return;
    }
    match equipment::bring(client, families::without(without)).await {
        Ok(left) if left.is_empty() => {}
        Ok(left) => tracing::warn!(
            target: "quad",
            "left as somebody changed them, although this version brings others: {}",
            left.join(", ")
        ),
        Err(failure) => tracing::warn!(target: "quad", "{failure}"),
    }
}

fn request_logs(arguments: &Arguments) -> Result<Vec<Arc<dyn RequestLog>>, Failure> {
    let mut logs: Vec<Arc<dyn RequestLog>> =
        vec![Arc::new(console::Requests::new(arguments.verbose > 0))];
    if let Some(path) = &arguments.request_log {
        let file = JsonLines::append(path).map_err(|error| {
            Failure::new(format!(
                "the request log {} cannot be written",
                path.display()
            ))
            .because(&error)
            .next("Choose a file in a folder that you may write to: --request-log FILE")
        })?;
        logs.push(Arc::new(file));
    }
    Ok(logs)
}

fn lock(folder: &DataFolder) -> Result<Lock, Failure> {
    let shown_folder = shown(folder.path());
    Lock::take(folder.path()).map_err(|refused| match refused {
        Refused::Running(facts) => {
            let who = facts.map_or_else(
                || "another process".to_owned(),
                |facts| match facts.url.as_str() {
                    "" => format!("process {}", facts.pid),
                    url => format!("process {} at {url}", facts.pid),
                },
            );
            Failure::new(format!("{shown_folder} is in use by {who}"))
                .next(format!(
                    "Use it: export KUBECONFIG={}",
                    pasted(&folder.kubeconfig())
                ))
                .next(format!("stop it: {}", command_on(folder.path(), "down")))
                .next("or start another one: quad up --ephemeral --port 0")
        }
        Refused::Io(path, error) => Failure::new(format!("{} cannot be written", path.display()))
            .because(&error)
            .next("Choose a folder that you may write to: quad up --data-dir FOLDER"),
    })
}

async fn listen(port: u16) -> Result<TcpListener, Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).await.map_err(|error| {
        if error.kind() == io::ErrorKind::AddrInUse {
            Failure::new(format!("port {port} is in use by another program"))
                .next(format!("See which one: ss -ltnp 'sport = :{port}'"))
                .next("or take any free port: quad up --port 0")
        } else {
            Failure::new(format!("cannot listen on {address}"))
                .because(&error)
                .next("Take any free port: quad up --port 0")
        }
    })
}
