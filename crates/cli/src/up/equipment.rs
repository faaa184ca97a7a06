//! What a platform is equipped with once it can be reached: the gateways of its data plane, the component types and traits
//! that we ship, and classes for whoever deploys by those.
//!
//! All of it is applied in a name of its own and without force, once for each content: what somebody changed or deleted
//! stays so, and what nobody touched follows a newer `quad`.

use std::collections::BTreeSet;

use http::{Request, StatusCode, header};
use kube::Client;
use quadrille_controllers::Without;
use quadrille_objects::digest::Digest;
use quadrille_render::library;
use serde_json::{Value, json};

use super::defaults::{NAMESPACE, send};
use crate::{apply::MANAGER, failure::Failure, fields, kinds};

const GATEWAYS: &str = include_str!("gateways.yaml");
const CLASSES: &str = include_str!("classes.yaml");

/// Who brings it: not who applies documents, so that edits of people are told apart.
const BRINGER: &str = "quad-library";

/// On the default namespace: a digest of what was brought last.
const BROUGHT: &str = "quadrille.dev/equipment";
/// On the default namespace: which objects that were.
const OBJECTS: &str = "quadrille.dev/equipment-objects";

/// Brings it, unless the same was brought before. Gives what was left as somebody made it.
pub(crate) async fn bring(client: &Client, without: Without) -> Result<Vec<String>, Failure> {
    let failed = |error: kube::Error| {
        Failure::new("the component types, traits and classes cannot be installed").because(&error)
    };
    let namespace = format!("/api/v1/namespaces/{NAMESPACE}");
    let found = send(client, Request::get(&namespace), None)
        .await
        .map_err(failed)?;
    let notes = &found["metadata"]["annotations"];
    let texts = library::FILES.iter().map(|(_, text)| *text);
    let classes = (!without.deployment_system).then_some(CLASSES);
    let digest = Digest::of(texts.chain([GATEWAYS]).chain(classes)).to_string();
    if notes[BROUGHT] == digest.as_str() {
        return Ok(Vec::new());
    }
    let before: BTreeSet<String> = fields::text(notes, OBJECTS)
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let mut documents = library::documents();
    if names_our_gateways(client).await.map_err(failed)? {
        documents.splice(0..0, read(GATEWAYS)?);
    }
    if let Some(classes) = classes
        && has_organization(client).await.map_err(failed)?
    {
        documents.extend(read(classes)?);
    }
    let mut left = Vec::new();
    for document in &documents {
        let called = called(document);
        let path = path_of(document);
        if before.contains(&called) && is_gone(client, &path).await.map_err(failed)? {
            // Somebody deleted it.
            continue;
        }
        match apply(client, &path, document).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == StatusCode::CONFLICT => {
                left.push(called);
            }
            Err(error) => return Err(failed(error)),
        }
    }
    let mut objects = before;
    objects.extend(documents.iter().map(called));
    let objects: Vec<String> = objects.into_iter().collect();
    let patch =
        json!({ "metadata": { "annotations": { BROUGHT: digest, OBJECTS: objects.join(" ") } } });
    let request = Request::patch(format!("{namespace}?fieldManager={MANAGER}"))
        .header(header::CONTENT_TYPE, "application/merge-patch+json");
    send(client, request, Some(&patch)).await.map_err(failed)?;
    Ok(left)
}

fn read(text: &str) -> Result<Vec<Value>, Failure> {
    serde_saphyr::from_multiple(text).map_err(|error| {
        Failure::new("what a platform is equipped with cannot be read").because(&error)
    })
}

/// Whether there is the organization that classes are for.
async fn has_organization(client: &Client) -> Result<bool, kube::Error> {
    let path = format!("/apis/openchoreo.dev/v1alpha1/organizations/{NAMESPACE}");
    Ok(!is_gone(client, &path).await?)
}

/// Whether the default data plane is the one that we made: another one has gateways of its own.
async fn names_our_gateways(client: &Client) -> Result<bool, kube::Error> {
    let path = format!("/apis/openchoreo.dev/v1alpha1/namespaces/{NAMESPACE}/dataplanes/default");
    let plane = match send(client, Request::get(path), None).await {
        Ok(plane) => plane,
        Err(kube::Error::Api(status)) if status.code == StatusCode::NOT_FOUND => return Ok(false),
        Err(error) => return Err(error),
    };
    let named = &plane["spec"]["gateway"]["ingress"]["external"];
    Ok(named["name"] == "external" && named["namespace"] == "gateways")
}

fn called(document: &Value) -> String {
    format!(
        "{}/{}",
        fields::text(document, "kind"),
        fields::name(document)
    )
}

fn path_of(document: &Value) -> String {
    let collection = match fields::text(document, "kind") {
        "Namespace" => "/api/v1/namespaces".to_owned(),
        "GatewayClass" => "/apis/gateway.networking.k8s.io/v1/gatewayclasses".to_owned(),
        "Gateway" => format!(
            "/apis/gateway.networking.k8s.io/v1/namespaces/{}/gateways",
            fields::namespace(document)
        ),
        _ => kinds::path_of_ours(document).expect("the library is of our kinds"),
    };
    format!("{collection}/{}", fields::name(document))
}

