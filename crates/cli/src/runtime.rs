//! Verbs that talk to a cluster run on one thread.

use std::future::Future;

use crate::failure::Failure;

/// Runs a verb to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new("the process cannot start").because(&error))?;
    runtime.block_on(work)
}
