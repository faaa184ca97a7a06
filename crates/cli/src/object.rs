//! One object, as people name it.

use crate::{
    cluster::{Cluster, Which},
    failure::Failure,
    kinds::Found,
};

/// Which object.
#[derive(Debug, clap::Args)]
pub(crate) struct Named {
    /// The kind: its name, plural or short name.
    kind: String,
    /// The name.
    pub(crate) name: String,
    #[command(flatten)]
    cluster: Which,
}

/// Where an object is, whether it exists or not.
pub(crate) struct Target {
    pub(crate) cluster: Cluster,
    pub(crate) kind: Found,
    pub(crate) path: String,
}

impl Named {
    /// Finds the cluster and the kind.
    pub(crate) async fn find(&self) -> Result<Target, Failure> {
        let cluster = self.cluster.find().await?;
        let kind = cluster.named_kind(&self.kind).await?;
        let namespace = kind.is_namespaced.then_some(cluster.namespace.as_str());
        let path = format!("{}/{}", kind.path(namespace), self.name);
        Ok(Target {
            cluster,
            kind,
            path,
        })
    }
}
