//! What a container is told: plain settings go into `ConfigMaps`, secret ones are fetched from a store by the plane.
//!
//! Only the way to a secret is ever known here, never the secret.

use std::{borrow::Cow, collections::BTreeMap};

use quadrille_types::{
    Problem, SecretReferenceSpec,
    names::generate,
    secret_reference::RemoteRef,
    workload::{KeyRef, ResolvedContainer, Source},
};
use serde_json::{Value, json};

use crate::{error::RenderError, provider::SecretProvider};

/// The settings of a container, sorted by where they go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings<'a> {
    /// Plain environment variables.
    pub(crate) envs: Vec<(&'a str, &'a str)>,
    /// Plain files.
    pub(crate) files: Vec<PlainFile<'a>>,
    /// Secret environment variables.
    pub(crate) secret_envs: Vec<(&'a str, Cow<'a, RemoteRef>)>,
    /// Secret files.
    pub(crate) secret_files: Vec<SecretFile<'a>>,
    /// The first part of names of objects made for them.
    prefix: String,
}

/// A file whose content everybody may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlainFile<'a> {
    pub(crate) name: &'a str,
    pub(crate) mount_path: &'a str,
    pub(crate) value: &'a str,
}

/// A file whose content is in a secret store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SecretFile<'a> {
    pub(crate) name: &'a str,
    pub(crate) mount_path: &'a str,
    pub(crate) remote: Cow<'a, RemoteRef>,
}

/// Sorts the settings of a container, and finds the way to each secret.
pub(crate) fn sort<'a>(
    container: &'a ResolvedContainer,
    secrets: &'a BTreeMap<String, SecretReferenceSpec>,
    provider: SecretProvider,
    prefix: String,
) -> Result<Settings<'a>, RenderError> {
    let mut sorted = Settings {
        prefix,
        ..Settings::default()
    };
    for env in &container.env {
        let used_by = || format!("environment variable {}", env.key);
        match &env.source {
            Source::Given(value) => sorted.envs.push((&env.key, value)),
            Source::Secret(key) => sorted
                .secret_envs
                .push((&env.key, way_to(key, secrets, provider, used_by)?)),
            Source::ConfigurationGroup(key) => return Err(no_group(key, &used_by())),
        }
    }
    for file in &container.files {
        let used_by = || format!("file {}", file.key);
        match &file.source {
            Source::Given(value) => sorted.files.push(PlainFile {
                name: &file.key,
                mount_path: &file.mount_path,
                value,
            }),
            Source::Secret(key) => sorted.secret_files.push(SecretFile {
                name: &file.key,
                mount_path: &file.mount_path,
                remote: way_to(key, secrets, provider, used_by)?,
            }),
            Source::ConfigurationGroup(key) => return Err(no_group(key, &used_by())),
        }
    }
    Ok(sorted)
}

fn way_to<'a>(
    wanted: &KeyRef,
    secrets: &'a BTreeMap<String, SecretReferenceSpec>,
    provider: SecretProvider,
    used_by: impl FnOnce() -> String,
) -> Result<Cow<'a, RemoteRef>, RenderError> {
    let reference = secrets
        .get(&wanted.name)
        .ok_or_else(|| RenderError::SecretReference {
            reference: wanted.name.clone(),
            used_by: used_by(),
        })?;
    let remote = reference
        .remote(&wanted.key)
        .ok_or_else(|| RenderError::SecretKey {
            key: wanted.key.clone(),
            reference: wanted.name.clone(),
            available: reference
                .data
                .iter()
                .map(|entry| entry.secret_key.clone())
                .collect(),
        })?;
    let mut remote = Cow::Borrowed(remote);
    if provider == SecretProvider::Native {
        check_name(&remote.key, wanted)?;
        if remote.property.is_none() {
            remote.to_mut().property = Some(wanted.key.clone());
        }
    }
    Ok(remote)
}

