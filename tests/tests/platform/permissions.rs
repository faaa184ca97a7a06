//! The controllers run with exactly what `deploy/rbac/` allows, and nothing is refused.

use std::path::Path;

use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec},
    core::v1::ServiceAccount,
};
use kube::{
    Api, Client, Config,
    api::{DynamicObject, Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
    core::{ApiResource, TypeMeta},
};
use quadrille_testkit::eventually;
use quadrille_types::Organization;
use serde_json::Value;

use crate::stage::Stage;

const NAMESPACE: &str = "quadrille-system";
const ACCOUNT: &str = "quad-controller";

#[tokio::test]
async fn the_controllers_need_no_more_than_the_generated_roles() {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    for file in ["controller.yaml", "plane.yaml"] {
        install(&stage, file).await;
    }
    let client = as_account(&stage).await;
    for (group, resource, verb) in [
        ("", "pods", "create"),
        ("", "nodes", "list"),
        ("", "serviceaccounts", "impersonate"),
        ("rbac.authorization.k8s.io", "clusterroles", "create"),
        ("openchoreo.dev", "organizations", "delete"),
    ] {
        let may = may(&client, group, resource, verb).await;
        assert!(!may, "{verb} {resource}: more than it needs");
    }
    stage.run_as(&client, &acme);
    stage.furnished(&acme).await;
    let organizations = stage.cluster.all::<Organization>();
    stage.delete(&organizations, &acme).await;
    stage.nothing_left(&acme).await;
}

/// Whether somebody may do something in the whole cluster, by the server's own word.
async fn may(client: &Client, group: &str, resource: &str, verb: &str) -> bool {
    let review = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                group: Some(group.to_owned()),
                resource: Some(resource.to_owned()),
                verb: Some(verb.to_owned()),
                ..ResourceAttributes::default()
            }),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let reviews = Api::<SelfSubjectAccessReview>::all(client.clone());
    let answer = reviews
        .create(&PostParams::default(), &review)
        .await
        .unwrap();
    answer.status.unwrap().allowed
}

/// Applies a file of `deploy/rbac`.
async fn install(stage: &Stage, file: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/rbac");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let objects: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
    for object in objects {
        let types: TypeMeta = serde_json::from_value(object.clone()).unwrap();
        let kind = ApiResource::from_gvk(&types.try_into().unwrap());
        let namespace = object["metadata"]["namespace"].as_str();
        let api: Api<DynamicObject> = match namespace {
            Some(namespace) => Api::namespaced_with(stage.client(), namespace, &kind),
            None => Api::all_with(stage.client(), &kind),
        };
        let name = object["metadata"]["name"].as_str().unwrap();
        let apply = PatchParams::apply("test").force();
        api.patch(name, &apply, &Patch::Apply(&object))
            .await
            .unwrap();
    }
}

/// A client that is the controllers' account and nobody else.
async fn as_account(stage: &Stage) -> Client {
    let accounts = Api::<ServiceAccount>::namespaced(stage.client(), NAMESPACE);
    let request = TokenRequest {
        spec: Some(TokenRequestSpec::default()),
        ..TokenRequest::default()
    };
    let token = eventually("the account has a token", async || {
        let parameters = PostParams::default();
        let made = accounts.create_token_request(ACCOUNT, &parameters, &request);
        made.await.map_err(|error| error.to_string())
    })
    .await;
    let path = stage.cluster.kubeconfig().await.unwrap();
    let kubeconfig = Kubeconfig::read_from(path).unwrap();
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .unwrap();
    config.auth_info = kube::config::AuthInfo {
        token: token.status.unwrap().token.map(Into::into),
        ..kube::config::AuthInfo::default()
    };
    Client::try_from(config).unwrap()
}
