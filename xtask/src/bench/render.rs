//! `cargo xtask bench render`: what it costs to render a component: time and allocations, with a prepared snapshot (warm),
//! with compiled types (prepared anew) and with nothing but the language (cold), and to check all types and traits that
//! we ship.

use std::{
    collections::BTreeMap,
    hint::black_box,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use quadrille_render::{Documents, Inputs, Named, Renderer, library};
use quadrille_types::{
    ComponentReleaseSpec, DataPlaneSpec, EnvironmentSpec, ReleaseBindingSpec, SecretReferenceSpec,
};
use serde_json::{Value, json};
use stats_alloc::Region;

use super::{
    add_row,
    report::{Bound, Goal, Report},
};
use crate::MEMORY;

/// Options of `cargo xtask bench render`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How long each operation is measured, in seconds.
    #[arg(long, default_value_t = 2)]
    seconds: u64,
}

/// What the Go original needs for a type of two objects, warm, on two cores.
const ORIGINAL_MICROSECONDS: f64 = 350.0;
const ORIGINAL_ALLOCATIONS: f64 = 1262.0;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let time = Duration::from_secs(arguments.seconds);
    let mut report = Report::new("render");
    report.fact("seconds per operation", arguments.seconds);
    report.fact("original, two objects, warm, µs", ORIGINAL_MICROSECONDS);
    report.fact("original, allocations", ORIGINAL_ALLOCATIONS);
    report.fact("first render of the process, µs", first_render()?);
    for (what, documents) in [
        ("two objects", two_objects()),
        ("service", service()),
        ("10 resources, 5 traits", large()),
    ] {
        let stage = Stage::read(documents).with_context(|| what.to_owned())?;
        let inputs = stage.inputs();
        let renderer = Renderer::new();
        let prepared = renderer.prepare(&stage.release)?;
        prepared.plan(&inputs)?;
        let warm = measured(time, || drop(black_box(prepared.plan(black_box(&inputs)))));
        let again = measured(time, || {
            drop(black_box(renderer.plan(&stage.release, black_box(&inputs))));
        });
        let cold = measured(time, || {
            drop(black_box(
                Renderer::new().plan(&stage.release, black_box(&inputs)),
            ));
        });
        add_row(&mut report, &format!("{what}, warm"), &warm);
        add_row(&mut report, &format!("{what}, prepared anew"), &again);
        add_row(&mut report, &format!("{what}, cold"), &cold);
        if what == "two objects" {
            report.goal(Goal {
                what: "two objects, warm: original / ours".to_owned(),
                bound: Bound::AtLeast(10.0),
                measured: ORIGINAL_MICROSECONDS / warm["µs"],
                unit: "×".to_owned(),
                profile: None,
            });
            report.goal(Goal {
                what: "two objects, warm: allocations".to_owned(),
                bound: Bound::AtMost(ORIGINAL_ALLOCATIONS),
                measured: warm["allocations"],
                unit: String::new(),
                profile: None,
            });
        }
    }
    let shipped = Documents::read(library::documents())?;
    let checked = measured(time, || {
        let renderer = Renderer::new();
        for (reference, spec) in shipped.component_types() {
            drop(black_box(
                renderer.check_component_type(&reference.kind, spec),
            ));
        }
        for (_, spec) in shipped.traits() {
            drop(black_box(renderer.check_trait(spec)));
        }
    });
    add_row(
        &mut report,
        "all shipped types and traits, checked",
        &checked,
    );
    report.finish()?;
    Ok(())
}

/// What the first render takes, which also makes the language and describes the variables.
fn first_render() -> Result<f64> {
    let stage = Stage::read(two_objects())?;
    let start = Instant::now();
    black_box(Renderer::new().plan(&stage.release, &stage.inputs())?);
    Ok(start.elapsed().as_secs_f64() * 1e6)
}

/// Time and allocations of one turn.
fn measured(time: Duration, mut turn: impl FnMut()) -> BTreeMap<&'static str, f64> {
    turn();
    let region = Region::new(MEMORY);
    turn();
    let allocations = region.change().allocations;
    let start = Instant::now();
    let mut turns = 0_u32;
    while start.elapsed() < time {
        turn();
        turns += 1;
    }
    let each = start.elapsed() / turns;
    #[allow(clippy::cast_precision_loss, reason = "far from where it matters")]
    let allocations = allocations as f64;
    BTreeMap::from([
        ("µs", each.as_secs_f64() * 1e6),
        ("allocations", allocations),
    ])
}

/// A component with everything around it.
struct Stage {
    release: ComponentReleaseSpec,
    binding: ReleaseBindingSpec,
    environment: EnvironmentSpec,
    plane: DataPlaneSpec,
    annotations: BTreeMap<String, String>,
    secrets: BTreeMap<String, SecretReferenceSpec>,
}

impl Stage {
    fn read(documents: Vec<Value>) -> Result<Self> {
        let documents = library::documents().into_iter().chain(documents).collect();
        let release = Documents::read(documents)?.snapshot("bench")?.spec;
        let listener = json!({ "host": "apps.test", "port": 443 });
        let gateway = json!({ "name": "g", "namespace": "g", "https": listener });
        let secret =
            json!({ "template": {}, "data": [{ "secretKey": "k", "remoteRef": { "key": "r" } }] });
        Ok(Self {
            binding: serde_json::from_value(
                json!({ "owner": release.owner, "environment": "development" }),
            )?,
            release,
            environment: EnvironmentSpec::default(),
            plane: serde_json::from_value(json!({
                "kubernetesCluster": { "inCluster": true },
                "secretStoreRef": { "name": "vault" },
                "gateway": { "ingress": { "external": gateway } },
            }))?,
            annotations: BTreeMap::new(),
            secrets: BTreeMap::from([("secret".to_owned(), serde_json::from_value(secret)?)]),
        })
    }

