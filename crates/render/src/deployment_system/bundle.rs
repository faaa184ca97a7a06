//! What settings come from, as it is in one environment: the plain values and the ways to secret ones of a configuration
//! group or a secret reference, and the objects in the plane that hold them.

use std::collections::BTreeMap;

use quadrille_types::{
    ConfigurationGroup, SecretReferenceSpec,
    annotations::{SECRET_PROVIDER, VAULT_ADDRESS, VAULT_ROLE},
    configuration_group::Configured,
    labels::hierarchy,
    names::generate,
    secret_reference::RemoteRef,
};
use serde_json::{Map, Value, json};

use super::{
    Plane,
    error::{At, Mistake},
    place::Place,
    settings::Origin,
};
use crate::{error::RenderError, provider::SecretProvider};

/// Where a plane's Vault is unless its annotation says otherwise, and the role that may read there.
const VAULT: (&str, &str) = (
    "http://hashicorp-vault.openchoreo-data-plane:8200",
    "openchoreo-secret-reader-role",
);
/// The part of a Vault entry that holds a configuration group's value.
const VAULT_PROPERTY: &str = "value";

/// What bundles are taken from.
#[derive(Clone, Debug)]
pub(super) struct Stock<'a> {
    pub(super) groups: &'a [&'a ConfigurationGroup],
    pub(super) secrets: &'a BTreeMap<String, SecretReferenceSpec>,
    pub(super) environment: &'a str,
    pub(super) plane: Plane<'a>,
    /// The first parts of the names of objects.
    pub(super) parts: &'a [&'a str],
}

/// A group or reference, in one environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bundle {
    /// How messages call it.
    pub(super) whose: String,
    /// What people call it; its folder is called so.
    pub(super) name: String,
    /// The name of the objects that hold it.
    pub(super) object: String,
    /// The first part of the names of its volumes.
    pub(super) volume: String,
    /// What everybody may see, in the order written.
    pub(super) plain: Vec<(String, String)>,
    /// The ways to what not everybody may see, in the order written.
    pub(super) secret: Vec<(String, RemoteRef)>,
    /// Who fetches it.
    pub(super) provider: SecretProvider,
}

/// What a key of a bundle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held<'a> {
    /// A value of its `ConfigMap`.
    Plain,
    /// A value of its Secret, or of one that is there already.
    Secret(&'a RemoteRef),
}

