//! An embeddable Kubernetes API server: `machinery` and `store` behind an axum router.
//!
//! It knows nothing of our own kinds: custom resource definitions reach it like anybody's.

pub mod auth;
pub mod discovery;
pub mod kinds;
pub mod openapi;
pub mod resource;
pub mod serve;
