//! What a source says about itself, in a file beside it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// `workload.yaml`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Descriptor {
    #[serde(rename = "apiVersion")]
    _api_version: String,
    #[serde(rename = "metadata")]
    _metadata: Value,
    endpoints: Vec<Endpoint>,
    dependencies: Option<Value>,
    configurations: Configurations,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Endpoint {
    name: String,
    display_name: Option<String>,
    port: u16,
    target_port: Option<u16>,
    #[serde(rename = "type")]
    kind: String,
    base_path: Option<String>,
    schema_file: Option<String>,
    #[serde(default)]
    visibility: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Configurations {
    env: Vec<Setting>,
    files: Vec<Setting>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Setting {
    name: String,
    mount_path: Option<String>,
    value: Option<String>,
    value_from: Option<ValueFrom>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ValueFrom {
    secret_key_ref: Option<Value>,
    path: Option<String>,
}

impl Descriptor {
    /// Reads one.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let read = quadrille_machinery::decode::yaml(text.as_bytes());
        let value = read.map_err(|error| error.to_string())?.value;
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    /// What a Workload says with it. Files are read by whoever knows where they are.
    pub(super) fn spec(
        &self,
        image: &str,
        read: impl Fn(&str) -> Result<String, Failure>,
    ) -> Result<Value, Failure> {
        let mut container = json!({ "image": image });
        let settings = |list: &[Setting]| -> Result<Vec<Value>, Failure> {
            list.iter().map(|setting| setting.shown(&read)).collect()
        };
        if !self.configurations.env.is_empty() {
            container["env"] = json!(settings(&self.configurations.env)?);
        }
        if !self.configurations.files.is_empty() {
            container["files"] = json!(settings(&self.configurations.files)?);
        }
        let mut spec = json!({ "container": container });
        let mut endpoints = Map::new();
        for endpoint in &self.endpoints {
            endpoints.insert(endpoint.name.clone(), endpoint.shown(&read)?);
        }
        if !endpoints.is_empty() {
            spec["endpoints"] = Value::Object(endpoints);
        }
        if let Some(dependencies) = &self.dependencies {
            spec["dependencies"] = dependencies.clone();
        }
        Ok(spec)
    }
}

impl Endpoint {
    fn shown(&self, read: impl Fn(&str) -> Result<String, Failure>) -> Result<Value, Failure> {
        let mut shown = json!({ "type": self.kind, "port": self.port });
        let texts = [
            ("displayName", &self.display_name),
            ("basePath", &self.base_path),
        ];
        for (field, text) in texts {
            if let Some(text) = text {
                shown[field] = json!(text);
            }
        }
        if let Some(port) = self.target_port {
            shown["targetPort"] = json!(port);
        }
        if !self.visibility.is_empty() {
            shown["visibility"] = json!(self.visibility);
        }
        if let Some(file) = &self.schema_file {
            shown["schema"] = json!({ "content": read(file)? });
        }
        Ok(shown)
    }
}

impl Setting {
    fn shown(&self, read: impl Fn(&str) -> Result<String, Failure>) -> Result<Value, Failure> {
        let mut shown = json!({ "key": self.name });
        if let Some(path) = &self.mount_path {
            shown["mountPath"] = json!(path);
        }
        match (&self.value, &self.value_from) {
            (Some(value), None) => shown["value"] = json!(value),
            (
                None,
                Some(ValueFrom {
                    secret_key_ref: Some(secret),
                    path: None,
                }),
            ) => {
                shown["valueFrom"] = json!({ "secretKeyRef": secret });
            }
            (
                None,
                Some(ValueFrom {
                    secret_key_ref: None,
                    path: Some(path),
                }),
            ) => {
                shown["value"] = json!(read(path)?);
            }
            _ => {
                return Err(Failure::new(format!(
                    "configuration {:?} needs exactly one of value, valueFrom.secretKeyRef and valueFrom.path",
                    self.name
                )));
            }
        }
        Ok(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_becomes_a_workload() {
        let descriptor = Descriptor::read(
            "apiVersion: openchoreo.dev/v1alpha1\nmetadata: {name: cart}\n\
             endpoints:\n- {name: http, port: 80, type: HTTP, schemaFile: api.yaml, visibility: [external]}\n\
             configurations:\n  env:\n  - {name: A, value: '1'}\n  - {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}\n  \
             files:\n  - {name: c, mountPath: /etc, valueFrom: {path: c.txt}}\n",
        )
        .unwrap();
        let spec = descriptor
            .spec("i:1", |file| Ok(format!("<{file}>")))
            .unwrap();
        assert_eq!(
            spec,
            json!({
                "container": {
                    "image": "i:1",
                    "env": [{"key": "A", "value": "1"}, {"key": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
                    "files": [{"key": "c", "mountPath": "/etc", "value": "<c.txt>"}],
                },
                "endpoints": {"http": {"type": "HTTP", "port": 80, "visibility": ["external"], "schema": {"content": "<api.yaml>"}}},
            })
        );
    }

    #[test]
    fn what_is_no_descriptor_is_told() {
        assert!(
            Descriptor::read("endpoint: []")
                .unwrap_err()
                .contains("endpoint")
        );
        let twice = Descriptor::read("configurations: {env: [{name: A}]}").unwrap();
        assert!(twice.spec("i", |_| Ok(String::new())).is_err());
    }
}