impl Bundle {
    /// What a key is.
    pub(super) fn get(&self, key: &str) -> Option<Held<'_>> {
        if self.plain.iter().any(|(known, _)| known == key) {
            return Some(Held::Plain);
        }
        let found = self.secret.iter().find(|(known, _)| known == key);
        found.map(|(_, remote)| Held::Secret(remote))
    }

    /// Its keys, in the order written: plain ones first.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        let plain = self.plain.iter().map(|(key, _)| key.as_str());
        plain.chain(self.secret.iter().map(|(key, _)| key.as_str()))
    }

    /// The Secret and the key in it that hold a key.
    pub(super) fn secret_key<'a>(
        &'a self,
        key: &'a str,
        remote: &'a RemoteRef,
    ) -> (&'a str, &'a str) {
        if self.provider.makes_secrets() {
            (&self.object, key)
        } else {
            (&remote.key, remote.property.as_deref().unwrap_or(key))
        }
    }

    /// The objects that hold it.
    pub(super) fn objects(&self, cell: &Place, plane: Plane<'_>) -> Vec<Value> {
        let mut objects = Vec::new();
        if !self.plain.is_empty() {
            let data: Map<String, Value> = self
                .plain
                .iter()
                .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
                .collect();
            objects.push(config_map(cell, &self.object, &data));
        }
        if !self.secret.is_empty() {
            match self.provider {
                SecretProvider::Csi => objects.push(self.provider_class(cell, plane)),
                SecretProvider::ExternalSecrets => objects.push(self.external_secret(cell, plane)),
                SecretProvider::Native => {}
            }
        }
        objects
    }

    fn provider_class(&self, cell: &Place, plane: Plane<'_>) -> Value {
        let store = plane.spec.secret_store_ref.as_ref();
        let provider = store.map_or("vault", |store| store.name.as_str());
        let mut parameters = Map::new();
        if provider == "vault" {
            let said = |annotation: &str, usual: &str| {
                let said = plane.annotations.get(annotation);
                said.map_or(usual, String::as_str).to_owned()
            };
            parameters.insert(
                "vaultAddress".to_owned(),
                said(VAULT_ADDRESS, VAULT.0).into(),
            );
            parameters.insert("roleName".to_owned(), said(VAULT_ROLE, VAULT.1).into());
        }
        let wanted: Vec<String> = self
            .secret
            .iter()
            .map(|(key, remote)| {
                format!(
                    "- objectName: {}\n  secretPath: {}\n  secretKey: {}\n",
                    scalar(key),
                    scalar(&remote.key),
                    scalar(remote.property.as_deref().unwrap_or(key)),
                )
            })
            .collect();
        parameters.insert("objects".to_owned(), wanted.concat().into());
        let data: Vec<Value> = self
            .secret
            .iter()
            .map(|(key, _)| json!({ "objectName": key, "key": key }))
            .collect();
        json!({
            "apiVersion": "secrets-store.csi.x-k8s.io/v1",
            "kind": "SecretProviderClass",
            "metadata": cell.metadata(&self.object),
            "spec": {
                "provider": provider,
                "parameters": parameters,
                "secretObjects": [{
                    "secretName": self.object, "type": "Opaque", "labels": cell.labels, "data": data,
                }],
            },
        })
    }

    fn external_secret(&self, cell: &Place, plane: Plane<'_>) -> Value {
        let store = plane.spec.secret_store_ref.as_ref();
        let store = store.map_or("default", |store| store.name.as_str());
        let data: Vec<Value> = self
            .secret
            .iter()
            .map(|(key, remote)| json!({ "secretKey": key, "remoteRef": remote }))
            .collect();
        json!({
            "apiVersion": "external-secrets.io/v1",
            "kind": "ExternalSecret",
            "metadata": cell.metadata(&self.object),
            "spec": {
                "refreshInterval": "15s",
                "secretStoreRef": { "name": store, "kind": "ClusterSecretStore" },
                "target": { "name": self.object, "creationPolicy": "Owner" },
                "data": data,
            },
        })
    }
}

/// A `ConfigMap`.
pub(super) fn config_map(cell: &Place, name: &str, data: &Map<String, Value>) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": cell.metadata(name), "data": data,
    })
}

