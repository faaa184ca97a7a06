//! A door in front of a server that counts connections, and can cut them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// Passes bytes on. It ends with the test's runtime.
pub(crate) struct Forwarder {
    port: u16,
    accepted: Arc<AtomicUsize>,
    cut: watch::Sender<()>,
}

impl Forwarder {
    /// Opens a door in front of an address.
    pub(crate) async fn before(address: String) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let accepted = Arc::new(AtomicUsize::new(0));
        let cut = watch::Sender::new(());
        let (counted, cuts) = (Arc::clone(&accepted), cut.clone());
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let (address, mut cut) = (address.clone(), cuts.subscribe());
                tokio::spawn(async move {
                    if let Ok(mut far) = TcpStream::connect(address).await {
                        tokio::select! {
                            _ = copy_bidirectional(&mut near, &mut far) => {}
                            _ = cut.changed() => {}
                        }
                    }
                });
            }
        });
        Ok(Self {
            port,
            accepted,
            cut,
        })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// How many connections there were.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Cuts all connections that stand.
    pub(crate) fn cut(&self) {
        self.cut.send_replace(());
    }
}
