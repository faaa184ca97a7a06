//! Components that the deployment system deploys, seen as if they were bound: what runs in an environment, what is asked for
//! there, and where it is reached, are told in the same words by all kinds.

use quadrille_types::{
    Component, ReleaseBinding, conditions::Reason, labels::hierarchy, names::EnvironmentName,
};
use serde_json::{Value, json};

use super::understood;
use crate::{
    cluster::Cluster,
    failure::Failure,
    fields::{self, text},
    plane::OURS,
    requests::OBJECTS,
};

/// What deploys a component of an older kind, and where.
#[derive(Debug)]
pub(crate) struct Older {
    /// The component's kind.
    pub(crate) kind: String,
    /// Deployments and bindings.
    objects: Vec<Value>,
    endpoints: Vec<Value>,
}

impl Older {
    pub(super) async fn read(
        cluster: &Cluster,
        component: &Component,
        kind: String,
    ) -> Result<Self, Failure> {
        let owner = component.spec.owner.project_name.as_str();
        let name = component.metadata.name.as_deref().unwrap_or_default();
        let labels = component.metadata.labels.as_ref();
        let logical = labels.and_then(|labels| labels.get(hierarchy::NAME));
        let logical = logical.map_or(name, String::as_str);
        let endpoints = labelled(cluster, "endpoints", owner, logical).await?;
        let mut objects = labelled(cluster, "deployments", owner, logical).await?;
        for object in &mut objects {
            name_kind(object, "Deployment");
        }
        for (plural, kind) in [
            ("servicebindings", "ServiceBinding"),
            ("webapplicationbindings", "WebApplicationBinding"),
            ("scheduledtaskbindings", "ScheduledTaskBinding"),
        ] {
            for mut binding in cluster.values_of_component(plural, owner, name).await? {
                name_kind(&mut binding, kind);
                objects.push(binding);
            }
        }
        // Of one environment: what waits for somebody first, then what was there first.
        objects.sort_by_key(|object| {
            let metadata = &object["metadata"];
            let made = text(metadata, "creationTimestamp").to_owned();
            (!waits(object), made, fields::name(object).to_owned())
        });
        Ok(Self {
            kind,
            objects,
            endpoints,
        })
    }

    /// What deploys it in an environment.
    pub(super) fn object(&self, environment: &EnvironmentName) -> Option<&Value> {
        let mut objects = self.objects.iter();
        objects.find(|object| environment_of(object) == environment.as_str())
    }

    /// Where it runs, as if it were bound there.
    pub(super) fn bindings(&self, component: &Component) -> Result<Vec<ReleaseBinding>, Failure> {
        let owner = component.spec.owner.project_name.as_str();
        let name = component.metadata.name.as_deref().unwrap_or_default();
        let objects = self.objects.iter();
        objects
            .map(|object| {
                let reached = if object["kind"] == "Deployment" {
                    self.by_endpoints(object)
                } else {
                    by_status(object)
                };
                let environment = environment_of(object);
                understood(as_binding(object, (owner, name), environment, reached))
            })
            .collect()
    }

    fn by_endpoints(&self, deployment: &Value) -> Vec<Value> {
        let own = self.endpoints.iter().filter(|endpoint| {
            let owners = fields::items(&endpoint["metadata"]["ownerReferences"]).iter();
            let mut uids = owners.map(|owner| text(owner, "uid"));
            uids.any(|uid| uid == fields::uid(deployment))
        });
        own.filter_map(|endpoint| {
            let address = endpoint["status"]["address"].as_str()?;
            Some(json!({ "name": label(endpoint, hierarchy::NAME), "invokeURL": address }))
        })
        .collect()
    }
}

/// Where a binding says that it is reached, the widest way first.
fn by_status(binding: &Value) -> Vec<Value> {
    let endpoints = fields::items(&binding["status"]["endpoints"]).iter();
    endpoints
        .filter_map(|endpoint| {
            let ways = ["public", "organization", "project"].iter();
            let mut ways = ways.filter_map(|way| endpoint[way]["uri"].as_str());
            Some(json!({ "name": text(endpoint, "name"), "invokeURL": ways.next()? }))
        })
        .collect()
}

/// Whether something waits for somebody's word.
fn waits(object: &Value) -> bool {
    let admitted = fields::condition(object, "Admitted");
    admitted.is_some_and(|told| {
        let words = [Reason::ApprovalRequired, Reason::ApprovalRejected].map(Reason::as_str);
        told["status"] == "False" && words.contains(&text(told, "reason"))
    })
}

/// Objects of a list don't say what they are.
fn name_kind(object: &mut Value, kind: &str) {
    object["apiVersion"] = json!("openchoreo.dev/v1alpha1");
    object["kind"] = json!(kind);
}

fn environment_of(object: &Value) -> &str {
    if object["kind"] == "Deployment" {
        label(object, hierarchy::ENVIRONMENT)
    } else {
        text(&object["spec"], "environment")
    }
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
    // Until somebody has looked at it, it is called as it is written.
    let written = match text(object, "kind") {
        "Deployment" => text(&object["spec"], "deploymentArtifactRef"),
        _ => fields::name(object),
    };
    let asked = status["requestedRelease"].as_str().unwrap_or(written);
    let mut seen = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ReleaseBinding",
        "metadata": object["metadata"],
        "spec": {
            "owner": { "projectName": project, "componentName": component },
            "environment": environment,
            "releaseName": asked,
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

    #[test]
    fn what_cannot_be_deployed_says_so_though_it_has_no_version_yet() {
        let ready = json!({
            "type": "Ready", "status": "False", "reason": "ArtifactNotFound", "message": "no",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        let deployment = json!({
            "kind": "Deployment", "metadata": { "name": "cart-dev" },
            "spec": { "deploymentArtifactRef": "cart-2" }, "status": { "conditions": [ready] },
        });
        let seen = as_binding(&deployment, ("shop", "cart"), "dev", Vec::new());
        let seen: ReleaseBinding = serde_json::from_value(seen).unwrap();
        assert_eq!(seen.spec.release_name.as_deref(), Some("cart-2"));
        assert_eq!(Standing::of(&seen), Standing::Degraded("no".to_owned()));
    }
}
