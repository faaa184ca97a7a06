//! A server under measurement: started, timed, with its processes and the way to reach it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::Method;
use quadrille_testkit::real::{ControlPlane, Options, Process};
use tempfile::TempDir;

use crate::{
    wire::{Connection, Endpoint},
    workspace,
};

const START_DEADLINE: Duration = Duration::from_mins(1);

/// A running server.
pub(super) struct Subject {
    name: &'static str,
    /// When it was started.
    pub(super) began: Instant,
    /// From start to the first answer that it is ready.
    pub(super) start: Duration,
    /// How to reach it.
    pub(super) endpoint: Endpoint,
    /// Its processes.
    pub(super) pids: Vec<u32>,
    /// The administrator's kubeconfig.
    pub(super) kubeconfig: PathBuf,
    /// A JSON line per request, where it was asked to be written.
    pub(super) requests: PathBuf,
    kept: Kept,
}

/// What ends with the subject.
enum Kept {
    Embedded(Process, TempDir),
    Real(ControlPlane),
}

impl Subject {
    /// A release build of `quad up` on a fresh folder.
    pub(super) async fn embedded() -> Result<Self> {
        Self::embedded_with(&[]).await
    }

    /// Only its API, with a log of all requests: nobody makes pods of what is measured.
    pub(super) async fn embedded_api() -> Result<Self> {
        Self::embedded_with(&["--no-controllers", "--no-node"]).await
    }

    async fn embedded_with(flags: &[&str]) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("quadrille-bench-")
            .tempdir()?;
        Self::embedded_in(folder, flags).await
    }

    /// The same data without the controllers, and with a log of all requests: they will run in a process of their own.
    pub(super) async fn without_controllers(self) -> Result<Self> {
        match self.kept {
            Kept::Embedded(process, folder) => {
                drop(process);
                Self::embedded_in(folder, &["--no-controllers"]).await
            }
            Kept::Real(_) => bail!("a real control plane has none of our controllers"),
        }
    }

    async fn embedded_in(folder: TempDir, flags: &[&str]) -> Result<Self> {
        let quad = workspace::built_release("quad")?;
        let kubeconfig = folder.path().join("kubeconfig");
        let mut arguments = vec![
            "up".into(),
            "--port=0".into(),
            "--data-dir".into(),
            folder.path().join("data").into_os_string(),
            "--kubeconfig-out".into(),
            kubeconfig.clone().into_os_string(),
        ];
        let log = folder.path().join("requests.log");
        if !flags.is_empty() {
            arguments.extend(flags.iter().map(Into::into));
            arguments.extend(["--request-log".into(), log.clone().into_os_string()]);
        }
        let began = Instant::now();
        let process = Process::start("quad", &quad, &folder.path().join("quad"), &arguments)?;
        let endpoint = ready_endpoint(&kubeconfig, &process).await?;
        let start = began.elapsed();
        let pid = process.pid().context("quad has no process id")?;
        Ok(Self {
            name: "embedded",
            began,
            start,
            endpoint,
            pids: vec![pid],
            kubeconfig,
            requests: log,
            kept: Kept::Embedded(process, folder),
        })
    }

    /// etcd and kube-apiserver, with our definitions installed as `quad up` does.
    pub(super) async fn real() -> Result<Self> {
        Self::real_with(Options::default()).await
    }

    /// The same with a log of all requests.
    pub(super) async fn real_logged() -> Result<Self> {
        let options = Options {
            audit: true,
            ..Options::default()
        };
        Self::real_with(options).await
    }

    async fn real_with(options: Options) -> Result<Self> {
        let began = Instant::now();
        let plane = ControlPlane::start(options).await?;
        let endpoint = Endpoint::from_kubeconfig(&fs::read_to_string(plane.kubeconfig())?)?;
        let pids = ["etcd", "kube-apiserver"]
            .into_iter()
            .map(|name| {
                let process = plane
                    .process(name)
                    .with_context(|| format!("no {name} runs"))?;
                process
                    .pid()
                    .with_context(|| format!("{name} has no process id"))
            })
            .collect::<Result<_>>()?;
        // `quad up` is ready once it serves our definitions: both are ready for the same.
        install_definitions(&endpoint).await?;
        let start = began.elapsed();
        Ok(Self {
            name: "real",
            began,
            start,
            endpoint,
            pids,
            kubeconfig: plane.kubeconfig(),
            requests: plane.audit_log(),
            kept: Kept::Real(plane),
        })
    }

    /// What it is called.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Ends its processes.
    pub(super) fn end(self) {
        match self.kept {
            Kept::Embedded(process, folder) => {
                drop(process);
                drop(folder);
            }
            Kept::Real(plane) => drop(plane),
        }
    }
}

async fn ready_endpoint(kubeconfig: &Path, process: &Process) -> Result<Endpoint> {
    let deadline = Instant::now() + START_DEADLINE;
    loop {
        process.still_runs()?;
        let text = fs::read_to_string(kubeconfig).unwrap_or_default();
        if let Ok(endpoint) = Endpoint::from_kubeconfig(&text)
            && is_ready(&endpoint).await.unwrap_or(false)
        {
            return Ok(endpoint);
        }
        if Instant::now() > deadline {
            bail!("`quad up` does not become ready:\n{}", process.log());
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn is_ready(endpoint: &Endpoint) -> Result<bool> {
    let mut connection = endpoint.connect().await?;
    let answer = connection
        .send(Method::GET, "/readyz", &[], Bytes::new())
        .await?;
    Ok(answer.status == 200)
}

async fn install_definitions(endpoint: &Endpoint) -> Result<()> {
    const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let mut connection = endpoint.connect().await?;
    for entry in fs::read_dir(workspace::root().join("deploy/crds"))? {
        let text = fs::read_to_string(entry?.path())?;
        let value: serde_json::Value = serde_saphyr::from_str(&text)?;
        let json = [("Content-Type", "application/json")];
        let answer = connection
            .send(Method::POST, PATH, &json, value.to_string().into())
            .await?;
        if answer.status != 201 {
            bail!(
                "a definition is refused: {}",
                String::from_utf8_lossy(&answer.body)
            );
        }
        until_served(&mut connection, &value).await?;
    }
    Ok(())
}

/// A definition is accepted before what it defines is served.
async fn until_served(connection: &mut Connection, definition: &serde_json::Value) -> Result<()> {
    let spec = &definition["spec"];
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let version = word(&spec["versions"][0]["name"]);
    let plural = word(&spec["names"]["plural"]);
    let path = format!("/apis/{}/{version}/{plural}", word(&spec["group"]));
    let deadline = Instant::now() + START_DEADLINE;
    loop {
        let answer = connection
            .send(Method::GET, &path, &[], Bytes::new())
            .await?;
        if answer.status == 200 {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("{path} is not served: {}", answer.status);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