/// Text as YAML has it: in quotes where it could be taken for something else.
fn scalar(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    let starts_well =
        text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/');
    let word = text.to_ascii_lowercase();
    let means_something = matches!(
        word.as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    if starts_well && !means_something && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

impl Stock<'_> {
    /// The bundle of an origin; `at` is a setting that asks for it.
    pub(super) fn bundle(&self, origin: &Origin, at: &At) -> Result<Bundle, Vec<Mistake>> {
        match origin {
            Origin::Group(name) => self.group(name, at),
            Origin::Secret(name) => self.secret(name, at).map_err(|mistake| vec![mistake]),
        }
    }

    fn object(&self, parts: &[&str]) -> String {
        let all: Vec<&str> = self.parts.iter().chain(parts).copied().collect();
        generate::name(&all)
    }

    fn group(&self, name: &str, at: &At) -> Result<Bundle, Vec<Mistake>> {
        let group = self.groups.iter().find(|group| logical_name(group) == name);
        let Some(group) = group else {
            return Err(vec![at.wrong(format!(
                "comes from ConfigurationGroup {name:?}, which does not exist: make it, or take the setting out"
            ))]);
        };
        let whose = format!("ConfigurationGroup {name}");
        let spec = &group.spec;
        let mut wrong: Vec<Mistake> = Vec::new();
        let mut plain: Vec<(String, String)> = Vec::new();
        let mut secret = Vec::new();
        for problem in spec.problems(|_| true) {
            wrong.push(RenderError::field(&whose, problem).into());
        }
        for (index, entry) in spec.configurations.iter().enumerate() {
            let at = At::new(&whose, format!("spec.configurations[{index}].key"));
            if !is_data_key(&entry.key) && !entry.key.is_empty() {
                wrong.push(at.wrong(format!(
                    "is {:?}, must be of letters, digits, dashes, dots and underscores",
                    entry.key
                )));
            }
            match spec.value(entry, self.environment) {
                Some(Configured::Plain(value)) => plain.push((entry.key.clone(), value.to_owned())),
                Some(Configured::Vault(key)) => {
                    let remote = RemoteRef {
                        key: key.to_owned(),
                        property: Some(VAULT_PROPERTY.to_owned()),
                        version: None,
                    };
                    secret.push((entry.key.clone(), remote));
                }
                None => {}
            }
        }
        let provider = self.vault(&whose, !secret.is_empty());
        if !wrong.is_empty() {
            wrong.extend(provider.err());
            return Err(wrong);
        }
        Ok(Bundle {
            provider: provider.map_err(|mistake| vec![mistake])?,
            whose,
            name: name.to_owned(),
            object: self.object(&[group.metadata.name.as_deref().unwrap_or(name)]),
            volume: name.to_owned(),
            plain,
            secret,
        })
    }

    /// Who fetches what `vaultKey`s lead to: the Secrets Store driver, as it always was, unless the plane has something
    /// else for its secrets.
    fn vault(&self, whose: &str, is_needed: bool) -> Result<SecretProvider, Mistake> {
        let provider = self.provider()?;
        match provider {
            SecretProvider::Native if !self.plane.annotations.contains_key(SECRET_PROVIDER) => {
                Ok(SecretProvider::Csi)
            }
            SecretProvider::Native if is_needed => {
                let at = At::new(whose, "spec.configurations");
                Err(at.wrong(format!(
                    "have a vaultKey, but plane {} has no secret store (annotation {SECRET_PROVIDER}: native): give the \
                     plane one, or use a secretRef",
                    self.plane.name
                )))
            }
            other => Ok(other),
        }
    }

    fn provider(&self) -> Result<SecretProvider, Mistake> {
        SecretProvider::of(self.plane.spec, self.plane.annotations).map_err(|problem| {
            RenderError::field(format!("plane {}", self.plane.name), problem).into()
        })
    }

    fn secret(&self, name: &str, at: &At) -> Result<Bundle, Mistake> {
        let provider = self.provider()?;
        let Some(reference) = self.secrets.get(name) else {
            return Err(RenderError::SecretReference {
                reference: name.to_owned(),
                used_by: format!("{} {}", at.whose, at.field),
            }
            .into());
        };
        let keys = reference
            .data
            .iter()
            .map(|entry| (entry.secret_key.clone(), entry.remote_ref.clone()));
        Ok(Bundle {
            whose: format!("SecretReference {name}"),
            name: name.to_owned(),
            object: self.object(&["secret", name]),
            volume: format!("secret-{name}"),
            plain: Vec::new(),
            secret: keys.collect(),
            provider,
        })
    }
}

/// The name that others use for a group: its label, where it has one.
pub(super) fn logical_name(group: &ConfigurationGroup) -> &str {
    let labels = group.metadata.labels.as_ref();
    let label = labels.and_then(|labels| labels.get(hierarchy::NAME));
    label
        .or(group.metadata.name.as_ref())
        .map(String::as_str)
        .unwrap_or_default()
}

fn is_data_key(key: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    !key.is_empty() && key.len() <= 253 && key.chars().all(is_letter) && key != "." && key != ".."
}
