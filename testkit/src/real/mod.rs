//! A real control plane on loopback: etcd and kube-apiserver, and where asked kube-controller-manager,
//! kube-scheduler and kwok's simulated nodes. Everything lives in a temporary folder and ends with the value,
//! and with the process that holds it, however that ends.

mod credentials;
mod launch;
mod nodes;
mod process;
mod shared;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use kube::{Client, Config, config::KubeConfigOptions, config::Kubeconfig};
use tempfile::TempDir;

use crate::assets;

pub use process::Process;
pub use shared::{KUBECONFIG_VARIABLE, is_asked_for, shared_client, shared_kubeconfig};

/// What to start besides etcd and kube-apiserver.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// kube-controller-manager: garbage collection, namespace deletion, service accounts, workloads.
    pub controllers: bool,
    /// This many simulated nodes; more than none also starts kube-scheduler and kwok.
    pub nodes: usize,
    /// The database does not wait for the disk. What it holds would not outlive the machine, and need not in a test;
    /// figures of a server that waits less than one in use would be no figures.
    pub forgetful: bool,
    /// Writes an audit log of all requests (level Metadata), see [`ControlPlane::audit_log`].
    pub audit: bool,
    /// More flags for kube-apiserver.
    pub apiserver_flags: Vec<String>,
    /// More flags for kube-controller-manager.
    pub controller_flags: Vec<String>,
}

impl Options {
    /// Everything a cluster has, for tests: controllers and one simulated node.
    pub fn full() -> Self {
        Self {
            controllers: true,
            nodes: 1,
            forgetful: true,
            ..Self::default()
        }
    }
}

/// How long a part of the control plane may take to come up on a busy machine.
const START_DEADLINE: Duration = Duration::from_mins(2);

/// A running control plane; dropping it ends its processes and removes its folder.
#[derive(Debug)]
pub struct ControlPlane {
    // Ended in this order: clients of the API before the API, the API before its database.
    processes: Vec<Process>,
    folder: TempDir,
    server: String,
}

impl ControlPlane {
    /// Starts a control plane and waits until it is ready.
    pub async fn start(options: Options) -> anyhow::Result<Self> {
        // A port that was free when we looked can be taken when a server binds it: try again with others.
        let mut attempt = 1;
        loop {
            match launch::launch(&options).await {
                Err(error) if attempt < 3 && launch::is_port_conflict(&error) => attempt += 1,
                other => return other,
            }
        }
    }

    /// Base URL of the API.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// A kubeconfig file with a client certificate of group `system:masters`.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kube-apiserver/admin.kubeconfig")
    }

    /// PEM of the certificate authority that signs server and client certificates.
    pub fn ca_certificate(&self) -> anyhow::Result<String> {
        let path = self.folder.path().join("kube-apiserver/ca.crt");
        std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
    }

    /// The audit log: one JSON event per line. Only with [`Options::audit`].
    pub fn audit_log(&self) -> PathBuf {
        self.folder.path().join("kube-apiserver/audit.log")
    }

    /// Client configuration for the administrator.
    pub async fn config(&self) -> anyhow::Result<Config> {
        config(&self.kubeconfig()).await
    }

    /// A client for the administrator. It does not retry: tests see every answer.
    pub async fn client(&self) -> anyhow::Result<Client> {
        let config = self.config().await?;
        Ok(Client::try_from(config)?)
    }

    /// One of the running programs by name, for its pid and its log.
    pub fn process(&self, name: &str) -> Option<&Process> {
        self.processes.iter().find(|process| process.name() == name)
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        // Let go of all first, so that they end at the same time; each then waits for its own end.
        self.processes.iter_mut().for_each(Process::release);
        self.processes.clear();
    }
}

/// Client configuration from a kubeconfig file's current context, without the client's own retries.
pub async fn config(kubeconfig: &Path) -> anyhow::Result<Config> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let mut config =
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    Ok(config)
}

/// Whether tests of the real control plane can't run here, for want of its binaries; says so, loudly. With
/// `CI=true` they must run: then this is a panic.
pub fn is_skipped() -> bool {
    if assets::are_complete() {
        return false;
    }
    assert!(
        !std::env::var("CI").is_ok_and(|value| value == "true"),
        "the real control plane must be tested when CI=true: run `cargo xtask assets`"
    );
    eprintln!("SKIPPED: no real control plane here; run `cargo xtask assets` (needs Go)");
    true
}
