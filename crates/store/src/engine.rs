//! Opens redb on a guarded storage and prepares the tables.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use crate::{
    Fault, Options,
    backend::{Guarded, Handle},
    snapshot::Snapshot,
};

pub(crate) const CURRENT: TableDefinition<&[u8], &[u8]> = TableDefinition::new("current");
pub(crate) const LOG: TableDefinition<u64, &[u8]> = TableDefinition::new("log");
pub(crate) const META: TableDefinition<&str, u64> = TableDefinition::new("meta");

/// Row of `meta`: the layout of the tables.
const FORMAT: &str = "format";
/// Row of `meta`: everything up to here is compacted.
pub(crate) const FLOOR: &str = "floor";
const FORMAT_NUMBER: u64 = 1;

/// An open database and what it shows right now.
pub(crate) struct Engine {
    pub(crate) db: Database,
    pub(crate) snapshot: Snapshot,
    /// The file had to be walked through, because it was not settled before a crash.
    pub(crate) repaired: bool,
}

/// Opens the database without changing the storage: what must be written is held back in
/// `storage` until it is released.
pub(crate) fn open_staged(storage: &Arc<Guarded>, options: &Options) -> Result<Engine, Fault> {
    storage.stage()?;
    without_panic(|| open(storage, options))?
}

/// Runs work on the database; on some damaged files redb panics instead of returning an error.
pub(crate) fn without_panic<T>(work: impl FnOnce() -> T) -> Result<T, Fault> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| Fault::panicked())
}

fn open(storage: &Arc<Guarded>, options: &Options) -> Result<Engine, Fault> {
    let repaired = Arc::new(AtomicBool::new(false));
    let note = Arc::clone(&repaired);
    let db = redb::Builder::new()
        .set_cache_size(options.cache_bytes)
        .set_repair_callback(move |_| note.store(true, Ordering::Relaxed))
        .create_with_backend(Handle(Arc::clone(storage)))?;
    if db.begin_read()?.list_tables()?.next().is_none() {
        create_tables(&db, options)?;
    }
    check_format(&db)?;
    let snapshot = Snapshot::take(&db)?;
    Ok(Engine {
        db,
        snapshot,
        repaired: repaired.load(Ordering::Relaxed),
    })
}

fn create_tables(db: &Database, options: &Options) -> Result<(), Fault> {
    let transaction = begin(db, Finish::QuickToOpen)?;
    transaction.open_table(CURRENT)?;
    transaction.open_table(LOG)?;
    {
        let mut meta = transaction.open_table(META)?;
        meta.insert(FORMAT, FORMAT_NUMBER)?;
        meta.insert(FLOOR, options.first_revision.saturating_sub(1))?;
    }
    transaction.commit()?;
    Ok(())
}

fn check_format(db: &Database) -> Result<(), Fault> {
    let meta = db.begin_read()?.open_table(META)?;
    match ReadableTable::get(&meta, FORMAT)?.map(|format| format.value()) {
        Some(FORMAT_NUMBER) => Ok(()),
        Some(_) => Err(Fault::row("its layout is of another version")),
        None => Err(Fault::row("its layout is not given")),
    }
}

/// How a transaction is brought to disk. Either way it is durable when the commit returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// Checksums tell a whole commit from a torn one.
    OneSync,
    /// With two syncs and a record of the free pages, so that opening after a crash needs no walk
    /// through the whole file.
    QuickToOpen,
}

/// Starts a write transaction.
pub(crate) fn begin(db: &Database, finish: Finish) -> Result<redb::WriteTransaction, Fault> {
    let mut transaction = db.begin_write()?;
    transaction.set_quick_repair(finish == Finish::QuickToOpen);
    Ok(transaction)
}
