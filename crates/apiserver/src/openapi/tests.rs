//! OpenAPI documents for built-in and custom kinds.

use std::sync::Arc;

use quadrille_machinery::schema::Schema;
use serde_json::{Value, json};

use super::{document, document_hash, index, swagger};
use crate::{
    definition::Definition,
    kinds,
    resource::{Origin, Resource, Subresource},
};

fn widget(schema: &Value) -> Arc<Resource> {
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
    Arc::new(Resource {
        group: "zeta.example.com".into(),
        version: "v1".into(),
        kind: "Widget".into(),
        list_kind: "WidgetList".into(),
        plural: "widgets".into(),
        singular: "widget".into(),
        short_names: vec![],
        categories: vec![],
        namespaced: true,
        verbs: verbs.map(String::from).into(),
        subresources: vec![Subresource {
            name: "scale".into(),
            group: "autoscaling".into(),
            version: "v1".into(),
            kind: "Scale".into(),
            verbs: ["get", "patch", "update"].map(String::from).into(),
        }],
        schema: Schema::anything(),
        storage: "widgets.zeta.example.com".into(),
        storage_version: "zeta.example.com/v1".into(),
        storage_version_hash: String::new(),
        origin: Origin::Custom {
            definition: Arc::new(Definition::made_of(
                &json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}),
            )),
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
fn a_patch_of_a_built_in_kind_tells_that_fields_are_validated() {
    let document = document(&kinds::load().resources, "apps", "v1").unwrap();
    let path = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}";
    let operation = &document["paths"][path]["patch"];
    assert_eq!(operation["operationId"], "patchAppsV1NamespacedDeployment");
    assert_eq!(operation["tags"], json!(["apps_v1"]));
    assert_eq!(
        operation["x-kubernetes-group-version-kind"]["kind"],
        "Deployment"
    );
    let names: Vec<&Value> = operation["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|parameter| &parameter["name"])
        .collect();
    assert!(names.contains(&&json!("fieldValidation")));
    let schemas = &document["components"]["schemas"];
    let spec = &schemas["io.k8s.api.apps.v1.DeploymentSpec"];
    assert_eq!(spec["required"], json!(["selector", "template"]));
    assert!(schemas["io.k8s.api.core.v1.Container"]["properties"]["image"].is_object());
}

#[test]
fn every_reference_of_a_document_is_answered_inside_of_it() {
    let resources = &kinds::load().resources;
    for resource in resources {
        let document = document(resources, &resource.group, &resource.version).unwrap();
        let text = document.to_string();
        for part in text.split("\"#/components/schemas/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(
                document["components"]["schemas"][name].is_object(),
                "{name}"
            );
        }
    }
}

#[test]
fn a_custom_resource_is_published_with_its_schema() {
    let resource = widget(&json!({
        "type": "object",
        "required": ["spec"],
        "properties": {
            "metadata": {"type": "object", "properties": {"name": {"maxLength": 20}}},
            "spec": {"type": "object", "properties": {
                "port": {"x-kubernetes-int-or-string": true},
                "object": {"type": "object", "x-kubernetes-embedded-resource": true,
                    "x-kubernetes-preserve-unknown-fields": true},
            }},
        },
    }));
    let document = document(&[resource], "zeta.example.com", "v1").unwrap();
    let schemas = &document["components"]["schemas"];
    let own = &schemas["com.example.zeta.v1.Widget"];
    let metadata = json!([
        {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
    ]);
    assert_eq!(own["properties"]["metadata"]["allOf"], metadata);
    let spec = &own["properties"]["spec"]["properties"];
    assert_eq!(
        spec["port"]["anyOf"],
        json!([{"type": "integer"}, {"type": "string"}])
    );
    assert_eq!(spec["object"]["required"], json!(["kind", "apiVersion"]));
    assert!(schemas["io.k8s.api.autoscaling.v1.ScaleSpec"].is_object());
    let path = "/apis/zeta.example.com/v1/namespaces/{namespace}/widgets/{name}";
    let operation = &document["paths"][path]["patch"];
    assert_eq!(
        operation["operationId"],
        "patchZetaExampleComV1NamespacedWidget"
    );
    assert!(
        operation["requestBody"]["content"]
            .get("application/strategic-merge-patch+json")
            .is_none()
    );
}

#[test]
fn the_index_changes_with_a_definition_and_only_there() {
    let mut resources = kinds::load().resources.clone();
    resources.push(widget(&json!({"type": "object"})));
    let before = index(&resources);
    resources.pop();
    resources.push(widget(&json!({"type": "object", "description": "changed"})));
    let after = index(&resources);
    let zeta = "apis/zeta.example.com/v1";
    assert_ne!(before["paths"][zeta], after["paths"][zeta]);
    assert_eq!(before["paths"]["api/v1"], after["paths"]["api/v1"]);
    let hash = document_hash(&resources, "zeta.example.com", "v1").unwrap();
    let url = format!("/openapi/v3/{zeta}?hash={hash}");
    assert_eq!(after["paths"][zeta]["serverRelativeURL"], url);
}

#[test]
fn version_two_refers_to_definitions_and_drops_choices() {
    let document = swagger(&kinds::load().resources);
    let quantity = &document["definitions"]["io.k8s.apimachinery.pkg.api.resource.Quantity"];
    assert_eq!(quantity, &json!({"type": "string"}));
    let path = "/api/v1/namespaces/{namespace}/configmaps";
    let create = &document["paths"][path]["post"];
    let body = create["parameters"].as_array().unwrap().last().unwrap();
    assert_eq!(
        body["schema"]["$ref"],
        "#/definitions/io.k8s.api.core.v1.ConfigMap"
    );
    assert!(!document.to_string().contains("#/components/"));
}

#[test]
fn what_every_object_has_is_explained() {
    let resource = widget(&json!({"type": "object", "properties": {"spec": {"type": "object"}}}));
    let document = document(&[resource], "zeta.example.com", "v1").unwrap();
    let schemas = &document["components"]["schemas"];
    let own = &schemas["com.example.zeta.v1.Widget"]["properties"];
    for (field, words) in [
        ("apiVersion", "APIVersion defines"),
        ("kind", "Kind is a string value"),
        ("metadata", "Standard object's metadata."),
    ] {
        let told = own[field]["description"].as_str().unwrap();
        assert!(told.starts_with(words), "{field}: {told}");
    }
    let metadata = &schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"];
    for (name, field) in metadata["properties"].as_object().unwrap() {
        assert!(field["description"].is_string(), "{name} is not explained");
    }
}

fn swagger_of(schema: &Value) -> Value {
    let mut document = swagger(&[widget(schema)]);
    document["definitions"]["com.example.zeta.v1.Widget"].take()
}

#[test]
fn version_two_says_nothing_of_an_object_that_takes_any_field() {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"spec": {"type": "object"}}});
    let kind = json!([{"group": "zeta.example.com", "version": "v1", "kind": "Widget"}]);
    assert_eq!(
        swagger_of(&schema),
        json!({"type": "object", "x-kubernetes-group-version-kind": kind})
    );
}

