//! Tests of [`super`] that need no cluster, and of the table that needs one.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Request, Response};
use kube::client::Body;
use quadrille_testkit::Cluster;
use serde_json::json;

use super::*;

/// A plane that serves one kind after another: with each request, one more.
fn growing(asked: &Arc<AtomicUsize>) -> Kinds {
    let asked = Arc::clone(asked);
    let service = tower::service_fn(move |request: Request<Body>| {
        assert_eq!(request.uri(), "/apis/example.org/v1");
        let count = asked.fetch_add(1, Ordering::SeqCst) + 1;
        let resource = |n| {
            json!({
                "name": format!("kind{n}s"), "kind": format!("Kind{n}"), "namespaced": true,
                "singularName": "", "verbs": [],
            })
        };
        let scale = json!({
            "name": "kind1s/scale", "kind": "Scale", "namespaced": true,
            "singularName": "", "verbs": [],
        });
        let resources: Vec<_> = (1..=count).map(resource).chain([scale]).collect();
        let list = json!({
            "kind": "APIResourceList", "apiVersion": "v1",
            "groupVersion": "example.org/v1", "resources": resources,
        });
        let answer = Response::new(Body::from(list.to_string().into_bytes()));
        std::future::ready(Ok::<_, std::convert::Infallible>(answer))
    });
    Kinds::new(Client::new(service, "default"))
}

#[tokio::test(start_paused = true)]
async fn a_missing_kind_is_looked_for_once_a_second() {
    let asked = Arc::new(AtomicUsize::new(0));
    let kinds = growing(&asked);
    let find = async |kind: &str| kinds.resolve("example.org", "v1", kind).await;
    assert!(find("Kind1").await.is_ok());
    for _ in 0..10 {
        let trouble = find("Kind2").await.unwrap_err();
        assert_eq!(trouble.reason(), "NotServed");
        let words = "the plane does not serve kind Kind2 of example.org/v1";
        assert_eq!(trouble.message(), words);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    tokio::time::advance(BELIEVED).await;
    assert!(find("Kind2").await.is_ok());
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    tokio::time::advance(BELIEVED).await;
    assert!(find("Kind1").await.is_ok(), "what is known stays known");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert!(find("Scale").await.is_err(), "a subresource is no kind");
}

#[tokio::test]
async fn the_kinds_that_are_known_without_asking_are_as_a_cluster_serves_them() -> anyhow::Result<()>
{
    let cluster = Cluster::start().await?;
    let kinds = Kinds::new(cluster.client());
    for (group, version, rows) in builtin::GROUPS {
        let served = kinds.ask(group, version).await?;
        for (kind, _, _) in *rows {
            let known = kinds.known(group, version, kind);
            assert_eq!(
                known.as_ref(),
                served.get(*kind),
                "{group}/{version} {kind}"
            );
        }
    }
    let gateway = kinds.known("gateway.networking.k8s.io", "v1", "HTTPRoute");
    assert_eq!(gateway, None);
    Ok(())
}
