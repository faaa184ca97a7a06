//! Being asked to stop: Ctrl-C, or a polite signal.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;

/// Waits for somebody to want an end.
pub(crate) struct Stop([Signal; 3]);

impl Stop {
    /// From now on signals come here instead of ending the process.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                Failure::new("the process cannot listen to signals").because(&error)
            })
        };
        Ok(Self([
            listen(SignalKind::interrupt())?,
            listen(SignalKind::terminate())?,
            listen(SignalKind::hangup())?,
        ]))
    }

    /// Comes back at every wish for an end.
    pub(crate) async fn asked(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
