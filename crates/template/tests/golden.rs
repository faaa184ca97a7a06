//! Golden folders: `tests/cases/<name>/{input,expected}.yaml`.
//!
//! An input is a definition with the values to render it with; what is expected is what comes of it:
//! problems, an error, rules that do not hold, or objects. `GOLDEN=write cargo test` writes what comes.

mod support;

use std::{fs, path::Path};

use serde_json::Value as Json;

fn read(file: &Path) -> Json {
    let text = fs::read_to_string(file).expect("both files of a case");
    serde_saphyr::from_str(&text).expect("YAML")
}

#[test]
fn every_case_gives_what_is_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let write = std::env::var("GOLDEN").is_ok_and(|word| word == "write");
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    assert!(names.len() > 100, "{} cases", names.len());
    let mut wrong = Vec::new();
    for case in names {
        let came = support::run(&read(&case.join("input.yaml")));
        let file = case.join("expected.yaml");
        if write {
            fs::write(&file, serde_saphyr::to_string(&came).unwrap()).unwrap();
        } else {
            let expected = read(&file);
            if expected != came {
                let shown = serde_saphyr::to_string(&came).unwrap();
                wrong.push(format!("{}:\n{shown}", case.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
