//! A workload as everybody else sees it.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    names::{ComponentName, ProjectName},
    problem::Problem,
    workload::{
        Container, EndpointDependency, EndpointType, EnvVar, FileVar, KeyRef, OlderConnection,
        Outside, ResourceDependency, ValueSource, Visibility, WorkloadTemplate,
    },
};

/// A workload as everybody else sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// What runs.
    pub container: ResolvedContainer,
    /// What it listens on, by name.
    pub endpoints: BTreeMap<String, EndpointPort>,
    /// What it needs of other components.
    pub connections: Vec<Connection>,
    /// What it needs of resources.
    pub resources: Vec<ResourceDependency>,
    /// What it needs outside of the cluster, in the order written.
    pub outside: Vec<Outside>,
}

/// What runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedContainer {
    /// The image.
    pub image: String,
    /// The command, instead of the image's own.
    pub command: Vec<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables, no name twice.
    pub env: Vec<Setting>,
    /// Files, no name twice.
    pub files: Vec<SettingFile>,
}

/// An environment variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub key: String,
    /// Its value, or where it is.
    pub source: Source,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingFile {
    /// Its name.
    pub key: String,
    /// The folder that it is in.
    pub mount_path: String,
    /// Its content, or where it is.
    pub source: Source,
}

/// A value, or where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Here it is.
    Given(String),
    /// In a secret store, as one key of a `SecretReference` says.
    Secret(KeyRef),
    /// In a `ConfigurationGroup`, by environment.
    ConfigurationGroup(KeyRef),
}

/// What a workload listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointPort {
    /// What is spoken there.
    pub protocol: EndpointType,
    /// The port by which others reach it.
    pub port: i32,
    /// The port that the container listens on.
    pub target_port: i32,
    /// Who may reach it, in the order written; the project is always first.
    pub visibility: Vec<Visibility>,
    /// What people call it.
    pub display_name: Option<String>,
    /// The path that its addresses start with.
    pub base_path: Option<String>,
    /// The language and the text of what it offers.
    pub schema: Option<(String, String)>,
}

/// An endpoint of another component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The organization of the component; the own one where there is none.
    pub namespace: Option<String>,
    /// The project of the component; the own one where there is none.
    pub project: Option<ProjectName>,
    /// The component.
    pub component: ComponentName,
    /// The name of the endpoint.
    pub endpoint: String,
    /// By which way it is reached.
    pub visibility: Visibility,
    /// The environment variables that tell the address, each with what it is made of.
    pub env: Vec<(String, Vec<ConnectionPart>)>,
    /// Whether the workload may start without it.
    pub is_optional: bool,
}

/// What the value of a variable about a connection is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionPart {
    /// The whole address.
    Address,
    /// How the address starts, such as `http`.
    Scheme,
    /// The host.
    Host,
    /// The port.
    Port,
    /// The path.
    BasePath,
    /// Text as it is.
    Text(String),
}

impl WorkloadTemplate {
    /// Reads the variants of all generations into one form. `field` is where the template is within its object.
    pub fn resolve(&self, field: &str) -> Result<Resolved, Problem> {
        let at = |part: &str| format!("{field}.{part}");
        let container = match (&self.container, self.containers.len()) {
            (Some(container), 0) => container.resolve(&at("container"))?,
            (Some(_), _) => {
                return Err(Problem::new(
                    at("containers"),
                    "stands beside container: only one can be meant",
                ));
            }
            (None, 0) => return Err(Problem::new(at("container"), "is missing")),
            (None, 1) => {
                let (name, container) = self.containers.first_key_value().expect("there is one");
                container.resolve(&at(&format!("containers.{name}")))?
            }
            (None, _) => {
                let names: Vec<&str> = self.containers.keys().map(String::as_str).collect();
                return Err(Problem::new(
                    at("containers"),
                    format!("has {}: a workload has one container", names.join(", ")),
                ));
            }
        };
        let endpoints = self
            .endpoints
            .iter()
            .map(|(name, endpoint)| (name.clone(), endpoint.into()));
        let dependencies = self.dependencies.clone().unwrap_or_default();
        let mut connections: Vec<Connection> = Vec::new();
        for (index, needed) in dependencies.endpoints.iter().enumerate() {
            connections.push(needed.resolve(&at(&format!("dependencies.endpoints[{index}]")))?);
        }
        for (name, older) in &self.connections {
            connections.push(older.resolve(&at(&format!("connections.{name}")))?);
        }
        let mut outside = Vec::new();
        for (index, needed) in dependencies.external.iter().enumerate() {
            outside.push(needed.resolve(&at(&format!("dependencies.external[{index}]")))?);
        }
        Ok(Resolved {
            container,
            endpoints: endpoints.collect(),
            connections,
            resources: dependencies.resources,
            outside,
        })
    }
}

