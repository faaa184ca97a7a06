//! What runs the pods of the cluster in this process: their controllers, a scheduler and a simulated node; beside it
//! what looks after gateways, and stand-ins for operators.

use std::sync::Arc;

use kube::Client;
use quadrille_node::{Options, SystemClock, gateway, operators};
use tokio::task::JoinHandle;

/// A running node.
pub(crate) struct Node {
    task: JoinHandle<()>,
}

impl Node {
    /// Starts it on the API that this process serves.
    pub(crate) fn start(client: Client) -> Self {
        let gateways = gateway::run(client.clone(), Arc::new(SystemClock));
        let operators = operators::run(client.clone(), Arc::new(SystemClock));
        let pods = quadrille_node::run(client, Options::default());
        Self {
            task: tokio::spawn(async move {
                tokio::join!(pods, gateways, operators);
            }),
        }
    }

    /// Stops it. Pods stay as they are, and are gone on with at the next start.
    pub(crate) async fn stop(self) {
        self.task.abort();
        // An error is the abort itself.
        let _ = self.task.await;
    }
}
