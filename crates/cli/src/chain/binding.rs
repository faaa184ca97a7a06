//! Bindings, written: which release runs where, and who asked for it.

use http::{Request, header};
use kube::ResourceExt as _;
use quadrille_types::{
    ReleaseBinding, annotations, names::EnvironmentName, release_binding::ReleaseBindingSpec,
};
use serde_json::{Value, json};

use super::{reads::understood, scene::Scene};
use crate::{apply::MANAGER, cluster::Cluster, failure::Failure, plane::OURS};

/// Points the binding of an environment at a release, in somebody's name. Gives the binding's name.
pub(crate) async fn point(
    cluster: &Cluster,
    scene: &Scene,
    environment: &EnvironmentName,
    release: &str,
) -> Result<String, Failure> {
    if let Some(found) = scene.binding(environment)? {
        return turn(cluster, found, release).await;
    }
    let component = scene.name();
    let name = format!("{component}-{environment}");
    let object = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ReleaseBinding",
        "metadata": {
            "name": name, "namespace": cluster.namespace,
            "annotations": { annotations::REQUESTED_BY: cluster.whoami().await? },
        },
        "spec": {
            "owner": { "projectName": scene.project(), "componentName": component },
            "environment": environment, "releaseName": release,
        },
    });
    match cluster.create("releasebindings", &object).await {
        Ok(_) => Ok(name),
        // Whoever deploys by itself may have been faster.
        Err(kube::Error::Api(status)) if status.code == 409 => {
            let path = cluster.path_of_ours("releasebindings", &name);
            let found = cluster.get(&path).await?;
            let found: Option<ReleaseBinding> = found.map(understood).transpose()?;
            match found {
                Some(found) if is_of(&found.spec, scene, environment) => {
                    turn(cluster, &found, release).await
                }
                _ => Err(Failure::new(format!(
                    "the name {name} is taken by the binding of another component"
                ))
                .saying(&status.message)
                .next(format!("Look at it: quad describe releasebinding {name}"))),
            }
        }
        Err(error) => Err(cluster.failed(&error)),
    }
}

fn is_of(spec: &ReleaseBindingSpec, scene: &Scene, environment: &EnvironmentName) -> bool {
    spec.owner.component_name.as_str() == scene.name()
        && spec.owner.project_name.as_str() == scene.project()
        && spec.environment == *environment
}

async fn turn(
    cluster: &Cluster,
    binding: &ReleaseBinding,
    release: &str,
) -> Result<String, Failure> {
    let name = binding.name_any();
    let is_same = binding.spec.release_name.as_deref() == Some(release);
    if is_same && !binding.spec.is_undeployed() {
        return Ok(name);
    }
    let change = json!({
        "metadata": { "annotations": { annotations::REQUESTED_BY: cluster.whoami().await? } },
        "spec": { "releaseName": release, "state": null },
    });
    change_binding(cluster, &name, &change).await?;
    Ok(name)
}

/// Changes a binding.
pub(crate) async fn change_binding(
    cluster: &Cluster,
    name: &str,
    change: &Value,
) -> Result<ReleaseBinding, Failure> {
    let path = cluster.path_of_ours("releasebindings", name);
    let request = Request::patch(format!("{path}?fieldManager={MANAGER}"))
        .header(header::CONTENT_TYPE, "application/merge-patch+json")
        .body(change.to_string().into_bytes())
        .map_err(|error| cluster.failed(&kube::Error::HttpError(error)))?;
    let changed = cluster.send(request).await;
    understood(changed.map_err(|error| cluster.failed(&error))?)
}

impl Cluster {
    /// Makes an object of ours.
    pub(crate) async fn create(&self, plural: &str, object: &Value) -> Result<Value, kube::Error> {
        let namespace = &self.namespace;
        let url =
            format!("{OURS}/{namespace}/{plural}?fieldManager={MANAGER}&fieldValidation=Strict");
        let request = Request::post(url)
            .header(header::CONTENT_TYPE, "application/json")
            .body(object.to_string().into_bytes())
            .map_err(kube::Error::HttpError)?;
        self.send(request).await
    }
}
