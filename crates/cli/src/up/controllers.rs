//! The controllers in this process, on the API that it serves.

use std::sync::Arc;

use kube::Client;
use quadrille_controllers::{Options, Without, lease::Terms};
use tokio::task::JoinHandle;

/// Running controllers.
pub(crate) struct Controllers {
    options: Arc<Options>,
    task: JoinHandle<()>,
}

impl Controllers {
    /// Starts them. Whoever else leads, such as a `quad-controller`, is waited for.
    pub(crate) fn start(client: Client, without: Without) -> Self {
        let options = Arc::new(Options {
            control: client.clone(),
            local: client,
            namespace: None,
            // Only one process at a time can have the data, so its lease is ours, also after a crash.
            lease: Terms::new("kube-system", "quad-up"),
            planes: quadrille_controllers::Settings::default(),
            clock: std::sync::Arc::new(quadrille_controllers::SystemClock),
            without,
        });
        let running = Arc::clone(&options);
        let task = tokio::spawn(async move {
            loop {
                quadrille_controllers::run(&running).await;
            }
        });
        Self { options, task }
    }

    /// Stops them and gives the lead to whoever comes next.
    pub(crate) async fn stop(self) {
        self.task.abort();
        // An error is the abort itself.
        let _ = self.task.await;
        quadrille_controllers::stop(&self.options).await;
    }
}
