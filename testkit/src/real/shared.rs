//! One control plane for a whole test run. `cargo xtask test` starts it and names its kubeconfig in an environment
//! variable; without that, the first test of a binary that asks starts one for the binary.

use std::{env, ffi::OsString, path::PathBuf};

use kube::Client;
use tokio::sync::OnceCell;

use super::{ControlPlane, Options, config};

/// When it is set, tests get a real cluster. Names the kubeconfig of the control plane that they share, or is
/// `start`: then every test binary starts one.
pub const KUBECONFIG_VARIABLE: &str = "QUADRILLE_TEST_REAL";

/// A client of the shared control plane, for the runtime that asks. It does not retry.
pub async fn shared_client() -> anyhow::Result<Client> {
    Ok(Client::try_from(
        config(&shared_kubeconfig().await?).await?,
    )?)
}

/// The kubeconfig of the shared control plane.
pub async fn shared_kubeconfig() -> anyhow::Result<PathBuf> {
    // Never dropped: statics aren't. Its processes end with ours all the same.
    static PLANE: OnceCell<ControlPlane> = OnceCell::const_new();
    if let Some(path) = given() {
        return Ok(path);
    }
    let plane = PLANE
        .get_or_try_init(|| ControlPlane::start(Options::full()))
        .await?;
    Ok(plane.kubeconfig())
}

/// Whether tests shall get a real cluster.
pub fn is_asked_for() -> bool {
    variable().is_some()
}

fn variable() -> Option<OsString> {
    env::var_os(KUBECONFIG_VARIABLE).filter(|value| !value.is_empty())
}

/// The kubeconfig of the control plane that this run was given.
fn given() -> Option<PathBuf> {
    variable()
        .filter(|value| value != "start")
        .map(PathBuf::from)
}
