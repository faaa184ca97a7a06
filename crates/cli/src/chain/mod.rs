//! Verbs of the component chain: from a component to releases that go from environment to environment.
//!
//! ```text
//!   deploy ─► ComponentRelease ─► ReleaseBinding in the first environment ─promote─► in the next one …
//!                                        │ rollback, undeploy, restart     approve, reject
//!                                        └─► status, history
//! ```
//! `scene` reads what there is, `decide` says what is meant, `binding` writes it down, `ready` waits for what comes of it,
//! and `standing` says how that is going. Whatever can be refused is asked before the first write.

mod approval;
pub(crate) mod approve;
mod binding;
mod decide;
pub(crate) mod deploy;
pub(crate) mod history;
pub(crate) mod live;
pub(crate) mod named;
pub(crate) mod promote;
pub(crate) mod reads;
pub(crate) mod ready;
pub(crate) mod reject;
pub(crate) mod release;
pub(crate) mod restart;
pub(crate) mod rollback;
pub(crate) mod scene;
mod standing;
pub(crate) mod status;
pub(crate) mod undeploy;
pub(crate) mod urls;
mod whoami;
