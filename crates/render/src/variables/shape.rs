//! Of what shape the variables are: what expressions are checked against.

use serde_json::{Value, json};

/// The shape of what component types see, and traits too.
pub(crate) fn of_all() -> Value {
    let settings = || object([("envs", list(env())), ("files", list(file()))]);
    object([
        ("metadata", metadata()),
        (
            "dataplane",
            object([
                ("secretStore", text()),
                ("secretProvider", text()),
                ("gateway", gateway()),
                (
                    "observabilityPlaneRef",
                    object([("kind", text()), ("name", text())]),
                ),
                ("annotations", map(text())),
            ]),
        ),
        (
            "environment",
            object([
                ("gateway", gateway()),
                ("defaultNotificationChannel", text()),
            ]),
        ),
        ("gateway", gateway()),
        ("workload", workload()),
        (
            "configurations",
            object([("configs", settings()), ("secrets", settings())]),
        ),
        ("dependencies", dependencies()),
        ("derived", derived()),
    ])
}

/// The shape of what only traits see.
pub(crate) fn of_traits() -> Value {
    let own = object([("name", text()), ("instanceName", text())]);
    object([("trait", own)])
}

fn metadata() -> Value {
    object([
        ("name", text()),
        ("namespace", text()),
        ("componentNamespace", text()),
        ("componentName", text()),
        ("componentUID", text()),
        ("projectName", text()),
        ("projectUID", text()),
        ("dataPlaneName", text()),
        ("dataPlaneUID", text()),
        ("environmentName", text()),
        ("environmentUID", text()),
        ("labels", map(text())),
        ("annotations", map(text())),
        ("podSelectors", map(text())),
    ])
}

fn workload() -> Value {
    let container = object([
        ("image", text()),
        ("command", list(text())),
        ("args", list(text())),
    ]);
    let endpoint = object([
        ("type", text()),
        ("port", number()),
        ("targetPort", number()),
        ("visibility", list(text())),
        ("displayName", text()),
        ("basePath", text()),
    ]);
    object([("container", container), ("endpoints", map(endpoint))])
}

fn dependencies() -> Value {
    let item = object([
        ("namespace", text()),
        ("project", text()),
        ("component", text()),
        ("endpoint", text()),
        ("visibility", text()),
        ("envVars", list(anything())),
    ]);
    let resource = object([
        ("ref", text()),
        ("envVars", list(anything())),
        ("volumeMounts", list(anything())),
        ("volumes", list(anything())),
    ]);
    object([
        ("items", list(item)),
        ("resources", list(resource)),
        ("envVars", list(anything())),
        ("volumeMounts", list(anything())),
        ("volumes", list(anything())),
    ])
}

fn derived() -> Value {
    let envs = || object([("resourceName", text()), ("envs", list(env()))]);
    let shown_file = || {
        let mut file = file();
        file["properties"]["resourceName"] = text();
        file
    };
    let port = object([
        ("name", text()),
        ("port", number()),
        ("targetPort", number()),
        ("protocol", text()),
    ]);
    let offered = object([
        ("kind", text()),
        ("method", text()),
        ("path", text()),
        ("service", text()),
    ]);
    object([
        ("configFiles", list(shown_file())),
        ("secretFiles", list(shown_file())),
        ("containerEnvFrom", list(anything())),
        ("configEnvs", list(envs())),
        ("secretEnvs", list(envs())),
        ("volumeMounts", list(anything())),
        ("volumes", list(anything())),
        ("dependencyEnvs", list(anything())),
        ("dependencyVolumeMounts", list(anything())),
        ("dependencyVolumes", list(anything())),
        ("servicePorts", list(port)),
        ("endpointResources", map(list(offered))),
    ])
}

fn gateway() -> Value {
    let listener = || {
        object([
            ("host", text()),
            ("port", number()),
            ("listenerName", text()),
        ])
    };
    let endpoint = || {
        object([
            ("name", text()),
            ("namespace", text()),
            ("http", listener()),
            ("https", listener()),
            ("tls", listener()),
        ])
    };
    let network = || object([("external", endpoint()), ("internal", endpoint())]);
    object([("ingress", network()), ("egress", network())])
}

fn env() -> Value {
    object([("name", text()), ("value", text()), ("remoteRef", remote())])
}

fn file() -> Value {
    object([
        ("name", text()),
        ("mountPath", text()),
        ("value", text()),
        ("remoteRef", remote()),
    ])
}

fn remote() -> Value {
    object([("key", text()), ("property", text()), ("version", text())])
}

fn object<const N: usize>(properties: [(&str, Value); N]) -> Value {
    typed("object", "properties", Value::from_iter(properties))
}

fn list(items: Value) -> Value {
    typed("array", "items", items)
}

fn map(values: Value) -> Value {
    typed("object", "additionalProperties", values)
}

fn typed(ty: &str, keyword: &str, rest: Value) -> Value {
    Value::from_iter([("type", Value::from(ty)), (keyword, rest)])
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn number() -> Value {
    json!({ "type": "integer" })
}

fn anything() -> Value {
    json!({ "x-kubernetes-preserve-unknown-fields": true })
}