async fn is_gone(client: &Client, path: &str) -> Result<bool, kube::Error> {
    match send(client, Request::get(path), None).await {
        Ok(_) => Ok(false),
        Err(kube::Error::Api(status)) if status.code == StatusCode::NOT_FOUND => Ok(true),
        Err(error) => Err(error),
    }
}

async fn apply(client: &Client, path: &str, document: &Value) -> Result<Value, kube::Error> {
    let request = Request::patch(format!("{path}?fieldManager={BRINGER}"))
        .header(header::CONTENT_TYPE, "application/apply-patch+yaml");
    send(client, request, Some(document)).await
}

#[cfg(test)]
mod tests {
    use quadrille_apiserver::{Server, auth::User};
    use quadrille_store::Store;

    use super::*;

    /// A cluster in this process that has nothing but definitions.
    async fn cluster() -> (Server, Client) {
        let store = Store::in_memory(quadrille_store::Options::default()).unwrap();
        let mut options = quadrille_apiserver::Options::new(store).unwrap();
        options.definitions = super::super::cluster::definitions();
        let server = Server::start(options).await.unwrap();
        let client = Client::new(server.router_as(&User::admin()), "default");
        (server, client)
    }

    async fn patched(client: &Client, path: &str, manager: &str, change: &Value) {
        let request = Request::patch(format!("{path}?fieldManager={manager}"))
            .header(header::CONTENT_TYPE, "application/merge-patch+json");
        send(client, request, Some(change)).await.unwrap();
    }

    #[tokio::test]
    async fn what_somebody_changed_or_deleted_stays_so_when_another_content_comes() {
        let (_server, client) = cluster().await;
        let types = "/apis/openchoreo.dev/v1alpha1/clustercomponenttypes";
        let (worker, proxy, service) = (
            format!("{types}/worker"),
            format!("{types}/proxy"),
            format!("{types}/service"),
        );
        assert!(bring(&client, Without::default()).await.unwrap().is_empty());
        let kept = json!({ "spec": { "allowedTraits": [] } });
        patched(&client, &worker, "anna", &kept).await;
        send(&client, Request::delete(&proxy), None).await.unwrap();
        let as_before = send(&client, Request::get(&service), None).await.unwrap();
        // The same content is not brought again.
        assert!(bring(&client, Without::default()).await.unwrap().is_empty());
        assert!(is_gone(&client, &proxy).await.unwrap());
        let older = json!({ "metadata": { "annotations": { BROUGHT: "another" } } });
        let namespace = format!("/api/v1/namespaces/{NAMESPACE}");
        patched(&client, &namespace, "older", &older).await;
        assert_eq!(
            bring(&client, Without::default()).await.unwrap(),
            ["ClusterComponentType/worker"]
        );
        assert!(is_gone(&client, &proxy).await.unwrap());
        let edited = send(&client, Request::get(&worker), None).await.unwrap();
        assert_eq!(edited["spec"]["allowedTraits"], json!([]));
        let after = send(&client, Request::get(&service), None).await.unwrap();
        assert_eq!(as_before["spec"], after["spec"]);
    }

    #[tokio::test]
    async fn classes_come_where_there_is_their_organization_unless_their_family_is_left_out() {
        let (_server, client) = cluster().await;
        let class = format!(
            "/apis/openchoreo.dev/v1alpha1/namespaces/{NAMESPACE}/scheduledtaskclasses/default"
        );
        let organizations = Request::post("/apis/openchoreo.dev/v1alpha1/organizations")
            .header(header::CONTENT_TYPE, "application/json");
        let organization = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Organization",
            "metadata": { "name": NAMESPACE },
        });
        send(&client, organizations, Some(&organization))
            .await
            .unwrap();
        let without = Without {
            deployment_system: true,
        };
        bring(&client, without).await.unwrap();
        assert!(is_gone(&client, &class).await.unwrap());
        bring(&client, Without::default()).await.unwrap();
        assert!(!is_gone(&client, &class).await.unwrap());
    }

    #[test]
    fn everything_that_is_brought_has_a_place() {
        let mut all = library::documents();
        all.extend(read(GATEWAYS).unwrap());
        all.extend(read(CLASSES).unwrap());
        let paths: BTreeSet<String> = all.iter().map(path_of).collect();
        assert_eq!(paths.len(), all.len());
        assert!(
            paths.contains("/apis/openchoreo.dev/v1alpha1/clustercomponenttypes/service"),
            "{paths:?}"
        );
        assert!(
            paths.contains(
                "/apis/gateway.networking.k8s.io/v1/namespaces/gateways/gateways/external"
            ),
            "{paths:?}"
        );
    }
}
