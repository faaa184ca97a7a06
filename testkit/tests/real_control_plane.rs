//! A real control plane starts, works and ends, where one is asked for.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use quadrille_testkit::{
    eventually, eventually_object,
    real::{self, ControlPlane, Options},
};
use serde_json::json;

#[tokio::test]
async fn a_bare_control_plane_serves_the_pinned_version_and_leaves_nothing_behind() {
    if !real::is_asked_for() {
        return;
    }
    let plane = ControlPlane::start(Options {
        audit: true,
        ..Options::default()
    })
    .await
    .unwrap();
    let client = plane.client().await.unwrap();
    let version = client.apiserver_version().await.unwrap();
    assert_eq!(
        version.git_version,
        format!("v{}", quadrille_testkit::assets::KUBERNETES)
    );

    let api = Api::<ConfigMap>::namespaced(client, "default");
    let object = serde_json::from_value(json!({"metadata": {"name": "a"}, "data": {"k": "v"}}));
    api.create(&PostParams::default(), &object.unwrap())
        .await
        .unwrap();
    let audit = std::fs::read_to_string(plane.audit_log()).unwrap();
    assert!(audit.contains("/api/v1/namespaces/default/configmaps"));

    let folder = plane
        .kubeconfig()
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .to_owned();
    let pids: Vec<u32> = ["etcd", "kube-apiserver"]
        .map(|name| plane.process(name).and_then(real::Process::pid).unwrap())
        .into();
    drop(plane);
    assert!(!folder.exists());
    for pid in pids {
        assert!(!std::path::Path::new("/proc").join(pid.to_string()).exists());
    }
}

#[tokio::test]
async fn a_full_control_plane_runs_pods_and_finishes_namespaces() {
    if !real::is_asked_for() {
        return;
    }
    let plane = ControlPlane::start(Options::full()).await.unwrap();
    let client = plane.client().await.unwrap();
    let namespaces = Api::<Namespace>::all(client.clone());
    let namespace = serde_json::from_value(json!({"metadata": {"name": "work"}})).unwrap();
    namespaces
        .create(&PostParams::default(), &namespace)
        .await
        .unwrap();
    let pods = Api::<Pod>::namespaced(client, "work");
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }))
    .unwrap();
    eventually("a pod is taken", async || {
        pods.create(&PostParams::default(), &pod).await
    })
    .await;
    eventually_object(&pods, "p", "the pod runs", |pod| {
        let status = pod.and_then(|pod| pod.status.as_ref());
        status.and_then(|status| status.phase.as_deref()) == Some("Running")
    })
    .await;
    namespaces
        .delete("work", &DeleteParams::default())
        .await
        .unwrap();
    eventually_object(&namespaces, "work", "the namespace is gone", |namespace| {
        namespace.is_none()
    })
    .await;
}
