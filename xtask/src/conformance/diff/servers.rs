//! The two servers that are compared, and what scripts need beside them.

use std::path::Path;

use anyhow::{Context, Result};
use quadrille_testkit::real::{ControlPlane, Options};

use crate::wire::Endpoint;

/// Controllers that keep what every namespace has and what deletion means; the embedded server does the same
/// by itself. Workload controllers would write while scripts read.
const CONTROLLERS: &str = "--controllers=serviceaccount-controller,\
    root-ca-certificate-publisher-controller,namespace-controller,garbage-collector-controller";

/// A real server and ours, ready.
pub(super) struct Servers {
    /// The reference.
    pub(super) real: Endpoint,
    /// The one that must not differ.
    pub(super) ours: Endpoint,
    /// Tells this run's namespaces from those of earlier ones on the same servers.
    pub(super) run: String,
    _started: Option<ControlPlane>,
}

impl Servers {
    /// Starts what is not already running.
    pub(super) async fn start(real: Option<&Path>, with: Option<&Path>) -> Result<Self> {
        let started = match real {
            Some(_) => None,
            None => Some(start_real().await?),
        };
        let real = match (real, &started) {
            (None, Some(plane)) => plane.kubeconfig(),
            (kubeconfig, _) => kubeconfig.unwrap_or(Path::new("")).to_owned(),
        };
        let with =
            with.context("--with is needed until the embedded server can be started here")?;
        Ok(Self {
            real: Endpoint::from_kubeconfig(&real)?,
            ours: Endpoint::from_kubeconfig(with)?,
            run: format!("r{:04x}", std::process::id() & 0xffff),
            _started: started,
        })
    }
}

async fn start_real() -> Result<ControlPlane> {
    let options = Options {
        controllers: true,
        controller_flags: vec![CONTROLLERS.to_owned()],
        ..Options::default()
    };
    ControlPlane::start(options)
        .await
        .context("start a real control plane")
}
