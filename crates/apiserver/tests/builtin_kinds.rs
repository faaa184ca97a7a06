//! New objects of built-in kinds look as on a real server: `builtin/create.jsonl` holds requests and the answers
//! that kube-apiserver 1.36.3 gave, without uids, revisions and times of creation.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

use quadrille_apiserver::kinds;
use quadrille_machinery::{builtin, decode};
use serde_json::{Value, json};

const RECORDED: &str = include_str!("builtin/create.jsonl");
const UID: &str = "UID";

/// What the server allocates or learns from the request rather than from the object.
fn forget_allocations(object: &mut Value) {
    match object["kind"].as_str() {
        Some("Service") if object["spec"]["clusterIP"] != "None" => {
            let spec = object["spec"].as_object_mut().unwrap();
            for field in ["clusterIP", "clusterIPs", "healthCheckNodePort"] {
                spec.remove(field);
            }
            for port in object["spec"]["ports"].as_array_mut().into_iter().flatten() {
                port.as_object_mut().unwrap().remove("nodePort");
            }
        }
        Some("CertificateSigningRequest") => {
            let spec = object["spec"].as_object_mut().unwrap();
            for field in ["username", "uid", "groups"] {
                spec.remove(field);
            }
        }
        Some("PersistentVolume") => {
            object["status"]["lastPhaseTransitionTime"] = json!("now");
        }
        Some("Pod") => {
            for condition in object["status"]["conditions"]
                .as_array_mut()
                .into_iter()
                .flatten()
            {
                condition["lastTransitionTime"] = json!("now");
            }
        }
        _ => {}
    }
}

fn ours(input: &Value) -> Value {
    let api_version = input["apiVersion"].as_str().unwrap();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kind = input["kind"].as_str().unwrap();
    let schema = kinds::load().schema(group, version, kind).unwrap();
    let mut object = input.clone();
    decode::conform(schema.root(), &mut object).unwrap();
    let resources = &kinds::load().resources;
    let namespaced = resources
        .iter()
        .any(|resource| resource.kind == kind && resource.namespaced);
    if namespaced {
        object["metadata"]["namespace"] = json!("fix");
    }
    object["metadata"]["uid"] = json!(UID);
    builtin::complete_new(schema.root(), group, kind, &mut object, "now");
    // Objects are kept in one version, and shown in the one that was asked for.
    let resource = resources
        .iter()
        .find(|resource| resource.kind == kind && resource.api_version() == api_version);
    if let Some(resource) = resource {
        convert(&mut object, &resource.storage_version);
        convert(&mut object, api_version);
    }
    object["metadata"].as_object_mut().unwrap().remove("uid");
    object
}

fn convert(object: &mut Value, api_version: &str) {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kind = object["kind"].as_str().unwrap();
    let schema = kinds::load().schema(group, version, kind).unwrap();
    builtin::convert::convert(schema.root(), api_version, object);
}

#[test]
fn an_autoscaler_keeps_everything_in_both_versions() {
    let recorded: Value = serde_json::from_str(include_str!("builtin/autoscaler.json")).unwrap();
    let mut object = recorded["v2"].clone();
    convert(&mut object, "autoscaling/v1");
    assert_eq!(object, recorded["v1"]);
    convert(&mut object, "autoscaling/v2");
    // The metric that version 1 knows comes last.
    let mut expected = recorded["v2"].clone();
    let metrics = expected["spec"]["metrics"].as_array_mut().unwrap();
    let first = metrics.remove(0);
    metrics.push(first);
    assert_eq!(object, expected);
}

#[test]
fn an_event_of_either_group_is_the_same_event() {
    let core = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "count": 1, "message": "m",
        "involvedObject": {"kind": "Pod"}, "source": {"component": "c"}, "reason": "r",
        "firstTimestamp": "2024-01-01T00:00:00Z", "lastTimestamp": null, "eventTime": null,
        "reportingComponent": "", "reportingInstance": "",
    });
    let mut event = core.clone();
    convert(&mut event, "events.k8s.io/v1");
    let expected = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}, "note": "m",
        "deprecatedCount": 1, "regarding": {"kind": "Pod"}, "deprecatedSource": {"component": "c"},
        "reason": "r", "deprecatedFirstTimestamp": "2024-01-01T00:00:00Z",
        "deprecatedLastTimestamp": null, "eventTime": null,
    });
    assert_eq!(event, expected);
    convert(&mut event, "v1");
    assert_eq!(event, core);
}

#[test]
fn new_objects_look_as_on_a_real_server() {
    let mut different = Vec::new();
    let mut checked = 0;
    for line in RECORDED.lines() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        let mut expected = recorded["out"].clone();
        let mut actual = ours(&recorded["in"]);
        forget_allocations(&mut expected);
        forget_allocations(&mut actual);
        checked += 1;
        if actual != expected {
            let name = &expected["metadata"]["name"];
            different.push(format!(
                "{} {name}\n  real: {expected}\n  ours: {actual}",
                expected["kind"]
            ));
        }
    }
    assert!(checked > 80, "only {checked} recordings");
    assert!(
        different.is_empty(),
        "{}\n{}",
        different.len(),
        different.join("\n")
    );
}

#[test]
fn completing_an_object_twice_changes_nothing() {
    for line in RECORDED.lines() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        let once = ours(&recorded["in"]);
        let mut again = once.clone();
        let api_version = again["apiVersion"].as_str().unwrap();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = again["kind"].as_str().unwrap();
        let schema = kinds::load().schema(group, version, kind).unwrap();
        builtin::defaults::apply(schema.root(), &mut again);
        assert_eq!(once, again);
    }
}
