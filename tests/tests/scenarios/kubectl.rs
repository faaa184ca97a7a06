//! What people do with kubectl, with the real kubectl.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, ensure};
use quadrille_testkit::{Cluster, DEADLINE, assets, real};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::Command,
};

/// kubectl on a cluster, in the test's own namespace.
struct Kubectl {
    binary: PathBuf,
    kubeconfig: PathBuf,
    namespace: String,
    home: tempfile::TempDir,
}

impl Kubectl {
    /// `None` where kubectl is missing.
    async fn of(cluster: &Cluster) -> anyhow::Result<Option<Self>> {
        if real::is_skipped() {
            return Ok(None);
        }
        Ok(Some(Self {
            binary: assets::binary("kubectl")?,
            kubeconfig: cluster.kubeconfig().await?,
            namespace: cluster.namespace().to_owned(),
            home: tempfile::tempdir()?,
        }))
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(["--namespace", &self.namespace])
            .args(line.split_whitespace())
            // A cache of its own: discovery must be right the first time.
            .env("HOME", self.home.path())
            .kill_on_drop(true);
        command
    }

    /// Runs a line with something on standard input; gives the exit code and all output.
    async fn try_with(&self, line: &str, input: &str) -> anyhow::Result<(i32, String)> {
        let mut child = self
            .command(line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut stdin = child.stdin.take().context("standard input")?;
        stdin.write_all(input.as_bytes()).await?;
        drop(stdin);
        let output = tokio::time::timeout(DEADLINE, child.wait_with_output())
            .await
            .with_context(|| format!("kubectl {line} hangs"))??;
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok((output.status.code().unwrap_or(-1), text))
    }

    async fn with(&self, line: &str, input: &str) -> anyhow::Result<String> {
        let (code, text) = self.try_with(line, input).await?;
        ensure!(code == 0, "kubectl {line}: exit code {code}\n{text}");
        Ok(text)
    }

    async fn run(&self, line: &str) -> anyhow::Result<String> {
        self.with(line, "").await
    }
}

fn manifest(name: &str) -> anyhow::Result<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data/kubectl")
        .join(name);
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}

fn config_map(name: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{k: v}}}}")
}

/// Contains all of these.
fn assert_shows(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

#[tokio::test]
async fn a_deployment_and_a_service_live_their_life_under_kubectl() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let Some(kubectl) = Kubectl::of(&cluster).await? else {
        return Ok(());
    };
    let workload = manifest("workload.yaml")?;

    assert_shows(
        &kubectl.run("get ns").await?,
        &["default", "kube-system", "Active"],
    );
    let applied = kubectl.with("apply -f -", &workload).await?;
    assert_shows(
        &applied,
        &["deployment.apps/web created", "service/web created"],
    );
    let again = kubectl.with("apply -f -", &workload).await?;
    assert_shows(
        &again,
        &["deployment.apps/web unchanged", "service/web unchanged"],
    );
    assert_shows(
        &kubectl.run("get deployment,service -o wide").await?,
        &[
            "NAME",
            "READY",
            "SELECTOR",
            "deployment.apps/web",
            "CLUSTER-IP",
            "8080/TCP",
            "app=web",
        ],
    );
    assert_shows(
        &kubectl.run("get deployment web -o yaml").await?,
        &["replicas: 2", "strategy:"],
    );

    let (code, diff) = kubectl
        .try_with("diff -f -", &workload.replace("replicas: 2", "replicas: 3"))
        .await?;
    assert_eq!(code, 1, "{diff}");
    assert_shows(&diff, &["-  replicas: 2", "+  replicas: 3"]);
    let (code, diff) = kubectl.try_with("diff -f -", &workload).await?;
    assert_eq!((code, diff.as_str()), (0, ""));

    kubectl.run("label deployment web tier=front").await?;
    assert_shows(
        &kubectl.run("get deployment -l tier=front -o name").await?,
        &["deployment.apps/web"],
    );
    kubectl.run("annotate deployment web note=x").await?;
    kubectl.run("scale deployment web --replicas=5").await?;
    assert_eq!(
        kubectl
            .run("get deployment web -o jsonpath={.spec.replicas}")
            .await?,
        "5"
    );
    kubectl
        .run("set image deployment/web main=example.com/web:2")
        .await?;
    assert_shows(
        &kubectl.run("describe deployment web").await?,
        &["example.com/web:2", "tier=front"],
    );
    assert_shows(
        &kubectl.run("delete deployment,service web").await?,
        &["deleted"],
    );
    assert!(
        !kubectl
            .run("get deployment,service -o name")
            .await?
            .contains("web")
    );
    Ok(())
}

