//! A real Envoy, as a process that ends with us.

use std::{
    fs::File,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Mutex,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

use super::xds::Served;

/// How long Envoy may take to be ready, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) struct Envoy(Mutex<Child>);

impl Envoy {
    /// Starts Envoy and waits until it serves. What it says goes to a file of the folder.
    pub(super) async fn start(
        program: &Path,
        served: &Served,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let configuration = folder.join("envoy.json");
        std::fs::write(
            &configuration,
            serde_json::to_vec_pretty(&served.configuration)?,
        )?;
        let log = folder.join("envoy.log");
        let output = File::create(&log)?;
        let child = Command::new(program)
            .arg("--config-path")
            .arg(&configuration)
            .args(["--concurrency", "1", "--disable-hot-restart"])
            .args(["--log-level", "warning"])
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .context("start Envoy")?;
        let envoy = Self(Mutex::new(child));
        let deadline = Instant::now() + PATIENCE;
        while !is_ready(served.admin).await {
            if !envoy.is_running()? || Instant::now() > deadline {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                let last: Vec<&str> = said.lines().rev().take(12).collect();
                bail!("Envoy does not serve:\n{}", last.join("\n"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(envoy)
    }

    pub(super) fn is_running(&self) -> anyhow::Result<bool> {
        let mut child = self.0.lock().map_err(|_| anyhow::anyhow!("poisoned"))?;
        Ok(child.try_wait()?.is_none())
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        if let Ok(child) = self.0.get_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

async fn is_ready(admin: u16) -> bool {
    let answer = super::client::get(admin, "/ready").await;
    answer.is_ok_and(|answer| answer.status == 200)
}
