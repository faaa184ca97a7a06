//! The garbage collector: dependents follow their owners.
//!
//! It keeps one index, from an owner's uid to the keys of objects that name it, and reads everything else
//! from the store when an event asks for it. The store may be ahead of the index: see [`Index::revision`].

mod act;
mod index;

use std::sync::Arc;

use bytes::Bytes;
use quadrille_machinery::status::Status;
use quadrille_store::{Change, Event, WatchEnd};

use self::{
    act::{release_owner, visit},
    index::{Index, Skeleton, is_interesting, skeleton},
};
use crate::server::Shared;

/// How many records are read at a time.
const CHUNK: usize = 500;

/// Collects until the server stops.
pub(crate) async fn run(shared: Arc<Shared>) {
    while !shared.shutdown.is_cancelled() {
        if let Err(status) = follow(&shared).await {
            tracing::error!(%status, "garbage collection failed");
            return;
        }
    }
}

async fn follow(shared: &Arc<Shared>) -> Result<(), Status> {
    let at = shared.store.revision();
    let mut watch = shared.store.watch(b"", at).map_err(Status::internal)?;
    let mut index = Index::new(at);
    let mut first = Vec::new();
    let mut after: Option<Bytes> = None;
    loop {
        let page = shared
            .store
            .list(b"", after.as_deref(), CHUNK, Some(at))
            .map_err(Status::internal)?;
        for record in &page.records {
            let Some(skeleton) = skeleton(&record.value) else {
                continue;
            };
            index.set(&record.key, &skeleton.metadata.owner_references);
            if is_interesting(&skeleton) {
                first.push(record.key.clone());
            }
        }
        match page.records.last() {
            Some(last) if page.more => after = Some(last.key.clone()),
            _ => break,
        }
        tokio::task::yield_now().await;
    }
    for key in first {
        report(visit(shared, &index, &key).await, &key);
    }
    loop {
        let event = tokio::select! {
            () = shared.shutdown.cancelled() => return Ok(()),
            event = watch.next() => event,
        };
        match event {
            Ok(event) => observe(shared, &mut index, &event).await,
            Err(WatchEnd::Closed) => {
                shared.shutdown.cancelled().await;
                return Ok(());
            }
            // Start over from the newest state.
            Err(_) => return Ok(()),
        }
    }
}

fn report(result: Result<(), Status>, key: &Bytes) {
    if let Err(status) = result {
        tracing::warn!(%status, key = %String::from_utf8_lossy(key), "not collected");
    }
}

async fn observe(shared: &Arc<Shared>, index: &mut Index, event: &Arc<Event>) {
    index.revision = event.revision;
    if event.change == Change::Deleted {
        let owners = index.owners.get(&event.key).cloned().unwrap_or_default();
        index.forget(&event.key);
        if let Ok(gone) = serde_json::from_slice::<Skeleton>(&event.value) {
            for key in index.of(&gone.metadata.uid) {
                report(visit(shared, index, &key).await, &key);
            }
        }
        // An owner may have waited for this dependent to go.
        for uid in owners {
            if let Err(status) = release_owner(shared, index, &uid, &event.value).await {
                report(Err(status), &event.key);
            }
        }
        return;
    }
    match skeleton(&event.value) {
        Some(skeleton) => {
            index.set(&event.key, &skeleton.metadata.owner_references);
            if is_interesting(&skeleton) {
                report(visit(shared, index, &event.key).await, &event.key);
            }
        }
        None => index.forget(&event.key),
    }
}

#[cfg(test)]
mod tests;
