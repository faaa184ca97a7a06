//! The controllers in a process of their own, as they run against a real cluster.

use std::{path::Path, time::Duration};

use anyhow::Result;
use quadrille_testkit::real::Process;
use tempfile::TempDir;

use super::{super::process, fixture::NAMESPACE};
use crate::workspace;

/// Running controllers.
pub(in crate::bench) struct Controller {
    process: Process,
    pid: u32,
    _folder: TempDir,
}

impl Controller {
    /// Starts a release build against the cluster of a kubeconfig.
    pub(in crate::bench) async fn start(kubeconfig: &Path) -> Result<Self> {
        let program = workspace::built_release("quad-controller")?;
        let folder = tempfile::tempdir()?;
        let arguments = [
            "--kubeconfig".into(),
            kubeconfig.as_os_str().to_owned(),
            format!("--namespace={NAMESPACE}").into(),
            format!("--lease-namespace={NAMESPACE}").into(),
            "--identity=bench".into(),
        ];
        let process = Process::start("quad-controller", &program, folder.path(), &arguments)?;
        let pid = loop {
            process.still_runs()?;
            if let Some(pid) = process.pid() {
                break pid;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        Ok(Self {
            process,
            pid,
            _folder: folder,
        })
    }

    /// The most memory it ever had, in MiB.
    pub(in crate::bench) fn peak(&self) -> Result<f64> {
        self.process.still_runs()?;
        process::peak(self.pid)
    }

    /// Its memory now, in MiB.
    pub(in crate::bench) fn resident(&self) -> Result<f64> {
        process::resident(&[self.pid])
    }

    /// How many sockets it has.
    pub(in crate::bench) fn sockets(&self) -> Result<f64> {
        let mut count = 0.0;
        for entry in std::fs::read_dir(format!("/proc/{}/fd", self.pid))? {
            let target = std::fs::read_link(entry?.path()).unwrap_or_default();
            if target.to_string_lossy().starts_with("socket:") {
                count += 1.0;
            }
        }
        Ok(count)
    }

    /// Processor time that it took so far, in seconds.
    pub(in crate::bench) fn processor_seconds(&self) -> Result<f64> {
        process::processor_seconds(self.pid)
    }
}
