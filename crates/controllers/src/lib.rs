//! When to run which steps, one folder per kind.
//!
//! [`run`] leads, or waits until it may: then it watches the control plane's API, keeps a way to every plane open,
//! and runs the engine over releases. It writes nothing that the fence does not allow.

pub mod control;
pub mod events;
pub mod lease;
pub mod permissions;
pub mod preview;
pub mod queue;
pub mod retry;

mod alarms;
mod chain;
mod data_planes;
mod key;
mod platform;
mod releases;
mod rounds;
mod shelf;
mod system;

use std::sync::Arc;

use kube::Client;
use quadrille_engine::Fence;
use quadrille_planes::Planes;
pub use quadrille_planes::{
    Settings,
    clock::{Clock, SystemClock},
};

use crate::{control::Control, data_planes::Surroundings, releases::Context};

/// What the controllers need.
pub struct Options {
    /// The control plane's API.
    pub control: Client,
    /// The cluster that the control plane runs in, for planes that are local.
    pub local: Client,
    /// Only what is in this namespace; everything where none is given.
    pub namespace: Option<String>,
    /// How the lead is held.
    pub lease: lease::Terms,
    /// How planes are treated.
    pub planes: Settings,
    /// The time of day, for moments that objects name: when a promotion is due, until when a word counts. (How objects
    /// on a plane are doing is told by the plane's own times.)
    pub clock: Arc<dyn Clock>,
    /// Families of kinds that nobody looks after here.
    pub without: Without,
}

/// Families of kinds that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// Deployments, Endpoints, the classes with their instances and bindings, and whatever belongs to them.
    pub deployment_system: bool,
}

/// Runs the controllers until the lead is lost or the future is dropped. Dropped, it stops at once, as if the
/// process had died; [`stop`] before that gives the lead to the next.
pub async fn run(options: &Options) {
    let fence = Fence::closed();
    lease::acquire(&options.control, &options.lease, &fence).await;
    tracing::debug!("this controller leads");
    let control = Control::new(options.control.clone(), fence.clone());
    let context = Arc::new(Context::new(
        control,
        options.namespace.clone(),
        Arc::clone(&options.clock),
        options.without,
    ));
    let surroundings = Arc::new(Surroundings {
        context: Arc::clone(&context),
        planes: Planes::new(options.local.clone()),
        fence: fence.clone(),
        settings: options.planes,
    });
    tokio::select! {
        () = lease::keep(&options.control, &options.lease, &fence) => {
            tracing::warn!("another controller leads now");
        }
        () = context.work() => {}
        () = data_planes::work(surroundings) => {}
        () = platform::work(Arc::clone(&context)) => {}
        () = chain::work(Arc::clone(&context)) => {}
        () = system::work(Arc::clone(&context)) => {}
        () = rounds::work(Arc::clone(&context)) => {}
    }
    fence.close();
}

/// Gives the lead back.
pub async fn stop(options: &Options) {
    lease::release(&options.control, &options.lease, &Fence::closed()).await;
}
