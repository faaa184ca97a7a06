//! The garbage collector: dependents follow their owners.
//!
//! It keeps one index, from an owner's uid to the keys of objects that name it, and reads everything else
//! from the store when an event asks for it. The store may be ahead of the index: see [`Index::revision`].

mod act;
mod index;

use std::{collections::BTreeSet, mem, sync::Arc, time::Duration};

use bytes::Bytes;
use quadrille_machinery::status::Status;
use quadrille_store::{Change, Event};
use tokio::time::Instant;

use self::{
    act::{owners_of, visit},
    index::{Index, Skeleton, is_interesting, skeleton},
};
use super::steady;
use crate::server::Shared;

/// How many records are read at a time.
const CHUNK: usize = 500;
/// When what failed is looked at again.
const AGAIN: Duration = Duration::from_secs(10);

/// Collects until the server stops.
pub(crate) async fn run(shared: Arc<Shared>) {
    steady::keep_following(&shared, "garbage is collected", || follow(&shared)).await;
}

async fn follow(shared: &Arc<Shared>) -> Result<(), Status> {
    let at = shared.store.revision();
    let mut watch = shared.store.watch(b"", at).map_err(Status::internal)?;
    let mut collector = Collector::new(shared, Index::new(at));
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
            let owners = &skeleton.metadata.owner_references;
            collector.index.set(&record.key, owners);
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
        collector.visit(key).await;
    }
    loop {
        let again = collector.again;
        tokio::select! {
            event = steady::next(shared, &mut watch) => match event {
                Some(event) => collector.observe(&event).await,
                None => return Ok(()),
            },
            () = tokio::time::sleep_until(again.unwrap_or_else(Instant::now)), if again.is_some() => {
                collector.try_again().await;
            }
        }
    }
}

struct Collector<'s> {
    shared: &'s Arc<Shared>,
    index: Index,
    /// What was to be looked at in vain, and when to do so again.
    failed: BTreeSet<Bytes>,
    again: Option<Instant>,
}

impl<'s> Collector<'s> {
    fn new(shared: &'s Arc<Shared>, index: Index) -> Self {
        Self {
            shared,
            index,
            failed: BTreeSet::new(),
            again: None,
        }
    }

    async fn visit(&mut self, key: Bytes) {
        if let Err(status) = visit(self.shared, &self.index, &key).await {
            tracing::warn!(%status, key = %String::from_utf8_lossy(&key), "not collected yet");
            self.failed.insert(key);
            self.again.get_or_insert_with(|| Instant::now() + AGAIN);
        }
    }

    async fn try_again(&mut self) {
        self.again = None;
        for key in mem::take(&mut self.failed) {
            self.visit(key).await;
        }
    }

    async fn observe(&mut self, event: &Event) {
        self.index.revision = event.revision;
        if event.change == Change::Deleted {
            self.index.forget(&event.key);
            if let Ok(gone) = serde_json::from_slice::<Skeleton>(&event.value) {
                let dependents = self.index.of(&gone.metadata.uid);
                // An owner may have waited for this dependent to go.
                let owners = owners_of(self.shared, &gone.metadata);
                for key in dependents.into_iter().chain(owners) {
                    self.visit(key).await;
                }
            }
            return;
        }
        match skeleton(&event.value) {
            Some(skeleton) => {
                let owners = &skeleton.metadata.owner_references;
                self.index.set(&event.key, owners);
                if is_interesting(&skeleton) {
                    self.visit(event.key.clone()).await;
                }
            }
            None => self.index.forget(&event.key),
        }
    }
}

#[cfg(test)]
mod tests;
