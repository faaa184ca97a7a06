//! The cluster that a suite runs against: `quad up` on a fresh folder, the real control plane, or one that a
//! kubeconfig names.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use quadrille_testkit::real::{ControlPlane, Options, Process};
use tempfile::TempDir;

use crate::{assets, workspace};

/// How long `quad up` may take to write its kubeconfig on a busy machine.
const START_DEADLINE: Duration = Duration::from_mins(1);

/// A cluster for one run; ends with the value.
pub(crate) enum Target {
    /// `quad up`, in a folder of its own.
    Embedded {
        /// Held for its end.
        _process: Process,
        /// Where data and kubeconfig are.
        folder: TempDir,
    },
    /// etcd, kube-apiserver, controllers, scheduler and a simulated node.
    Real(Box<ControlPlane>),
    /// Somebody else's.
    Given(PathBuf),
}

impl Target {
    /// Builds and starts `quad up` and waits until it has written its kubeconfig.
    pub(crate) fn embedded() -> anyhow::Result<Self> {
        let quad = workspace::built("quad")?;
        let folder = tempfile::Builder::new().prefix("quadrille-up-").tempdir()?;
        let kubeconfig = embedded_kubeconfig(&folder);
        let arguments = [
            "up".into(),
            "--data-dir".into(),
            folder.path().join("data").into_os_string(),
            "--port".into(),
            "0".into(),
            "--kubeconfig-out".into(),
            kubeconfig.clone().into_os_string(),
        ];
        let process = Process::start("quad", &quad, &folder.path().join("quad"), &arguments)?;
        let deadline = Instant::now() + START_DEADLINE;
        while fs::metadata(&kubeconfig).map_or(true, |file| file.len() == 0) {
            process.still_runs()?;
            if Instant::now() > deadline {
                bail!("`quad up` wrote no kubeconfig:\n{}", process.log());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Self::Embedded {
            _process: process,
            folder,
        })
    }

    /// Starts the real control plane with everything a cluster has.
    pub(crate) fn real() -> anyhow::Result<Self> {
        assets::ensure()?;
        let runtime = tokio::runtime::Runtime::new().context("start a runtime")?;
        Ok(Self::Real(Box::new(
            runtime.block_on(ControlPlane::start(Options::full()))?,
        )))
    }

    /// A cluster that runs already.
    pub(crate) fn given(kubeconfig: &Path) -> Self {
        Self::Given(kubeconfig.to_owned())
    }

    /// The kubeconfig file by which clients find the cluster.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        match self {
            Self::Embedded { folder, .. } => embedded_kubeconfig(folder),
            Self::Real(plane) => plane.kubeconfig(),
            Self::Given(path) => path.clone(),
        }
    }
}

fn embedded_kubeconfig(folder: &TempDir) -> PathBuf {
    folder.path().join("kubeconfig")
}
