//! The oldest documents, `core.choreo.dev/v1`, from `quad apply` to their end: each type, status and reason.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::{
    instance::Instance,
    quad::{Finished, quad},
};

struct Session<'a> {
    home: &'a Path,
    instance: Instance,
}

impl<'a> Session<'a> {
    fn start(home: &'a Path) -> Self {
        let instance = Instance::start_on_data(home);
        Self { home, instance }
    }

    fn run(&self, line: &str) -> Finished {
        let kubeconfig = self.instance.kubeconfig();
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.extend(["--kubeconfig", kubeconfig.to_str().unwrap()]);
        quad(self.home, &arguments)
    }

    fn must(&self, line: &str) -> String {
        let finished = self.run(line);
        assert_eq!(
            finished.code,
            Some(0),
            "quad {line}\n{}{}",
            finished.out,
            finished.err
        );
        finished.out
    }

    fn apply(&self, name: &str, document: &Value) -> String {
        let path = self.home.join(name);
        fs::write(&path, document.to_string()).unwrap();
        self.must(&format!("apply -f {}", path.to_str().unwrap()))
    }

    fn object(&self, line: &str) -> Value {
        serde_json::from_str(&self.must(&format!("get {line} -o json"))).unwrap()
    }

    /// Each condition: type, status, reason.
    fn conditions(&self, line: &str) -> Vec<String> {
        let object = self.object(line);
        let conditions = object["status"]["conditions"].as_array().unwrap();
        let told = |condition: &Value| {
            let word = |field: &str| condition[field].as_str().unwrap().to_owned();
            format!("{} {} {}", word("type"), word("status"), word("reason"))
        };
        let mut conditions: Vec<String> = conditions.iter().map(told).collect();
        conditions.sort();
        conditions
    }

    fn message(&self, line: &str, condition: &str) -> String {
        let object = self.object(line);
        let conditions = object["status"]["conditions"].as_array().unwrap();
        let found = conditions.iter().find(|found| found["type"] == condition);
        found.unwrap()["message"].as_str().unwrap().to_owned()
    }
}

/// The Secret that the documents name, with a way to the cluster itself.
fn connection(session: &Session<'_>) -> Value {
    let kubeconfig = fs::read_to_string(session.instance.kubeconfig()).unwrap();
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": { "name": "kind-cluster-1-connection-config", "namespace": "acme" },
        "stringData": { "kubeconfig": kubeconfig },
    })
}

#[test]
fn the_oldest_documents_reach_the_conditions_that_belong_to_them() {
    they_live_and_end(include_str!("seeds.yaml"));
}

#[test]
fn the_same_documents_in_todays_group_reach_the_same_conditions() {
    let today = include_str!("seeds.yaml")
        .replace("core.choreo.dev/v1", "openchoreo.dev/v1alpha1")
        .replace("core.choreo.dev/", "openchoreo.dev/");
    they_live_and_end(&today);
}

fn they_live_and_end(documents: &str) {
    let home = tempdir().unwrap();
    let session = Session::start(home.path());
    let file = home.path().join("documents.yaml");
    fs::write(&file, documents).unwrap();
    let applied = session.must(&format!("apply -f {}", file.to_str().unwrap()));
    assert_eq!(
        applied.lines().collect::<Vec<_>>(),
        [
            "organization.openchoreo.dev/acme created",
            "dataplane.openchoreo.dev/dp-local created",
            "environment.openchoreo.dev/development created",
            "deploymentpipeline.openchoreo.dev/pipeline-dev-stage-prod created",
        ]
    );
    let waited = session.run("wait environment development -n acme --timeout 1");
    assert_eq!(waited.code, Some(3), "{}", waited.out);
    assert!(
        waited.err.contains("kind-cluster-1-connection-config"),
        "{}",
        waited.err
    );
    let missing = session.message("dataplane dp-local -n acme", "Ready");
    assert!(
        missing.contains("kind-cluster-1-connection-config"),
        "{missing}"
    );

    session.apply("secret.json", &connection(&session));
    session.must("wait environment development -n acme");
    assert_eq!(
        session.conditions("organization acme"),
        ["Ready True NamespaceCreated"]
    );
    assert_eq!(
        session.conditions("dataplane dp-local -n acme"),
        [
            "Created True DataPlaneCreated",
            "Reachable True PlaneReachable",
            "Ready True PlaneReachable",
        ]
    );
    assert_eq!(
        session.conditions("environment development -n acme"),
        ["Ready True EnvironmentReady"]
    );
    assert_eq!(
        session.conditions("deploymentpipeline pipeline-dev-stage-prod -n acme"),
        [
            "Available False EnvironmentNotFound",
            "Ready False EnvironmentNotFound"
        ]
    );
    let message = session.message(
        "deploymentpipeline pipeline-dev-stage-prod -n acme",
        "Ready",
    );
    assert!(message.contains("production, staging, test"), "{message}");
    // The environments that were missing make it whole.
    for name in ["test", "staging", "production"] {
        session.apply(
            "environment.json",
            &json!({
                "apiVersion": "core.choreo.dev/v1", "kind": "Environment",
                "metadata": { "name": name, "namespace": "acme" },
                "spec": { "dataPlaneRef": "dp-local", "isProduction": name == "production" },
            }),
        );
    }
    session.must("wait deploymentpipeline pipeline-dev-stage-prod -n acme");
    assert_eq!(
        session.conditions("deploymentpipeline pipeline-dev-stage-prod -n acme"),
        [
            "Available True DeploymentPipelineAvailable",
            "Ready True DeploymentPipelineAvailable"
        ]
    );
    assert_eq!(
        session.must("delete organization acme"),
        "organization.openchoreo.dev/acme deleted\n"
    );
    assert_eq!(session.run("get namespace acme").code, Some(1));
}