#[tokio::test]
async fn every_patch_type_works_from_kubectl() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let Some(kubectl) = Kubectl::of(&cluster).await? else {
        return Ok(());
    };
    kubectl.with("create -f -", &config_map("c")).await?;
    kubectl
        .run(r#"patch configmap c --type=merge -p {"data":{"merge":"1"}}"#)
        .await?;
    kubectl
        .run(r#"patch configmap c --type=strategic -p {"data":{"strategic":"2"}}"#)
        .await?;
    kubectl
        .run(r#"patch configmap c --type=json -p [{"op":"replace","path":"/data/k","value":"3"}]"#)
        .await?;
    let data = kubectl.run("get configmap c -o jsonpath={.data}").await?;
    assert_eq!(data, r#"{"k":"3","merge":"1","strategic":"2"}"#);
    let manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {applied: '4'}}";
    assert_shows(
        &kubectl.with("apply --server-side -f -", manifest).await?,
        &["configmap/c serverside-applied"],
    );
    Ok(())
}

#[tokio::test]
async fn a_new_kind_is_usable_as_soon_as_it_is_established() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let Some(kubectl) = Kubectl::of(&cluster).await? else {
        return Ok(());
    };
    let group = format!("{}.example.com", cluster.namespace());
    let definition = manifest("definition.yaml")?.replace("GROUP", &group);
    let object = manifest("object.yaml")?.replace("GROUP", &group);

    kubectl.with("apply -f -", &definition).await?;
    kubectl
        .run(&format!(
            "wait --for=condition=Established crd/widgets.{group} --timeout=60s"
        ))
        .await?;
    kubectl.with("apply -f -", &object).await?;
    assert_shows(
        &kubectl.run(&format!("get widgets.{group}")).await?,
        &["SIZE", "first", "3"],
    );
    assert_shows(
        &kubectl
            .run(&format!("explain widgets.{group}.spec.size"))
            .await?,
        &["How big it is", "<integer>"],
    );
    assert_shows(
        &kubectl
            .run(&format!("api-resources --api-group={group}"))
            .await?,
        &["widgets", "wd", "Widget", "true"],
    );
    let (code, text) = kubectl
        .try_with("apply -f -", &object.replace("size: 3", "size: -1"))
        .await?;
    assert_ne!(code, 0);
    assert_shows(
        &text,
        &["spec.size", "should be greater than or equal to 0"],
    );
    let (code, text) = kubectl
        .try_with(
            "apply -f -",
            &object.replace("size: 3", "size: 3\n  colour: red"),
        )
        .await?;
    assert_ne!(code, 0);
    assert_shows(&text, &["unknown field \"spec.colour\""]);
    kubectl
        .run(&format!("scale widgets.{group} first --replicas=7"))
        .await?;
    let line = format!("get widgets.{group} first -o jsonpath={{.spec.size}}");
    assert_eq!(kubectl.run(&line).await?, "7");
    kubectl
        .run(&format!("delete crd widgets.{group} --timeout=60s"))
        .await?;
    let (code, _) = kubectl
        .try_with(&format!("get widgets.{group}"), "")
        .await?;
    assert_ne!(code, 0);
    Ok(())
}

#[tokio::test]
async fn kubectl_sees_changes_as_they_happen_and_waits_for_an_end() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let Some(kubectl) = Kubectl::of(&cluster).await? else {
        return Ok(());
    };
    let mut watch = kubectl
        .command("get configmaps --watch --output-watch-events")
        .stdout(Stdio::piped())
        .spawn()?;
    let mut lines = BufReader::new(watch.stdout.take().context("standard output")?).lines();
    kubectl.with("create -f -", &config_map("seen")).await?;
    kubectl.run("delete configmap seen").await?;
    for event in ["ADDED", "DELETED"] {
        tokio::time::timeout(DEADLINE, async {
            while let Some(line) = lines.next_line().await? {
                if line.starts_with(event) && line.contains("seen") {
                    return Ok(());
                }
            }
            anyhow::bail!("the watch ended before {event}")
        })
        .await
        .with_context(|| format!("no {event}"))??;
    }
    watch.kill().await?;

    kubectl.with("create -f -", &config_map("ending")).await?;
    let waiting = kubectl.run("wait --for=delete configmap/ending --timeout=60s");
    let deleting = kubectl.run("delete configmap ending");
    let (waited, deleted) = tokio::join!(waiting, deleting);
    deleted?;
    waited?;
    Ok(())
}
