//! What a container is told: environment variables, files, and the objects that they come from.

use std::collections::BTreeMap;

use quadrille_types::{
    names::generate,
    workload::{KeyRef, Source},
};
use serde_json::{Map, Value, json};

use super::{
    Plane,
    bundle::{Bundle, Held, Stock, config_map},
    error::{At, Found},
    place::Place,
    settings::{Origin, Settings},
};
use crate::provider::SecretProvider;

/// The key of a file's content in its own `ConfigMap`.
const CONTENT: &str = "content";

/// What a container is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) env: Vec<Value>,
    pub(super) volumes: Vec<Value>,
    pub(super) mounts: Vec<Value>,
    pub(super) objects: Vec<Value>,
    pub(super) secret_references: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// Puts together what is asked for from what there is.
pub(super) fn tell(
    settings: &Settings,
    stock: &Stock<'_>,
    place: &Place,
    found: &mut Found,
) -> Told {
    let mut bundles: BTreeMap<Origin, Bundle> = BTreeMap::new();
    let mut missing = Vec::new();
    for (origin, at) in settings.origins() {
        if bundles.contains_key(&origin) || missing.contains(&origin) {
            continue;
        }
        match found.keep_all(stock.bundle(&origin, at)) {
            Some(bundle) => {
                bundles.insert(origin, bundle);
            }
            None => missing.push(origin),
        }
    }
    let mut teller = Teller {
        bundles: &bundles,
        place,
        environment: stock.environment,
        parts: stock.parts,
        told: Told::default(),
        env_stores: Vec::new(),
    };
    teller.variables(settings, found);
    teller.files(settings, found);
    teller.mount_stores();
    teller.finish(stock.plane)
}

struct Teller<'a> {
    bundles: &'a BTreeMap<Origin, Bundle>,
    place: &'a Place,
    environment: &'a str,
    parts: &'a [&'a str],
    told: Told,
    /// Bundles whose secrets are variables: the driver makes Secrets only while they are mounted.
    env_stores: Vec<&'a Bundle>,
}

impl<'a> Teller<'a> {
    /// Plain ones first, then those of groups, then secrets, each as written; then whole groups and references. A variable
    /// that is named beats one of a whole group; of two whole ones the later counts, as in a pod.
    fn variables(&mut self, settings: &Settings, found: &mut Found) {
        for order in 0..3 {
            for env in &settings.env {
                let value = match (&env.source, order) {
                    (Source::Given(value), 0) => Some(json!({ "name": env.key, "value": value })),
                    (Source::ConfigurationGroup(key), 1) => self.key_env(
                        &env.key,
                        &Origin::Group(key.name.clone()),
                        key,
                        &env.at,
                        found,
                    ),
                    (Source::Secret(key), 2) => self.key_env(
                        &env.key,
                        &Origin::Secret(key.name.clone()),
                        key,
                        &env.at,
                        found,
                    ),
                    _ => None,
                };
                self.told.env.extend(value);
            }
        }
        let named = self.told.env.len();
        for whole in &settings.env_from {
            let Some(bundle) = self.bundles.get(&whole.origin) else {
                continue;
            };
            for key in bundle.keys() {
                let name = variable_name(key);
                let Some(value) = self.env_of(&name, bundle, key) else {
                    continue;
                };
                let known = self.told.env.iter().position(|env| env["name"] == name);
                match known {
                    Some(at) if at < named => self.told.notes.push(format!(
                        "variable {name} is set by itself; what {} has for it is left out",
                        bundle.whose
                    )),
                    Some(at) => self.told.env[at] = value,
                    None => self.told.env.push(value),
                }
            }
        }
    }

    fn key_env(
        &mut self,
        name: &str,
        origin: &Origin,
        wanted: &KeyRef,
        at: &At,
        found: &mut Found,
    ) -> Option<Value> {
        let bundle = self.bundles.get(origin)?;
        let value = self.env_of(name, bundle, &wanted.key);
        if value.is_none() {
            found.push(self.no_key(bundle, &wanted.key, at));
        }
        value
    }

    fn env_of(&mut self, name: &str, bundle: &'a Bundle, key: &str) -> Option<Value> {
        match bundle.get(key)? {
            Held::Plain => Some(json!({ "name": name, "valueFrom": {
                "configMapKeyRef": { "name": bundle.object, "key": key },
            }})),
            Held::Secret(remote) => {
                if bundle.provider == SecretProvider::Csi
                    && !self
                        .env_stores
                        .iter()
                        .any(|known| known.volume == bundle.volume)
                {
                    self.env_stores.push(bundle);
                }
                let (secret, key) = bundle.secret_key(key, remote);
                Some(json!({ "name": name, "valueFrom": {
                    "secretKeyRef": { "name": secret, "key": key },
                }}))
            }
        }
    }

    fn no_key(&self, bundle: &Bundle, key: &str, at: &At) -> super::Mistake {
        let known: Vec<&str> = bundle.keys().collect();
        at.wrong(format!(
            "asks for key {key:?}, which {} has no value for in environment {}; it has [{}]",
            bundle.whose,
            self.environment,
            known.join(", ")
        ))
    }

