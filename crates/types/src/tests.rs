//! The definitions and the sample documents, as a whole.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::*;

/// Every document of the folders of samples that are one of each kind, with the file it is from.
fn samples() -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let mut files: Vec<_> = ["platform", "components", "promotion", "deployment-system"]
        .into_iter()
        .flat_map(|part| fs::read_dir(folder.join(part)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let documents: Vec<Value> =
                serde_saphyr::from_multiple(&fs::read_to_string(file).unwrap()).unwrap();
            documents
                .into_iter()
                .map(move |document| (name.clone(), document))
        })
        .collect()
}

/// Reads a document into its kind and checks that writing it again gives the same.
fn round_trip<K: DeserializeOwned + Serialize>(document: &Value) -> K {
    let object: K = serde_json::from_value(document.clone()).unwrap();
    let mut written = serde_json::to_value(&object).unwrap();
    if document.get("spec").is_none() {
        assert_eq!(written["spec"], serde_json::json!({}));
        written.as_object_mut().unwrap().remove("spec");
    }
    assert_eq!(&written, document);
    object
}

/// Reads a document of a kind that has nothing to resolve.
#[expect(
    clippy::unnecessary_wraps,
    reason = "one of many readers; others may fail"
)]
fn plain<K: DeserializeOwned + Serialize>(document: &Value) -> Result<(), Problem> {
    round_trip::<K>(document);
    Ok(())
}

fn bound(template: &workload::WorkloadTemplate) -> Result<(), Problem> {
    template.resolve("spec.workloadSpec").map(drop)
}

#[test]
fn every_sample_is_read_understood_and_written_without_loss() {
    let mut seen = BTreeMap::new();
    for (file, document) in samples() {
        let kind = document["kind"].as_str().unwrap().to_owned();
        let name = document["metadata"]["name"].as_str().unwrap();
        let understood = match kind.as_str() {
            "Organization" => {
                round_trip::<Organization>(&document);
                Ok(())
            }
            "Project" => round_trip::<Project>(&document).spec.resolve().map(drop),
            "Environment" => round_trip::<Environment>(&document)
                .spec
                .resolve()
                .map(drop),
            "DataPlane" => round_trip::<DataPlane>(&document)
                .spec
                .resolve(name)
                .map(drop),
            "DeploymentPipeline" => round_trip::<DeploymentPipeline>(&document)
                .spec
                .resolve()
                .map(drop),
            "Release" => {
                let release = round_trip::<Release>(&document);
                release
                    .spec
                    .intervals()
                    .and(release.spec.target_plane())
                    .map(drop)
            }
            "ClusterDataPlane" => {
                let plane = round_trip::<ClusterDataPlane>(&document);
                plane.spec.0.resolve(name).map(drop)
            }
            "Component" => round_trip::<Component>(&document).spec.resolve().map(drop),
            "Workload" => {
                let workload = round_trip::<Workload>(&document);
                workload.spec.template.resolve("spec").map(drop)
            }
            "ReleaseBinding" => {
                let binding = round_trip::<ReleaseBinding>(&document);
                binding.spec.overrides().map(drop)
            }
            "ComponentRelease" => {
                let release = round_trip::<ComponentRelease>(&document);
                release.spec.workload.resolve("spec.workload").map(drop)
            }
            "ComponentType" => {
                round_trip::<ComponentType>(&document);
                Ok(())
            }
            "ClusterComponentType" => {
                round_trip::<ClusterComponentType>(&document);
                Ok(())
            }
            "Trait" => {
                round_trip::<Trait>(&document);
                Ok(())
            }
            "ClusterTrait" => {
                round_trip::<ClusterTrait>(&document);
                Ok(())
            }
            "SecretReference" => {
                round_trip::<SecretReference>(&document);
                Ok(())
            }
            "Approval" => {
                round_trip::<Approval>(&document);
                Ok(())
            }
            "Endpoint" => plain::<Endpoint>(&document),
            "API" => plain::<PublishedApi>(&document),
            "APIClass" => plain::<ApiClass>(&document),
            "APIBinding" => plain::<ApiBinding>(&document),
            "DeploymentTrack" => plain::<DeploymentTrack>(&document),
            "DeployableArtifact" => plain::<DeployableArtifact>(&document),
            "Deployment" => plain::<Deployment>(&document),
            "Build" => plain::<Build>(&document),
            "ConfigurationGroup" => {
                let group = round_trip::<ConfigurationGroup>(&document);
                let problems = group.spec.problems(|_| true);
                problems.into_iter().next().map_or(Ok(()), Err)
            }
            "Service" => plain::<Service>(&document),
            "WebApplication" => plain::<WebApplication>(&document),
            "ScheduledTask" => plain::<ScheduledTask>(&document),
            "ServiceClass" => plain::<ServiceClass>(&document),
            "WebApplicationClass" => plain::<WebApplicationClass>(&document),
            "ScheduledTaskClass" => plain::<ScheduledTaskClass>(&document),
            "ServiceBinding" => bound(&round_trip::<ServiceBinding>(&document).spec.workload_spec),
            "WebApplicationBinding" => bound(
                &round_trip::<WebApplicationBinding>(&document)
                    .spec
                    .workload_spec,
            ),
            "ScheduledTaskBinding" => bound(
                &round_trip::<ScheduledTaskBinding>(&document)
                    .spec
                    .workload_spec,
            ),
            // What the samples stand on, of Kubernetes and the Gateway API.
            "Gateway" | "Namespace" => continue,
            other => panic!("{file}: {other} is none of our kinds"),
        };
        assert_eq!(understood, Ok(()), "{file}: {kind} {name}");
        *seen.entry(kind).or_insert(0) += 1;
    }
    let kinds: Vec<_> = crds().into_iter().map(|crd| crd.spec.names.kind).collect();
    for kind in kinds {
        assert!(seen.contains_key(&kind), "no sample of {kind}");
    }
}

