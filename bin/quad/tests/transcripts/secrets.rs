//! What is secret is told to nobody: a canary value goes wherever a secret may go, things go wrong in every way that they
//! can, and everything that is kept, said and logged is searched for it.

use std::fs;

use k8s_openapi::api::core::v1::{Event, Secret};
use kube::{
    Api, Resource,
    api::{ListParams, ObjectMeta, PostParams},
    core::NamespaceResourceScope,
};
use quadrille_types::{Component, ComponentRelease, Release, ReleaseBinding, names::generate};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::{instance::Instance, quad::finish, transcript::Desk};

const CANARY: &str = "canary-4b1d-sings";
/// The same as Secrets hold it.
const ENCODED: &str = "Y2FuYXJ5LTRiMWQtc2luZ3";

/// Commands whose answers are searched, each time that something went wrong in another way.
const QUESTIONS: [&str; 14] = [
    "quad status vault",
    "quad status vault -o json",
    "quad history vault",
    "quad describe component vault",
    "quad describe component vault -o json",
    "quad describe releasebinding vault-development",
    "quad describe release vault-development",
    "quad describe release vault-development -o json",
    "quad diff -f binding.yaml",
    "quad diff -f next.yaml",
    "quad diff -f vault.yaml --env development",
    "quad render --live --component vault --env development",
    "quad render -f vault.yaml -f binding.yaml --env development",
    "quad release list vault",
];

/// The settings of an environment.
fn binding(password: &str, trouble: &str) -> String {
    json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ReleaseBinding",
        "metadata": { "name": "vault-development", "namespace": "default" },
        "spec": {
            "owner": { "projectName": "default", "componentName": "vault" },
            "environment": "development",
            "componentTypeEnvironmentConfigs": { "password": password, "trouble": trouble },
            "traitEnvironmentConfigs": { "nobody": { "password": password } },
        },
    })
    .to_string()
}

/// Everything that is searched.
struct Search {
    desk: Desk,
    told: Vec<(String, String)>,
}

impl Search {
    fn write(&self, name: &str, text: &str) {
        fs::write(self.desk.home.join(name), text).unwrap();
    }

    /// Runs a command; what it says is searched.
    fn ask(&mut self, line: &str) -> String {
        let finished = finish(&mut self.desk.command(line));
        let said = format!("{}{}", finished.out, finished.err);
        self.told.push((line.to_owned(), said.clone()));
        said
    }

    fn ask_everything(&mut self) {
        for line in QUESTIONS {
            self.ask(line);
        }
    }

    async fn keep<K>(&mut self, client: &kube::Client, read: impl Fn(Value) -> Value)
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned
            + Serialize,
    {
        let api: Api<K> = Api::all(client.clone());
        let list = api.list(&ListParams::default()).await.unwrap();
        for object in list.items {
            let called = format!(
                "{} {}",
                K::kind(&()),
                object.meta().name.as_deref().unwrap()
            );
            let text = read(serde_json::to_value(&object).unwrap()).to_string();
            self.told.push((called, text));
        }
    }

    /// What is kept is searched as well: all of what is nobody's own words, and what was said of the rest.
    async fn keep_all(&mut self, client: &kube::Client) {
        self.keep::<ComponentRelease>(client, |object| object).await;
        self.keep::<Event>(client, |object| object).await;
        let status = |object: Value| json!([object["status"], object["metadata"]["annotations"]]);
        self.keep::<Component>(client, status).await;
        self.keep::<ReleaseBinding>(client, status).await;
        self.keep::<Release>(client, status).await;
    }

    /// Nothing sang.
    fn end(&self) {
        for (whence, text) in &self.told {
            let sings = text.contains(CANARY) || text.contains(ENCODED);
            assert!(!sings, "{whence}:\n{text}");
        }
    }
}

