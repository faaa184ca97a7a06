//! Start, stop, start again.

use std::{fs, os::unix::fs::PermissionsExt};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::{instance::Instance, quad::quad};

fn mark(text: &str) -> ConfigMap {
    serde_json::from_value(json!({ "metadata": { "name": "mark" }, "data": { "text": text } }))
        .unwrap()
}

async fn write_mark(instance: &Instance) {
    let maps: Api<ConfigMap> = Api::default_namespaced(instance.client().await);
    maps.create(&PostParams::default(), &mark("kept"))
        .await
        .unwrap();
}

async fn read_mark(instance: &Instance) -> Option<String> {
    let maps: Api<ConfigMap> = Api::default_namespaced(instance.client().await);
    let found = maps.get_opt("mark").await.unwrap()?;
    found.data?.remove("text")
}

#[tokio::test]
async fn data_and_trust_survive_a_polite_stop() {
    let home = tempdir().unwrap();
    let mut first = Instance::start_on_data(home.path());
    write_mark(&first).await;
    let kubeconfig = fs::read_to_string(first.kubeconfig()).unwrap();
    first.signal(Signal::INT);
    assert_eq!(first.ended().code(), Some(0), "{}", first.log());
    assert!(
        first.log().contains("stopped; data is in"),
        "{}",
        first.log()
    );

    let second = Instance::start_on_data(home.path());
    assert_eq!(read_mark(&second).await.as_deref(), Some("kept"));
    let authority = |text: &str| {
        let line = text
            .lines()
            .find(|line| line.contains("certificate-authority-data"));
        line.unwrap().to_owned()
    };
    let after = fs::read_to_string(second.kubeconfig()).unwrap();
    assert_eq!(authority(&kubeconfig), authority(&after));
}

#[tokio::test]
async fn a_killed_instance_does_not_stand_in_the_way_of_the_next() {
    let home = tempdir().unwrap();
    let mut first = Instance::start_on_data(home.path());
    write_mark(&first).await;
    first.signal(Signal::KILL);
    first.ended();
    let second = Instance::start_on_data(home.path());
    assert_eq!(read_mark(&second).await.as_deref(), Some("kept"));
}

#[test]
fn down_stops_it_and_a_second_down_says_that_nothing_runs() {
    let home = tempdir().unwrap();
    let mut instance = Instance::start_on_data(home.path());
    let folder = home.path().join("data");
    let down = ["down", "-o", "json", "--data-dir", folder.to_str().unwrap()];
    let stopped: Value = serde_json::from_str(&quad(home.path(), &down).out).unwrap();
    assert_eq!(stopped["stopped"], true);
    assert_eq!(stopped["pid"], instance.ready["pid"]);
    assert_eq!(instance.ended().code(), Some(0), "{}", instance.log());

    let nothing = quad(
        home.path(),
        &["down", "--data-dir", folder.to_str().unwrap()],
    );
    assert_eq!(nothing.code, Some(0));
    assert!(
        nothing.out.starts_with("Nothing runs on "),
        "{}",
        nothing.out
    );
    let never = quad(home.path(), &["down"]);
    assert!(never.out.starts_with("Nothing runs on "), "{}", never.out);
}

#[tokio::test]
async fn an_ephemeral_instance_leaves_nothing_behind() {
    let home = tempdir().unwrap();
    let mut instance = Instance::start(home.path(), &["--ephemeral"]);
    write_mark(&instance).await;
    let folder = instance.text("dataDir").to_owned();
    assert!(fs::exists(&folder).unwrap());
    instance.signal(Signal::TERM);
    assert_eq!(instance.ended().code(), Some(0), "{}", instance.log());
    let left: Vec<_> = fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["quad.log"]);
}

#[tokio::test]
async fn secrets_are_for_their_owner_only() {
    let home = tempdir().unwrap();
    let out = home.path().join("out.kubeconfig");
    let instance = Instance::start(
        home.path(),
        &[
            "--data-dir",
            home.path().join("data").to_str().unwrap(),
            "--kubeconfig-out",
            out.to_str().unwrap(),
        ],
    );
    assert_eq!(instance.kubeconfig(), out);
    let data = home.path().join("data");
    for path in [
        out,
        data.join("kubeconfig"),
        data.join("pki/ca.key"),
        data.join("pki/service-account.key"),
    ] {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn the_request_log_counts_requests_per_client() {
    let home = tempdir().unwrap();
    let log = home.path().join("requests.jsonl");
    let mut instance = Instance::start(
        home.path(),
        &["--ephemeral", "--request-log", log.to_str().unwrap()],
    );
    write_mark(&instance).await;
    read_mark(&instance).await;
    instance.signal(Signal::TERM);
    instance.ended();
    let text = fs::read_to_string(&log).unwrap();
    let verbs: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|entry| entry["user"] == "quadrille-admin" && entry["resource"] == "configmaps")
        .map(|entry| format!("{} {}", entry["verb"].as_str().unwrap(), entry["code"]))
        .collect();
    assert_eq!(verbs, ["create 201", "get 200"]);
}
