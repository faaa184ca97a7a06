//! Components that the deployment system deploys, seen as if they were bound: what runs in an environment, what is asked for
//! there, and where it is reached, are told in the same words by all kinds.

use quadrille_types::{Component, ReleaseBinding, labels::hierarchy};
use serde_json::{Value, json};

use super::understood;
use crate::{
    cluster::Cluster,
    failure::Failure,
    fields::{self, text},
    plane::OURS,
    requests::OBJECTS,
};

/// Where a component of an older type runs.
pub(super) async fn bindings(
    cluster: &Cluster,
    component: &Component,
) -> Result<Vec<ReleaseBinding>, Failure> {
    let owner = component.spec.owner.project_name.as_str();
    let name = component.metadata.name.as_deref().unwrap_or_default();
    let labels = component.metadata.labels.as_ref();
    let logical = labels.and_then(|labels| labels.get(hierarchy::NAME));
    let logical = logical.map_or(name, String::as_str);
    let mut found = Vec::new();
    let endpoints = labelled(cluster, "endpoints", owner, logical).await?;
    for deployment in labelled(cluster, "deployments", owner, logical).await? {
        let environment = label(&deployment, hierarchy::ENVIRONMENT).to_owned();
        let own = endpoints.iter().filter(|endpoint| {
            let owners = fields::items(&endpoint["metadata"]["ownerReferences"]).iter();
            let mut uids = owners.map(|owner| text(owner, "uid"));
            uids.any(|uid| uid == fields::uid(&deployment))
        });
        let reached = own.filter_map(|endpoint| {
            let address = endpoint["status"]["address"].as_str()?;
            Some(json!({ "name": label(endpoint, hierarchy::NAME), "invokeURL": address }))
        });
        let seen = as_binding(&deployment, (owner, name), &environment, reached.collect());
        found.push(understood(seen)?);
    }
    for plural in [
        "servicebindings",
        "webapplicationbindings",
        "scheduledtaskbindings",
    ] {
        for binding in cluster.values_of_component(plural, owner, name).await? {
            let environment = text(&binding["spec"], "environment").to_owned();
            let endpoints = fields::items(&binding["status"]["endpoints"]).iter();
            let reached = endpoints.filter_map(|endpoint| {
                let ways = ["public", "organization", "project"].iter();
                let mut ways = ways.filter_map(|way| endpoint[way]["uri"].as_str());
                Some(json!({ "name": text(endpoint, "name"), "invokeURL": ways.next()? }))
            });
            let seen = as_binding(&binding, (owner, name), &environment, reached.collect());
            found.push(understood(seen)?);
        }
    }
    Ok(found)
}

async fn labelled(
    cluster: &Cluster,
    plural: &str,
    project: &str,
    component: &str,
) -> Result<Vec<Value>, Failure> {
    let namespace = &cluster.namespace;
    let path = format!(
        "{OURS}/{namespace}/{plural}?labelSelector=openchoreo.dev%2Fproject%3D{project}\
         %2Copenchoreo.dev%2Fcomponent%3D{component}"
    );
    let list = cluster.read(&path, OBJECTS).await;
    let list = list.map_err(|error| cluster.failed(&error))?;
    Ok(fields::items(&list["items"]).to_vec())
}

fn label<'a>(object: &'a Value, key: &str) -> &'a str {
    text(&object["metadata"]["labels"], key)
}

/// An object that runs something of a component in an environment, as a binding tells it.
fn as_binding(
    object: &Value,
    (project, component): (&str, &str),
    environment: &str,
    reached: Vec<Value>,
) -> Value {
    let status = &object["status"];
    let mut seen = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ReleaseBinding",
        "metadata": object["metadata"],
        "spec": {
            "owner": { "projectName": project, "componentName": component },
            "environment": environment,
            "releaseName": status["requestedRelease"],
        },
        "status": {
            "endpoints": reached,
            "conditions": fields::items(&status["conditions"]),
            "currentRelease": status["currentRelease"],
            "history": fields::items(&status["history"]),
        },
    });
    if object["spec"]["releaseState"] == "Undeploy" {
        seen["spec"]["state"] = json!("Undeploy");
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::standing::Standing;

    #[test]
    fn a_deployment_tells_what_runs_and_what_waits_as_a_binding_does() {
        let waits = json!({
            "type": "Admitted", "status": "False", "reason": "ApprovalRequired", "message": "m",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        let mut ready = waits.clone();
        ready["type"] = json!("Ready");
        let deployment = json!({
            "metadata": { "name": "cart-prod", "generation": 1 },
            "spec": { "deploymentArtifactRef": "cart-2" },
            "status": {
                "conditions": [waits, ready], "requestedRelease": "cart-2-abc",
                "currentRelease": "cart-1-abc", "history": [{ "releaseName": "cart-1-abc" }],
            },
        });
        let reached = vec![json!({ "name": "api", "invokeURL": "http://x/" })];
        let seen = as_binding(&deployment, ("shop", "cart"), "prod", reached);
        let seen: ReleaseBinding = serde_json::from_value(seen).unwrap();
        assert_eq!(Standing::of(&seen), Standing::NeedsApproval("m".to_owned()));
        assert_eq!(crate::chain::urls::of(&seen), ["http://x/"]);
        let status = seen.status.unwrap();
        assert_eq!(status.current_release.as_deref(), Some("cart-1-abc"));
    }

    #[test]
    fn what_was_taken_away_is_told_as_such() {
        let binding = json!({
            "metadata": { "name": "cart" },
            "spec": { "releaseState": "Undeploy" },
            "status": { "requestedRelease": "cart-abc" },
        });
        let seen = as_binding(&binding, ("shop", "cart"), "dev", Vec::new());
        let seen: ReleaseBinding = serde_json::from_value(seen).unwrap();
        assert_eq!(Standing::of(&seen), Standing::Undeployed);
    }
}
