//! The two servers that are compared, and what scripts need beside them.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use quadrille_testkit::real::{ControlPlane, Options};

use super::embedded::Embedded;
use crate::wire::Endpoint;

/// Controllers that keep what every namespace has and what deletion means; the embedded server does the same
/// by itself. Workload controllers would write while scripts read.
const CONTROLLERS: &str = "--controllers=serviceaccount-controller,\
    root-ca-certificate-publisher-controller,namespace-controller,garbage-collector-controller,\
    persistentvolumeclaim-protection-controller,persistentvolume-protection-controller,\
    validatingadmissionpolicy-status-controller,clusterrole-aggregation-controller";

/// A real server and ours, ready.
pub(crate) struct Servers {
    /// The reference.
    pub(crate) real: Endpoint,
    /// The one that must not differ.
    pub(crate) ours: Endpoint,
    /// How other clients reach the reference.
    pub(crate) real_kubeconfig: String,
    /// How other clients reach ours.
    pub(crate) our_kubeconfig: String,
    /// Tells this run's namespaces from those of earlier ones on the same servers.
    pub(crate) run: String,
    plane: Option<ControlPlane>,
    embedded: Option<Embedded>,
}

impl Servers {
    /// Starts what no kubeconfig is given for.
    pub(crate) async fn start(real: Option<&Path>, with: Option<&Path>) -> Result<Self> {
        let (plane, real) = match real {
            Some(kubeconfig) => (None, read(kubeconfig)?),
            None => {
                let plane = start_real().await?;
                let kubeconfig = read(&plane.kubeconfig())?;
                (Some(plane), kubeconfig)
            }
        };
        let (embedded, ours) = match with {
            Some(kubeconfig) => (None, read(kubeconfig)?),
            None => {
                let embedded = Embedded::start().await?;
                let kubeconfig = embedded.kubeconfig()?;
                (Some(embedded), kubeconfig)
            }
        };
        Ok(Self {
            real: Endpoint::from_kubeconfig(&real)?,
            ours: Endpoint::from_kubeconfig(&ours)?,
            real_kubeconfig: real,
            our_kubeconfig: ours,
            run: format!("r{:04x}", std::process::id() & 0xffff),
            plane,
            embedded,
        })
    }

    /// Ends what was started.
    pub(crate) async fn stop(self) {
        if let Some(embedded) = self.embedded {
            embedded.stop().await;
        }
        drop(self.plane);
    }
}

fn read(kubeconfig: &Path) -> Result<String> {
    fs::read_to_string(kubeconfig)
        .with_context(|| format!("read the kubeconfig {}", kubeconfig.display()))
}

async fn start_real() -> Result<ControlPlane> {
    let options = Options {
        controllers: true,
        forgetful: true,
        controller_flags: vec![CONTROLLERS.to_owned()],
        ..Options::default()
    };
    ControlPlane::start(options)
        .await
        .context("start a real control plane")
}
