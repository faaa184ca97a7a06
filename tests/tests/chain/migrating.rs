//! A component of the deployment system moves to the chain, and its pods do not notice.

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod, networking::v1::NetworkPolicy};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams},
    core::{ApiResource, GroupVersionKind},
};
use quadrille_render::{
    Documents,
    deployment_system::migration::{Migration, migrate},
};
use quadrille_testkit::{Cluster, eventually};
use quadrille_types::{
    Component, DataPlane, Environment, Project, Release, ReleaseBinding, annotations,
    conditions::ConditionType, labels::hierarchy,
};
use serde_json::{Value, json};

use crate::{shop::Shop, stage::until_said};

/// The release that the deployment system has for a Deployment.
const OLD: &str = "deployment-cart-dev";

#[allow(clippy::needless_pass_by_value)] // documents are written down as they are
fn document(kind: &str, name: &str, org: &str, labels: Value, spec: Value) -> Value {
    json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": kind,
        "metadata": { "name": name, "namespace": org, "labels": labels }, "spec": spec,
    })
}

/// What the organization has, and what its Deployment is made of.
async fn around(shop: &Shop) -> Vec<Value> {
    let labels = |name: &str| {
        json!({
            hierarchy::ORGANIZATION: shop.org, hierarchy::PROJECT: "shop", hierarchy::COMPONENT: "cart",
            hierarchy::DEPLOYMENT_TRACK: "main", hierarchy::ENVIRONMENT: "dev", hierarchy::NAME: name,
        })
    };
    let artifact = json!({
        "targetArtifact": { "fromImageRef": { "tag": "registry.test/cart:1" } },
        "configuration": {
            "endpointTemplates": [{
                "metadata": { "name": "api" },
                "spec": { "type": "REST", "backendRef": { "type": "componentRef", "componentRef": { "port": 9090 } } },
            }],
            "application": {
                "env": [{ "key": "LOG_LEVEL", "value": "info" }],
                "fileMounts": [{ "mountPath": "/etc/cart/cart.toml", "value": "a = 1" }],
            },
        },
    });
    let org = shop.org.as_str();
    let deployed = json!({ "deploymentArtifactRef": "cart-1" });
    vec![
        json!(shop.api::<Project>().get("shop").await.unwrap()),
        json!(shop.api::<Environment>().get("dev").await.unwrap()),
        json!(shop.api::<DataPlane>().get("local").await.unwrap()),
        json!(shop.api::<Component>().get("cart").await.unwrap()),
        document("DeploymentTrack", "main", org, labels("main"), json!({})),
        document(
            "DeployableArtifact",
            "cart-1",
            org,
            labels("cart-1"),
            artifact,
        ),
        document("Deployment", "cart-dev", org, labels("cart-dev"), deployed),
    ]
}

async fn apply(shop: &Shop, document: &Value) {
    let kind = document["kind"].as_str().unwrap();
    let gvk = GroupVersionKind::gvk("openchoreo.dev", "v1alpha1", kind);
    let resource = ApiResource::from_gvk(&gvk);
    let api: Api<DynamicObject> = Api::namespaced_with(shop.stage.client(), &shop.org, &resource);
    let name = document["metadata"]["name"].as_str().unwrap();
    let how = PatchParams::apply("test").force();
    api.patch(name, &how, &Patch::Apply(document))
        .await
        .unwrap();
}

/// What the deployment system's own release holds.
async fn deployed_the_older_way(shop: &Shop, migration: &Migration) {
    let resources: Vec<Value> = migration.environments[0]
        .before
        .iter()
        .enumerate()
        .map(|(index, object)| json!({ "id": format!("object-{index}"), "object": object }))
        .collect();
    let spec = json!({
        "owner": { "projectName": "shop", "componentName": "cart" },
        "environmentName": "dev", "resources": resources,
    });
    shop.apply::<Release>(OLD, spec).await;
    let api = shop.api::<Release>();
    until_said(&api, OLD, ConditionType::Ready, "True", "").await;
}