#[tokio::test]
async fn what_is_secret_is_told_to_nobody_whatever_goes_wrong() {
    let home = tempdir().unwrap();
    let instance = Instance::start_loud(home.path());
    let client = instance.client().await;
    let desk = Desk::of(home.path(), &instance);
    let mut search = Search {
        desk,
        told: Vec::new(),
    };
    search.write("next.yaml", &binding("another", "none"));
    let good = binding(CANARY, "none");
    search.write("binding.yaml", &good);
    search.ask("quad apply -f vault.yaml");
    search.ask("quad apply -f binding.yaml");
    let said = search.ask("quad deploy vault");
    let cell =
        generate::cell_namespace(&"default".into(), &"default".into(), &"development".into());
    let store = Secret {
        metadata: ObjectMeta {
            name: Some("vault-store".to_owned()),
            ..ObjectMeta::default()
        },
        string_data: Some([("token".to_owned(), CANARY.to_owned())].into()),
        ..Secret::default()
    };
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &cell);
    secrets
        .create(&PostParams::default(), &store)
        .await
        .unwrap();
    assert!(said.contains("is Ready in development"), "{said}");
    // It is where it belongs, so that there is something to find.
    let held = secrets.list(&ListParams::default()).await.unwrap();
    let held = serde_json::to_string(&held.items).unwrap();
    assert_eq!(held.matches(ENCODED).count(), 2, "{held}");
    search.ask_everything();
    let mut wrong = |words: &str, document: &str| {
        search.write("binding.yaml", document);
        search.ask("quad apply -f binding.yaml");
        let line = "quad describe releasebinding vault-development";
        search.desk.until(line, words);
        search.ask_everything();
    };
    let long = CANARY.repeat(4);
    wrong("at most 50 characters", &binding(&long, "none"));
    wrong("RenderingFailed", &binding(CANARY, "render"));
    wrong("ResourceApplyFailed", &binding(CANARY, "refuse"));
    wrong("ResourcesReady", &good);
    // It turns bad on the plane.
    let workload = fs::read_to_string(search.desk.home.join("vault.yaml")).unwrap();
    let unpullable = workload.replace("registry.example.com/vault:1", "registry.invalid/vault:2");
    search.write("unpullable.yaml", &unpullable);
    let said = search.ask("quad deploy vault -f unpullable.yaml");
    assert!(said.contains("is Degraded in development"), "{said}");
    search.ask_everything();
    // A password that everybody would see in a release is refused.
    let pinned = workload.replace(
        "  componentType: {name: deployment/vault}",
        &format!("  componentType: {{name: deployment/vault}}\n  parameters: {{pin: {CANARY}}}"),
    );
    search.write("pinned.yaml", &pinned);
    let said = search.ask("quad deploy vault -f pinned.yaml");
    assert!(said.contains("spec.parameters.pin"), "{said}");
    search.ask("quad validate -f pinned.yaml");
    search.ask("quad render -f pinned.yaml");
    let releases: Api<ComponentRelease> = Api::default_namespaced(client.clone());
    let releases = releases.list(&ListParams::default()).await.unwrap();
    let names: Vec<String> = releases
        .items
        .iter()
        .filter_map(|one| one.metadata.name.clone())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    search.ask(&format!("quad release diff {} {}", names[0], names[1]));
    search.ask(&format!("quad release show {}", names[0]));
    // Somebody changes it on the plane, and it is healed.
    let name = held_by_release(&secrets).await;
    let patch = json!({ "stringData": { "password": "magpie" } });
    let how = kube::api::PatchParams::default();
    secrets
        .patch(&name, &how, &kube::api::Patch::Merge(&patch))
        .await
        .unwrap();
    search
        .desk
        .until("quad describe release vault-development", "DriftHealed");
    search.ask_everything();
    search.ask("quad undeploy vault --env development --yes");
    search.keep_all(&client).await;
    let logged = instance.log();
    assert!(logged.contains("vault"), "the log says nothing at all");
    search.told.push(("the log".to_owned(), logged));
    search.end();
}

/// The Secret that the component's type makes.
async fn held_by_release(secrets: &Api<Secret>) -> String {
    let all = secrets.list(&ListParams::default()).await.unwrap();
    let mut names = all.items.into_iter().filter_map(|one| one.metadata.name);
    names.find(|name| name.ends_with("-password")).unwrap()
}