    fn files(&mut self, settings: &Settings, found: &mut Found) {
        for file in &settings.files {
            if let Source::Given(content) = &file.source {
                self.given_file(&file.path, content);
            }
        }
        let mut named: Vec<(String, &'a Bundle, String)> = Vec::new();
        for file in &settings.files {
            let (origin, key) = match &file.source {
                Source::Given(_) => continue,
                Source::ConfigurationGroup(key) => (Origin::Group(key.name.clone()), key),
                Source::Secret(key) => (Origin::Secret(key.name.clone()), key),
            };
            let Some(bundle) = self.bundles.get(&origin) else {
                continue;
            };
            if bundle.get(&key.key).is_some() {
                named.push((file.path.clone(), bundle, key.key.clone()));
            } else {
                found.push(self.no_key(bundle, &key.key, &file.at));
            }
        }
        for folder in &settings.files_from {
            let Some(bundle) = self.bundles.get(&folder.origin) else {
                continue;
            };
            for key in bundle.keys() {
                let path = clean(&format!("{}/{}", folder.path, file_name(key)));
                let is_taken = named.iter().any(|(known, ..)| *known == path)
                    || self
                        .told
                        .mounts
                        .iter()
                        .any(|mount| mount["mountPath"] == *path);
                if is_taken {
                    self.told.notes.push(format!(
                        "file {path} is set by itself; what {} has for it is left out",
                        bundle.whose
                    ));
                } else {
                    named.push((path, bundle, key.to_owned()));
                }
            }
        }
        for (path, bundle, key) in named {
            self.bundle_file(&path, bundle, &key);
        }
    }

    /// A file of its own `ConfigMap`.
    fn given_file(&mut self, path: &str, content: &str) {
        let volume = format!("filemount-{}", generate::hash(path));
        let mut parts = self.parts.to_vec();
        parts.push(&volume);
        let name = generate::name(&parts);
        let data = Map::from_iter([(CONTENT.to_owned(), Value::from(content))]);
        self.told.objects.push(config_map(self.place, &name, &data));
        self.told
            .volumes
            .push(json!({ "name": volume, "configMap": { "name": name } }));
        self.told
            .mounts
            .push(json!({ "name": volume, "mountPath": path, "subPath": CONTENT }));
    }

    fn bundle_file(&mut self, path: &str, bundle: &Bundle, key: &str) {
        let Some(held) = bundle.get(key) else { return };
        let volume_name = |kind: &str| {
            generate::name_within(generate::VOLUME_LIMIT, &[bundle.volume.as_str(), kind])
        };
        let (name, volume, sub_path) = match held {
            Held::Plain => {
                let name = volume_name("cm");
                let volume = json!({ "name": name, "configMap": { "name": bundle.object } });
                (name, volume, key)
            }
            Held::Secret(_) if bundle.provider == SecretProvider::Csi => {
                let name = volume_name("csi");
                let volume = store_volume(&name, &bundle.object);
                (name, volume, key)
            }
            Held::Secret(remote) => {
                let (secret, key) = bundle.secret_key(key, remote);
                let name = volume_name(secret);
                let volume = json!({ "name": name, "secret": { "secretName": secret } });
                (name, volume, key)
            }
        };
        if !self.told.volumes.contains(&volume) {
            self.told.volumes.push(volume);
        }
        self.told
            .mounts
            .push(json!({ "name": name, "mountPath": path, "subPath": sub_path }));
    }

    fn mount_stores(&mut self) {
        for bundle in std::mem::take(&mut self.env_stores) {
            let name =
                generate::name_within(generate::VOLUME_LIMIT, &[bundle.volume.as_str(), "csi-env"]);
            self.told.volumes.push(store_volume(&name, &bundle.object));
            let path = format!("/mnt/secrets-store/{}", bundle.volume);
            self.told
                .mounts
                .push(json!({ "name": name, "mountPath": path }));
        }
    }

    fn finish(mut self, plane: Plane<'_>) -> Told {
        for (origin, bundle) in self.bundles {
            self.told.objects.extend(bundle.objects(self.place, plane));
            if let Origin::Secret(name) = origin {
                self.told.secret_references.push(name.clone());
            }
        }
        self.told
    }
}

fn store_volume(name: &str, class: &str) -> Value {
    json!({ "name": name, "csi": {
        "driver": "secrets-store.csi.k8s.io",
        "readOnly": true,
        "volumeAttributes": { "secretProviderClass": class },
    }})
}

/// The variable of a key: capitals, digits and underscores.
fn variable_name(key: &str) -> String {
    let mut name: String = key
        .chars()
        .map(|letter| match letter {
            'a'..='z' => letter.to_ascii_uppercase(),
            'A'..='Z' | '0'..='9' | '_' => letter,
            _ => '_',
        })
        .collect();
    if !name.starts_with(|first: char| first.is_ascii_uppercase() || first == '_') {
        name.insert(0, '_');
    }
    name
}

/// The file of a key: nothing in it that a path would take for something else.
fn file_name(key: &str) -> String {
    let mut name = String::new();
    for letter in key.chars() {
        let kept = if letter.is_ascii_alphanumeric() || "._-".contains(letter) {
            letter
        } else {
            '_'
        };
        if kept != '_' || !name.ends_with('_') {
            name.push(kept);
        }
    }
    match name.as_str() {
        "" => "file".to_owned(),
        "." | ".." => format!("_{name}"),
        _ => name.chars().take(255).collect(),
    }
}

/// A path without empty parts, `.` and `..`.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_variables_and_files_of_names_that_can_be() {
        for (key, variable, file) in [
            ("redis-host", "REDIS_HOST", "redis-host"),
            ("2nd.key", "_2ND_KEY", "2nd.key"),
            ("Über", "_BER", "_ber"),
            ("a//b", "A__B", "a_b"),
            ("..", "__", "_.."),
        ] {
            assert_eq!(variable_name(key), variable);
            assert_eq!(file_name(key).to_lowercase(), file);
        }
        assert_eq!(clean("/etc//x/../y/./z"), "/etc/y/z");
        assert_eq!(file_name(""), "file");
    }
}
