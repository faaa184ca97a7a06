//! Every folder of `tests/migration`: what a component of the deployment system becomes in the component chain.
//!
//! `input.yaml` starts with what to move. Then documents, over those of `base.yaml`: one of the same kind and name takes the
//! place of an earlier one. `expected.yaml` is the outcome: the new documents, what that changes in the planes (labels of
//! objects, which everything gets, are counted only), and what should be known. `QUADRILLE_GOLDEN=write` writes it anew, to
//! be read before it is committed.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

use std::{fs, path::PathBuf};

use quadrille_objects::difference;
use quadrille_render::deployment_system::migration::{Migration, Moved, migrate};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What to move.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Task {
    component: String,
    /// What deploys it, where several things do.
    from: Option<String>,
    /// Whether something that runs is touched.
    #[serde(default)]
    touches: bool,
}

struct Case {
    path: PathBuf,
    task: Task,
    documents: Vec<Value>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/migration")
}

fn yaml(text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).unwrap()
}

fn cases() -> Vec<Case> {
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
        let task: Task = serde_json::from_value(own.remove(0))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let is_replaced = |known: &Value| {
            own.iter().any(|one| {
                one["kind"] == known["kind"] && one["metadata"]["name"] == known["metadata"]["name"]
            })
        };
        let kept = base.iter().filter(|known| !is_replaced(known)).cloned();
        let documents = kept.chain(own.clone()).collect();
        Case {
            path,
            task,
            documents,
        }
    };
    folders.into_iter().map(case).collect()
}

impl Case {
    fn name(&self) -> String {
        self.path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned()
    }

    fn moved(&self) -> Result<Migration, String> {
        let from = self.task.from.as_deref();
        migrate(&self.documents, &self.task.component, from).map_err(|error| error.to_string())
    }

    fn outcome(&self) -> Value {
        match self.moved() {
            Ok(migration) => shown(&migration),
            Err(error) => json!({ "error": error }),
        }
    }
}

fn called(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!(
        "{} {}",
        text(&object["kind"]),
        text(&object["metadata"]["name"])
    )
}

fn shown(migration: &Migration) -> Value {
    let mut environments = Map::new();
    for moved in &migration.environments {
        let ends = moved
            .ends
            .iter()
            .map(|(kind, name)| format!("{kind} {name}"));
        environments.insert(
            moved.environment.clone(),
            json!({ "planes": changes(moved), "ends": ends.collect::<Vec<_>>() }),
        );
    }
    let warnings: Vec<String> = migration.warnings.iter().map(ToString::to_string).collect();
    let mut shown = json!({ "documents": migration.documents, "environments": environments });
    if !warnings.is_empty() {
        shown["warnings"] = json!(warnings);
    }
    shown
}

/// What changes in a plane, object by object.
fn changes(moved: &Moved) -> Vec<String> {
    let mut lines = Vec::new();
    for after in &moved.after {
        let name = called(after);
        let Some(before) = moved.before.iter().find(|one| called(one) == name) else {
            lines.push(format!("{name}: comes"));
            continue;
        };
        let changes = difference::changes(before, after);
        let (labels, others): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| {
            change.before.is_none() && change.path.starts_with("metadata.labels")
        });
        let fields: Vec<&str> = others.iter().map(|change| change.path.as_str()).collect();
        let and = if fields.is_empty() { "" } else { ", " };
        lines.push(format!(
            "{name}: {} labels{and}{}",
            labels.len(),
            fields.join(", ")
        ));
    }
    let is_there = |name: &String| moved.after.iter().any(|one| called(one) == *name);
    let gone = moved
        .before
        .iter()
        .map(called)
        .filter(|name| !is_there(name));
    lines.extend(gone.map(|name| format!("{name}: goes")));
    lines
}

#[test]
fn every_case_comes_out_as_expected() {
    let is_writing = std::env::var("QUADRILLE_GOLDEN").is_ok_and(|word| word == "write");
    let mut wrong = Vec::new();
    for case in cases() {
        let outcome = case.outcome();
        let file = case.path.join("expected.yaml");
        if is_writing {
            fs::write(&file, serde_saphyr::to_string(&outcome).unwrap()).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        let expected: Value = serde_saphyr::from_str(&expected).unwrap_or_default();
        if outcome != expected {
            let outcome = serde_saphyr::to_string(&outcome).unwrap();
            wrong.push(format!("{}\n{outcome}", case.path.display()));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// An object without its labels: they are what the chain finds it by, and no pod sees them.
fn without_labels(object: &Value) -> Value {
    let mut object = object.clone();
    object["metadata"].as_object_mut().unwrap().remove("labels");
    object
}

/// Not by what the migration itself says of what happens, but by the objects.
#[test]
fn what_runs_is_the_same_before_and_after() {
    let mut compared = 0;
    for case in cases().into_iter().filter(|case| !case.task.touches) {
        let Ok(migration) = case.moved() else {
            continue;
        };
        for moved in &migration.environments {
            for before in &moved.before {
                let name = called(before);
                let after = moved.after.iter().find(|one| called(one) == name);
                let after = after.unwrap_or_else(|| panic!("{}: {name} goes", case.name()));
                assert_eq!(
                    without_labels(before),
                    without_labels(after),
                    "{}: {name} in {}",
                    case.name(),
                    moved.environment
                );
                compared += 1;
            }
            assert_eq!(moved.effects, [], "{}", case.name());
        }
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn pods_and_selector_of_a_plain_service_are_equal_to_the_byte() {
    let cases = cases();
    let case = cases.iter().find(|case| case.name() == "deployment-plain");
    let migration = case.unwrap().moved().unwrap();
    let moved = &migration.environments[0];
    let spec = |objects: &[Value]| {
        let found = objects.iter().find(|one| one["kind"] == "Deployment");
        let spec = &found.unwrap()["spec"];
        assert!(spec["template"]["spec"]["containers"][0]["image"].is_string());
        assert!(
            !spec["selector"]["matchLabels"]
                .as_object()
                .unwrap()
                .is_empty()
        );
        (spec["template"].to_string(), spec["selector"].to_string())
    };
    assert_eq!(spec(&moved.before), spec(&moved.after));
    assert_eq!(migration.warnings, []);
}

#[test]
fn the_order_of_documents_changes_no_byte() {
    for case in cases() {
        let expected = case.outcome().to_string();
        let mut documents = case.documents.clone();
        documents.reverse();
        let turned = Case { documents, ..case };
        assert_eq!(turned.outcome().to_string(), expected, "{}", turned.name());
    }
}

/// What is printed can be read again: as text, and by whoever checks documents.
#[test]
fn new_documents_are_read_as_they_were_written() {
    for case in cases() {
        let Ok(migration) = case.moved() else {
            continue;
        };
        for document in &migration.documents {
            let text = serde_saphyr::to_string(document).unwrap();
            assert_eq!(
                yaml(&text).as_slice(),
                std::slice::from_ref(document),
                "{}",
                case.name()
            );
        }
        let again = migrate(&migration.documents, &case.task.component, None);
        assert!(
            again.unwrap_err().to_string().contains("already"),
            "{}",
            case.name()
        );
    }
}
