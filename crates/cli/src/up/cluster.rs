//! The cluster in this process: store, API server, HTTPS in front.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use jiff::Timestamp;
use quadrille_apiserver::{
    Definitions, Options as ServerOptions, Server,
    auth::User,
    serve::{self, Authority, AuthorityError, Metrics, RequestLog, Serving, kubeconfig},
};
use quadrille_node::third_party;
use quadrille_store::{OpenError, Options as StoreOptions, Store};
use tokio::net::TcpListener;

use crate::{
    data_folder::{DataFolder, command_on, pasted},
    failure::Failure,
};

/// A running cluster.
pub(crate) struct Cluster {
    store: Store,
    server: Server,
    serving: Serving,
    authority: Arc<Authority>,
    kinds: usize,
}

impl Cluster {
    /// Opens the data and serves it.
    pub(crate) async fn start(
        folder: &DataFolder,
        listener: TcpListener,
        logs: Vec<Arc<dyn RequestLog>>,
    ) -> Result<Self, Failure> {
        let authority = Arc::new(open_authority(folder)?);
        let store = open_store(folder).await?;

        let not_started = |error: &(dyn std::error::Error + 'static)| {
            Failure::new("the API does not start").because(error)
        };
        let mut options = ServerOptions::new(store.clone()).map_err(|error| not_started(&error))?;
        options.definitions = definitions();
        options.objects = quadrille_controllers::permissions::people::objects();
        options
            .objects
            .extend(quadrille_controllers::permissions::policies::objects());
        options.service_account_key = authority.service_account_key();
        options.root_ca = authority.certificate().to_owned();
        let server = Server::start(options)
            .await
            .map_err(|error| not_started(&error))?;

        let metrics = Arc::new(Metrics::default());
        let counted = store.clone();
        metrics.gauge(
            "quadrille_store_revision",
            "The newest revision of the store.",
            // Exact up to 2^53, far beyond any revision.
            #[allow(clippy::cast_precision_loss)]
            move || counted.revision().0 as f64,
        );
        let options = serve::Options {
            logs,
            metrics,
            addresses: vec![SERVICE_ADDRESS.into()],
            ..serve::Options::of(&server, authority.clone())
        };
        let serving = serve::start(listener, server.router(), &options)
            .map_err(|error| Failure::new("the API cannot be served").because(&error))?;
        Ok(Self {
            store,
            server,
            serving,
            authority,
            kinds: quadrille_types::DEFINITIONS.lines().count(),
        })
    }

    /// A client as administrator, without a socket between.
    pub(crate) fn client(&self) -> kube::Client {
        kube::Client::new(self.server.router_as(&User::admin()), "default")
    }

    /// Where the API is.
    pub(crate) fn address(&self) -> SocketAddr {
        self.serving.address()
    }

    /// How many kinds of ours are installed.
    pub(crate) fn kinds(&self) -> usize {
        self.kinds
    }

    /// A kubeconfig for the administrator.
    pub(crate) fn kubeconfig(&self) -> Result<String, Failure> {
        let admin = self
            .authority
            .issue_client(&User::admin(), Timestamp::now())
            .map_err(|error| Failure::new("no client certificate can be made").because(&error))?;
        Ok(kubeconfig::render(
            self.address(),
            self.authority.certificate(),
            &admin,
        ))
    }

    /// Ends requests, then the server behind them, then the store.
    pub(crate) async fn stop(self, grace: Duration) {
        if !self.serving.stop(grace).await {
            tracing::warn!(target: "quad", "some requests did not end within {} s and were cut", grace.as_secs());
        }
        self.server.stop().await;
        self.store.close().await;
    }
}

/// The kinds of the platform, and those of others that releases are made of.
pub(super) fn definitions() -> Definitions {
    let ours = quadrille_types::DEFINITIONS.lines().map(Into::into);
    Box::new(ours.chain(third_party::definitions().map(Into::into)))
}

/// The address of the `kubernetes` Service: the first one of the range.
const SERVICE_ADDRESS: std::net::Ipv4Addr = std::net::Ipv4Addr::new(10, 96, 0, 1);

fn open_authority(folder: &DataFolder) -> Result<Authority, Failure> {
    let now = Timestamp::now();
    let opened = if folder.is_temporary() {
        Authority::ephemeral(now)
    } else {
        Authority::open(&folder.keys(), now)
    };
    opened.map_err(|error| {
        let damaged = matches!(error, AuthorityError::Damaged { .. });
        let failure = Failure::new("the keys of the API cannot be used").because(&error);
        let keys = pasted(&folder.keys());
        if damaged {
            failure.next(format!(
                "Let new ones be made (kubeconfigs and tokens of before stop working): mv {keys} {keys}.damaged"
            ))
        } else {
            failure.next(format!("Look at the folder: ls -l {keys}"))
        }
    })
}

async fn open_store(folder: &DataFolder) -> Result<Store, Failure> {
    let path = folder.store();
    let opened = if folder.is_temporary() {
        Store::in_memory(StoreOptions::default())
    } else {
        let path = path.clone();
        // Checking the file after a crash takes its time.
        let opened =
            tokio::task::spawn_blocking(move || Store::open(&path, StoreOptions::default())).await;
        opened.map_err(|error| Failure::new("opening the data failed").because(&error))?
    };
    opened.map_err(|error| {
        let failure = Failure::new("the data cannot be opened").because(&error);
        let file = pasted(&path);
        match error {
            OpenError::Damaged { .. } => failure.next(format!(
                "Put a copy back, or keep it and start anew: mv {file} {file}.damaged && {}",
                command_on(folder.path(), "up")
            )),
            OpenError::InUse { .. } => failure.next(format!("See who has it: fuser -v {file}")),
            OpenError::NotWritable { .. } => {
                failure.next("Choose a folder that you may write to: quad up --data-dir FOLDER")
            }
            OpenError::Io { .. } => {
                failure.next(format!("Look at file and disk: ls -l {file}; df -h {file}"))
            }
        }
    })
}
