//! What runs the pods of the cluster in this process: their controllers, a scheduler and a simulated node.

use kube::Client;
use tokio::task::JoinHandle;

/// A running node.
pub(crate) struct Node {
    task: JoinHandle<()>,
}

impl Node {
    /// Starts it on the API that this process serves.
    pub(crate) fn start(client: Client) -> Self {
        let options = quadrille_node::Options::default();
        Self {
            task: tokio::spawn(quadrille_node::run(client, options)),
        }
    }

    /// Stops it. Pods stay as they are, and are gone on with at the next start.
    pub(crate) async fn stop(self) {
        self.task.abort();
        // An error is the abort itself.
        let _ = self.task.await;
    }
}
