//! What templates see, and of what shape it is.

use quadrille_types::workload::Resolved as Workload;
use serde_json::{Map, Value, json};

use crate::{
    dependencies::Dependencies, endpoint_resources, gateway::Gateways, inputs::Inputs,
    metadata::Metadata, ports, provider::SecretProvider, settings::Settings,
};

/// The values of all variables but the parameters.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    named: Vec<(&'static str, Value)>,
}

impl Values {
    /// Every variable with its value.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.named.iter().map(|(name, value)| (*name, value))
    }
}

/// What there is to see.
pub(crate) struct Seen<'a> {
    pub(crate) inputs: &'a Inputs<'a>,
    pub(crate) metadata: &'a Metadata,
    pub(crate) workload: &'a Workload,
    pub(crate) settings: &'a Settings,
    pub(crate) dependencies: &'a Dependencies,
    pub(crate) gateways: &'a Gateways,
    pub(crate) provider: SecretProvider,
    /// Whether something asks what endpoints offer, which takes reading their schemas.
    pub(crate) reads_schemas: bool,
}

/// The values of what there is to see.
pub(crate) fn values(seen: &Seen<'_>) -> Values {
    let gateway = seen.gateways.variable();
    let named = vec![
        ("metadata", seen.metadata.variable(seen.inputs)),
        ("dataplane", data_plane(seen)),
        ("environment", environment(seen, &gateway)),
        ("gateway", gateway),
        ("workload", workload(seen.workload)),
        ("configurations", seen.settings.variable()),
        ("dependencies", seen.dependencies.variable()),
        ("derived", derived(seen)),
    ];
    Values { named }
}