#[test]
fn version_two_is_vague_about_nulls_and_unknown_fields() {
    let schema = json!({"type": "object", "properties": {"spec": {
        "type": "object",
        "required": ["size", "name"],
        "properties": {
            "size": {"type": "integer", "nullable": true},
            "name": {"type": "string", "allOf": [{"minLength": 1}]},
            "rest": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"a": {"type": "string"}}},
        },
    }}});
    assert_eq!(
        swagger_of(&schema)["properties"]["spec"],
        json!({"type": "object", "required": ["name"], "properties": {
            "size": {},
            "name": {"type": "string"},
            "rest": {"x-kubernetes-preserve-unknown-fields": true},
        }})
    );
}

#[test]
fn selectable_fields_are_told() {
    let mut resource = Arc::unwrap_or_clone(widget(&json!({"type": "object"})));
    let definition = json!({"spec": {"versions": [{
        "schema": {"openAPIV3Schema": {"type": "object"}},
        "selectableFields": [{"jsonPath": ".spec.host"}],
    }]}});
    if let Origin::Custom {
        definition: old, ..
    } = &mut resource.origin
    {
        *old = Arc::new(Definition::made_of(&definition));
    }
    let document = document(&[Arc::new(resource)], "zeta.example.com", "v1").unwrap();
    let schemas = &document["components"]["schemas"];
    for kind in ["Widget", "WidgetList"] {
        assert_eq!(
            schemas[format!("com.example.zeta.v1.{kind}")]["x-kubernetes-selectable-fields"],
            json!([{"fieldPath": "spec.host"}])
        );
    }
}
