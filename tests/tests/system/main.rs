//! The deployment system of OpenChoreo 0.4: Deployments with their Endpoints, and instances of classes with their bindings.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

mod changing;
mod defects;
mod deploying;
mod endings;
#[path = "../crashes/every.rs"]
mod every;
mod exposing;
mod gateways;
mod instances;
mod kills;
mod mistakes;
mod orchard;
mod parents;
mod plane;
mod promoting;
#[path = "../platform/stage.rs"]
#[allow(dead_code, reason = "the tests of the platform itself use the rest")]
mod stage;
mod starting;
mod states;
