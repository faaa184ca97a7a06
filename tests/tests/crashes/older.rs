//! Controllers that come back: to what an older one wrote, and to what is as it should be.

use kube::api::{Patch, PatchParams};
use quadrille_testkit::wire::{Call, Wire};
use quadrille_types::Release;
use serde_json::{Value, json};

use crate::{
    controllers::Controllers,
    platform::{Platform, config},
};

/// A platform with a release in place; whoever put it there is dead.
async fn left_behind() -> (Platform, Release) {
    let platform = Platform::at_rest().await;
    let objects = [("a", config("a", "1")), ("b", config("b", "1"))];
    platform.release("cart", &objects).await;
    let controllers = Controllers::start(&platform, Wire::default());
    let release = platform.applied("cart").await;
    controllers.kill().await;
    (platform, release)
}

/// A release comes and goes: then the controllers have gone around.
async fn go_around(platform: &Platform) {
    let object = [("a", config("canary", "1"))];
    platform.release("canary", &object).await;
    platform.applied("canary").await;
    platform.delete("canary").await;
    platform.gone("canary").await;
}

#[tokio::test]
async fn a_status_of_an_older_controller_is_understood_and_completed() {
    let (platform, release) = left_behind().await;
    let mut status = serde_json::to_value(&release.status).unwrap();
    for entry in status["resources"].as_array_mut().unwrap() {
        // What a controller before us may not have known.
        for field in [
            "ownedFieldsDigest",
            "digest",
            "healthStatus",
            "lastObservedTime",
        ] {
            entry.as_object_mut().unwrap().remove(field);
        }
    }
    status["plane"].as_object_mut().unwrap().remove("uid");
    status["healthy"] = Value::Null;
    let api = platform.cluster.api::<Release>();
    let older = Patch::Merge(json!({ "status": status }));
    let by = PatchParams::default();
    api.patch_status("cart", &by, &older).await.unwrap();
    let uids = |release: &Release| {
        let resources = &release.status.as_ref().unwrap().resources;
        let uids = resources.iter().map(|entry| entry.uid.clone());
        uids.collect::<Vec<_>>()
    };
    let _controllers = Controllers::start(&platform, Wire::default());
    quadrille_testkit::eventually("the status is complete again", async || {
        let now = platform.read("cart").await;
        let resources = &now.status.as_ref().unwrap().resources;
        let is_complete = resources.len() == 2
            && resources
                .iter()
                .all(|entry| entry.digest.is_some() && entry.owned_fields_digest.is_some());
        if is_complete && uids(&now) == uids(&release) {
            Ok(())
        } else {
            Err(format!("{resources:?}"))
        }
    })
    .await;
    platform.until_configs(&[("a", "1"), ("b", "1")]).await;
}

#[tokio::test]
async fn a_restart_with_nothing_to_do_writes_nothing_to_the_plane() {
    let (platform, release) = left_behind().await;
    let controllers = Controllers::start(&platform, Wire::default());
    go_around(&platform).await;
    let is_ours = |call: &Call| {
        call.verb.writes() && matches!(call.name.as_deref(), Some("a" | "b" | "cart"))
    };
    let calls = controllers.wire.calls();
    let written: Vec<_> = calls.iter().filter(|call| is_ours(call)).collect();
    assert!(written.is_empty(), "{written:#?}");
    let now = platform.read("cart").await;
    assert_eq!(
        now.metadata.resource_version,
        release.metadata.resource_version
    );
}

#[tokio::test]
async fn what_changed_while_nobody_looked_is_mended_after_a_restart() {
    let (platform, _) = left_behind().await;
    let api = platform.any("", "v1", "ConfigMap");
    api.delete("a", &kube::api::DeleteParams::default())
        .await
        .unwrap();
    let edit = Patch::Merge(json!({ "data": { "value": "2" } }));
    api.patch("b", &PatchParams::default(), &edit)
        .await
        .unwrap();
    let _controllers = Controllers::start(&platform, Wire::default());
    platform.until_configs(&[("a", "1"), ("b", "1")]).await;
}
