//! The layer between redb and its storage: it lets redb be opened without touching the storage,
//! and reopened on the same storage after a failure.
//!
//! redb refuses all work after the first failed call; only opening anew helps. So the storage
//! outlives the redb handle here. And opening writes a little (flags, repairs): while *staged*,
//! those writes stay in memory. A damaged file is thereby refused without being changed, and a
//! store on a full disk can be reopened for reading.

use std::{
    io,
    ops::Bound,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use redb::{BackendError, StorageBackend};

/// What went wrong below redb since somebody last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failures {
    /// There was no room for a write.
    pub(crate) full: bool,
    /// A sync failed: what was written before may or may not be on disk.
    pub(crate) sync: bool,
}

/// Storage that survives the redb handle that uses it.
#[derive(Debug)]
pub(crate) struct Guarded {
    inner: Box<dyn StorageBackend>,
    /// Whether `state.staged` is set; spares readers the lock as a rule.
    is_staged: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    staged: Option<Staged>,
    failures: Failures,
    closed: bool,
}

/// Calls held back, in order.
#[derive(Debug)]
struct Staged {
    len: u64,
    calls: Vec<Call>,
}

#[derive(Debug)]
enum Call {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Sync,
}

impl Guarded {
    pub(crate) fn new(inner: Box<dyn StorageBackend>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            is_staged: AtomicBool::new(false),
            state: Mutex::default(),
        })
    }

    /// From now on writes stay in memory. Anything held back before is given up.
    pub(crate) fn stage(&self) -> io::Result<()> {
        let len = self.inner.len()?;
        self.state.lock().staged = Some(Staged {
            len,
            calls: Vec::new(),
        });
        self.is_staged.store(true, Ordering::Release);
        Ok(())
    }

    /// Does what was held back, and from now on passes everything through.
    /// On failure everything stays held back.
    pub(crate) fn release(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        if let Some(staged) = &state.staged {
            for call in &staged.calls {
                match call {
                    Call::Write(offset, data) => self.inner.write(*offset, data)?,
                    Call::SetLen(len) => self.inner.set_len(*len)?,
                    Call::Sync => self.inner.sync_data()?,
                }
            }
        }
        state.staged = None;
        self.is_staged.store(false, Ordering::Release);
        Ok(())
    }

    /// How large the storage is.
    pub(crate) fn size(&self) -> io::Result<u64> {
        self.inner.len()
    }

    /// Syncs the storage itself, whatever is held back.
    pub(crate) fn sync_storage(&self) -> io::Result<()> {
        self.inner.sync_data()
    }

    /// Gives up the locks, once; nothing may be done with the storage afterwards.
    pub(crate) fn close(&self) {
        if std::mem::replace(&mut self.state.lock().closed, true) {
            return;
        }
        if let Err(error) = self.inner.close() {
            tracing::warn!(%error, "closing the storage failed");
        }
    }

    /// What failed since the last call.
    pub(crate) fn take_failures(&self) -> Failures {
        std::mem::take(&mut self.state.lock().failures)
    }

    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && is_full(error)
        {
            self.state.lock().failures.full = true;
        }
        result
    }
}

/// Whether the error says that there is no room.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// The handle that redb owns; closing it leaves the storage open.
#[derive(Debug)]
pub(crate) struct Handle(pub(crate) Arc<Guarded>);

impl StorageBackend for Handle {
    fn len(&self) -> io::Result<u64> {
        match &self.0.state.lock().staged {
            Some(staged) => Ok(staged.len),
            None => self.0.inner.len(),
        }
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if self.0.is_staged.load(Ordering::Acquire)
            && let Some(staged) = &self.0.state.lock().staged
        {
            return staged.read(&*self.0.inner, offset, out);
        }
        self.0.inner.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if let Some(staged) = &mut self.0.state.lock().staged {
            staged.len = len;
            staged.calls.push(Call::SetLen(len));
            return Ok(());
        }
        self.0.note(self.0.inner.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        if let Some(staged) = &mut self.0.state.lock().staged {
            staged.calls.push(Call::Sync);
            return Ok(());
        }
        let result = self.0.note(self.0.inner.sync_data());
        if result.is_err() {
            self.0.state.lock().failures.sync = true;
        }
        result
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if let Some(staged) = &mut self.0.state.lock().staged {
            staged.calls.push(Call::Write(offset, data.to_vec()));
            return Ok(());
        }
        self.0.note(self.0.inner.write(offset, data))
    }

    // `close` is left out: the locks stay until the storage is dropped, so that no other process
    // can slip in while the store reopens itself.

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.inner.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.0.inner.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.inner.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.inner.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.inner.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.inner.query_lock_range(start, end)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.close();
    }
}

impl Staged {
    /// Reads the storage as it would be if the held back calls had been done.
    fn read(&self, inner: &dyn StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset + out.len() as u64;
        if end > self.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut readable = inner.len()?;
        for call in &self.calls {
            // A cut takes away what lay behind it, even if the storage grows again later.
            if let Call::SetLen(len) = call {
                readable = readable.min(*len);
            }
        }
        let below = usize::try_from(readable.saturating_sub(offset))
            .unwrap_or(usize::MAX)
            .min(out.len());
        inner.read(offset, &mut out[..below])?;
        out[below..].fill(0);
        for call in &self.calls {
            match call {
                Call::Write(at, data) => overlay(*at, data, offset, out),
                Call::SetLen(len) if *len < end => {
                    let keep = usize::try_from(len.saturating_sub(offset)).unwrap_or(out.len());
                    out[keep..].fill(0);
                }
                Call::SetLen(_) | Call::Sync => {}
            }
        }
        Ok(())
    }
}

/// Copies the part of `data` (at `at`) that lies in `out` (at `offset`).
fn overlay(at: u64, data: &[u8], offset: u64, out: &mut [u8]) {
    let start = at.max(offset);
    let end = (at + data.len() as u64).min(offset + out.len() as u64);
    if start >= end {
        return;
    }
    let index = |position: u64, base: u64| {
        usize::try_from(position - base).expect("within a buffer in memory")
    };
    out[index(start, offset)..index(end, offset)]
        .copy_from_slice(&data[index(start, at)..index(end, at)]);
}

#[cfg(test)]
mod tests;
