//! Kinds that a plane serves, and those that arrive late.

use futures::future::join_all;
use quadrille_planes::Kinds;
use quadrille_testkit::{
    Cluster, definitions, eventually,
    wire::{Failure, Fault, Gate, Matcher, Verb},
};
use serde_json::json;

const OURS: (&str, &str, &str) = ("openchoreo.dev", "v1alpha1", "DataPlane");

fn asked(group: &str) -> Matcher {
    Matcher::verb(Verb::Get).resource(&format!("/apis/{group}"))
}

#[tokio::test]
async fn common_kinds_cost_no_request_and_others_one_per_group() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let kinds = Kinds::new(cluster.client());
    cluster.wire().forget();
    let deployment = kinds.resolve("apps", "v1", "Deployment").await?;
    assert_eq!(deployment.resource.plural, "deployments");
    assert!(cluster.wire().calls().is_empty());

    let (group, version, kind) = OURS;
    assert_eq!(kinds.known(group, version, kind), None);
    for kind in [kind, "Environment", kind] {
        let served = kinds.resolve(group, version, kind).await?;
        assert_eq!(served.resource.api_version, "openchoreo.dev/v1alpha1");
        assert!(served.namespaced);
        assert_eq!(kinds.known(group, version, kind), Some(served));
    }
    assert_eq!(cluster.wire().calls().len(), 1);
    kinds.forget(group);
    kinds.resolve(group, version, kind).await?;
    assert_eq!(cluster.wire().calls().len(), 2);
    Ok(())
}

#[tokio::test]
async fn many_who_ask_at_once_are_one_request() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let kinds = Kinds::new(cluster.client());
    cluster.wire().forget();
    let gate = Gate::closed();
    cluster
        .wire()
        .inject(Matcher::any(), Fault::HoldAnswer(gate.clone()));
    let (group, version, kind) = OURS;
    let all = join_all((0..10).map(|_| kinds.resolve(group, version, kind)));
    let open = async {
        gate.reached_by(1).await;
        gate.open();
    };
    let (all, ()) = tokio::join!(all, open);
    assert!(all.into_iter().all(|one| one.is_ok()));
    assert_eq!(cluster.wire().calls().len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_kind_whose_definition_arrives_late_is_found() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let kinds = Kinds::new(cluster.client());
    let group = format!("{}.example.org", cluster.namespace());
    let find = async || kinds.resolve(&group, "v1", "Late").await;
    assert_eq!(find().await.unwrap_err().reason(), "NotServed");
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("latecomers.{group}") },
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": { "kind": "Late", "plural": "latecomers" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object" } },
            }],
        },
    });
    definitions::install(&cluster.client(), &[definition]).await?;
    let served = eventually("the kind is found", find).await;
    assert_eq!(served.resource.plural, "latecomers");
    assert!(!served.namespaced);
    Ok(())
}

#[tokio::test]
async fn trouble_is_passed_on_and_not_remembered() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let kinds = Kinds::new(cluster.client());
    let (group, version, kind) = OURS;
    let fault = Fault::Fail(Failure::unavailable());
    let broken = cluster
        .wire()
        .inject(asked("openchoreo.dev/v1alpha1").first(1), fault.clone());
    // What other groups answer does not matter.
    cluster.wire().inject(asked("metrics.k8s.io/v1"), fault);
    let trouble = kinds.resolve(group, version, kind).await.unwrap_err();
    assert_eq!((trouble.reason(), broken.hits()), ("ServerFault", 1));
    assert!(kinds.resolve(group, version, kind).await.is_ok());
    Ok(())
}
