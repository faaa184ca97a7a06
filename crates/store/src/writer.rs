//! The one thread that writes. It takes everything that is queued, makes one durable commit of
//! it, shows it to readers and watchers, and then answers.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use redb::Database;

use crate::{
    Event, Fault, Options, WriteError,
    age::Ages,
    backend::{self, Failures, Guarded},
    batch::Batch,
    engine::{self, Engine, Finish},
    group::{Group, Outcome, Request},
    hub::Hub,
    pace::Pace,
    snapshot::Snapshot,
};

/// How far history may grow past what is to be kept before it is cut. Cutting many rows at once
/// is much cheaper than a few with every commit.
const SLACK: u64 = 512;
/// How much history one commit drops at most, so that no commit takes long because of it.
const COMPACT_STEP: u64 = 4096;
/// After this long without work the data file is made quick to open, see [`Writer::settle`].
const SETTLE_AFTER: Duration = Duration::from_millis(100);

/// What a durable commit brought.
struct Done {
    outcomes: Vec<Outcome>,
    revision: u64,
    floor: u64,
    events: Vec<Arc<Event>>,
    finish: Finish,
}

struct Writer {
    /// `None` while the data file could not be opened again after a failure.
    db: Option<Database>,
    storage: Arc<Guarded>,
    hub: Arc<Hub>,
    options: Options,
    /// The newest durable revision.
    revision: u64,
    floor: u64,
    ages: Ages,
    /// The storage still holds back what opening wrote.
    staged: bool,
    /// After a failed sync nobody knows what is on disk, so nothing may be built on it.
    sync_failed: bool,
    /// The file would open quickly even after a crash.
    settled: bool,
}

/// Starts the writer thread and returns where it shows its work. It ends when it is told to close or all handles are gone.
pub(crate) fn spawn(
    engine: Engine,
    storage: Arc<Guarded>,
    requests: Receiver<Request>,
    options: Options,
) -> io::Result<Arc<Hub>> {
    let (revision, floor) = (engine.snapshot.revision, engine.snapshot.floor);
    let hub = Arc::new(Hub::new(engine.snapshot, &options));
    let ages = Ages::new(options.retain_for, Instant::now(), revision);
    let writer = Writer {
        db: Some(engine.db),
        storage,
        options,
        revision,
        floor,
        ages,
        staged: false,
        sync_failed: false,
        settled: !engine.repaired,
        hub: Arc::clone(&hub),
    };
    thread::Builder::new()
        .name("store-writer".into())
        .spawn(move || writer.run(requests))
        .map(|_| hub)
}

