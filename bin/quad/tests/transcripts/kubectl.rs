//! A real kubectl against `quad up`: what everybody types on the first day.
//!
//! kubectl is `$KUBECTL`, or the one that `cargo xtask assets` builds. Without one this is skipped, loudly;
//! with `CI=true` it must be there.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::{TempDir, tempdir};

use crate::{
    instance::Instance,
    quad::{Finished, finish},
};

const OBJECTS: &str = include_str!("objects.yaml");
const DEFINITION: &str = include_str!("definition.yaml");

struct Session {
    kubectl: PathBuf,
    home: TempDir,
    instance: Instance,
}

impl Session {
    fn start() -> Option<Self> {
        let kubectl = kubectl()?;
        let home = tempdir().unwrap();
        let instance = Instance::start(home.path(), &["--ephemeral"]);
        for (name, text) in [("objects.yaml", OBJECTS), ("definition.yaml", DEFINITION)] {
            fs::write(home.path().join(name), text).unwrap();
        }
        Some(Self {
            kubectl,
            home,
            instance,
        })
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.kubectl);
        command
            .args(line.split_whitespace())
            .current_dir(self.home.path())
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("KUBECONFIG", self.instance.kubeconfig())
            .stdin(Stdio::null());
        command
    }

    /// Runs kubectl; it must succeed.
    fn run(&self, line: &str) -> String {
        let finished = self.try_run(line);
        let Finished { code, out, err } = &finished;
        assert_eq!(
            *code,
            Some(0),
            "kubectl {line}\n{out}{err}\n{}",
            self.instance.log()
        );
        finished.out
    }

    fn try_run(&self, line: &str) -> Finished {
        finish(&mut self.command(line))
    }

    /// Runs kubectl and compares what it says.
    fn says(&self, line: &str, words: &str) {
        assert_eq!(self.run(line).trim_end(), words, "kubectl {line}");
    }
}

/// Where kubectl is. Without one a test is skipped.
pub(crate) fn kubectl() -> Option<PathBuf> {
    let named = std::env::var_os("KUBECTL").map(PathBuf::from);
    let kubectl = named.or_else(|| quadrille_testkit::assets::binary("kubectl").ok());
    if kubectl.is_none() {
        assert!(
            std::env::var("CI").is_err(),
            "CI is set, so kubectl must be there: cargo xtask assets"
        );
        eprintln!("SKIPPED: no kubectl; build one with cargo xtask assets, or set KUBECTL");
    }
    kubectl
}

fn columns(table: &str, row: usize) -> Vec<&str> {
    table
        .lines()
        .nth(row)
        .unwrap_or_default()
        .split_whitespace()
        .collect()
}

#[test]
fn looking_around_a_new_cluster() {
    let Some(session) = Session::start() else {
        return;
    };
    let namespaces = session.run("get ns");
    assert_eq!(columns(&namespaces, 0), ["NAME", "STATUS", "AGE"]);
    assert_eq!(columns(&namespaces, 1)[..2], ["default", "Active"]);
    let mut plurals: Vec<String> = quadrille_types::crds()
        .into_iter()
        .map(|crd| format!("{}.openchoreo.dev", crd.spec.names.plural))
        .collect();
    plurals.sort();
    assert!(plurals.len() > 15, "{plurals:?}");
    session.says(
        "api-resources --api-group openchoreo.dev --no-headers -o name",
        &plurals.join("\n"),
    );
    let explained = session.run("explain deployment.spec.replicas");
    assert!(
        explained.contains("FIELD: replicas <integer>"),
        "{explained}"
    );
    let explained = session.run("explain project.spec");
    assert!(explained.contains("KIND:       Project"), "{explained}");
    session.says("auth can-i create deployments", "yes");
    assert!(session.run("version").contains("Server Version: v1."));
    assert!(
        session
            .run("cluster-info")
            .contains(session.instance.text("url"))
    );
}

