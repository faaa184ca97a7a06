//! Opens redb on a guarded storage and prepares the tables.

use std::{panic::AssertUnwindSafe, sync::Arc};

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
}

/// Opens the database without changing the storage: what must be written is held back in
/// `storage` until it is released.
pub(crate) fn open_staged(storage: &Arc<Guarded>, options: &Options) -> Result<Engine, Fault> {
    storage.stage()?;
    // redb asserts on some damaged files instead of returning an error.
    std::panic::catch_unwind(AssertUnwindSafe(|| open(storage, options)))
        .unwrap_or_else(|_| Err(Fault::row("its structure is inconsistent")))
}

fn open(storage: &Arc<Guarded>, options: &Options) -> Result<Engine, Fault> {
    let db = redb::Builder::new()
        .set_cache_size(options.cache_bytes)
        .create_with_backend(Handle(Arc::clone(storage)))?;
    if db.begin_read()?.list_tables()?.next().is_none() {
        create_tables(&db, options)?;
    }
    check_format(&db)?;
    let snapshot = Snapshot::take(&db)?;
    Ok(Engine { db, snapshot })
}

fn create_tables(db: &Database, options: &Options) -> Result<(), Fault> {
    let transaction = begin(db)?;
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

/// Starts a write transaction with the durability that the store promises.
pub(crate) fn begin(db: &Database) -> Result<redb::WriteTransaction, Fault> {
    let mut transaction = db.begin_write()?;
    transaction.set_quick_repair(true);
    Ok(transaction)
}