/// Without a store, a reference names a Secret, and a path in a store is none.
fn check_name(name: &str, wanted: &KeyRef) -> Result<(), RenderError> {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    if !name.is_empty() && name.chars().all(is_name) {
        return Ok(());
    }
    let words = format!(
        "is {name:?}, which is no name of a Secret; the plane has no secret store, so keys are names of Secrets in the cell"
    );
    Err(RenderError::field(
        format!("SecretReference {}", wanted.name),
        Problem::new(format!("spec.data[{}].remoteRef.key", wanted.key), words),
    ))
}

/// Groups belong to the older generation's deployments; nobody resolves them for the component chain.
fn no_group(key: &KeyRef, used_by: &str) -> RenderError {
    RenderError::field(
        "workload",
        Problem::new(
            used_by,
            format!(
                "comes from ConfigurationGroup {:?}, which a component with a componentType cannot use: give a value or a \
                 secretKeyRef",
                key.name
            ),
        ),
    )
}

/// The names of the objects that hold the settings.
impl Settings<'_> {
    fn config_envs_name(&self) -> String {
        generate::name(&[&self.prefix, "env-configs"])
    }

    fn secret_envs_name(&self) -> String {
        let mut ways: Vec<_> = self.secret_envs.iter().collect();
        ways.sort();
        let mut bytes = Vec::new();
        for (name, remote) in ways {
            bytes.extend(name.bytes().chain([0]));
            bytes.extend(way_bytes(remote).into_iter().chain([0]));
        }
        generate::name_with_extra(
            &[&self.prefix, "env-secrets"],
            &generate::short_hash(&bytes),
        )
    }

    fn config_file_name(&self, file: &str) -> String {
        generate::name(&[&self.prefix, "config", &file.replace('.', "-")])
    }

    fn secret_file_name(&self, file: &SecretFile<'_>) -> String {
        let extra = generate::short_hash(&way_bytes(&file.remote));
        generate::name_with_extra(
            &[&self.prefix, "secret", &file.name.replace('.', "-")],
            &extra,
        )
    }
}

fn way_bytes(remote: &RemoteRef) -> Vec<u8> {
    let property = remote.property.as_deref().unwrap_or_default();
    let version = remote.version.as_deref().unwrap_or_default();
    [remote.key.as_str(), property, version]
        .join("\0")
        .into_bytes()
}

