//! What a component of the deployment system is made of, as the cluster has it.

use serde_json::Value;

use crate::{
    chain::live::whole,
    cluster::Cluster,
    failure::Failure,
    fields,
    kinds::{self, Found},
    requests::OBJECTS,
};

/// The kinds that are read.
const KINDS: [&str; 27] = [
    "API",
    "APIBinding",
    "APIClass",
    "Build",
    "ClusterDataPlane",
    "Component",
    "ConfigurationGroup",
    "DataPlane",
    "DeployableArtifact",
    "Deployment",
    "DeploymentPipeline",
    "DeploymentTrack",
    "Endpoint",
    "Environment",
    "Project",
    "Release",
    "ScheduledTask",
    "ScheduledTaskBinding",
    "ScheduledTaskClass",
    "SecretReference",
    "Service",
    "ServiceBinding",
    "ServiceClass",
    "WebApplication",
    "WebApplicationBinding",
    "WebApplicationClass",
    "Workload",
];

/// Everything of the namespace that components of the deployment system are made of.
pub(super) async fn everything(cluster: &Cluster) -> Result<Vec<Value>, Failure> {
    let mut objects = Vec::new();
    for kind in kinds::all_of_ours() {
        if KINDS.contains(&kind.kind()) {
            objects.extend(all(cluster, &kind).await?);
        }
    }
    Ok(objects)
}

async fn all(cluster: &Cluster, kind: &Found) -> Result<Vec<Value>, Failure> {
    let namespace = kind.is_namespaced.then_some(cluster.namespace.as_str());
    match cluster.read(&kind.path(namespace), OBJECTS).await {
        Ok(list) => {
            let items = fields::items(&list["items"]).iter();
            Ok(items.map(|one| whole(one.clone(), kind.kind())).collect())
        }
        // A cluster need not serve all of them.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        Err(error) => Err(cluster.failed(&error)),
    }
}
