//! Config maps and secrets.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

use crate::decode;

use super::{
    environment::config_key,
    report::{Report, text},
};

/// Most bytes that one object may hold.
const SIZE_MAX: usize = 1024 * 1024;

pub(super) fn config_map(report: &mut Report, object: &Value) {
    let mut size = 0;
    for (key, value) in object["data"].as_object().into_iter().flatten() {
        let path = format!("data[{key}]");
        report.names(&path, key, config_key(key));
        if object["binaryData"].get(key).is_some() {
            report.invalid(
                path,
                &key.as_str().into(),
                "duplicate of key present in binaryData",
            );
        }
        size += text(value).len();
    }
    for (key, value) in object["binaryData"].as_object().into_iter().flatten() {
        report.names(&format!("binaryData[{key}]"), key, config_key(key));
        size += text(value).len() / 4 * 3;
    }
    if size > SIZE_MAX {
        too_long(report, "[]");
    }
}

fn too_long(report: &mut Report, path: &str) {
    let why = format!("may not be more than {SIZE_MAX} bytes");
    report.shown(crate::field_error::Kind::TooLong, path, &why, "");
}

pub(super) fn secret(report: &mut Report, object: &Value) {
    let data = &object["data"];
    let mut size = 0;
    for (key, value) in data.as_object().into_iter().flatten() {
        report.names(&format!("data[{key}]"), key, config_key(key));
        size += text(value).len() / 4 * 3;
    }
    if size > SIZE_MAX {
        too_long(report, "data");
    }
    let must = |report: &mut Report, key: &str| {
        if data.get(key).is_none() {
            report.required(format!("data[{key}]"));
        }
    };
    match text(&object["type"]) {
        "kubernetes.io/service-account-token" => {
            const NAME: &str = "kubernetes.io/service-account.name";
            if text(&object["metadata"]["annotations"][NAME]).is_empty() {
                report.required(format!("metadata.annotations[{NAME}]"));
            }
        }
        "kubernetes.io/dockercfg" => json_entry(report, data, ".dockercfg"),
        "kubernetes.io/dockerconfigjson" => json_entry(report, data, ".dockerconfigjson"),
        "kubernetes.io/basic-auth"
            if data.get("username").is_none() && data.get("password").is_none() =>
        {
            must(report, "username");
            must(report, "password");
        }
        "kubernetes.io/ssh-auth" => must(report, "ssh-privatekey"),
        "kubernetes.io/tls" => {
            must(report, "tls.crt");
            must(report, "tls.key");
        }
        _ => {}
    }
}

fn json_entry(report: &mut Report, data: &Value, key: &str) {
    let path = format!("data[{key}]");
    let Some(entry) = data.get(key) else {
        report.required(path);
        return;
    };
    let bytes = BASE64_STANDARD.decode(text(entry)).unwrap_or_default();
    if let Err(error) = decode::json(&bytes) {
        let redacted = "<secret contents redacted>".into();
        report.invalid(path, &redacted, &error.to_string());
    }
}
