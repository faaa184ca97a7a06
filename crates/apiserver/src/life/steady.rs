//! Housekeeping that does not give up: what fails, for want of disk space maybe, is tried again after longer and longer
//! pauses, until the server stops.

use std::{future::Future, sync::Arc, time::Duration};

use quadrille_machinery::status::Status;
use quadrille_store::{Event, Watch, WatchEnd};

use crate::server::Shared;

/// The pause after the first failure; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Tries until it succeeds, or the server stops.
pub(super) async fn insist<F>(shared: &Shared, what: &str, mut attempt: impl FnMut() -> F)
where
    F: Future<Output = Result<(), Status>>,
{
    let mut pause = FIRST_PAUSE;
    while !shared.shutdown.is_cancelled() {
        let Err(status) = attempt().await else {
            return;
        };
        tracing::warn!(%status, "{what}: this failed, and is tried again");
        tokio::select! {
            () = shared.shutdown.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Follows what happens until the server stops; whenever that ends, it begins anew with the newest state.
pub(super) async fn keep_following<F>(shared: &Shared, what: &str, mut follow: impl FnMut() -> F)
where
    F: Future<Output = Result<(), Status>>,
{
    while !shared.shutdown.is_cancelled() {
        insist(shared, what, &mut follow).await;
    }
}

/// The next event; `None` when whoever follows has to begin anew, or the server stops.
pub(super) async fn next(shared: &Shared, watch: &mut Watch) -> Option<Arc<Event>> {
    let event = tokio::select! {
        () = shared.shutdown.cancelled() => return None,
        event = watch.next() => event,
    };
    if matches!(event, Err(WatchEnd::Closed)) {
        // Nothing comes any more, but the server has not been told yet.
        shared.shutdown.cancelled().await;
    }
    event.ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use quadrille_store::{Options as StoreOptions, Store};

    use super::*;
    use crate::{Options, Server};

    #[tokio::test]
    async fn what_fails_is_tried_until_it_succeeds() {
        let store = Store::in_memory(StoreOptions::default()).unwrap();
        let server = Server::start(Options::new(store).unwrap()).await.unwrap();
        let tried = AtomicUsize::new(0);
        insist(&server.shared, "a thing is done", async || {
            match tried.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => Err(Status::unavailable("the disk is full")),
                _ => Ok(()),
            }
        })
        .await;
        assert_eq!(tried.into_inner(), 3);
    }

    #[tokio::test]
    async fn who_stops_does_not_wait_for_what_fails() {
        let store = Store::in_memory(StoreOptions::default()).unwrap();
        let server = Server::start(Options::new(store).unwrap()).await.unwrap();
        let stopping = server.clone();
        insist(&server.shared, "a thing is done", async || {
            stopping.begin_stop();
            Err(Status::unavailable("the disk is full"))
        })
        .await;
    }
}
