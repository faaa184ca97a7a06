//! Every way to write down a workload, and what it means.

use serde_json::{Value, json};

use super::*;

fn read(template: Value) -> Result<Resolved, String> {
    let template: WorkloadTemplate = serde_json::from_value(template).unwrap();
    template
        .resolve("spec")
        .map_err(|problem| problem.to_string())
}

fn secret(name: &str, key: &str) -> Source {
    Source::Secret(KeyRef {
        name: name.to_owned(),
        key: key.to_owned(),
    })
}

#[test]
fn both_generations_of_one_workload_mean_the_same() {
    let newer = read(json!({
        "container": { "image": "cart:1", "args": ["serve"], "env": [{ "key": "A", "value": "1" }] },
        "endpoints": { "web": { "type": "HTTP", "port": 80, "targetPort": 80 } },
        "dependencies": { "endpoints": [{
            "component": "stock", "name": "api", "visibility": "project",
            "envBindings": { "address": "STOCK_URL", "port": "STOCK_PORT" },
        }]},
    }));
    let older = read(json!({
        "containers": { "main": { "image": "cart:1", "args": ["serve"], "env": [{ "key": "A", "value": "1" }] } },
        "endpoints": { "web": { "type": "REST", "port": 80 } },
        "connections": { "stock": {
            "type": "api",
            "params": { "componentName": "stock", "endpoint": "api" },
            "inject": { "env": [
                { "name": "STOCK_URL", "value": "{{ .url }}" }, { "name": "STOCK_PORT", "value": "{{.port}}" },
            ]},
        }},
    }));
    assert_eq!(newer, older);
    assert!(newer.is_ok(), "{newer:?}");
}

#[test]
fn the_project_always_sees_an_endpoint_and_comes_first() {
    let resolved = read(json!({
        "container": { "image": "i" },
        "endpoints": { "a": { "type": "gRPC", "port": 1, "targetPort": 2, "visibility": ["external", "project"] } },
    }))
    .unwrap();
    let endpoint = &resolved.endpoints["a"];
    assert_eq!(
        endpoint.visibility,
        [Visibility::Project, Visibility::External]
    );
    assert_eq!((endpoint.port, endpoint.target_port), (1, 2));
}

#[test]
fn settings_come_from_where_they_say() {
    let resolved = read(json!({ "container": { "image": "i", "env": [
        { "key": "PLAIN", "value": "x" },
        { "key": "EMPTY" },
        { "key": "NEWER", "valueFrom": { "secretKeyRef": { "name": "s", "key": "k" } } },
        { "key": "OLDER", "valueFrom": { "secretRef": { "name": "s", "key": "k" } } },
        { "key": "GROUP", "valueFrom": { "configurationGroupRef": { "name": "s", "key": "k" } } },
    ]}}))
    .unwrap();
    let sources: Vec<Source> = resolved
        .container
        .env
        .into_iter()
        .map(|env| env.source)
        .collect();
    let group = Source::ConfigurationGroup(KeyRef {
        name: "s".into(),
        key: "k".into(),
    });
    let given = |text: &str| Source::Given(text.to_owned());
    assert_eq!(
        sources,
        [
            given("x"),
            given(""),
            secret("s", "k"),
            secret("s", "k"),
            group
        ]
    );
}

#[test]
fn a_text_about_a_connection_keeps_what_it_does_not_know() {
    use ConnectionPart::{Host, Port, Text};
    let text = |text: &str| Text(text.to_owned());
    assert_eq!(
        parts("tcp://{{ .host }}:{{- .port -}}/{{ .user }}"),
        [text("tcp://"), Host, text(":"), Port, text("/{{ .user }}")],
    );
    assert_eq!(parts("{{ .host"), [text("{{ .host")]);
    assert_eq!(parts("plain"), [text("plain")]);
}

#[test]
fn what_cannot_be_understood_names_its_field() {
    let env = |env: Value| json!({ "container": { "image": "i", "env": env } });
    let both = json!({ "key": "a", "value": "x", "valueFrom": { "secretKeyRef": { "name": "n", "key": "k" } } });
    let cases = [
        (json!({}), "spec.container: is missing"),
        (
            json!({ "container": { "image": "i" }, "containers": { "a": { "image": "i" } } }),
            "spec.containers: stands beside container: only one can be meant",
        ),
        (
            json!({ "containers": { "a": { "image": "i" }, "b": { "image": "i" } } }),
            "spec.containers: has a, b: a workload has one container",
        ),
        (
            json!({ "containers": { "a": { "image": "" } } }),
            "spec.containers.a.image: is empty",
        ),
        (
            env(json!([both])),
            "spec.container.env[0]: has both value and valueFrom: only one can be meant",
        ),
        (
            env(json!([{ "key": "a" }, { "key": "a" }])),
            "spec.container.env[1].key: is \"a\", which comes twice",
        ),
        (
            env(json!([{ "key": "a", "valueFrom": {} }])),
            "spec.container.env[0].valueFrom: is empty: give secretKeyRef",
        ),
        (
            json!({ "container": { "image": "i" }, "connections": { "c": { "type": "api", "inject": { "env": [] } } } }),
            "spec.connections.c.params.componentName: is missing",
        ),
    ];
    for (template, words) in cases {
        assert_eq!(read(template).unwrap_err(), words);
    }
}
