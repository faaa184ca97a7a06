//! What the program writes about its specs.

use std::{fs::File, io::BufReader, path::Path};

use anyhow::Context;
use serde::Deserialize;

use super::super::scoreboard::Outcome;

/// How much of a failure is shown.
const SHOWN: usize = 600;

/// One spec that was to run.
pub(super) struct Spec {
    /// All its texts, outermost first.
    pub(super) name: String,
    /// What went wrong; nothing if it passed.
    failure: Option<String>,
}

impl Spec {
    /// As a line of the scoreboard.
    pub(super) fn outcome(&self) -> Outcome {
        match &self.failure {
            Some(failure) => Outcome::failed(&self.name, failure),
            None => Outcome::passed(&self.name),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Written {
    spec_reports: Vec<WrittenSpec>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct WrittenSpec {
    /// Null where there are none.
    container_hierarchy_texts: Option<Vec<String>>,
    leaf_node_type: String,
    #[serde(default)]
    leaf_node_text: String,
    state: String,
    #[serde(default)]
    failure: Option<Failure>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Failure {
    #[serde(default)]
    message: String,
}

/// Reads a report, without the specs that were left out.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Spec>> {
    let file = File::open(path).with_context(|| format!("open the report {}", path.display()))?;
    let written: Vec<Written> = serde_json::from_reader(BufReader::new(file))
        .with_context(|| format!("read the report {}", path.display()))?;
    Ok(specs(written))
}

fn specs(written: Vec<Written>) -> Vec<Spec> {
    let all = written.into_iter().flat_map(|suite| suite.spec_reports);
    all.filter(|spec| spec.leaf_node_type == "It" && spec.state != "skipped")
        .map(|spec| {
            let mut texts = spec.container_hierarchy_texts.unwrap_or_default();
            texts.push(spec.leaf_node_text);
            let message = spec.failure.map(|failure| failure.message);
            let message: String = message.unwrap_or_default().chars().take(SHOWN).collect();
            Spec {
                name: texts.join(" "),
                failure: (spec.state != "passed").then(|| format!("{}: {message}", spec.state)),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_specs_that_ran_are_read() {
        let written = r#"[{"SpecReports": [
            {"ContainerHierarchyTexts": null, "LeafNodeType": "ReportBeforeSuite", "LeafNodeText": "", "State": "passed"},
            {"ContainerHierarchyTexts": ["a", "b"], "LeafNodeType": "It", "LeafNodeText": "c", "State": "passed"},
            {"ContainerHierarchyTexts": ["a"], "LeafNodeType": "It", "LeafNodeText": "d", "State": "skipped"},
            {"ContainerHierarchyTexts": ["a"], "LeafNodeType": "It", "LeafNodeText": "e", "State": "failed",
                "Failure": {"Message": "boom"}}
        ]}]"#;
        let read = specs(serde_json::from_str(written).unwrap());
        let told: Vec<_> = read
            .iter()
            .map(|spec| (spec.name.as_str(), spec.failure.as_deref()))
            .collect();
        assert_eq!(told, [("a b c", None), ("a e", Some("failed: boom"))]);
    }
}
