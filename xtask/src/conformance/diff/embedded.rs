//! The embedded server over HTTPS, as `quad up` serves it, with its store in memory.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result};
use jiff::Timestamp;
use quadrille_apiserver::{
    Options, Server,
    auth::User,
    serve::{self, Authority, Serving, kubeconfig},
};
use quadrille_store::Store;
use tokio::net::TcpListener;

/// A running embedded server.
pub(super) struct Embedded {
    server: Server,
    serving: Serving,
    authority: Arc<Authority>,
}

impl Embedded {
    /// Starts a server on a free port.
    pub(super) async fn start() -> Result<Self> {
        let authority = Arc::new(Authority::ephemeral(Timestamp::now())?);
        let store = Store::in_memory(quadrille_store::Options::default())?;
        let mut options = Options::new(store)?;
        options.service_account_key = authority.service_account_key();
        authority.certificate().clone_into(&mut options.root_ca);
        let server = Server::start(options)
            .await
            .context("start the embedded server")?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let options = serve::Options::of(&server, authority.clone());
        let serving = serve::start(listener, server.router(), &options)?;
        server.set_address(&serving.address().to_string());
        Ok(Self {
            server,
            serving,
            authority,
        })
    }

    /// A kubeconfig for `admin`, who is called the same on the real server.
    pub(super) fn kubeconfig(&self) -> Result<String> {
        let admin = User {
            name: "admin".to_owned(),
            ..User::admin()
        };
        let client = self.authority.issue_client(&admin, Timestamp::now())?;
        let authority = self.authority.certificate();
        Ok(kubeconfig::render(
            self.serving.address(),
            authority,
            &client,
        ))
    }

    /// Ends it.
    pub(super) async fn stop(self) {
        self.serving.stop(Duration::from_secs(1)).await;
        self.server.stop().await;
    }
}