/// The Deployment of Kubernetes, what it makes pods from, and its pods.
async fn running(shop: &Shop) -> (String, Value, Vec<String>) {
    let cell = shop.cell("shop", "dev");
    let only = ListParams::default().labels("component-name=cart");
    let client = shop.stage.client();
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), &cell);
    let found = deployments.list(&only).await.unwrap();
    let [deployment] = found.items.as_slice() else {
        panic!("{} deployments", found.items.len());
    };
    let pods: Api<Pod> = Api::namespaced(client, &cell);
    let pods = pods.list(&only).await.unwrap().items;
    let mut pods: Vec<String> = pods.iter().map(|pod| pod.uid().unwrap()).collect();
    pods.sort();
    let spec = deployment.spec.as_ref().unwrap();
    (deployment.uid().unwrap(), json!(spec.template), pods)
}

async fn annotate(shop: &Shop, release: &str, annotation: &str) {
    let word = json!({ "metadata": { "annotations": { annotation: "true" } } });
    shop.patch::<Release>(release, word).await;
}

#[tokio::test]
async fn a_component_moves_from_the_deployment_system_and_its_pods_stay() {
    let shop = Shop::open_on(Cluster::start_with_node().await.unwrap()).await;
    // Somebody lives in the cell already.
    shop.component("neighbour", "shop", "page:1").await;
    shop.until_ready("neighbour", "dev").await;
    let older = json!({ "owner": { "projectName": "shop" }, "type": "Service" });
    shop.apply::<Component>("cart", older).await;
    let documents = around(&shop).await;
    let migration = migrate(&documents, "cart", None).unwrap();
    assert_eq!(migration.warnings, []);
    deployed_the_older_way(&shop, &migration).await;
    let before = running(&shop).await;

    for document in &migration.documents {
        apply(&shop, document).await;
    }
    let all = documents.iter().filter(|one| one["kind"] != "Component");
    let all = all.chain(&migration.documents).cloned().collect();
    let snapshot = Documents::read(all).unwrap().snapshot("cart").unwrap();
    let spec = json!(snapshot.spec);
    let kept = document(
        "ComponentRelease",
        &snapshot.name,
        &shop.org,
        json!({}),
        spec,
    );
    apply(&shop, &kept).await;
    let pointed = json!({ "spec": { "releaseName": snapshot.name } });
    shop.patch::<ReleaseBinding>("cart-dev", pointed).await;

    // What the chain adds comes at once: there is no moment without the policy that lets the cell in.
    let cell = shop.cell("shop", "dev");
    let policies: Api<NetworkPolicy> = Api::namespaced(shop.stage.client(), &cell);
    eventually("the policy of the type is there", async || {
        let found = policies.get_opt("migrated-cart").await.unwrap();
        found.map(drop).ok_or("none")
    })
    .await;
    shop.until("cart", "dev", ConditionType::Ready, "False", OLD)
        .await;
    assert_eq!(running(&shop).await, before);

    annotate(&shop, "cart-dev", annotations::ADOPT).await;
    annotate(&shop, OLD, annotations::ABANDON).await;
    let releases = shop.api::<Release>();
    releases
        .delete(OLD, &DeleteParams::default())
        .await
        .unwrap();
    shop.until_ready("cart", "dev").await;
    assert_eq!(running(&shop).await, before);
    assert!(!shop.releases().await.contains(&OLD.to_owned()));

    // It is the chain's from now on: a new image is a new pod.
    let mut next = kept.clone();
    next["metadata"]["name"] = json!("cart-next");
    next["spec"]["workload"]["container"]["image"] = json!("registry.test/cart:2");
    apply(&shop, &next).await;
    let pointed = json!({ "spec": { "releaseName": "cart-next" } });
    shop.patch::<ReleaseBinding>("cart-dev", pointed).await;
    shop.until_another("cart", "dev", &snapshot.name).await;
    eventually("the old pod is gone", async || {
        let (uid, template, pods) = running(&shop).await;
        assert_eq!(uid, before.0);
        assert_ne!(template, before.1);
        if pods == before.2 {
            Err("it is still there")
        } else {
            Ok(())
        }
    })
    .await;
}