/// What templates see.
impl Settings<'_> {
    /// The variable `configurations`.
    pub(crate) fn variable(&self) -> Value {
        let envs = self
            .envs
            .iter()
            .map(|(name, value)| json!({ "name": name, "value": value }));
        let files = self.files.iter().map(
            |file| json!({ "name": file.name, "mountPath": file.mount_path, "value": file.value }),
        );
        let secret_envs = self
            .secret_envs
            .iter()
            .map(|(name, remote)| json!({ "name": name, "value": "", "remoteRef": remote }));
        let secret_files = self.secret_files.iter().map(|file| {
            json!({ "name": file.name, "mountPath": file.mount_path, "value": "", "remoteRef": file.remote })
        });
        json!({
            "configs": { "envs": envs.collect::<Vec<_>>(), "files": files.collect::<Vec<_>>() },
            "secrets": { "envs": secret_envs.collect::<Vec<_>>(), "files": secret_files.collect::<Vec<_>>() },
        })
    }

    /// What the macros of `configurations` give.
    pub(crate) fn derived(&self, provider: SecretProvider) -> Derived {
        let mut derived = Derived::default();
        if !self.envs.is_empty() {
            let name = self.config_envs_name();
            derived
                .env_from
                .push(json!({ "configMapRef": { "name": name } }));
            let envs = self
                .envs
                .iter()
                .map(|(name, value)| json!({ "name": name, "value": value }));
            derived
                .config_envs
                .push(json!({ "resourceName": name, "envs": envs.collect::<Vec<_>>() }));
        }
        for file in &self.files {
            let name = self.config_file_name(file.name);
            derived.config_files.push(json!({
                "name": file.name, "mountPath": file.mount_path, "value": file.value, "resourceName": name,
            }));
            derived.mount(
                file.name,
                file.mount_path,
                |volume| json!({ "name": volume, "configMap": { "name": name } }),
            );
        }
        self.derive_secrets(provider, &mut derived);
        derived
            .volumes
            .sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
        derived.volumes.dedup_by(|a, b| a["name"] == b["name"]);
        derived
    }

    fn derive_secrets(&self, provider: SecretProvider, derived: &mut Derived) {
        if !self.secret_envs.is_empty() {
            let name = self.secret_envs_name();
            if provider.makes_secrets() {
                derived
                    .env_from
                    .push(json!({ "secretRef": { "name": name } }));
            }
            if provider == SecretProvider::Csi {
                derived.mount_store(&name);
            }
            let envs = self
                .secret_envs
                .iter()
                .map(|(name, remote)| json!({ "name": name, "value": "", "remoteRef": remote }));
            derived
                .secret_envs
                .push(json!({ "resourceName": name, "envs": envs.collect::<Vec<_>>() }));
        }
        for file in &self.secret_files {
            let name = self.secret_file_name(file);
            derived.secret_files.push(json!({
                "name": file.name, "mountPath": file.mount_path, "resourceName": name, "remoteRef": file.remote,
            }));
            if provider == SecretProvider::Csi {
                derived.mount_store(&name);
            }
            // A Secret that is there already has its own names: the key is what the reference says.
            let secret = if provider.makes_secrets() {
                json!({ "secretName": name })
            } else {
                let key = file.remote.property.as_deref().unwrap_or(file.name);
                json!({ "secretName": file.remote.key, "items": [{ "key": key, "path": file.name }] })
            };
            derived.mount(
                file.name,
                file.mount_path,
                |volume| json!({ "name": volume, "secret": secret }),
            );
        }
    }
}

/// What the macros of `configurations` give.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Derived {
    pub(crate) env_from: Vec<Value>,
    pub(crate) config_envs: Vec<Value>,
    pub(crate) secret_envs: Vec<Value>,
    pub(crate) config_files: Vec<Value>,
    pub(crate) secret_files: Vec<Value>,
    pub(crate) mounts: Vec<Value>,
    pub(crate) volumes: Vec<Value>,
}

impl Derived {
    /// By the names that templates know them by.
    pub(crate) fn fields(self) -> [(&'static str, Vec<Value>); 7] {
        [
            ("configFiles", self.config_files),
            ("secretFiles", self.secret_files),
            ("containerEnvFrom", self.env_from),
            ("configEnvs", self.config_envs),
            ("secretEnvs", self.secret_envs),
            ("volumeMounts", self.mounts),
            ("volumes", self.volumes),
        ]
    }

    /// Mounts one file.
    fn mount(&mut self, file: &str, folder: &str, volume: impl FnOnce(&str) -> Value) {
        let path = format!("{}/{file}", folder.trim_end_matches('/'));
        let name = format!("file-mount-{}", generate::short_hash(path.as_bytes()));
        self.volumes.push(volume(&name));
        self.mounts
            .push(json!({ "name": name, "mountPath": path, "subPath": file }));
    }

    /// Mounts a folder whose only use is that the driver makes a Secret while it is mounted.
    fn mount_store(&mut self, class: &str) {
        let name = format!("secret-store-{}", generate::short_hash(class.as_bytes()));
        self.volumes.push(json!({ "name": name, "csi": {
            "driver": "secrets-store.csi.k8s.io",
            "readOnly": true,
            "volumeAttributes": { "secretProviderClass": class },
        }}));
        self.mounts.push(json!({ "name": name, "mountPath": format!("/mnt/secret-store/{class}"), "readOnly": true }));
    }
}

#[cfg(test)]
mod tests;
