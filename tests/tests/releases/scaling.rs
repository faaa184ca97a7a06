//! Replicas that somebody else decides on.

use kube::api::{Patch, PatchParams};
use quadrille_testkit::wire::{Matcher, Verb};
use serde_json::{Value, json};

use crate::{
    objects::{autoscaler, deployment},
    platform::{Platform, config},
};

/// Scales as somebody does who uses the scale subresource.
async fn scale(platform: &Platform, replicas: i64, manager: &str) {
    let api = platform.any("apps", "v1", "Deployment");
    let params = PatchParams {
        field_manager: Some(manager.to_owned()),
        ..PatchParams::default()
    };
    let patch = Patch::Merge(json!({ "spec": { "replicas": replicas } }));
    api.patch_scale("app", &params, &patch).await.unwrap();
}

async fn replicas(platform: &Platform) -> Value {
    let found = platform.found(&deployment("app", None)).await.unwrap();
    found.data["spec"]["replicas"].clone()
}

/// Applies a release with a changed config map, and waits until the deployment was looked at for it.
async fn change(platform: &Platform, app: Value, value: &str, scaler: bool) {
    let mut app = app;
    app["metadata"]["annotations"] = json!({ "example.com/change": value });
    let mut objects = vec![("app", app.clone()), ("config", config("a", value))];
    if scaler {
        objects.push(("scaler", autoscaler("app")));
    }
    platform.release("cart", &objects).await;
    platform.applied("cart").await;
    platform
        .until_object("the change is there", &app, |found| {
            found.is_some_and(|found| {
                found["metadata"]["annotations"]["example.com/change"] == value
            })
        })
        .await;
}

#[tokio::test]
async fn replicas_that_an_autoscaler_owns_are_left_alone() {
    let platform = Platform::start().await;
    let app = deployment("app", Some(2));
    change(&platform, app.clone(), "1", true).await;
    scale(&platform, 5, "kube-controller-manager").await;
    change(&platform, app.clone(), "2", true).await;
    assert_eq!(replicas(&platform).await, 5);
    change(&platform, deployment("app", None), "3", true).await;
    assert_eq!(replicas(&platform).await, 5, "also when they are dropped");
    scale(&platform, 4, "kube-controller-manager").await;
    change(&platform, deployment("app", None), "4", true).await;
    assert_eq!(replicas(&platform).await, 4);
}

#[tokio::test]
async fn replicas_that_are_dropped_for_an_autoscaler_stay_until_it_has_them() {
    let platform = Platform::start().await;
    change(&platform, deployment("app", Some(3)), "1", false).await;
    change(&platform, deployment("app", None), "2", true).await;
    assert_eq!(replicas(&platform).await, 3, "nobody else has them yet");
    scale(&platform, 6, "kube-controller-manager").await;
    change(&platform, deployment("app", None), "3", true).await;
    assert_eq!(replicas(&platform).await, 6);
}

#[tokio::test]
async fn what_an_autoscaler_scaled_stays_after_a_restart() {
    let mut platform = Platform::start().await;
    let app = deployment("app", Some(2));
    change(&platform, app.clone(), "1", true).await;
    scale(&platform, 5, "kube-controller-manager").await;
    change(&platform, app.clone(), "2", true).await;
    platform.kill();
    platform.wire.forget();
    platform.run();
    change(&platform, app, "3", true).await;
    assert_eq!(replicas(&platform).await, 5);
    let deletes = Matcher::verb(Verb::Delete);
    assert_eq!(platform.wire.count(&deletes), 0);
}

#[tokio::test]
async fn what_a_person_scales_is_put_back() {
    let platform = Platform::start().await;
    let app = deployment("app", Some(2));
    change(&platform, app.clone(), "1", false).await;
    scale(&platform, 5, "kubectl").await;
    platform
        .until_object("it is put back", &app, |found| {
            found.is_some_and(|found| found["spec"]["replicas"] == 2)
        })
        .await;
    platform.until_event("cart", "spec.replicas").await;
}
