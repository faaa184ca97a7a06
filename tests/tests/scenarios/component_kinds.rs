//! The kinds that components are made of, on a server: what excludes what, what may never change.

use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use quadrille_testkit::Cluster;
use serde_json::{Value, json};

use crate::platform_kinds::{objects, refusal};

fn owner() -> Value {
    json!({ "projectName": "p", "componentName": "c" })
}

/// `base` with more fields.
fn with(mut base: Value, fields: Value) -> Value {
    if let Value::Object(fields) = fields {
        for (name, value) in fields {
            base[name] = value;
        }
    }
    base
}

fn component(fields: Value) -> Value {
    let base = json!({ "owner": { "projectName": "p" }, "componentType": { "name": "deployment/service" } });
    with(base, fields)
}

fn workload(fields: Value) -> Value {
    with(json!({ "owner": owner() }), fields)
}

fn component_type(fields: Value) -> Value {
    let deployment = json!({ "id": "deployment", "template": {} });
    with(
        json!({ "workloadType": "deployment", "resources": [deployment] }),
        fields,
    )
}

fn binding(fields: Value) -> Value {
    with(json!({ "owner": owner(), "environment": "dev" }), fields)
}

fn snapshot() -> Value {
    json!({
        "owner": owner(),
        "componentType": { "kind": "ComponentType", "name": "deployment/service", "spec": component_type(json!({})) },
        "componentProfile": { "parameters": { "deep": { "x": 1 } } },
        "workload": { "container": { "image": "i" } },
    })
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let rule = json!([{ "rule": "${true}", "message": "m" }]);
    let both = json!({ "key": "A", "value": "x", "valueFrom": { "secretKeyRef": { "name": "n", "key": "k" } } });
    let twice = json!([{ "name": "t", "instanceName": "i" }, { "name": "u", "instanceName": "i" }]);
    let agent = json!({ "clientCA": { "value": "x" } });
    let cases = [
        (
            "Component",
            json!({ "owner": { "projectName": "p" } }),
            "has a componentType",
        ),
        (
            "Component",
            component(json!({ "componentType": { "name": "service" } })),
            "should match",
        ),
        (
            "Component",
            component(json!({ "componentType": { "name": "daemon/service" } })),
            "should match",
        ),
        (
            "Component",
            component(json!({ "componentType": { "kind": "Pod", "name": "job/x" } })),
            "Unsupported value",
        ),
        (
            "Component",
            component(json!({ "traits": twice })),
            "Duplicate value",
        ),
        (
            "Workload",
            workload(
                json!({ "container": { "image": "i" }, "containers": { "a": { "image": "i" } } }),
            ),
            "container, or the older containers",
        ),
        (
            "Workload",
            workload(json!({ "container": { "image": "" } })),
            "at least 1 chars long",
        ),
        (
            "Workload",
            workload(json!({ "container": { "image": "i", "env": [both] } })),
            "value or valueFrom",
        ),
        (
            "Workload",
            workload(json!({ "endpoints": { "a": { "type": "SMTP", "port": 25 } } })),
            "Unsupported value",
        ),
        (
            "Workload",
            workload(json!({ "endpoints": { "a": { "type": "HTTP", "port": 0 } } })),
            "greater than or equal to 1",
        ),
        (
            "Workload",
            workload(
                json!({ "endpoints": { "a": { "type": "HTTP", "port": 1, "visibility": ["project", "project"] } } }),
            ),
            "Duplicate value",
        ),
        (
            "Workload",
            workload(
                json!({ "dependencies": { "resources": [{ "ref": "r", "envBindings": { "a": "" } }] } }),
            ),
            "cannot be empty",
        ),
        (
            "ComponentType",
            component_type(json!({ "workloadType": "pod" })),
            "Unsupported value",
        ),
        (
            "ComponentType",
            component_type(json!({ "workloadType": "job" })),
            "must have the workloadType as its id",
        ),
        (
            "ComponentType",
            component_type(json!({ "resources": [] })),
            "at least 1 items",
        ),
        (
            "ComponentType",
            component_type(json!({ "validations": rule, "preRenderValidations": rule })),
            "not both",
        ),
        (
            "ComponentType",
            component_type(json!({ "validations": [{ "rule": "true", "message": "m" }] })),
            "should match",
        ),
        (
            "ComponentType",
            component_type(
                json!({ "resources": [{ "id": "deployment", "template": {}, "forEach": "${[1]}" }] }),
            ),
            "forEach needs var",
        ),
        (
            "ClusterComponentType",
            component_type(json!({ "allowedTraits": [{ "kind": "Trait", "name": "t" }] })),
            "Unsupported value",
        ),
        (
            "Trait",
            json!({ "patches": [{ "target": { "group": "", "version": "v1", "kind": "Service" }, "operations": [] }] }),
            "at least 1 items",
        ),
        (
            "ClusterTrait",
            json!({ "validations": rule, "preRenderValidations": rule }),
            "not both",
        ),
        (
            "ReleaseBinding",
            binding(json!({ "state": "Suspended" })),
            "Unsupported value",
        ),
        (
            "SecretReference",
            json!({ "template": {}, "data": [] }),
            "at least 1 items",
        ),
        ("ClusterDataPlane", json!({}), "either directly"),
        (
            "ClusterDataPlane",
            json!({ "clusterAgent": agent }),
            "needs planeID",
        ),
    ];
    for (kind, spec, words) in cases {
        let message = refusal(&cluster, kind, &spec).await?;
        assert!(message.contains(words), "{kind} {spec}: {message}");
    }
    Ok(())
}

