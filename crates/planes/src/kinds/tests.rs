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
async fn who_does_not_say_what_is_served_has_not_said_that_a_kind_is_missing() {
    let groups = json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": [{
        "name": "apps", "versions": [{ "groupVersion": "apps/v1", "version": "v1" }],
    }]});
    // As a load balancer answers whose cluster is gone: always, or in the midst of it.
    for answers in [&[][..], &["/apis"]] {
        let groups = groups.to_string();
        let service = tower::service_fn(move |request: Request<Body>| {
            let mut answer = Response::new(Body::from(groups.clone().into_bytes()));
            if !answers.contains(&request.uri().path()) {
                answer = Response::new(Body::from(b"404 page not found".to_vec()));
                *answer.status_mut() = http::StatusCode::NOT_FOUND;
            }
            std::future::ready(Ok::<_, std::convert::Infallible>(answer))
        });
        let kinds = Kinds::new(Client::new(service, "default"));
        for (group, kind) in [("", "ConfigMap"), ("apps", "Deployment")] {
            let found = kinds.resolve_anew(group, "v1", kind);
            let trouble = found.await.unwrap_err();
            assert_eq!(trouble.reason(), "Unreadable", "{kind}: {trouble}");
        }
    }
}

#[tokio::test]
async fn a_kind_is_found_in_the_version_that_is_known_as_long_as_that_is_there()
-> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let kinds = Kinds::new(cluster.client());
    for (asked, found) in [("v1", "v1"), ("v2", "v2"), ("v2beta2", "v2")] {
        let served = kinds
            .resolve_anew("autoscaling", asked, "HorizontalPodAutoscaler")
            .await?;
        assert_eq!(served.resource.version, found, "asked for {asked}");
    }
    Ok(())
}

#[tokio::test]
async fn a_cluster_says_which_kinds_it_does_not_serve() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let kinds = Kinds::new(cluster.client());
    for (group, kind) in [("", "ConfigMap"), ("apps", "Deployment")] {
        let served = kinds.resolve_anew(group, "v1", kind).await?;
        assert_eq!(Some(served), kinds.known(group, "v1", kind), "{kind}");
    }
    for (group, kind) in [("", "Wish"), ("apps", "Wish"), ("example.org", "Kind1")] {
        let trouble = kinds.resolve_anew(group, "v1", kind).await.unwrap_err();
        assert_eq!(trouble.reason(), "NotServed", "{kind}: {trouble}");
    }
    Ok(())
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