impl Container {
    fn resolve(&self, field: &str) -> Result<ResolvedContainer, Problem> {
        if self.image.is_empty() {
            return Err(Problem::new(format!("{field}.image"), "is empty"));
        }
        Ok(ResolvedContainer {
            image: self.image.clone(),
            command: self.command.clone(),
            args: self.args.clone(),
            env: settings(&self.env, &format!("{field}.env"))?,
            files: files(&self.files, &format!("{field}.files"))?,
        })
    }
}

/// Reads environment variables; no name may come twice.
pub(crate) fn settings(written: &[EnvVar], field: &str) -> Result<Vec<Setting>, Problem> {
    let mut seen = BTreeSet::new();
    let read = written.iter().enumerate().map(|(index, env)| {
        let field = format!("{field}[{index}]");
        once(&mut seen, &env.key, &field)?;
        Ok(Setting {
            key: env.key.clone(),
            source: Source::read(env.value.as_ref(), env.value_from.as_ref(), &field)?,
        })
    });
    read.collect()
}

/// Reads files; no name may come twice.
pub(crate) fn files(written: &[FileVar], field: &str) -> Result<Vec<SettingFile>, Problem> {
    let mut seen = BTreeSet::new();
    let read = written.iter().enumerate().map(|(index, file)| {
        let field = format!("{field}[{index}]");
        once(&mut seen, &file.key, &field)?;
        Ok(SettingFile {
            key: file.key.clone(),
            mount_path: file.mount_path.clone(),
            source: Source::read(file.value.as_ref(), file.value_from.as_ref(), &field)?,
        })
    });
    read.collect()
}

fn once<'a>(seen: &mut BTreeSet<&'a str>, key: &'a str, field: &str) -> Result<(), Problem> {
    if seen.insert(key) {
        return Ok(());
    }
    Err(Problem::new(
        format!("{field}.key"),
        format!("is {key:?}, which comes twice"),
    ))
}

impl Source {
    /// Reads a setting that has a value or says where it is. `field` is where the setting is within its object.
    pub fn read(
        value: Option<&String>,
        from: Option<&ValueSource>,
        field: &str,
    ) -> Result<Self, Problem> {
        let from = match (value, from) {
            (Some(_), Some(_)) => {
                return Err(Problem::new(
                    field,
                    "has both value and valueFrom: only one can be meant",
                ));
            }
            // A variable that is there and empty.
            (None, None) => return Ok(Self::Given(String::new())),
            (Some(value), None) => return Ok(Self::Given(value.clone())),
            (None, Some(from)) => from,
        };
        match (
            &from.secret_key_ref,
            &from.secret_ref,
            &from.configuration_group_ref,
        ) {
            (Some(key), None, None) | (None, Some(key), None) => Ok(Self::Secret(key.clone())),
            (None, None, Some(key)) => Ok(Self::ConfigurationGroup(key.clone())),
            (None, None, None) => Err(Problem::new(
                format!("{field}.valueFrom"),
                "is empty: give secretKeyRef",
            )),
            _ => Err(Problem::new(
                format!("{field}.valueFrom"),
                "names several places: only one can be meant",
            )),
        }
    }
}

