//! The rules of a Kubernetes API server as pure functions.
//!
//! This room knows how objects are typed, merged, owned, selected, patched, validated and printed. It
//! does no I/O, reads no clock and keeps no state: every function takes owned data and gives data back.
//!
//! ```text
//!   schema ──► typed values ──► field sets ──► managed fields (who owns what)
//!     │             └──► strategic merge, defaulting, pruning, validation
//!     └──► tables, OpenAPI
//! ```

pub mod builtin;
pub mod conditions;
pub mod crd;
pub mod cron;
pub mod decode;
pub mod field_error;
pub mod fieldset;
pub mod go_text;
pub mod jsonpath;
pub mod kinds;
pub mod managed;
pub mod names;
pub mod patch;
pub mod policy;
pub use quadrille_expr::quantity;
pub mod rbac;
pub mod schema;
pub mod selector;
pub mod status;
pub mod structural;
pub mod table;
pub mod typed;
