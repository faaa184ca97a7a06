//! Discovery documents as a real server writes them.

use std::sync::Arc;

use quadrille_machinery::schema::Schema;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{aggregated, api_versions, etag, group, group_list, resource_list, version_priority};
use crate::{
    definition::Definition,
    kinds,
    resource::{Origin, Resource, Subresource, storage_version_hash},
};

/// SHA-256 of the sorted JSON of documents that kube-apiserver 1.36.3 serves with default settings.
const RECORDED: &str = include_str!("tests/recorded.txt");

fn digest(document: &Value) -> String {
    use std::fmt::Write;
    let bytes = serde_json::to_vec(document).unwrap();
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

#[test]
fn built_in_discovery_equals_what_a_real_server_serves() {
    let resources = &kinds::load().resources;
    let mut checked = 0;
    for line in RECORDED.lines() {
        let (path, recorded) = line.split_once(' ').unwrap();
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let document = match parts.as_slice() {
            ["api", "aggregated"] => Some(aggregated(resources, true)),
            ["apis", "aggregated"] => Some(aggregated(resources, false)),
            ["apis"] => Some(group_list(resources)),
            ["api", version] => resource_list(resources, "", version),
            ["apis", name] => group(resources, name),
            ["apis", name, version] => resource_list(resources, name, version),
            _ => None,
        };
        let document = document.unwrap_or_else(|| panic!("{path} is not served"));
        assert_eq!(digest(&document), recorded, "{path}: {document}");
        checked += 1;
    }
    assert!(checked > 40, "only {checked} documents recorded");
}

fn custom(group: &str, version: &str, kind: &str) -> Arc<Resource> {
    let plural = format!("{}s", kind.to_lowercase());
    let verbs = [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    ];
    let subresource = |name: &str, group: &str, version: &str, kind: &str| Subresource {
        name: name.into(),
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        verbs: ["get", "patch", "update"].map(String::from).into(),
    };
    Arc::new(Resource {
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        list_kind: format!("{kind}List"),
        storage: format!("{plural}.{group}"),
        plural,
        singular: kind.to_lowercase(),
        short_names: vec!["wd".into()],
        categories: vec![],
        namespaced: true,
        verbs: verbs.map(String::from).into(),
        subresources: vec![
            subresource("scale", "autoscaling", "v1", "Scale"),
            subresource("status", "", "", kind),
        ],
        schema: Schema::anything(),
        storage_version: format!("{group}/{version}"),
        storage_version_hash: storage_version_hash(group, version, kind),
        origin: Origin::Custom {
            definition: Arc::new(Definition::made_of(&json!({}))),
            version_index: 0,
            stored_schema: quadrille_machinery::structural::schema(None),
            rules: Arc::new(quadrille_machinery::structural::Rules::new(
                quadrille_machinery::structural::schema(None),
            )),
            settled: quadrille_store::Revision(0),
        },
    })
}

#[test]
fn custom_groups_follow_the_built_in_ones_and_versions_go_by_stability() {
    let mut resources = kinds::load().resources.clone();
    resources.push(custom("zeta.example.com", "v1alpha1", "Widget"));
    resources.push(custom("zeta.example.com", "v1", "Widget"));
    resources.push(custom("zeta.example.com", "v1beta1", "Apple"));
    resources.push(custom("alpha.example.com", "v1", "Gadget"));
    let list = group_list(&resources);
    let names: Vec<&str> = list["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[0], "apiregistration.k8s.io");
    assert!(names.ends_with(&["alpha.example.com", "zeta.example.com"]));
    let zeta = group(&resources, "zeta.example.com").unwrap();
    assert_eq!(zeta["preferredVersion"]["version"], "v1");
    assert_eq!(zeta["versions"][1]["version"], "v1beta1");
    assert_eq!(zeta["versions"][2]["version"], "v1alpha1");
}

#[test]
fn a_custom_resource_is_shown_with_its_own_verb_order_and_full_kinds() {
    let resources = vec![custom("zeta.example.com", "v1", "Widget")];
    let list = resource_list(&resources, "zeta.example.com", "v1").unwrap();
    assert_eq!(list["resources"][0]["verbs"][0], "delete");
    assert_eq!(list["resources"][0]["storageVersionHash"], "njIjom67mT8=");
    assert_eq!(list["resources"][1]["name"], "widgets/status");
    assert_eq!(list["resources"][2]["group"], "autoscaling");
    let all = aggregated(&resources, false);
    let widget = &all["items"][0]["versions"][0]["resources"][0];
    let own = json!({"group": "zeta.example.com", "version": "v1", "kind": "Widget"});
    assert_eq!(widget["responseKind"], own);
    assert_eq!(widget["subresources"][0]["responseKind"], own);
    assert_eq!(widget["subresources"][1]["responseKind"]["kind"], "Scale");
}

#[test]
fn unknown_groups_and_versions_have_no_document() {
    let resources = &kinds::load().resources;
    assert!(group(resources, "").is_none());
    assert!(group(resources, "nobody.example.com").is_none());
    assert!(resource_list(resources, "apps", "v1beta1").is_none());
}

#[test]
fn the_core_group_names_the_servers_address() {
    let document = api_versions("127.0.0.1:6443");
    assert_eq!(
        document["serverAddressByClientCIDRs"][0]["serverAddress"],
        "127.0.0.1:6443"
    );
}

#[test]
fn versions_are_ordered_as_clients_expect() {
    let mut versions = vec![
        "foo",
        "v1",
        "v11alpha2",
        "v10",
        "v3beta1",
        "v2",
        "bar",
        "v12alpha1",
    ];
    versions.sort_by_key(|version| std::cmp::Reverse(version_priority(version)));
    let expected = [
        "v10",
        "v2",
        "v1",
        "v3beta1",
        "v12alpha1",
        "v11alpha2",
        "bar",
        "foo",
    ];
    assert_eq!(versions, expected);
}

#[test]
fn an_entity_tag_is_a_quoted_hash() {
    let tag = etag(b"{}");
    assert_eq!(tag.len(), 130);
    assert!(tag.starts_with("\"27C7"));
}
