//! Our own API server in the test's process: nothing on disk, no port until a program needs one.

use std::{net::Ipv4Addr, path::PathBuf, sync::Arc};

use anyhow::Context;
use jiff::Timestamp;
use kube::Client;
use quadrille_apiserver::{
    Options, Server,
    auth::User,
    clock::Clock,
    serve::{self, Authority, Serving, kubeconfig},
};
use quadrille_store::{Options as StoreOptions, Store};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::OnceCell, task::JoinSet};

/// A server for one test. It ends when it is dropped: a test that makes a hundred of them has room for a few.
pub(crate) struct Embedded {
    server: Server,
    authority: Arc<Authority>,
    door: OnceCell<Door>,
    /// What runs its pods, if anything does; ends with this value.
    node: Option<JoinSet<()>>,
}

/// HTTPS in front of the server, for programs such as kubectl.
struct Door {
    _serving: Serving,
    folder: TempDir,
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.server.begin_stop();
    }
}

impl Embedded {
    /// Starts a server with our kinds, and others as a server stores them.
    pub(crate) async fn start(
        clock: Arc<dyn Clock>,
        others: &'static [String],
    ) -> anyhow::Result<Self> {
        let authority = Arc::new(Authority::ephemeral(Timestamp::now())?);
        let mut options = Options::new(Store::in_memory(StoreOptions::default())?)?;
        let ours = quadrille_types::DEFINITIONS.lines();
        let definitions = ours.chain(others.iter().map(String::as_str));
        options.definitions = Box::new(definitions.map(Into::into));
        options.service_account_key = authority.service_account_key();
        options.root_ca = authority.certificate().to_owned();
        options.clock = clock;
        let server = Server::start(options).await?;
        Ok(Self {
            server,
            authority,
            door: OnceCell::new(),
            node: None,
        })
    }

    /// Runs its pods from here on.
    pub(crate) fn run_pods(&mut self, options: quadrille_node::Options) {
        let pods = quadrille_node::run(self.client(), options);
        self.node.get_or_insert_default().spawn(pods);
    }

    /// A client as administrator, without a socket between.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.server.router_as(&User::admin()), "default")
    }

    /// Opens a door on loopback, once, and tells where the kubeconfig for it is.
    pub(crate) async fn kubeconfig(&self) -> anyhow::Result<PathBuf> {
        let door = self
            .door
            .get_or_try_init(async || self.open().await)
            .await?;
        Ok(kubeconfig_in(&door.folder))
    }

    async fn open(&self) -> anyhow::Result<Door> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .context("find a port")?;
        let options = serve::Options::of(&self.server, Arc::clone(&self.authority));
        let serving = serve::start(listener, self.server.router(), &options)?;
        self.server.set_address(&serving.address().to_string());
        let folder = tempfile::tempdir()?;
        let admin = self
            .authority
            .issue_client(&User::admin(), Timestamp::now())?;
        let text = kubeconfig::render(serving.address(), self.authority.certificate(), &admin);
        std::fs::write(kubeconfig_in(&folder), text).context("write a kubeconfig")?;
        Ok(Door {
            _serving: serving,
            folder,
        })
    }
}

fn kubeconfig_in(folder: &TempDir) -> PathBuf {
    folder.path().join("kubeconfig")
}
