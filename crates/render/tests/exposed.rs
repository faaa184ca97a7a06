//! Every folder of `tests/exposed`: how what is in its documents is reached from beyond its cell, or why it is not.
//!
//! `input.yaml` has documents, over those of `tests/exposed/base.yaml`; the comment at its start says what it shows.
//! `expected.yaml` is the outcome; `QUADRILLE_GOLDEN=write` writes it anew, to be read before it is committed.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use quadrille_render::{Documents, routes::Exposure};
use serde_json::{Map, Value, json};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/exposed")
}

fn yaml(file: PathBuf) -> Vec<Value> {
    serde_saphyr::from_multiple(&fs::read_to_string(file).unwrap()).unwrap()
}

/// The documents of each case, with those that all have.
fn cases() -> BTreeMap<String, Vec<Value>> {
    let base = yaml(folder().join("base.yaml"));
    let folders = fs::read_dir(folder()).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path());
    let folders = folders.filter(|path| path.is_dir());
    let case = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut documents = base.clone();
        documents.extend(yaml(path.join("input.yaml")));
        (name, documents)
    };
    folders.map(case).collect()
}

fn shown(exposure: &Exposure) -> Value {
    let objects: Map<String, Value> = exposure
        .objects
        .iter()
        .map(|planned| (planned.id.clone(), planned.object.clone()))
        .collect();
    let mut shown = json!({ "objects": objects });
    let ids: Vec<&str> = exposure
        .objects
        .iter()
        .map(|planned| planned.id.as_str())
        .collect();
    let addresses: Map<String, Value> = exposure
        .addresses
        .iter()
        .map(|address| (address.audience.as_str().to_owned(), address.url().into()))
        .collect();
    for (name, part) in [
        ("ids", json!(ids)),
        ("addresses", json!(addresses)),
        ("notes", json!(exposure.notes)),
    ] {
        let is_empty = part.as_array().is_some_and(Vec::is_empty)
            || part.as_object().is_some_and(Map::is_empty);
        if !is_empty {
            shown[name] = part;
        }
    }
    shown
}

fn rendered(documents: Vec<Value>) -> Value {
    let documents = match Documents::read(documents) {
        Ok(documents) => documents,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    let outcomes = documents.exposures().into_iter();
    outcomes
        .map(|(whose, outcome)| match outcome {
            Ok(exposure) => (whose, shown(&exposure)),
            Err(error) => (whose, json!({ "error": error.to_string() })),
        })
        .collect()
}

#[test]
fn every_case_comes_out_as_expected() {
    let is_writing = std::env::var("QUADRILLE_GOLDEN").is_ok_and(|word| word == "write");
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() > 90, "{}", cases.len());
    for (name, documents) in cases {
        let outcome = rendered(documents);
        let file = folder().join(&name).join("expected.yaml");
        if is_writing {
            fs::write(&file, serde_saphyr::to_string(&outcome).unwrap()).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        let expected: Value = serde_saphyr::from_str(&expected).unwrap_or_default();
        if outcome != expected {
            wrong.push(format!(
                "{name}\n{}",
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

#[test]
fn the_order_of_documents_changes_no_byte() {
    for (name, documents) in cases() {
        // Of two documents of one name the later one counts; among the others the order is free.
        let key = |document: &Value| {
            (
                document["kind"].to_string(),
                document["metadata"]["name"].to_string(),
            )
        };
        let mut last = BTreeMap::new();
        for document in &documents {
            last.insert(key(document), document.clone());
        }
        let expected = rendered(documents).to_string();
        let backwards: Vec<Value> = last.into_values().rev().collect();
        assert_eq!(rendered(backwards).to_string(), expected, "{name}");
    }
}

/// Every object of every case, with the case's name.
fn objects() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, documents) in cases() {
        let Ok(documents) = Documents::read(documents) else {
            continue;
        };
        for (_, outcome) in documents.exposures() {
            let planned = outcome.into_iter().flat_map(|exposure| exposure.objects);
            found.extend(planned.map(|planned| (name.clone(), planned.object)));
        }
    }
    found
}

#[test]
fn ids_and_names_fit_where_they_go_and_come_once() {
    for (name, documents) in cases() {
        let documents = Documents::read(documents).unwrap();
        let mut ids = BTreeSet::new();
        for (whose, outcome) in documents.exposures() {
            for planned in outcome.into_iter().flat_map(|exposure| exposure.objects) {
                assert!(planned.id.len() <= 63, "{name}: {}", planned.id);
                let own = planned.object["metadata"]["name"].as_str().unwrap();
                assert!(own.len() <= 253, "{name}: {own}");
                assert!(
                    ids.insert((whose.clone(), planned.id.clone())),
                    "{name}: {}",
                    planned.id
                );
                let labels = planned.object["metadata"]["labels"].as_object().unwrap();
                for (key, value) in labels {
                    let value = value.as_str().unwrap();
                    assert!(value.len() <= 63, "{name}: {key}: {value}");
                }
            }
        }
    }
}

#[test]
fn every_policy_is_about_a_route_of_its_own_case() {
    let all = objects();
    let mut seen = 0;
    for (name, object) in &all {
        let targets = object["spec"]["targetRefs"].as_array();
        for target in targets.into_iter().flatten() {
            let is_there = all.iter().any(|(other, route)| {
                other == name
                    && route["kind"] == target["kind"]
                    && route["metadata"]["name"] == target["name"]
                    && route["metadata"]["namespace"] == object["metadata"]["namespace"]
            });
            assert!(is_there, "{name}: {target}");
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}

/// The one policy about a route, if there is one.
fn security<'a>(all: &'a [(String, Value)], name: &str, route: &Value) -> Option<&'a Value> {
    let mut about = all.iter().filter(|(other, object)| {
        let targets = object["spec"]["targetRefs"].as_array();
        other == name
            && object["kind"] == "SecurityPolicy"
            && targets.is_some_and(|targets| {
                targets
                    .iter()
                    .any(|target| target["name"] == route["metadata"]["name"])
            })
    });
    let found = about.next();
    assert!(about.next().is_none(), "{name}: two policies for one route");
    found.map(|(_, policy)| policy)
}

#[test]
fn where_somebody_must_show_who_they_are_no_route_is_left_without() {
    let all = objects();
    let asks = |policy: &Value| {
        ["jwt", "apiKeyAuth", "basicAuth"]
            .iter()
            .any(|part| policy["spec"].get(part).is_some())
    };
    let mut seen = 0;
    for (name, route) in &all {
        let kind = route["kind"].as_str().unwrap();
        if !kind.ends_with("Route") {
            continue;
        }
        let gateway = &route["spec"]["parentRefs"][0]["name"];
        let is_beside_one_that_asks = all.iter().any(|(other, beside)| {
            other == name
                && beside["spec"]["parentRefs"][0]["name"] == *gateway
                && security(&all, name, beside).is_some_and(asks)
        });
        if is_beside_one_that_asks {
            assert!(
                security(&all, name, route).is_some_and(asks),
                "{name}: {} is open",
                route["metadata"]["name"]
            );
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn a_route_hangs_on_the_gateway_that_its_label_and_its_network_policy_name() {
    for (name, object) in objects() {
        let labels = &object["metadata"]["labels"];
        if let Some(gateway) = labels.get("gateway-visibility") {
            if name.contains("newer") {
                continue; // there the plane calls them otherwise
            }
            let parents = object["spec"]["parentRefs"].as_array();
            for parent in parents.into_iter().flatten() {
                assert_eq!(parent["name"], *gateway, "{name}");
                assert_eq!(parent["namespace"], "openchoreo-data-plane", "{name}");
            }
        }
    }
}
