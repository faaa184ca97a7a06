//! A cell is closed before anything is in it, and stays as its project asks for.

use std::{collections::BTreeSet, fs, path::PathBuf};

use k8s_openapi::api::{
    core::v1::{Namespace, Pod},
    networking::v1::NetworkPolicy,
};
use kube::{
    Api,
    api::{DynamicObject, ListParams, Patch, PatchParams},
    core::{ApiResource, GroupVersionKind},
};
use quadrille_render::library;
use quadrille_testkit::{Cluster, eventually};
use quadrille_types::{DataPlane, Project, annotations, labels::hierarchy};
use serde_json::{Value, json};

use crate::{
    guard::{Guard, Sight},
    shop::Shop,
};

const DENIED: &str = "openchoreo-default-deny";
const COMPONENTS: [&str; 3] = ["cart", "database", "web"];

async fn enforce(shop: &Shop, word: Value) {
    let asked = json!({ "metadata": { "annotations": { annotations::CELL_EGRESS: word } } });
    shop.patch::<Project>("shop", asked).await;
}

/// Applies a document of ours, to the organization where it is not the whole cluster's.
async fn apply(shop: &Shop, mut document: Value) {
    let kind = document["kind"].as_str().unwrap().to_owned();
    let gvk = GroupVersionKind::gvk("openchoreo.dev", "v1alpha1", &kind);
    let resource = ApiResource::from_gvk(&gvk);
    let client = shop.stage.client();
    let api: Api<DynamicObject> = if kind.starts_with("Cluster") {
        Api::all_with(client, &resource)
    } else {
        document["metadata"]["namespace"] = json!(shop.org);
        Api::namespaced_with(client, &shop.org, &resource)
    };
    let name = document["metadata"]["name"].as_str().unwrap().to_owned();
    let how = PatchParams::apply("test").force();
    let patched = api.patch(&name, &how, &Patch::Apply(&document)).await;
    patched.unwrap();
}

/// The components of the sample.
fn sample() -> Vec<Value> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../samples/shop");
    let mut documents = Vec::new();
    for name in COMPONENTS {
        let text = fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap();
        let read: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        documents.extend(read);
    }
    documents
}

/// A shop on a cluster that runs pods and has the kinds that routes are made of.
async fn furnished() -> Shop {
    let shop = Shop::open_on(Cluster::start_with_other_kinds().await.unwrap()).await;
    for document in library::documents() {
        apply(&shop, document).await;
    }
    let external = json!({
        "name": "external", "namespace": "gateways",
        "http": { "host": "apps.example.test", "port": 8080 },
    });
    let plane = json!({
        "kubernetesCluster": { "inCluster": true },
        "gateway": { "ingress": { "external": external } },
    });
    shop.apply::<DataPlane>("local", plane).await;
    shop
}

/// What of a cell is there at a moment.
#[derive(Default)]
struct Cell {
    has_namespace: bool,
    policies: BTreeSet<String>,
    /// Whether the policy that closes it closes what leaves it, too.
    is_closed_both_ways: bool,
}

impl Cell {
    fn take(&mut self, sight: &Sight) {
        match sight.kind.as_str() {
            "Namespace" => self.has_namespace = !sight.is_gone,
            "NetworkPolicy" if sight.is_gone => {
                self.policies.remove(sight.name());
            }
            "NetworkPolicy" => {
                self.policies.insert(sight.name().to_owned());
                if sight.name() == DENIED {
                    self.is_closed_both_ways = closes_both_ways(&sight.object);
                }
            }
            _ => {}
        }
    }
}

fn closes_both_ways(policy: &Value) -> bool {
    policy["spec"]["policyTypes"] == json!(["Ingress", "Egress"])
}

fn component_of(pod: &Value) -> &str {
    let component = &pod["metadata"]["labels"][hierarchy::COMPONENT];
    component.as_str().unwrap_or_default()
}

#[tokio::test]
async fn no_pod_is_ever_there_before_the_policies_of_its_cell_and_its_own() {
    for egress in [Value::Null, json!("enforce")] {
        let shop = furnished().await;
        enforce(&shop, egress.clone()).await;
        let mut guard = Guard::new();
        guard.post::<Namespace>(&shop, None).await;
        guard.post::<NetworkPolicy>(&shop, None).await;
        guard.post::<Pod>(&shop, None).await;
        for document in sample() {
            apply(&shop, document).await;
        }
        let cell = shop.cell("shop", "dev");
        let pods: Api<Pod> = Api::namespaced(shop.stage.client(), &cell);
        eventually("each component has a pod", async || {
            let all = pods.list(&ListParams::default()).await.unwrap();
            let all: Vec<Value> = all.items.iter().map(|pod| json!(pod)).collect();
            let there: BTreeSet<&str> = all.iter().map(component_of).collect();
            if COMPONENTS.iter().all(|name| there.contains(name)) {
                Ok(())
            } else {
                let bindings: Vec<_> = shop.bindings().await;
                Err(format!("{there:?} {bindings:#?}"))
            }
        })
        .await;
        let seen = guard.relieve().await;
        let mut known = Cell::default();
        let mut born = BTreeSet::new();
        for sight in &seen {
            let is_here = match sight.kind.as_str() {
                "Namespace" => sight.name() == cell,
                _ => sight.namespace() == cell,
            };
            if !is_here {
                continue;
            }
            known.take(sight);
            if sight.kind != "Pod" || !born.insert(sight.name().to_owned()) {
                continue;
            }
            let (pod, own) = (
                sight.name(),
                format!("openchoreo-{}", component_of(&sight.object)),
            );
            assert!(known.has_namespace, "{pod}");
            for policy in [DENIED, &own] {
                let policies = &known.policies;
                assert!(policies.contains(policy), "{pod}: only {policies:?}");
            }
            assert_eq!(known.is_closed_both_ways, !egress.is_null(), "{pod}");
        }
        assert!(born.len() >= COMPONENTS.len(), "{born:?}");
    }
}

#[tokio::test]
async fn what_leaves_a_cell_is_closed_and_opened_as_its_project_says() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let cell = shop.cell("shop", "dev");
    let policies: Api<NetworkPolicy> = Api::namespaced(shop.stage.client(), &cell);
    let until = async |is_closed: bool| {
        for name in [DENIED, "openchoreo-cart"] {
            eventually(
                &format!("{name} closes both ways: {is_closed}"),
                async || {
                    let policy = json!(policies.get(name).await.unwrap());
                    if closes_both_ways(&policy) == is_closed {
                        Ok(())
                    } else {
                        Err(policy["spec"].to_string())
                    }
                },
            )
            .await;
        }
        shop.until_ready("cart", "dev").await;
    };
    until(false).await;
    enforce(&shop, json!("enforce")).await;
    until(true).await;
    // A word that nobody knows changes nothing, and is told.
    enforce(&shop, json!("enforced")).await;
    let synced = quadrille_types::conditions::ConditionType::ReleaseSynced;
    shop.until("cart", "dev", synced, "False", "must be enforce or open")
        .await;
    let denied = json!(policies.get(DENIED).await.unwrap());
    assert!(closes_both_ways(&denied));
    enforce(&shop, json!("open")).await;
    until(false).await;
    enforce(&shop, json!("enforce")).await;
    until(true).await;
    enforce(&shop, Value::Null).await;
    until(false).await;
}
