//! Our own kinds on a server: samples of every generation are taken, broken rules are refused.

use std::{fs, path::PathBuf, sync::LazyLock};

use anyhow::Context as _;
use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use quadrille_testkit::Cluster;
use serde_json::{Value, json};

/// Definitions of our kinds.
static DEFINITIONS: LazyLock<Vec<Value>> = LazyLock::new(quadrille_types::definitions);

/// Objects of one of our kinds, given by name.
pub(crate) fn objects(cluster: &Cluster, kind: &str) -> anyhow::Result<Api<DynamicObject>> {
    let mut specs = DEFINITIONS.iter().map(|definition| &definition["spec"]);
    let spec = specs.find(|spec| spec["names"]["kind"] == kind);
    let spec = spec.context("one of our kinds")?;
    let plural = spec["names"]["plural"].as_str().context("a plural")?;
    let gvk = GroupVersionKind::gvk(quadrille_types::GROUP, quadrille_types::VERSION, kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
    Ok(if spec["scope"] == "Cluster" {
        Api::all_with(cluster.client(), &resource)
    } else {
        Api::namespaced_with(cluster.client(), cluster.namespace(), &resource)
    })
}

/// Every document of `samples/platform`, `samples/components` and `samples/deployment-system` that is of our kinds, under
/// a name that no other one has.
fn samples(cluster: &Cluster) -> anyhow::Result<Vec<Value>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../samples");
    let mut found = Vec::new();
    let files = fs::read_dir(folder.join("platform"))?;
    let files = files.chain(fs::read_dir(folder.join("components"))?);
    let files = files.chain(fs::read_dir(folder.join("deployment-system"))?);
    for (number, file) in files.enumerate() {
        let path = file?.path();
        if path.extension().is_none_or(|end| end != "yaml") {
            continue;
        }
        let documents: Vec<Value> = serde_saphyr::from_multiple(&fs::read_to_string(path)?)?;
        for mut document in documents {
            if document["apiVersion"] != "openchoreo.dev/v1alpha1" {
                continue;
            }
            let name = document["metadata"]["name"].as_str().context("a name")?;
            let name = cluster.unique(&format!("{name}-{number}"));
            document["metadata"]["name"] = json!(name);
            if document["metadata"]["namespace"].is_string() {
                document["metadata"]["namespace"] = json!(cluster.namespace());
            }
            found.push(document);
        }
    }
    Ok(found)
}

#[tokio::test]
async fn samples_of_every_generation_are_applied_strictly_and_come_back_unchanged()
-> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let params = PatchParams::apply("tests").validation_strict();
    for document in samples(&cluster)? {
        let api = objects(&cluster, document["kind"].as_str().context("a kind")?)?;
        let name = document["metadata"]["name"].as_str().context("a name")?;
        let applied = api
            .patch(name, &params, &Patch::Apply(&document))
            .await
            .with_context(|| document.to_string())?;
        let spec = applied.data.get("spec").unwrap_or(&Value::Null);
        assert_eq!(spec, &document["spec"], "{name}");
    }
    Ok(())
}

/// What an object's creation is refused with.
pub(crate) async fn refusal(cluster: &Cluster, kind: &str, spec: &Value) -> anyhow::Result<String> {
    let document = json!({
        "apiVersion": "openchoreo.dev/v1alpha1",
        "kind": kind,
        "metadata": { "name": "refused" },
        "spec": spec,
    });
    let object: DynamicObject = serde_json::from_value(document)?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    match objects(cluster, kind)?.create(&params, &object).await {
        Err(kube::Error::Api(status)) if status.code == 422 => Ok(status.message.clone()),
        other => anyhow::bail!("{kind} {spec}: {other:?}"),
    }
}

