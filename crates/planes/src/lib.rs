//! Who can we talk to: credentials, clients and limits of planes.
//!
//! ```text
//!  DataPlane's Connection + Secrets ──access──► Way ──Planes──► Connected (client, kinds)
//!                                                                    │
//!                                          Plane: breaker, limiter, deadline, state
//!                                                                    │
//!                                              values, or Trouble in classes
//! ```
//! - [`access`]: from what a plane says and Secrets hold to an address and a proof; refuses what is unsafe.
//! - [`connect`]: from there to a client that speaks HTTP/2 over one connection.
//! - [`planes`]: clients by the digest of their credentials, so that rotation makes a new one.
//! - [`plane`]: all calls to a plane: faults of one delay only itself.
//! - [`trouble`]: what went wrong, in classes to act upon.
//! - [`kinds`]: which kinds a plane serves.
//! - [`feed`]: follows the objects of a kind.
//! - [`clock`]: the time of day, for whoever waits for a moment.
//! - [`limit`], [`breaker`]: how many calls at once, and when none.
//! - [`version`]: which versions of Kubernetes we work with.
//!
//! What to apply is decided elsewhere, and so is when.

pub mod access;
pub mod breaker;
pub mod clock;
pub mod connect;
pub mod feed;
pub mod kinds;
pub mod limit;
pub mod plane;
pub mod planes;
pub mod trouble;
pub mod version;

pub use access::{Access, AccessProblem, Proof, SecretName, Way, access, needed_secrets};
pub use connect::{ConnectError, connect};
pub use kinds::{Kinds, Served};
pub use plane::{Call, Plane, PlaneName, PlaneState, Probe, Settings};
pub use planes::{Connected, Planes};
pub use trouble::Trouble;
pub use version::VersionSkew;
