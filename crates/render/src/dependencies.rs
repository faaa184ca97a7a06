//! What a workload needs of others, and what it is told about them.

use quadrille_types::{
    Problem,
    names::generate,
    release_binding::{
        ConnectionTarget, EndpointUrl, PendingConnection, PendingResourceDependency,
        ResolvedConnection, ResourceDependencyTarget,
    },
    workload::{Connection, ConnectionPart, Resolved as Workload, ResourceDependency},
};
use serde_json::{Value, json};

use crate::{
    error::RenderError,
    inputs::{Inputs, Output, ResolvedResource},
};

/// What a workload is told about what it needs, and what of it is still missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Dependencies {
    items: Vec<Value>,
    resources: Vec<Value>,
    pub(crate) envs: Vec<Value>,
    pub(crate) mounts: Vec<Value>,
    pub(crate) volumes: Vec<Value>,
    pub(crate) pending: Vec<PendingConnection>,
    pub(crate) pending_resources: Vec<PendingResourceDependency>,
    pub(crate) notes: Vec<String>,
}

/// The endpoints that a workload needs: whoever fetches looks for these.
pub fn connection_targets(
    workload: &Workload,
    organization: &str,
    project: &str,
    environment: &str,
) -> Vec<ConnectionTarget> {
    let target = |needed: &Connection| ConnectionTarget {
        namespace: namespace_of(needed, organization).to_owned(),
        project: project_of(needed, project).to_owned(),
        component: needed.component.to_string(),
        endpoint: needed.endpoint.clone(),
        visibility: needed.visibility.as_str().to_owned(),
        environment: Some(environment.to_owned()),
        optional: needed.is_optional.then_some(true),
    };
    workload.connections.iter().map(target).collect()
}

/// The resources that a workload needs.
pub fn resource_targets(
    workload: &Workload,
    organization: &str,
    project: &str,
    environment: &str,
) -> Vec<ResourceDependencyTarget> {
    let target = |needed: &ResourceDependency| ResourceDependencyTarget {
        namespace: organization.to_owned(),
        project: project.to_owned(),
        resource_name: needed.reference.clone(),
        environment: environment.to_owned(),
    };
    workload.resources.iter().map(target).collect()
}

fn namespace_of<'a>(needed: &'a Connection, own: &'a str) -> &'a str {
    needed.namespace.as_deref().unwrap_or(own)
}

fn project_of<'a>(needed: &'a Connection, own: &'a str) -> &'a str {
    needed
        .project
        .as_ref()
        .map_or(own, |project| project.as_str())
}

/// The endpoint that is needed, if it was found.
pub(crate) fn found<'a>(
    needed: &Connection,
    inputs: &Inputs<'a>,
) -> Option<&'a ResolvedConnection> {
    let namespace = namespace_of(needed, inputs.organization);
    let project = project_of(needed, inputs.project.name);
    inputs.connections.iter().find(|found| {
        found.namespace == namespace
            && found.project == project
            && found.component == needed.component.as_str()
            && found.endpoint == needed.endpoint
            && found.visibility == needed.visibility.as_str()
    })
}

/// Puts together what was found.
pub(crate) fn gather(
    workload: &Workload,
    inputs: &Inputs<'_>,
) -> Result<Dependencies, RenderError> {
    let mut gathered = Dependencies::default();
    for needed in &workload.connections {
        gathered.connect(needed, inputs);
    }
    for needed in &workload.resources {
        gathered.take(needed, inputs)?;
    }
    gathered
        .volumes
        .sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
    gathered.volumes.dedup();
    Ok(gathered)
}

impl Dependencies {
    fn connect(&mut self, needed: &Connection, inputs: &Inputs<'_>) {
        let namespace = namespace_of(needed, inputs.organization);
        let project = project_of(needed, inputs.project.name);
        let Some(ResolvedConnection { url, .. }) = found(needed, inputs) else {
            if needed.is_optional {
                self.notes.push(format!(
                    "endpoint {} of component {project}/{} is not there yet; the component runs without it, as asked",
                    needed.endpoint, needed.component
                ));
                return;
            }
            self.pending.push(PendingConnection {
                namespace: namespace.to_owned(),
                project: project.to_owned(),
                component: needed.component.to_string(),
                endpoint: needed.endpoint.clone(),
                reason: "its address is not known".to_owned(),
            });
            return;
        };
        let envs: Vec<Value> = needed
            .env
            .iter()
            .map(|(name, parts)| json!({ "name": name, "value": value_of(parts, url) }))
            .collect();
        self.items.push(json!({
            "namespace": namespace,
            "project": project,
            "component": needed.component,
            "endpoint": needed.endpoint,
            "visibility": needed.visibility,
            "envVars": envs,
        }));
        self.envs.extend(envs);
    }