#[tokio::test]
async fn rules_between_fields_are_kept() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let agent = json!({ "clientCA": { "value": "x" } });
    let cluster_of = |fields: Value| json!({ "kubernetesCluster": fields });
    let release = |fields: Value| {
        let mut spec = json!({ "owner": { "projectName": "p" }, "environmentName": "e" });
        for (name, value) in fields.as_object().into_iter().flatten() {
            spec[name.as_str()] = value.clone();
        }
        spec
    };
    let token = json!({ "bearerToken": { "value": "a", "secretRef": "b" } });
    let cases = [
        ("DataPlane", json!({}), "either directly"),
        (
            "DataPlane",
            json!({ "kubernetesCluster": { "inCluster": true }, "clusterAgent": agent }),
            "either directly",
        ),
        ("DataPlane", cluster_of(json!({})), "exactly one way"),
        (
            "DataPlane",
            cluster_of(json!({ "inCluster": false })),
            "exactly one way",
        ),
        (
            "DataPlane",
            cluster_of(json!({ "inCluster": true, "secretRef": "x" })),
            "exactly one way",
        ),
        (
            "DataPlane",
            cluster_of(json!({ "server": "s" })),
            "server needs auth",
        ),
        (
            "DataPlane",
            cluster_of(json!({ "secretRef": "s", "tls": { "ca": {} } })),
            "belong to server",
        ),
        (
            "DataPlane",
            cluster_of(json!({ "server": "s", "auth": token })),
            "not several of them",
        ),
        (
            "DataPlane",
            json!({ "clusterAgent": agent, "planeID": "-x" }),
            "spec.planeID",
        ),
        (
            "DataPlane",
            json!({ "clusterAgent": agent, "gateway": { "publicVirtualHost": "h" } }),
            "go together",
        ),
        (
            "Project",
            json!({}),
            "spec.deploymentPipelineRef: Required value",
        ),
        (
            "Project",
            json!({ "deploymentPipelineRef": "d", "type": { "kind": "Pod", "name": "n" } }),
            "Unsupported value",
        ),
        (
            "DeploymentPipeline",
            json!({ "promotionPaths": [{ "targetEnvironmentRefs": [] }] }),
            "Required value",
        ),
        (
            "Release",
            json!({ "environmentName": "e" }),
            "spec.owner: Required value",
        ),
        (
            "Release",
            release(
                json!({ "owner": { "projectName": "p", "componentName": "c", "resourceName": "r" } }),
            ),
            "not to both",
        ),
        (
            "Release",
            release(json!({ "interval": "5" })),
            "spec.interval",
        ),
        (
            "Release",
            release(json!({ "dependsOn": [{ "name": "refused" }] })),
            "cannot depend on itself",
        ),
        (
            "Release",
            release(
                json!({ "resources": [{ "id": "a", "object": {} }, { "id": "a", "object": {} }] }),
            ),
            "Duplicate value",
        ),
    ];
    for (kind, spec, words) in cases {
        let message = refusal(&cluster, kind, &spec).await?;
        assert!(message.contains(words), "{kind} {spec}: {message}");
    }
    Ok(())
}

#[tokio::test]
async fn what_may_not_change_is_kept() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let release = json!({ "owner": { "projectName": "p" }, "environmentName": "e" });
    let project = json!({ "deploymentPipelineRef": "d", "type": { "name": "t" } });
    let cases = [
        (
            "Release",
            &release,
            json!({ "environmentName": "f" }),
            "environmentName is immutable",
        ),
        (
            "Release",
            &release,
            json!({ "owner": { "projectName": "q" } }),
            "owner is immutable",
        ),
        (
            "Release",
            &release,
            json!({ "targetPlane": "observabilityplane" }),
            "targetPlane is immutable",
        ),
        (
            "Project",
            &project,
            json!({ "type": { "name": "u" } }),
            "type is immutable",
        ),
        (
            "Project",
            &project,
            json!({ "type": null }),
            "cannot be taken away",
        ),
    ];
    for (kind, spec, change, words) in cases {
        let api = objects(&cluster, kind)?;
        let document = json!({
            "apiVersion": "openchoreo.dev/v1alpha1",
            "kind": kind,
            "metadata": { "name": "fixed" },
            "spec": spec,
        });
        let params = PatchParams::apply("tests");
        api.patch("fixed", &params, &Patch::Apply(&document))
            .await?;
        let change = Patch::Merge(json!({ "spec": change }));
        match api.patch("fixed", &PatchParams::default(), &change).await {
            Err(kube::Error::Api(status)) => {
                assert!(status.message.contains(words), "{}", status.message);
            }
            other => anyhow::bail!("{kind}: {other:?}"),
        }
    }
    // A name and an object are the same reference, and may take each other's place.
    let object = json!({ "spec": { "deploymentPipelineRef": { "name": "other" } } });
    let projects = objects(&cluster, "Project")?;
    projects
        .patch("fixed", &PatchParams::default(), &Patch::Merge(object))
        .await?;
    Ok(())
}
