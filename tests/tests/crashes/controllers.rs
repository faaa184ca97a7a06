//! Controllers on a wire of their own, which can be killed.

use std::time::Duration;

use quadrille_controllers::{Options, lease::Terms};
use quadrille_testkit::wire::Wire;
use tokio::task::JoinHandle;

use crate::platform::Platform;

/// Controllers that run, until they are dropped.
pub(crate) struct Controllers {
    /// What passes between them and the cluster.
    pub(crate) wire: Wire,
    running: JoinHandle<()>,
}

impl Drop for Controllers {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl Controllers {
    /// Starts controllers that are always the same: they need not wait for the lease of those before.
    pub(crate) fn start(platform: &Platform, wire: Wire) -> Self {
        Self::start_as(platform, wire, "test", Duration::from_secs(20))
    }

    /// Starts controllers with a name, which renew their lease that often.
    pub(crate) fn start_as(
        platform: &Platform,
        wire: Wire,
        identity: &str,
        renewal: Duration,
    ) -> Self {
        let client = wire.attach(platform.client(), platform.namespace());
        let options = Options {
            control: client.clone(),
            local: client,
            namespace: Some(platform.namespace().to_owned()),
            lease: Terms {
                duration: Duration::from_mins(1),
                renewal,
                ..Terms::new(platform.namespace(), identity)
            },
            planes: quadrille_controllers::Settings::default(),
            clock: std::sync::Arc::new(quadrille_controllers::SystemClock),
            // Each of its kinds would be a list and a watch more, and those are killed where they matter: in `system`.
            without: quadrille_controllers::Without {
                deployment_system: true,
            },
        };
        let running = tokio::spawn(async move { quadrille_controllers::run(&options).await });
        Self { wire, running }
    }

    /// Whether they have given up by themselves.
    pub(crate) fn have_ended(&self) -> bool {
        self.running.is_finished()
    }

    /// Ends them as a crash does, whatever they were doing, and waits until nothing of them runs.
    pub(crate) async fn kill(mut self) {
        self.running.abort();
        let _ = (&mut self.running).await;
    }
}