#[tokio::test]
async fn what_lies_outside_is_a_host_or_a_range_with_ports() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let ports = json!([{ "port": 443 }]);
    let host = |name: &str| json!({ "host": name, "ports": ports });
    let at = |port: Value| json!({ "host": "a.example.com", "ports": [port] });
    let cases = [
        (
            json!({ "host": "a.example.com", "cidr": "10.0.0.0/8", "ports": ports }),
            "give either host or cidr",
        ),
        (json!({ "ports": ports }), "give either host or cidr"),
        (host("example"), "should match"),
        (host("https://a.example.com"), "should match"),
        (host("a.*.example.com"), "should match"),
        (
            json!({ "cidr": "10.0.0.0", "ports": ports }),
            "should match",
        ),
        (json!({ "host": "a.example.com" }), "Required value"),
        (
            json!({ "host": "a.example.com", "ports": [] }),
            "at least 1 items",
        ),
        (at(json!({ "port": 0 })), "greater than or equal to 1"),
        (at(json!({ "port": 65536 })), "less than or equal to 65535"),
        (
            at(json!({ "port": 1, "protocol": "SCTP" })),
            "Unsupported value",
        ),
    ];
    let needing = |outside: &[Value]| workload(json!({ "dependencies": { "external": outside } }));
    for (outside, words) in cases {
        let message = refusal(
            &cluster,
            "Workload",
            &needing(std::slice::from_ref(&outside)),
        )
        .await?;
        assert!(message.contains(words), "{outside}: {message}");
    }
    let many = vec![host("a.example.com"); 51];
    let message = refusal(&cluster, "Workload", &needing(&many)).await?;
    assert!(message.contains("must have at most 50 items"), "{message}");
    let fine = [
        host("*.example.com"),
        json!({ "cidr": "2001:db8::/32", "ports": ports }),
    ];
    let object = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Workload", "metadata": { "name": "fine" },
        "spec": needing(&fine),
    });
    let parameters = PatchParams::apply("tests");
    let api = objects(&cluster, "Workload")?;
    api.patch("fine", &parameters, &Patch::Apply(&object))
        .await?;
    Ok(())
}

#[tokio::test]
async fn owners_types_and_snapshots_never_change() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let other_owner = json!({ "owner": { "projectName": "q", "componentName": "c" } });
    let image = json!({ "workload": { "container": { "image": "j" } } });
    let parameters = json!({ "componentProfile": { "parameters": { "deep": { "x": 2 } } } });
    let template = json!({ "componentType": { "spec": { "resources": [{ "id": "deployment", "template": { "a": 1 } }] } } });
    let cases = [
        (
            "Component",
            component(json!({})),
            json!({ "owner": { "projectName": "q" } }),
            "owner is immutable; make another object",
        ),
        (
            "Component",
            component(json!({})),
            json!({ "componentType": { "name": "job/x" } }),
            "componentType is immutable; make another object",
        ),
        (
            "Component",
            component(json!({})),
            json!({ "componentType": null, "type": "Service" }),
            "cannot be taken away",
        ),
        (
            "Workload",
            workload(json!({})),
            other_owner.clone(),
            "owner is immutable; make another object",
        ),
        (
            "ComponentType",
            component_type(json!({})),
            json!({ "workloadType": "proxy" }),
            "workloadType is immutable; make another object",
        ),
        (
            "ReleaseBinding",
            binding(json!({})),
            json!({ "environment": "prod" }),
            "environment is immutable; make another object",
        ),
        ("ComponentRelease", snapshot(), other_owner, "immutable"),
        ("ComponentRelease", snapshot(), image, "make a new one"),
        ("ComponentRelease", snapshot(), parameters, "make a new one"),
        ("ComponentRelease", snapshot(), template, "make a new one"),
    ];
    for (number, (kind, spec, change, words)) in cases.into_iter().enumerate() {
        let api = objects(&cluster, kind)?;
        let name = format!("fixed-{number}");
        let document = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": kind, "metadata": { "name": name }, "spec": spec,
        });
        api.patch(
            &name,
            &PatchParams::apply("tests"),
            &Patch::Apply(&document),
        )
        .await?;
        let change = Patch::Merge(json!({ "spec": change }));
        match api.patch(&name, &PatchParams::default(), &change).await {
            Err(kube::Error::Api(status)) => {
                let message = status.message;
                let named = message.contains(&name) && message.contains("spec");
                assert!(named && message.contains(words), "{kind}: {message}");
            }
            other => anyhow::bail!("{kind} {change:?}: {other:?}"),
        }
        // What says nothing new is no change.
        let same: DynamicObject = api
            .patch(
                &name,
                &PatchParams::apply("tests"),
                &Patch::Apply(&document),
            )
            .await?;
        assert_eq!(same.data["spec"], document["spec"]);
    }
    Ok(())
}

#[tokio::test]
async fn a_name_that_labels_hold_is_no_longer_than_a_label() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let kinds = [
        ("Environment", json!({ "dataPlaneRef": "default" })),
        ("Project", json!({ "deploymentPipelineRef": "default" })),
        ("Component", component(json!({}))),
    ];
    for (kind, spec) in kinds {
        let api = objects(&cluster, kind)?;
        let created = async |length: usize| {
            let object = json!({
                "apiVersion": "openchoreo.dev/v1alpha1", "kind": kind, "metadata": { "name": "n".repeat(length) },
                "spec": spec,
            });
            let object: DynamicObject = serde_json::from_value(object).expect("an object");
            api.create(&PostParams::default(), &object).await
        };
        created(63).await?;
        match created(64).await {
            Err(kube::Error::Api(status)) => {
                let words = "it has at most 63 characters";
                assert!(status.message.contains(words), "{kind}: {}", status.message);
            }
            other => anyhow::bail!("{kind}: {other:?}"),
        }
    }
    Ok(())
}
