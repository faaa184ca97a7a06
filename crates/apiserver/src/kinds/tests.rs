//! The built-in kinds as their data file gives them.

use quadrille_machinery::schema::{ListType, Type};

use super::load;
use crate::resource::storage_version_hash;

#[test]
fn a_container_port_is_found_through_all_its_owners() {
    let deployments = load().resource("apps", "v1", "deployments").unwrap();
    let template = deployments
        .schema
        .root()
        .property("spec")
        .and_then(|spec| spec.property("template"))
        .and_then(|template| template.property("spec"))
        .unwrap();
    assert_eq!(template.node().type_name.as_deref(), Some("PodSpec"));
    let containers = template.property("containers").unwrap();
    assert_eq!(
        containers.node().list_type,
        ListType::Map(vec!["name".into()])
    );
    let patch = containers.node().patch.as_deref().unwrap();
    assert!(patch.merge);
    assert_eq!(patch.merge_key.as_deref(), Some("name"));
    let protocol = containers
        .items()
        .and_then(|container| container.property("ports"))
        .and_then(quadrille_machinery::schema::SchemaRef::items)
        .and_then(|port| port.property("protocol"))
        .unwrap();
    assert_eq!(protocol.node().ty, Some(Type::String));
    assert_eq!(protocol.node().default.as_deref(), Some(&"TCP".into()));
}

#[test]
fn a_field_that_refers_to_a_type_keeps_its_own_merge_strategy() {
    let deployments = load().resource("apps", "v1", "deployments").unwrap();
    let spec = deployments.schema.root().property("spec").unwrap();
    let strategy = spec.property("strategy").unwrap();
    assert!(strategy.node().patch.as_deref().unwrap().retain_keys);
    assert_eq!(
        strategy.node().type_name.as_deref(),
        Some("DeploymentStrategy")
    );
    assert!(strategy.property("rollingUpdate").is_some());
}

#[test]
fn recursive_types_close_on_themselves() {
    let props = load()
        .definition("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")
        .unwrap();
    let not = props.root().property("not").unwrap();
    assert_eq!(not.id(), props.root().id());
}

#[test]
fn kinds_that_only_subresources_speak_have_schemas() {
    for (group, version, kind) in [
        ("autoscaling", "v1", "Scale"),
        ("policy", "v1", "Eviction"),
        ("authentication.k8s.io", "v1", "TokenRequest"),
        ("", "v1", "Binding"),
    ] {
        assert!(load().schema(group, version, kind).is_some(), "{kind}");
    }
}

#[test]
fn storage_versions_agree_with_the_published_hashes() {
    // These were stored in a version that is no longer served when their hash was frozen.
    let frozen = [
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "CustomResourceDefinition",
    ];
    for resource in &load().resources {
        if resource.storage_version_hash.is_empty() || frozen.contains(&resource.kind.as_str()) {
            continue;
        }
        let (group, version) = resource
            .storage_version
            .split_once('/')
            .unwrap_or(("", &resource.storage_version));
        assert_eq!(
            resource.storage_version_hash,
            storage_version_hash(group, version, &resource.kind),
            "{} {}",
            resource.group,
            resource.plural
        );
    }
}
