//! What templates see.

pub(crate) mod shape;

use quadrille_template::{COMPONENT_MACROS, DERIVED, Reads};
use quadrille_types::workload::{Resolved as Workload, ResolvedContainer};
use serde_json::{Map, Value, json};

use crate::{
    dependencies::Dependencies, endpoint_resources, gateway::Gateways, inputs::Inputs,
    metadata::Metadata, ports, provider::SecretProvider, settings::Settings,
};

/// What there is to see.
pub(crate) struct Seen<'a> {
    pub(crate) inputs: &'a Inputs<'a>,
    pub(crate) metadata: &'a Metadata,
    pub(crate) workload: &'a Workload,
    /// The workload's, with the settings of the environment.
    pub(crate) container: &'a ResolvedContainer,
    pub(crate) settings: &'a Settings<'a>,
    pub(crate) dependencies: &'a Dependencies,
    pub(crate) gateways: &'a Gateways<'a>,
    pub(crate) provider: SecretProvider,
    /// What expressions look at.
    pub(crate) reads: &'a Reads,
}

/// A variable with its value.
pub(crate) type Variable = (&'static str, Value);

/// All variables but the parameters, as far as expressions look at them.
pub(crate) fn values(seen: &Seen<'_>) -> Vec<Variable> {
    type Maker = fn(&Seen<'_>) -> Value;
    let variables: [(&'static str, Maker); 8] = [
        ("metadata", metadata),
        ("dataplane", data_plane),
        ("environment", environment),
        ("gateway", |seen| seen.gateways.variable()),
        ("workload", workload),
        ("configurations", |seen| seen.settings.variable()),
        ("dependencies", |seen| seen.dependencies.variable()),
        (DERIVED, derived),
    ];
    let read = variables
        .into_iter()
        .filter(|(name, _)| seen.reads.variable(name));
    read.map(|(name, value)| (name, value(seen))).collect()
}

/// An object of what is there.
fn present(fields: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Value {
    let there = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(there.collect::<Map<_, _>>())
}

fn metadata(seen: &Seen<'_>) -> Value {
    let (inputs, metadata) = (seen.inputs, seen.metadata);
    let is_read = |field: &str| seen.reads.field("metadata", field);
    let texts = [
        ("name", metadata.name.as_str()),
        ("namespace", &metadata.namespace),
        ("componentNamespace", inputs.organization),
        ("componentName", inputs.component.name),
        ("componentUID", inputs.component.uid),
        ("projectName", inputs.project.name),
        ("projectUID", inputs.project.uid),
        ("dataPlaneName", inputs.plane.name),
        ("dataPlaneUID", inputs.plane.uid),
        ("environmentName", inputs.environment.name),
        ("environmentUID", inputs.environment.uid),
    ];
    let texts = texts
        .into_iter()
        .filter(|(field, _)| is_read(field))
        .map(|(field, text)| (field, Some(Value::from(text))));
    let nothing = Map::new();
    let maps = [
        ("labels", &metadata.labels),
        ("annotations", &nothing),
        ("podSelectors", &metadata.labels),
    ];
    let maps = maps
        .into_iter()
        .filter(|(field, _)| is_read(field))
        .map(|(field, map)| (field, Some(Value::Object(map.clone()))));
    present(texts.chain(maps))
}

fn data_plane(seen: &Seen<'_>) -> Value {
    let spec = seen.inputs.plane_spec;
    let annotations = seen.inputs.plane_annotations;
    present([
        (
            "secretStore",
            spec.secret_store_ref
                .as_ref()
                .map(|store| json!(store.name)),
        ),
        ("secretProvider", Some(json!(seen.provider.as_str()))),
        ("gateway", Gateways::of_plane(spec, None).any()),
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

fn environment(seen: &Seen<'_>) -> Value {
    let channel = seen.inputs.notification_channel;
    present([
        ("gateway", seen.gateways.any()),
        (
            "defaultNotificationChannel",
            channel.map(|name| json!(name)),
        ),
    ])
}

fn workload(seen: &Seen<'_>) -> Value {
    let is_read = |field: &str| seen.reads.field("workload", field);
    present([
        ("container", is_read("container").then(|| container(seen))),
        ("endpoints", is_read("endpoints").then(|| endpoints(seen))),
    ])
}

fn container(seen: &Seen<'_>) -> Value {
    let container = seen.container;
    let words = |words: &Vec<String>| (!words.is_empty()).then(|| json!(words));
    present([
        ("image", Some(json!(container.image))),
        ("command", words(&container.command)),
        ("args", words(&container.args)),
    ])
}

fn endpoints(seen: &Seen<'_>) -> Value {
    let endpoints = seen.workload.endpoints.iter().map(|(name, endpoint)| {
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
    Value::Object(endpoints.collect())
}

fn derived(seen: &Seen<'_>) -> Value {
    let is_read = |field: &str| seen.reads.field(DERIVED, field);
    let (needed, endpoints) = (seen.dependencies, &seen.workload.endpoints);
    let list = |field: &'static str, values: &[Value]| {
        (field, is_read(field).then(|| Value::from(values)))
    };
    let ports = || Value::from(ports::of_service(endpoints));
    // What endpoints offer takes reading their schemas.
    let offered = || Value::from(endpoint_resources::of(endpoints));
    let others = [
        list("dependencyEnvs", &needed.envs),
        list("dependencyVolumeMounts", &needed.mounts),
        list("dependencyVolumes", &needed.volumes),
        ("servicePorts", is_read("servicePorts").then(ports)),
        (
            "endpointResources",
            is_read("endpointResources").then(offered),
        ),
    ];
    let reads_settings = COMPONENT_MACROS
        .iter()
        .any(|one| one.receiver == "configurations" && is_read(one.field));
    let settings = reads_settings.then(|| seen.settings.derived(seen.provider).fields());
    let settings = settings
        .into_iter()
        .flatten()
        .map(|(field, values)| (field, Some(Value::Array(values))));
    present(others.into_iter().chain(settings))
}