#[test]
fn definitions_come_in_a_fixed_order_and_are_always_the_same() {
    let plurals: Vec<_> = crds()
        .into_iter()
        .map(|crd| crd.spec.names.plural)
        .collect();
    let expected = [
        "organizations",
        "projects",
        "environments",
        "dataplanes",
        "deploymentpipelines",
        "releases",
        "clusterdataplanes",
        "componenttypes",
        "clustercomponenttypes",
        "traits",
        "clustertraits",
        "secretreferences",
        "components",
        "workloads",
        "componentreleases",
        "releasebindings",
        "approvals",
        "endpoints",
        "apis",
        "apiclasses",
        "apibindings",
        "deploymenttracks",
        "deployableartifacts",
        "deployments",
        "configurationgroups",
        "builds",
        "services",
        "webapplications",
        "scheduledtasks",
        "serviceclasses",
        "webapplicationclasses",
        "scheduledtaskclasses",
        "servicebindings",
        "webapplicationbindings",
        "scheduledtaskbindings",
    ];
    assert_eq!(plurals, expected);
    assert_eq!(crd_documents(), crd_documents());
    // What a server adds to them.
    let mut shipped = definitions();
    for definition in &mut shipped {
        let spec = definition["spec"].as_object_mut().unwrap();
        assert!(spec.remove("conversion").is_some());
        let names = spec["names"].as_object_mut().unwrap();
        assert!(names.remove("listKind").is_some());
    }
    assert!(
        crd_documents() == shipped,
        "definitions.jsonl is old: run `cargo xtask gen`"
    );
}

#[test]
fn every_definition_has_a_status_a_ready_column_and_an_age() {
    for crd in crds() {
        let version = &crd.spec.versions[0];
        let columns: Vec<_> = version
            .additional_printer_columns
            .iter()
            .flatten()
            .map(|column| column.name.as_str())
            .collect();
        assert!(
            columns.contains(&"Ready") && columns.contains(&"Age"),
            "{columns:?}"
        );
        assert!(version.subresources.as_ref().unwrap().status.is_some());
        assert_eq!(
            (crd.spec.group.as_str(), version.name.as_str()),
            (GROUP, VERSION)
        );
    }
}

#[test]
fn a_reference_in_either_shape_has_no_type_in_the_definition() {
    let projects = &crd_documents()[1];
    let spec = &projects["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let reference = &spec["properties"]["deploymentPipelineRef"];
    assert_eq!(reference.get("type"), None);
    assert_eq!(reference["x-kubernetes-preserve-unknown-fields"], true);
}

#[test]
fn definitions_use_no_format_that_a_server_does_not_know_and_no_null() {
    fn check(value: &Value) {
        match value {
            Value::Object(fields) => {
                assert!(!fields.contains_key("nullable"), "{fields:?}");
                if let Some(Value::String(format)) = fields.get("format") {
                    assert!(
                        ["int32", "int64", "date-time"].contains(&format.as_str()),
                        "{format}"
                    );
                }
                fields.values().for_each(check);
            }
            Value::Array(items) => items.iter().for_each(check),
            Value::Number(number) => assert!(!number.is_f64(), "{number}"),
            _ => {}
        }
    }
    crd_documents().iter().for_each(check);
}

#[test]
fn a_spec_that_demands_nothing_may_be_left_out() {
    let demands: BTreeMap<_, _> = crd_documents()
        .iter()
        .map(|crd| {
            let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            let kind = crd["spec"]["names"]["kind"].as_str().unwrap().to_owned();
            (kind, schema.get("required").is_some())
        })
        .collect();
    assert!(!demands["Organization"] && !demands["Environment"] && !demands["DeploymentPipeline"]);
    assert!(demands["Project"] && demands["DataPlane"] && demands["Release"]);
}
