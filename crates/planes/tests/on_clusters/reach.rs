//! How tests reach their cluster over the network.

use std::collections::BTreeMap;

use anyhow::Context as _;
use k8s_openapi::ByteString;
use quadrille_planes::{Access, Way, access};
use quadrille_testkit::Cluster;
use quadrille_types::data_plane::Connection;

/// Access as administrator, read from a Secret with the cluster's kubeconfig.
pub(crate) async fn as_admin(cluster: &Cluster) -> anyhow::Result<Access> {
    let kubeconfig = std::fs::read(cluster.kubeconfig().await?)?;
    let data = BTreeMap::from([("kubeconfig".to_owned(), ByteString(kubeconfig))]);
    let connection = Connection::Kubeconfig {
        secret: "plane".to_owned(),
    };
    match access(&connection, "acme", |_| Some(&data))? {
        Way::Remote(access) => Ok(access),
        Way::Local => anyhow::bail!("a kubeconfig became the local cluster"),
    }
}

/// The same access by another door on loopback.
pub(crate) fn by_port(access: &Access, port: u16) -> anyhow::Result<Access> {
    let mut access = access.clone();
    access.server = format!("https://127.0.0.1:{port}").parse()?;
    Ok(access)
}

/// Host and port of an access.
pub(crate) fn address(access: &Access) -> anyhow::Result<String> {
    let authority = access.server.authority().context("an address has a host")?;
    Ok(authority.to_string())
}
