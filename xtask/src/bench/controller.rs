//! The controllers in a process of their own, as they run against a real cluster.

use std::{path::Path, time::Duration};

use anyhow::Result;
use quadrille_testkit::real::Process;
use tempfile::TempDir;

use super::process;
use crate::workspace;

/// Running controllers.
pub(super) struct Controller {
    process: Process,
    pid: u32,
    _folder: TempDir,
}

impl Controller {
    /// Starts a release build against the cluster of a kubeconfig, for one of its namespaces.
    pub(super) async fn start(kubeconfig: &Path, namespace: &str) -> Result<Self> {
        let flags = [
            format!("--namespace={namespace}"),
            format!("--lease-namespace={namespace}"),
        ];
        Self::start_with(kubeconfig, &flags).await
    }

    /// The same for all namespaces.
    pub(super) async fn start_for_all(kubeconfig: &Path) -> Result<Self> {
        Self::start_with(kubeconfig, &[]).await
    }

    async fn start_with(kubeconfig: &Path, flags: &[String]) -> Result<Self> {
        let program = workspace::built_release("quad-controller")?;
        let folder = tempfile::tempdir()?;
        let mut arguments = vec![
            "--kubeconfig".into(),
            kubeconfig.as_os_str().to_owned(),
            "--identity=bench".into(),
        ];
        arguments.extend(flags.iter().map(Into::into));
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
    pub(super) fn peak(&self) -> Result<f64> {
        self.process.still_runs()?;
        process::peak(self.pid)
    }

    /// Its memory now, in MiB.
    pub(super) fn resident(&self) -> Result<f64> {
        process::resident(&[self.pid])
    }

    /// How many sockets it has.
    pub(super) fn sockets(&self) -> Result<f64> {
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
    pub(super) fn processor_seconds(&self) -> Result<f64> {
        process::processor_seconds(self.pid)
    }
}