/// An object of what is there.
fn present(fields: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Value {
    let there = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(there.collect::<Map<_, _>>())
}

fn data_plane(seen: &Seen<'_>) -> Value {
    let spec = seen.inputs.plane_spec;
    let own = Gateways::of_plane(spec, None).variable();
    let annotations = seen.inputs.plane_annotations;
    present([
        (
            "secretStore",
            spec.secret_store_ref
                .as_ref()
                .map(|store| json!(store.name)),
        ),
        ("secretProvider", Some(json!(seen.provider.as_str()))),
        ("gateway", (own != json!({})).then_some(own)),
        (
            "observabilityPlaneRef",
            spec.observability_plane_ref
                .as_ref()
                .map(|plane| json!(plane)),
        ),
        (
            "annotations",
            (!annotations.is_empty()).then(|| json!(annotations)),
        ),
    ])
}

fn environment(seen: &Seen<'_>, gateway: &Value) -> Value {
    let channel = seen.inputs.notification_channel;
    present([
        ("gateway", (*gateway != json!({})).then(|| gateway.clone())),
        (
            "defaultNotificationChannel",
            channel.map(|name| json!(name)),
        ),
    ])
}

fn workload(workload: &Workload) -> Value {
    let container = &workload.container;
    let endpoints = workload.endpoints.iter().map(|(name, endpoint)| {
        let shown = present([
            ("type", Some(json!(endpoint.protocol))),
            ("port", Some(json!(endpoint.port))),
            ("targetPort", Some(json!(endpoint.target_port))),
            ("visibility", Some(json!(endpoint.visibility))),
            (
                "displayName",
                endpoint.display_name.as_ref().map(|name| json!(name)),
            ),
            (
                "basePath",
                endpoint.base_path.as_ref().map(|path| json!(path)),
            ),
        ]);
        (name.clone(), shown)
    });
    json!({
        "container": present([
            ("image", Some(json!(container.image))),
            ("command", (!container.command.is_empty()).then(|| json!(container.command))),
            ("args", (!container.args.is_empty()).then(|| json!(container.args))),
        ]),
        "endpoints": endpoints.collect::<Map<_, _>>(),
    })
}

fn derived(seen: &Seen<'_>) -> Value {
    let settings = seen.settings.derived(seen.provider);
    let endpoints = &seen.workload.endpoints;
    let offered = if seen.reads_schemas {
        endpoint_resources::of(endpoints)
    } else {
        Map::new()
    };
    json!({
        "configFiles": settings.config_files,
        "secretFiles": settings.secret_files,
        "containerEnvFrom": settings.env_from,
        "configEnvs": settings.config_envs,
        "secretEnvs": settings.secret_envs,
        "volumeMounts": settings.mounts,
        "volumes": settings.volumes,
        "dependencyEnvs": seen.dependencies.envs,
        "dependencyVolumeMounts": seen.dependencies.mounts,
        "dependencyVolumes": seen.dependencies.volumes,
        "servicePorts": ports::of_service(endpoints),
        "endpointResources": offered,
    })
}

/// The shape of what component types see; traits also see `trait`.
pub(crate) fn shape(is_trait: bool) -> Value {
    let mut properties = json!({
        "metadata": object(&[
            ("name", text()), ("namespace", text()), ("componentNamespace", text()), ("componentName", text()),
            ("componentUID", text()), ("projectName", text()), ("projectUID", text()), ("dataPlaneName", text()),
            ("dataPlaneUID", text()), ("environmentName", text()), ("environmentUID", text()),
            ("labels", map(&text())), ("annotations", map(&text())), ("podSelectors", map(&text())),
        ]),
        "dataplane": object(&[
            ("secretStore", text()), ("secretProvider", text()), ("gateway", gateway_shape()),
            ("observabilityPlaneRef", object(&[("kind", text()), ("name", text())])), ("annotations", map(&text())),
        ]),
        "environment": object(&[("gateway", gateway_shape()), ("defaultNotificationChannel", text())]),
        "gateway": gateway_shape(),
        "workload": object(&[
            ("container", object(&[("image", text()), ("command", list(&text())), ("args", list(&text()))])),
            ("endpoints", map(&object(&[
                ("type", text()), ("port", number()), ("targetPort", number()), ("visibility", list(&text())),
                ("displayName", text()), ("basePath", text()),
            ]))),
        ]),
        "configurations": object(&[
            ("configs", object(&[("envs", list(&env())), ("files", list(&file()))])),
            ("secrets", object(&[("envs", list(&env())), ("files", list(&file()))])),
        ]),
        "dependencies": object(&[
            ("items", list(&object(&[
                ("namespace", text()), ("project", text()), ("component", text()), ("endpoint", text()),
                ("visibility", text()), ("envVars", list(&anything())),
            ]))),
            ("resources", list(&object(&[
                ("ref", text()), ("envVars", list(&anything())), ("volumeMounts", list(&anything())),
                ("volumes", list(&anything())),
            ]))),
            ("envVars", list(&anything())), ("volumeMounts", list(&anything())), ("volumes", list(&anything())),
        ]),
        "derived": derived_shape(),
    });
    if is_trait {
        properties["trait"] = object(&[("name", text()), ("instanceName", text())]);
    }
    json!({ "type": "object", "properties": properties })
}

fn derived_shape() -> Value {
    let envs = object(&[("resourceName", text()), ("envs", list(&env()))]);
    let mut shown_file = file();
    shown_file["properties"]["resourceName"] = text();
    let offered = object(&[
        ("kind", text()),
        ("method", text()),
        ("path", text()),
        ("service", text()),
    ]);
    object(&[
        ("configFiles", list(&shown_file)),
        ("secretFiles", list(&shown_file)),
        ("containerEnvFrom", list(&anything())),
        ("configEnvs", list(&envs)),
        ("secretEnvs", list(&envs)),
        ("volumeMounts", list(&anything())),
        ("volumes", list(&anything())),
        ("dependencyEnvs", list(&anything())),
        ("dependencyVolumeMounts", list(&anything())),
        ("dependencyVolumes", list(&anything())),
        (
            "servicePorts",
            list(&object(&[
                ("name", text()),
                ("port", number()),
                ("targetPort", number()),
                ("protocol", text()),
            ])),
        ),
        ("endpointResources", map(&list(&offered))),
    ])
}

fn gateway_shape() -> Value {
    let listener = object(&[
        ("host", text()),
        ("port", number()),
        ("listenerName", text()),
    ]);
    let endpoint = object(&[
        ("name", text()),
        ("namespace", text()),
        ("http", listener.clone()),
        ("https", listener.clone()),
        ("tls", listener),
    ]);
    let network = object(&[("external", endpoint.clone()), ("internal", endpoint)]);
    object(&[("ingress", network.clone()), ("egress", network)])
}

fn env() -> Value {
    object(&[("name", text()), ("value", text()), ("remoteRef", remote())])
}

fn file() -> Value {
    object(&[
        ("name", text()),
        ("mountPath", text()),
        ("value", text()),
        ("remoteRef", remote()),
    ])
}

fn remote() -> Value {
    object(&[("key", text()), ("property", text()), ("version", text())])
}

fn object(properties: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> = properties
        .iter()
        .map(|(name, shape)| ((*name).to_owned(), shape.clone()))
        .collect();
    json!({ "type": "object", "properties": properties })
}

fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn map(values: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": values })
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
