//! A door in front of a server that counts connections, and can cut or silence them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// What happens to connections that stand.
#[derive(Clone, Copy)]
enum Order {
    None,
    Cut,
    Silence,
}

/// Passes bytes on. It ends with the test's runtime.
pub(crate) struct Forwarder {
    port: u16,
    accepted: Arc<AtomicUsize>,
    order: watch::Sender<Order>,
}

impl Forwarder {
    /// Opens a door in front of an address.
    pub(crate) async fn before(address: String) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let accepted = Arc::new(AtomicUsize::new(0));
        let order = watch::Sender::new(Order::None);
        let (counted, orders) = (Arc::clone(&accepted), order.clone());
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(pass(near, address.clone(), orders.subscribe()));
            }
        });
        Ok(Self {
            port,
            accepted,
            order,
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
        self.order.send_replace(Order::Cut);
    }

    /// Lets nothing through any more on connections that stand, and tells nobody.
    pub(crate) fn silence(&self) {
        self.order.send_replace(Order::Silence);
    }
}

async fn pass(mut near: TcpStream, address: String, mut orders: watch::Receiver<Order>) {
    let Ok(mut far) = TcpStream::connect(address).await else {
        return;
    };
    let is_ordered = tokio::select! {
        _ = copy_bidirectional(&mut near, &mut far) => false,
        changed = orders.changed() => changed.is_ok(),
    };
    if is_ordered && matches!(*orders.borrow(), Order::Silence) {
        std::future::pending::<()>().await;
    }
}
