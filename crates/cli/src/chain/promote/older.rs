//! Promotion of what the deployment system deploys: the next environment is asked for the same artifact, or the same workload
//! and class. What differs there by intention stays as it is.

use http::{Request, header};
use quadrille_machinery::patch::merge;
use quadrille_types::{annotations, labels::hierarchy, names::EnvironmentName};
use serde_json::{Map, Value, json};

use super::super::{decide::Promoted, scene::Scene};
use crate::{
    apply::MANAGER,
    cluster::Cluster,
    failure::Failure,
    fields::{self, text},
};

/// What of a binding goes on to the next environment; whether it runs there is that one's own business.
const GOES_ON: [&str; 5] = ["owner", "className", "workloadSpec", "apis", "overrides"];

/// Asks an environment for what runs in another.
pub(super) async fn promote(
    cluster: &Cluster,
    scene: &Scene,
    promoted: &Promoted,
    to: &EnvironmentName,
) -> Result<(), Failure> {
    let from = scene.older_object(&promoted.from).ok_or_else(|| {
        Failure::new(format!(
            "{} does not run in {}",
            scene.name(),
            promoted.from
        ))
    })?;
    let asked = text(&from["status"], "requestedRelease");
    if asked != promoted.release {
        return Err(Failure::new(format!(
            "{} is not what {} of {} asks for any more",
            promoted.release,
            text(from, "kind"),
            promoted.from
        ))
        .saying(format!("it asks for {asked}"))
        .next(format!("See it: quad status {}", scene.name())));
    }
    let by = cluster.whoami().await?;
    match scene.older_object(to) {
        Some(there) => change(cluster, from, there, &by).await,
        None => {
            let object = copied(from, &scene.name(), to, &by);
            let made = cluster.create(plural(from), &object).await;
            made.map(drop).map_err(|error| cluster.failed(&error))
        }
    }
}

fn plural(object: &Value) -> &'static str {
    match text(object, "kind") {
        "Deployment" => "deployments",
        "ServiceBinding" => "servicebindings",
        "WebApplicationBinding" => "webapplicationbindings",
        _ => "scheduledtaskbindings",
    }
}

/// What goes on of a spec.
fn onward(object: &Value) -> Value {
    let spec = &object["spec"];
    if object["kind"] == "Deployment" {
        return json!({ "deploymentArtifactRef": spec["deploymentArtifactRef"] });
    }
    let kept: Map<String, Value> = GOES_ON
        .iter()
        .filter(|field| !spec[**field].is_null())
        .map(|field| ((*field).to_owned(), spec[*field].clone()))
        .collect();
    Value::Object(kept)
}

/// The same for an environment where nothing is yet.
fn copied(from: &Value, component: &str, to: &EnvironmentName, by: &str) -> Value {
    let metadata = &from["metadata"];
    let name = match text(from, "kind") {
        "Deployment" => format!("{component}-{to}"),
        _ => format!("{}-{to}", fields::name(from)),
    };
    let mut labels = metadata["labels"].clone();
    labels[hierarchy::ENVIRONMENT] = json!(to);
    if !labels[hierarchy::NAME].is_null() {
        labels[hierarchy::NAME] = json!(name);
    }
    let mut spec = onward(from);
    if from["kind"] != "Deployment" {
        spec["environment"] = json!(to);
    }
    json!({
        "apiVersion": from["apiVersion"], "kind": from["kind"],
        "metadata": {
            "name": name, "namespace": metadata["namespace"], "labels": labels,
            "annotations": { annotations::REQUESTED_BY: by },
        },
        "spec": spec,
    })
}

async fn change(cluster: &Cluster, from: &Value, there: &Value, by: &str) -> Result<(), Failure> {
    let mut change = json!({
        "metadata": { "annotations": { annotations::REQUESTED_BY: by } },
    });
    if let Some(spec) = merge::between(&onward(there), &onward(from)) {
        change["spec"] = spec;
    }
    let path = cluster.path_of_ours(plural(there), fields::name(there));
    let request = Request::patch(format!("{path}?fieldManager={MANAGER}"))
        .header(header::CONTENT_TYPE, "application/merge-patch+json")
        .body(change.to_string().into_bytes())
        .map_err(|error| cluster.failed(&kube::Error::HttpError(error)))?;
    let changed = cluster.send(request).await;
    changed.map(drop).map_err(|error| cluster.failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_goes_on_with_its_artifact_and_without_what_is_the_environments_own() {
        let from = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Deployment",
            "metadata": { "name": "cart-dev", "namespace": "acme", "labels": {
                hierarchy::COMPONENT: "cart", hierarchy::ENVIRONMENT: "dev", hierarchy::NAME: "cart-dev",
            } },
            "spec": { "deploymentArtifactRef": "cart-1", "configurationOverrides": { "application": {} } },
        });
        assert_eq!(
            copied(&from, "cart", &"prod".into(), "anna"),
            json!({
                "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Deployment",
                "metadata": { "name": "cart-prod", "namespace": "acme", "labels": {
                    hierarchy::COMPONENT: "cart", hierarchy::ENVIRONMENT: "prod", hierarchy::NAME: "cart-prod",
                }, "annotations": { annotations::REQUESTED_BY: "anna" } },
                "spec": { "deploymentArtifactRef": "cart-1" },
            })
        );
    }

    #[test]
    fn a_binding_goes_on_with_its_workload_and_not_with_whether_it_runs() {
        let from = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ServiceBinding",
            "metadata": { "name": "cart", "namespace": "acme" },
            "spec": {
                "owner": { "projectName": "shop", "componentName": "cart" }, "environment": "dev",
                "className": "default", "workloadSpec": { "containers": {} }, "releaseState": "Suspend",
            },
        });
        let made = copied(&from, "cart", &"prod".into(), "anna");
        assert_eq!(made["metadata"]["name"], "cart-prod");
        assert_eq!(
            made["spec"],
            json!({
                "owner": { "projectName": "shop", "componentName": "cart" }, "environment": "prod",
                "className": "default", "workloadSpec": { "containers": {} },
            })
        );
    }
}
