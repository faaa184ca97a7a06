//! Every folder of `tests/cases`: what its documents become, or why they don't.
//!
//! `input.yaml` starts with what to render: component, environment, which kinds to show in full (all of them where
//! nothing is said), whether to show the cell of project `default`. Then documents, over those of `tests/base.yaml` and the shipped types and traits. `expected.yaml`
//! is the outcome; `QUADRILLE_GOLDEN=write` writes it anew, to be read before it is committed.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

use std::{collections::BTreeMap, fs, path::PathBuf};

use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use quadrille_render::{Documents, Output, Plan, Planned, Renderer, ResolvedResource, library};
use quadrille_types::workload::KeyRef;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Task {
    component: String,
    #[serde(default = "development")]
    environment: String,
    show: Option<Vec<String>>,
    /// Whether the cell is shown too.
    #[serde(default)]
    cell: bool,
    #[serde(default)]
    resources: BTreeMap<String, BTreeMap<String, Value>>,
}

fn development() -> String {
    "development".to_owned()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn yaml(text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).unwrap()
}

/// A case: its folder, what to do, and all documents.
fn cases() -> Vec<(PathBuf, Task, Vec<Value>)> {
    let mut base = library::documents();
    base.extend(yaml(
        &fs::read_to_string(folder().join("base.yaml")).unwrap(),
    ));
    let mut folders: Vec<PathBuf> = fs::read_dir(folder().join("cases"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    let case = |path: PathBuf| {
        let text = fs::read_to_string(path.join("input.yaml")).unwrap();
        let mut own = yaml(&text);
        let task = serde_json::from_value(own.remove(0))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut documents = base.clone();
        documents.extend(own);
        (path, task, documents)
    };
    folders.into_iter().map(case).collect()
}

fn resources(task: &Task) -> Vec<ResolvedResource> {
    let output = |value: &Value| {
        let key = |kind: &str| -> Option<KeyRef> {
            serde_json::from_value(value.get(kind)?.clone()).ok()
        };
        match (key("secretKeyRef"), key("configMapKeyRef")) {
            (Some(key), _) => Output::SecretKey(key),
            (_, Some(key)) => Output::ConfigMapKey(key),
            _ => Output::Value(value.as_str().unwrap().to_owned()),
        }
    };
    let resource = |(reference, outputs): (&String, &BTreeMap<String, Value>)| ResolvedResource {
        reference: reference.clone(),
        outputs: outputs
            .iter()
            .map(|(name, value)| (name.clone(), output(value)))
            .collect(),
    };
    task.resources.iter().map(resource).collect()
}

fn rendered(renderer: &Renderer, task: &Task, documents: Vec<Value>) -> Value {
    let plan = |documents: &Documents| {
        let plan = documents.plan(renderer, &task.component, &task.environment)?;
        let mut shown = shown(&plan, task.show.as_deref());
        if task.cell {
            let cell = documents.cell("default", &task.environment)?;
            let object = |planned: Planned| (planned.id, planned.object);
            shown["cell"] = cell.into_iter().map(object).collect();
        }
        Ok(shown)
    };
    Documents::read(documents)
        .map(|documents| documents.with_resources(resources(task)))
        .and_then(|documents| plan(&documents))
        .unwrap_or_else(|error| json!({ "error": error.to_string() }))
}

fn shown(plan: &Plan, wanted: Option<&[String]>) -> Value {
    let ids: Vec<&str> = plan
        .objects
        .iter()
        .map(|planned| planned.id.as_str())
        .collect();
    let full = plan.objects.iter().filter(|planned| {
        let kind = planned.object["kind"].as_str().unwrap_or_default();
        wanted.is_none_or(|wanted| wanted.iter().any(|wanted| wanted == kind))
    });
    let objects: Map<String, Value> = full
        .map(|planned| {
            (
                format!("{}/{}", planned.plane.as_str(), planned.id),
                planned.object.clone(),
            )
        })
        .collect();
    let mut shown = json!({ "ids": ids });
    let parts = [
        ("objects", json!(objects)),
        ("endpoints", json!(plan.endpoints)),
        ("secretReferences", json!(plan.secret_references)),
        ("pendingConnections", json!(plan.pending_connections)),
        ("pendingResources", json!(plan.pending_resources)),
        ("notes", json!(plan.notes)),
    ];
    for (name, part) in parts {
        let is_empty = part.as_array().is_some_and(Vec::is_empty)
            || part.as_object().is_some_and(Map::is_empty);
        if !is_empty {
            shown[name] = part;
        }
    }
    shown
}

#[test]
fn every_case_comes_out_as_expected() {
    let renderer = Renderer::new();
    let is_writing = std::env::var("QUADRILLE_GOLDEN").is_ok_and(|word| word == "write");
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() > 80, "{}", cases.len());
    for (path, task, documents) in cases {
        let outcome = rendered(&renderer, &task, documents);
        let file = path.join("expected.yaml");
        if is_writing {
            fs::write(&file, serde_saphyr::to_string(&outcome).unwrap()).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        let expected: Value = serde_saphyr::from_str(&expected).unwrap_or_default();
        if outcome != expected {
            wrong.push(format!(
                "{}\n{}",
                path.display(),
                serde_saphyr::to_string(&outcome).unwrap()
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The bytes that a case ends in.
fn bytes(renderer: &Renderer, task: &Task, documents: Vec<Value>) -> String {
    rendered(renderer, task, documents).to_string()
}

#[test]
fn the_order_of_documents_changes_no_byte() {
    let cases = cases();
    let renderer = Renderer::new();
    let expected: Vec<String> = cases
        .iter()
        .map(|(_, task, documents)| bytes(&renderer, task, documents.clone()))
        .collect();
    let config = ProptestConfig::with_cases(40);
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let picks = (0..cases.len()).prop_flat_map(|index| {
        // Documents of the case come over others of the same name; only their own order is free.
        let documents = cases[index].2.clone();
        let names: Vec<(Value, Value)> = documents
            .iter()
            .map(|document| {
                (
                    document["kind"].clone(),
                    document["metadata"]["name"].clone(),
                )
            })
            .collect();
        let last = documents
            .iter()
            .enumerate()
            .filter(|(at, _)| !names[at + 1..].contains(&names[*at]))
            .map(|(_, document)| document.clone())
            .collect::<Vec<_>>();
        (Just(index), Just(last).prop_shuffle())
    });
    runner
        .run(&picks, |(index, documents)| {
            // A fresh renderer: nothing may depend on what was compiled before.
            let again = bytes(&Renderer::new(), &cases[index].1, documents);
            prop_assert_eq!(&again, &expected[index], "{}", cases[index].0.display());
            Ok(())
        })
        .unwrap();
}

#[test]
fn no_case_shows_a_secret_even_when_one_stands_where_none_belongs() {
    const CANARY: &str = "canary-5ecret";
    let renderer = Renderer::new();
    for (path, task, mut documents) in cases() {
        // A plane's own credentials, and the content of a Secret that somebody put beside.
        for document in &mut documents {
            if document["kind"] == "DataPlane" {
                document["spec"]["observer"] = json!({
                    "url": "http://o", "authentication": { "basicAuth": { "username": "u", "password": CANARY } },
                });
                document["spec"]["kubernetesCluster"] = json!({
                    "server": "https://s", "auth": { "bearerToken": { "value": CANARY } },
                });
            }
        }
        documents.push(json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "github" }, "stringData": { "token": CANARY },
        }));
        let outcome = rendered(&renderer, &task, documents.clone()).to_string();
        assert!(!outcome.contains(CANARY), "{}: {outcome}", path.display());
        let snapshot = Documents::read(documents)
            .and_then(|documents| documents.snapshot(&task.component))
            .map(|snapshot| json!(snapshot.spec).to_string());
        let written = snapshot.unwrap_or_else(|error| error.to_string());
        assert!(!written.contains(CANARY), "{}: {written}", path.display());
    }
}