    fn take(
        &mut self,
        needed: &ResourceDependency,
        inputs: &Inputs<'_>,
    ) -> Result<(), RenderError> {
        let mut pending = |reason: String| {
            self.pending_resources.push(PendingResourceDependency {
                namespace: inputs.organization.to_owned(),
                project: inputs.project.name.to_owned(),
                resource_name: needed.reference.clone(),
                reason,
            });
        };
        let found = inputs
            .resources
            .iter()
            .find(|found| found.reference == needed.reference);
        let Some(found) = found else {
            pending("it is not ready".to_owned());
            return Ok(());
        };
        let bound = needed
            .env_bindings
            .keys()
            .chain(needed.file_bindings.keys());
        let missing: Vec<&str> = bound
            .filter(|output| !found.outputs.contains_key(*output))
            .map(String::as_str)
            .collect();
        if !missing.is_empty() {
            // All or nothing: half of a connection string helps nobody.
            pending(format!("it has no output {}", missing.join(", ")));
            return Ok(());
        }
        let envs: Vec<Value> = needed
            .env_bindings
            .iter()
            .map(|(output, name)| env_of(name, &found.outputs[output]))
            .collect();
        let mut mounts = Vec::new();
        let mut volumes = Vec::new();
        for (output, path) in &needed.file_bindings {
            let (mount, volume) = file_of(found, output, path)?;
            mounts.push(mount);
            if !volumes.contains(&volume) {
                volumes.push(volume);
            }
        }
        self.resources.push(json!({
            "ref": needed.reference, "envVars": envs, "volumeMounts": mounts, "volumes": volumes,
        }));
        self.envs.extend(envs);
        self.mounts.extend(mounts);
        self.volumes.extend(volumes);
        Ok(())
    }

    /// The variable `dependencies`.
    pub(crate) fn variable(&self) -> Value {
        json!({
            "items": self.items,
            "resources": self.resources,
            "envVars": self.envs,
            "volumeMounts": self.mounts,
            "volumes": self.volumes,
        })
    }
}

fn env_of(name: &str, output: &Output) -> Value {
    match output {
        Output::Value(value) => json!({ "name": name, "value": value }),
        Output::SecretKey(key) => json!({ "name": name, "valueFrom": { "secretKeyRef": key } }),
        Output::ConfigMapKey(key) => {
            json!({ "name": name, "valueFrom": { "configMapKeyRef": key } })
        }
    }
}

fn file_of(
    resource: &ResolvedResource,
    output: &str,
    path: &str,
) -> Result<(Value, Value), RenderError> {
    let reference = &resource.reference;
    let (kind, key) = match &resource.outputs[output] {
        Output::SecretKey(key) => ("secret", key),
        Output::ConfigMapKey(key) => ("configMap", key),
        Output::Value(_) => {
            let problem = Problem::new(
                format!("dependencies.resources.{reference}.fileBindings.{output}"),
                "is plain text and no file: bind it to an environment variable",
            );
            return Err(RenderError::field("workload", problem));
        }
    };
    let hashed = format!("{reference}:{kind}:{}", key.name);
    let name = format!("r-{}", generate::short_hash(hashed.as_bytes()));
    let volume = match kind {
        "secret" => json!({ "name": name, "secret": { "secretName": key.name } }),
        _ => json!({ "name": name, "configMap": { "name": key.name } }),
    };
    let mount = json!({ "name": name, "mountPath": path, "subPath": key.key });
    Ok((mount, volume))
}

fn value_of(parts: &[ConnectionPart], url: &EndpointUrl) -> String {
    let one = |part: &ConnectionPart| match part {
        ConnectionPart::Address => address(url),
        ConnectionPart::Scheme => url.scheme.clone().unwrap_or_default(),
        ConnectionPart::Host => url.host.clone(),
        ConnectionPart::Port => port_of(url)
            .map(|port| port.to_string())
            .unwrap_or_default(),
        ConnectionPart::BasePath => url.path.clone().unwrap_or_default(),
        ConnectionPart::Text(text) => text.clone(),
    };
    parts.iter().map(one).collect()
}

fn port_of(url: &EndpointUrl) -> Option<i32> {
    url.port.filter(|port| *port != 0)
}

/// An address as one text. Clients of gRPC, TCP and UDP take a host and port, without a scheme.
pub fn address(url: &EndpointUrl) -> String {
    let mut text = String::new();
    if let Some(scheme @ ("http" | "https" | "ws" | "wss" | "tls")) = url.scheme.as_deref() {
        text.push_str(scheme);
        text.push_str("://");
    }
    text.push_str(&url.host);
    if let Some(port) = port_of(url) {
        text.push(':');
        text.push_str(&port.to_string());
    }
    if let Some(path) = url.path.as_deref().filter(|path| !path.is_empty()) {
        if !path.starts_with('/') {
            text.push('/');
        }
        text.push_str(path);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_where_clients_want_one() {
        let url = |scheme: &str, port, path: &str| EndpointUrl {
            scheme: Some(scheme.to_owned()),
            host: "h".to_owned(),
            port,
            path: Some(path.to_owned()),
        };
        let cases = [
            (url("http", Some(80), "/a"), "http://h:80/a"),
            (url("wss", None, "a"), "wss://h/a"),
            (url("grpc", Some(90), ""), "h:90"),
            (url("udp", Some(0), "/x"), "h/x"),
            (url("tls", Some(443), ""), "tls://h:443"),
        ];
        for (url, expected) in cases {
            assert_eq!(address(&url), expected);
        }
    }
}