/// Ends all watches when the writer thread ends, even if it panics.
struct CloseOnDrop(Arc<Hub>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Writer {
    fn run(mut self, requests: Receiver<Request>) {
        let close = CloseOnDrop(Arc::clone(&self.hub));
        let mut told = None;
        let mut pace = Pace::default();
        while told.is_none()
            && let Some(first) = self.wait(&requests)
        {
            let mut group = pace.gather(first, &requests);
            told = group.close.take();
            let (size, start) = (group.len(), Instant::now());
            self.serve(group);
            pace = Pace::after(size, start.elapsed());
        }
        // Dropping what is still queued answers it with `Closed`.
        drop(requests);
        drop(close);
        drop(self.db.take());
        self.storage.close();
        if let Some(reply) = told {
            // Nobody waiting is fine.
            let _gone = reply.send(());
        }
    }

    /// Waits for the next request; `None` when all handles are gone.
    fn wait(&mut self, requests: &Receiver<Request>) -> Option<Request> {
        if !self.settled {
            match requests.recv_timeout(SETTLE_AFTER) {
                Ok(request) => return Some(request),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.settle(),
            }
        }
        requests.recv().ok()
    }

    /// Records in the file which of its pages are free. Without that record, opening after a
    /// crash walks the whole file; with it in every commit, each would need a second sync. So it
    /// is written when there is nothing else to do.
    fn settle(&mut self) {
        self.settled = true;
        if self.staged || self.sync_failed {
            return;
        }
        let Some(db) = &self.db else { return };
        let settled = engine::begin(db, Finish::QuickToOpen)
            .and_then(|transaction| transaction.commit().map_err(Fault::from));
        if let Err(error) = settled {
            let failures = self.storage.take_failures();
            tracing::warn!(%error, ?failures, "settling the data file failed; reopening it");
            self.sync_failed |= failures.sync;
            if let Err(error) = self.reopen() {
                tracing::error!(%error, "reopening the data file failed");
            }
        }
    }

    fn serve(&mut self, group: Group) {
        if group.is_empty() {
            return;
        }
        let mut result = self.commit_and_show(&group);
        let to = group.compact_to.map_or(0, |to| to.min(self.revision));
        while result.is_ok() && self.floor < to {
            if let Err(error) = self.commit_and_show(&Group::compaction(to)) {
                result = Err(error);
            }
        }
        group.answer(result);
    }

    fn commit_and_show(&mut self, group: &Group) -> Result<Vec<Outcome>, WriteError> {
        self.ready()?;
        let done = self.commit(group)?;
        if done.revision > self.revision || done.floor > self.floor {
            self.settled = done.finish == Finish::QuickToOpen;
            self.show(&done);
        }
        Ok(done.outcomes)
    }

    /// Brings the data file back to work after a failure, if that is possible now.
    fn ready(&mut self) -> Result<(), WriteError> {
        if self.db.is_none() {
            self.reopen().map_err(WriteError::Io)?;
        }
        if self.sync_failed {
            return Err(WriteError::Io(Fault::sync_failed()));
        }
        if self.staged {
            self.storage.release().map_err(|error| {
                if backend::is_full(&error) {
                    WriteError::Full
                } else {
                    WriteError::Io(error.into())
                }
            })?;
            self.staged = false;
        }
        Ok(())
    }

    fn commit(&mut self, group: &Group) -> Result<Done, WriteError> {
        let old = self.ages.advance(Instant::now(), self.revision);
        let attempt = engine::without_panic(|| self.try_commit(group, old))
            .unwrap_or_else(|fault| Err((fault, None)));
        let failures = self.storage.take_failures();
        attempt.or_else(|(fault, done)| self.after_failure(fault, done, failures))
    }

    /// One durable commit. If it fails at the very end, what it would have brought comes along.
    fn try_commit(&self, group: &Group, old: u64) -> Result<Done, (Fault, Option<Done>)> {
        let early = |fault: Fault| (fault, None);
        let db = self.db.as_ref().expect("the data file is open once ready");
        let finish = self.finish();
        let transaction = engine::begin(db, finish).map_err(early)?;
        let mut batch = Batch::open(&transaction, self.revision).map_err(early)?;
        let mut outcomes = Vec::new();
        for ops in group.transactions() {
            outcomes.push(batch.apply(ops).map_err(early)?);
        }
        let floor = self.next_floor(old, batch.revision(), group.compact_to);
        if floor > self.floor {
            batch.compact(floor).map_err(early)?;
        }
        let (revision, events) = batch.finish();
        let done = Done {
            outcomes,
            revision,
            floor,
            events,
            finish,
        };
        if revision == self.revision && floor == self.floor {
            transaction.abort().map_err(|error| early(error.into()))?;
            return Ok(done);
        }
        match transaction.commit() {
            Ok(()) => Ok(done),
            Err(error) => Err((error.into(), Some(done))),
        }
    }

    /// How to bring the next commit to disk.
    fn finish(&self) -> Finish {
        match self.storage.size() {
            Ok(size) if size <= self.options.one_sync_up_to_bytes => Finish::OneSync,
            _ => Finish::QuickToOpen,
        }
    }

    /// Up to where history goes with a commit that ends at `newest`; revisions up to `old` have been kept
    /// long enough.
    fn next_floor(&self, old: u64, newest: u64, asked: Option<u64>) -> u64 {
        let options = &self.options;
        let kept = newest
            .saturating_sub(options.retain_revisions)
            .min(old)
            .max(newest.saturating_sub(options.retain_at_most));
        let automatic = if kept > self.floor.saturating_add(SLACK) {
            kept
        } else {
            self.floor
        };
        let asked = asked.map_or(self.floor, |to| to.min(newest));
        automatic.max(asked).min(self.floor + COMPACT_STEP)
    }

    /// Shows a durable commit to everybody.
    fn show(&mut self, done: &Done) {
        self.revision = done.revision;
        self.floor = done.floor;
        let db = self
            .db
            .as_ref()
            .expect("the data file is open after a commit");
        match Snapshot::take(db) {
            Ok(snapshot) => self
                .hub
                .publish(Some(snapshot), done.revision, &done.events),
            Err(error) => {
                // The commit is durable, so watchers may have it; readers get a fresh look.
                tracing::error!(%error, "reading back a commit failed; reopening the data file");
                if let Err(error) = self.reopen() {
                    tracing::error!(%error, "reopening the data file failed");
                }
                self.hub.publish(None, done.revision, &done.events);
            }
        }
    }

    /// Opens the data file anew and finds out what the failed commit left behind.
    fn after_failure(
        &mut self,
        fault: Fault,
        done: Option<Done>,
        failures: Failures,
    ) -> Result<Done, WriteError> {
        if fault.is_row() && done.is_none() {
            // The transaction read a damaged row and was taken back; the engine is fine.
            return Err(WriteError::Io(fault));
        }
        tracing::error!(error = %fault, ?failures, "a commit failed; reopening the data file");
        self.sync_failed |= failures.sync;
        match (self.reopen(), done) {
            // The commit made it; what failed was work after it. Another sync must confirm that.
            (Ok(stored), Some(done))
                if stored == done.revision
                    && stored > self.revision
                    && !self.sync_failed
                    && self.storage.sync_storage().is_ok() =>
            {
                return Ok(done);
            }
            // Something of it is there, but nobody knows how firmly.
            (Ok(stored), _) if stored > self.revision => self.sync_failed = true,
            (Ok(_), _) => {}
            (Err(error), _) => tracing::error!(%error, "reopening the data file failed"),
        }
        Err(if failures.full {
            WriteError::Full
        } else {
            WriteError::Io(fault)
        })
    }

    /// Replaces the dead handle by a new one on the same storage, and gives readers a view of what
    /// they could see before. Returns the newest revision in the file.
    fn reopen(&mut self) -> Result<u64, Fault> {
        let hub = Arc::clone(&self.hub);
        let _readers_wait = hub.reopening();
        drop(self.db.take());
        let mut engine = engine::open_staged(&self.storage, &self.options)?;
        self.staged = true;
        self.settled = !engine.repaired;
        self.db = Some(engine.db);
        let stored = engine.snapshot.stored;
        engine.snapshot.show_up_to(self.revision);
        self.hub.replace_snapshot(engine.snapshot);
        Ok(stored)
    }
}