impl From<&super::Endpoint> for EndpointPort {
    fn from(written: &super::Endpoint) -> Self {
        let others = written.visibility.iter().copied();
        let mut visibility = vec![Visibility::Project];
        visibility.extend(others.filter(|seen| *seen != Visibility::Project));
        let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let schema = written.schema.as_ref().and_then(|schema| {
            let content = text(&schema.content)?;
            Some((schema.language.clone().unwrap_or_default(), content))
        });
        Self {
            protocol: written.protocol.plain(),
            port: written.port,
            target_port: written.target_port.unwrap_or(written.port),
            visibility,
            display_name: text(&written.display_name),
            base_path: text(&written.base_path),
            schema,
        }
    }
}

impl EndpointDependency {
    fn resolve(&self, field: &str) -> Result<Connection, Problem> {
        let visibility = match self.visibility.as_str() {
            "project" => Visibility::Project,
            "namespace" => Visibility::Namespace,
            "internal" => Visibility::Internal,
            "external" => Visibility::External,
            other => {
                return Err(Problem::new(
                    format!("{field}.visibility"),
                    format!("is {other:?}, must be project, namespace, internal or external"),
                ));
            }
        };
        let by_gateway = [Visibility::Internal, Visibility::External];
        if self.namespace.is_some() && !by_gateway.contains(&visibility) {
            return Err(Problem::new(
                format!("{field}.visibility"),
                format!(
                    "is {:?}, but another organization's endpoints are reached by gateways: use internal or external",
                    self.visibility
                ),
            ));
        }
        let bindings = &self.env_bindings;
        let bound = [
            (&bindings.address, ConnectionPart::Address),
            (&bindings.host, ConnectionPart::Host),
            (&bindings.port, ConnectionPart::Port),
            (&bindings.base_path, ConnectionPart::BasePath),
        ];
        let env = bound.into_iter().filter_map(|(name, part)| {
            let name = name.clone().filter(|name| !name.is_empty())?;
            Some((name, vec![part]))
        });
        Ok(Connection {
            namespace: self.namespace.clone(),
            project: self.project.clone(),
            component: self.component.clone(),
            endpoint: self.name.clone(),
            visibility,
            env: env.collect(),
            is_optional: self.optional == Some(true),
        })
    }
}

impl OlderConnection {
    fn resolve(&self, field: &str) -> Result<Connection, Problem> {
        let param = |name: &str| self.params.get(name).filter(|value| !value.is_empty());
        let needed = |name: &str| {
            param(name).ok_or_else(|| Problem::new(format!("{field}.params.{name}"), "is missing"))
        };
        let env = self
            .inject
            .env
            .iter()
            .map(|env| (env.name.clone(), parts(&env.value)));
        Ok(Connection {
            namespace: None,
            is_optional: false,
            project: param("projectName").map(|name| ProjectName::new(name.as_str())),
            component: ComponentName::new(needed("componentName")?.as_str()),
            endpoint: needed("endpoint")?.clone(),
            visibility: Visibility::Project,
            env: env.collect(),
        })
    }
}

/// The parts of a text with `{{ .host }}` and the like in it. What is no such word stays text.
fn parts(text: &str) -> Vec<ConnectionPart> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let (before, after) = rest.split_at(start);
        let end = after.find("}}").map(|end| end + 2);
        let word = end.map(|end| after[2..end - 2].trim().trim_matches('-').trim());
        let part = match word {
            Some(".host") => ConnectionPart::Host,
            Some(".port") => ConnectionPart::Port,
            Some(".scheme") => ConnectionPart::Scheme,
            Some(".basePath") => ConnectionPart::BasePath,
            Some(".uri" | ".url") => ConnectionPart::Address,
            _ => {
                let cut = end.unwrap_or(after.len());
                plain.push_str(before);
                plain.push_str(&after[..cut]);
                rest = &after[cut..];
                continue;
            }
        };
        plain.push_str(before);
        if !plain.is_empty() {
            parts.push(ConnectionPart::Text(std::mem::take(&mut plain)));
        }
        parts.push(part);
        rest = &after[end.unwrap_or(after.len())..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        parts.push(ConnectionPart::Text(plain));
    }
    parts
}

#[cfg(test)]
mod tests;