#[test]
fn built_in_objects_from_apply_to_delete() {
    let Some(session) = Session::start() else {
        return;
    };
    let created = "deployment.apps/web created\nservice/web created";
    session.says("apply -f objects.yaml", created);
    session.says(
        "apply -f objects.yaml",
        "deployment.apps/web unchanged\nservice/web unchanged",
    );
    let wide = session.run("get deployments -o wide");
    assert_eq!(columns(&wide, 1)[0], "web");
    assert!(
        wide.contains("IMAGES") && wide.contains("app=web"),
        "{wide}"
    );
    let yaml = session.run("get service web -o yaml");
    assert!(yaml.contains("clusterIP: 10."), "{yaml}");

    let changed = OBJECTS.replace("replicas: 2", "replicas: 4");
    fs::write(session.home.path().join("changed.yaml"), changed).unwrap();
    let diff = session.try_run("diff -f changed.yaml");
    assert_eq!(diff.code, Some(1), "{}{}", diff.out, diff.err);
    assert!(
        diff.out.contains("-  replicas: 2") && diff.out.contains("+  replicas: 4"),
        "{}",
        diff.out
    );

    session.says(
        "label deployment web tier=front",
        "deployment.apps/web labeled",
    );
    session.says(
        "get deployment -l tier=front -o name",
        "deployment.apps/web",
    );
    session.says(
        "scale deployment web --replicas 3",
        "deployment.apps/web scaled",
    );
    for (kind, patch) in [
        (
            "strategic",
            r#"{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"web:2"}]}}}}"#,
        ),
        ("merge", r#"{"metadata":{"annotations":{"note":"x"}}}"#),
        (
            "json",
            r#"[{"op":"replace","path":"/spec/replicas","value":5}]"#,
        ),
    ] {
        session.says(
            &format!("patch deployment web --type {kind} -p {patch}"),
            "deployment.apps/web patched",
        );
    }
    session.says(
        "get deployment web -o jsonpath={.spec.replicas}|{.spec.template.spec.containers[*].image}|{.metadata.annotations.note}",
        "5|web:2|x",
    );
    session.says(
        "apply --server-side --field-manager other -f objects.yaml --force-conflicts",
        "deployment.apps/web serverside-applied\nservice/web serverside-applied",
    );
    let refused = session.try_run("apply -f objects.yaml --validate=strict -n nowhere");
    assert_ne!(refused.code, Some(0));
    assert!(
        refused.err.contains("namespaces \"nowhere\" not found"),
        "{}",
        refused.err
    );
    session.says(
        "delete -f objects.yaml",
        "deployment.apps \"web\" deleted from default namespace\nservice \"web\" deleted from default namespace",
    );
    session.run("wait --for=delete deployment/web --timeout=30s");
}

#[test]
fn a_kind_of_ones_own_from_definition_to_delete() {
    let Some(session) = Session::start() else {
        return;
    };
    session.says(
        "apply -f definition.yaml",
        "customresourcedefinition.apiextensions.k8s.io/cakes.example.dev created",
    );
    session.says(
        "wait --for condition=established crd/cakes.example.dev --timeout=30s",
        "customresourcedefinition.apiextensions.k8s.io/cakes.example.dev condition met",
    );
    let cake =
        "apiVersion: example.dev/v1\nkind: Cake\nmetadata: {name: birthday}\nspec: {layers: 3}\n";
    fs::write(session.home.path().join("cake.yaml"), cake).unwrap();
    session.says("apply -f cake.yaml", "cake.example.dev/birthday created");
    let table = session.run("get cakes");
    assert_eq!(columns(&table, 0), ["NAME", "LAYERS"]);
    assert_eq!(columns(&table, 1), ["birthday", "3"]);
    session.says(
        "scale cake birthday --replicas 5",
        "cake.example.dev/birthday scaled",
    );
    session.says("get cake birthday -o jsonpath={.spec.layers}", "5");
    let refused =
        session.try_run(r#"patch cake birthday --type merge -p {"spec":{"layers":"many"}}"#);
    assert!(refused.err.contains("spec.layers"), "{}", refused.err);
    session.says(
        "delete cake birthday",
        "cake.example.dev \"birthday\" deleted from default namespace",
    );
    session.run("delete crd cakes.example.dev");
    // kubectl remembers for a while that there were cakes; the server does not.
    let gone = session.try_run("get cakes");
    assert!(gone.err.contains("NotFound"), "{}", gone.err);
}

#[test]
fn a_watch_shows_changes_as_they_come() {
    let Some(session) = Session::start() else {
        return;
    };
    session.run("create configmap news --from-literal=line=1");
    let errors = File::create(session.home.path().join("watch.err")).unwrap();
    let mut watch = session
        .command("get configmap news -w -o jsonpath={.data.line}{\"\\n\"}")
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "1");
    session.run(r#"patch configmap news --type merge -p {"data":{"line":"2"}}"#);
    assert_eq!(lines.next().unwrap().unwrap(), "2");
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn every_namespaced_thing_that_people_make_first_can_be_made_and_deleted() {
    let Some(session) = Session::start() else {
        return;
    };
    session.says("create namespace shop", "namespace/shop created");
    for (make, name) in [
        ("configmap c --from-literal=a=b", "configmap/c"),
        ("secret generic s --from-literal=a=b", "secret/s"),
        ("serviceaccount robot", "serviceaccount/robot"),
        (
            "role reader --verb=get --resource=pods",
            "role.rbac.authorization.k8s.io/reader",
        ),
        (
            "rolebinding read --role=reader --serviceaccount=shop:robot",
            "rolebinding.rbac.authorization.k8s.io/read",
        ),
        ("deployment d --image=web:1", "deployment.apps/d"),
        ("service clusterip s --tcp=80:8080", "service/s"),
        ("job j --image=web:1", "job.batch/j"),
        (
            "cronjob cj --image=web:1 --schedule=@daily",
            "cronjob.batch/cj",
        ),
        (
            "ingress i --rule=example.dev/*=s:80",
            "ingress.networking.k8s.io/i",
        ),
        ("quota q --hard=pods=5", "resourcequota/q"),
        (
            "poddisruptionbudget p --selector=app=d --min-available=1",
            "poddisruptionbudget.policy/p",
        ),
    ] {
        session.says(
            &format!("create -n shop {make}"),
            &format!("{name} created"),
        );
        session.says(&format!("delete -n shop {name} --wait=false -o name"), name);
    }
    session.run("create serviceaccount robot -n shop");
    let token = session.run("create token robot -n shop");
    assert_eq!(token.trim().split('.').count(), 3, "{token}");
    let config = session.home.path().join("robot.kubeconfig");
    fs::write(&config, without_certificate(&session.instance.kubeconfig())).unwrap();
    let line = format!("get pods -n shop --token={}", token.trim());
    let refused = finish(session.command(&line).env("KUBECONFIG", &config));
    let words = "User \"system:serviceaccount:shop:robot\" cannot list resource \"pods\"";
    assert!(refused.err.contains(words), "{refused:?}");
    session.run("delete namespace shop");
    session.run("wait --for=delete namespace/shop --timeout=30s");
}

/// The same kubeconfig for somebody who has no certificate.
fn without_certificate(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let kept = text.lines().filter(|line| !line.contains("client-"));
    kept.map(|line| {
        if line == "  user:" {
            "  user: {}\n".to_owned()
        } else {
            format!("{line}\n")
        }
    })
    .collect()
}
