//! What is in a Secret stays there.

use k8s_openapi::api::core::v1::Event;
use kube::api::ListParams;
use quadrille_types::conditions::ConditionType;
use serde_json::json;

use crate::{
    objects::secret,
    platform::{Platform, config},
};

const VALUE: &str = "correct-horse-battery-staple";

/// Everything that anybody may read about a release, besides what was asked for.
async fn said(platform: &Platform, release: &str) -> String {
    let status = platform.read(release).await.status;
    let events = platform.cluster.api::<Event>();
    let events = events.list(&ListParams::default()).await.unwrap();
    format!("{}\n{}", json!(status), json!(events.items))
}

#[tokio::test]
async fn the_content_of_a_secret_is_never_told() {
    let platform = Platform::start().await;
    let encoded = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "encoded" },
        "data": { "password": VALUE },
    });
    let mut typed = secret("typed", VALUE);
    typed["type"] = "kubernetes.io/dockerconfigjson".into();
    typed["stringData"] = json!({ ".dockerconfigjson": VALUE });
    let mut keyed = secret("keyed", VALUE);
    keyed["stringData"] = json!({ "no/key": VALUE });
    let mut unknown = secret("unknown", VALUE);
    unknown[VALUE] = "x".into();
    let objects = [
        ("good", secret("good", VALUE)),
        ("encoded", encoded),
        ("typed", typed),
        ("keyed", keyed),
        ("unknown", unknown),
        ("a", config("a", "1")),
    ];
    platform.release("cart", &objects).await;
    for id in ["typed", "keyed", "unknown"] {
        platform.until_error("cart", id, "Invalid").await;
    }
    platform
        .until_said("cart", ConditionType::Ready, "False", "\"encoded\"")
        .await;
    platform.until_event("cart", "ApplyFailed").await;
    let told = said(&platform, "cart").await;
    assert!(!told.contains("correct-horse"), "{told}");
    platform
        .release("cart", &[("good", secret("good", VALUE))])
        .await;
    platform.until("cart", ConditionType::Ready, "True").await;
    let good = secret("good", VALUE);
    platform
        .edit(&good, json!({ "stringData": { "password": "another" } }))
        .await;
    platform.until_event("cart", "DriftHealed").await;
    let told = said(&platform, "cart").await;
    assert!(!told.contains("correct-horse"), "{told}");
    assert!(!told.contains("another\""), "{told}");
}
