//! Every folder of `tests/deployment-system`: what a Deployment or the binding of a class becomes, or why it doesn't.
//!
//! `input.yaml` starts with what to render, and which kinds to show in full (all of them where nothing is said). Then
//! documents, over those of `base.yaml`: one of the same kind and name takes the place of an earlier one. `expected.yaml`
//! is the outcome; `QUADRILLE_GOLDEN=write` writes it anew, to be read before it is committed.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

#[path = "deployment_system/defects.rs"]
mod defects;
#[path = "deployment_system/world.rs"]
mod world;

use std::{fs, path::PathBuf};

use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use serde_json::Value;
use world::{Task, World};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/deployment-system")
}

fn yaml(text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).unwrap()
}

/// Documents over others: one of the same kind and name takes the place of an earlier one.
fn merged(base: Vec<Value>, own: Vec<Value>) -> Vec<Value> {
    let mut documents: Vec<Value> = Vec::new();
    for document in base.into_iter().chain(own) {
        documents.retain(|known| {
            known["kind"] != document["kind"]
                || known["metadata"]["name"] != document["metadata"]["name"]
        });
        documents.push(document);
    }
    documents
}

/// A case: its folder, what to do, and all documents, the last of each name.
fn cases() -> Vec<(PathBuf, Task, Vec<Value>)> {
    let base = yaml(&fs::read_to_string(folder().join("base.yaml")).unwrap());
    let mut folders: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    let case = |path: PathBuf| {
        let text = fs::read_to_string(path.join("input.yaml")).unwrap();
        let mut own = yaml(&text);
        let task = serde_json::from_value(own.remove(0))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, task, merged(base.clone(), own))
    };
    folders.into_iter().map(case).collect()
}

#[test]
fn every_case_comes_out_as_expected() {
    let is_writing = std::env::var("QUADRILLE_GOLDEN").is_ok_and(|word| word == "write");
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() > 60, "{}", cases.len());
    for (path, task, documents) in cases {
        let outcome = World::read(documents).rendered(&task);
        let file = path.join("expected.yaml");
        if is_writing {
            fs::write(&file, serde_saphyr::to_string(&outcome).unwrap()).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        let expected: Value = serde_saphyr::from_str(&expected).unwrap_or_default();
        if outcome != expected {
            let outcome = serde_saphyr::to_string(&outcome).unwrap();
            wrong.push(format!("{}\n{outcome}", path.display()));
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
    let cases = cases();
    let expected: Vec<String> = cases
        .iter()
        .map(|(_, task, documents)| World::read(documents.clone()).rendered(task).to_string())
        .collect();
    let config = ProptestConfig::with_cases(100);
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let picks = (0..cases.len())
        .prop_flat_map(|index| (Just(index), Just(cases[index].2.clone()).prop_shuffle()));
    runner
        .run(&picks, |(index, documents)| {
            let again = World::read(documents).rendered(&cases[index].1).to_string();
            prop_assert_eq!(&again, &expected[index], "{}", cases[index].0.display());
            Ok(())
        })
        .unwrap();
}