    fn inputs(&self) -> Inputs<'_> {
        let named = |name| Named {
            name,
            uid: "0b8f5a54-0000-4000-8000-000000000000",
        };
        Inputs {
            organization: "default",
            project: named("default"),
            component: named("bench"),
            binding: &self.binding,
            environment: named("development"),
            environment_spec: &self.environment,
            plane: named("default"),
            plane_spec: &self.plane,
            plane_annotations: &self.annotations,
            enforces_egress: false,
            secrets: &self.secrets,
            connections: &[],
            resources: &[],
            notification_channel: None,
            restarted_at: None,
        }
    }
}

fn document(kind: &str, name: &str, spec: &Value) -> Value {
    json!({ "apiVersion": "openchoreo.dev/v1alpha1", "kind": kind, "metadata": { "name": name }, "spec": spec })
}

/// A component of a type, and its workload.
fn component(component_type: &Value, traits: &Value) -> Vec<Value> {
    let owner = json!({ "projectName": "default", "componentName": "bench" });
    let spec = json!({
        "owner": { "projectName": "default" }, "componentType": component_type, "traits": traits,
    });
    let workload = json!({
        "owner": owner,
        "container": { "image": "bench:1", "env": [
            { "key": "A", "value": "1" }, { "key": "B", "value": "2" },
            { "key": "C", "valueFrom": { "secretKeyRef": { "name": "secret", "key": "k" } } },
        ]},
        "endpoints": { "http": { "type": "HTTP", "port": 8080, "visibility": ["external"] } },
    });
    vec![
        document("Component", "bench", &spec),
        document("Workload", "bench", &workload),
    ]
}

fn service() -> Vec<Value> {
    component(
        &json!({ "kind": "ClusterComponentType", "name": "deployment/service" }),
        &json!([]),
    )
}

fn deployment() -> Value {
    json!({ "id": "deployment", "template": {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": "${metadata.name}", "namespace": "${metadata.namespace}" },
        "spec": {
            "replicas": "${parameters.replicas}",
            "selector": { "matchLabels": "${metadata.podSelectors}" },
            "template": {
                "metadata": { "labels": "${metadata.podSelectors}" },
                "spec": { "containers": [{ "name": "main", "image": "${workload.container.image}" }] },
            },
        },
    }})
}

fn port(id: &str) -> Value {
    json!({ "id": id, "template": {
        "apiVersion": "v1", "kind": "Service",
        "metadata": { "name": format!("${{metadata.componentName}}-{id}"), "namespace": "${metadata.namespace}" },
        "spec": { "selector": "${metadata.podSelectors}", "ports": "${workload.toServicePorts()}" },
    }})
}

fn own_type(resources: &[Value], traits: &[Value]) -> Value {
    let replicas = json!({ "type": "integer", "default": 2 });
    json!({
        "workloadType": "deployment",
        "parameters": { "openAPIV3Schema": { "type": "object", "properties": { "replicas": replicas } } },
        "allowedTraits": traits,
        "resources": resources,
    })
}

fn two_objects() -> Vec<Value> {
    let mut documents = component(&json!({ "name": "deployment/small" }), &json!([]));
    let spec = own_type(&[deployment(), port("service")], &[]);
    documents.push(document("ComponentType", "small", &spec));
    documents
}

fn large() -> Vec<Value> {
    let resources: Vec<Value> = [deployment()]
        .into_iter()
        .chain((1..10).map(|number| port(&format!("port-{number}"))))
        .collect();
    let names: Vec<String> = (0..5).map(|number| format!("extra-{number}")).collect();
    let allowed: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    let used: Vec<Value> = names
        .iter()
        .map(|name| json!({ "name": name, "instanceName": name }))
        .collect();
    let mut documents = component(&json!({ "name": "deployment/large" }), &json!(used));
    documents.push(document(
        "ComponentType",
        "large",
        &own_type(&resources, &allowed),
    ));
    let spec = json!({
        "creates": [{ "template": {
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "${metadata.name}-${trait.instanceName}", "namespace": "${metadata.namespace}" },
            "data": { "instance": "${trait.instanceName}" },
        }}],
        "patches": [{
            "target": { "group": "apps", "version": "v1", "kind": "Deployment" },
            "operations": [{
                "op": "add", "path": "/spec/template/spec/containers[?(@.name=='main')]/env/-",
                "value": { "name": "${trait.instanceName}", "value": "${metadata.environmentName}" },
            }],
        }],
    });
    documents.extend(names.iter().map(|name| document("Trait", name, &spec)));
    documents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_measured_can_be_rendered() {
        for (documents, objects) in [(two_objects(), 3), (service(), 6), (large(), 16)] {
            let stage = Stage::read(documents).unwrap();
            let plan = Renderer::new()
                .plan(&stage.release, &stage.inputs())
                .unwrap();
            assert_eq!(plan.objects.len(), objects);
        }
    }
}
