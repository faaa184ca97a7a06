//! What answers: a Service of the cell, or something elsewhere.

use std::net::IpAddr;

use quadrille_types::workload::EndpointType;
use serde_json::{Value, json};

use super::objects::{EXTENSIONS, EXTENSIONS_VERSION};

/// What answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// A Service of the cell, by one of its ports.
    Service { name: String, port: i32 },
    /// Something elsewhere, by the `Backend` object of this name.
    Elsewhere { name: String, at: Url },
}

/// Where something elsewhere is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    is_encrypted: bool,
    host: String,
    port: i32,
    path: String,
}

impl Backend {
    /// As routes refer to it.
    pub(crate) fn reference(&self) -> Value {
        match self {
            Self::Service { name, port } => json!({ "name": name, "port": port }),
            Self::Elsewhere { name, .. } => {
                json!({ "group": EXTENSIONS, "kind": "Backend", "name": name })
            }
        }
    }

    /// The host that requests must be for, where it differs from the one that was called. Gateways take no address for one.
    pub(crate) fn host(&self) -> Option<&str> {
        match self {
            Self::Elsewhere { at, .. } if at.host.parse::<IpAddr>().is_err() => Some(&at.host),
            _ => None,
        }
    }

    /// The path that all of its own paths start with.
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::Service { .. } => "/",
            Self::Elsewhere { at, .. } => &at.path,
        }
    }

    /// The port that it listens on.
    pub(crate) fn port(&self) -> i32 {
        match self {
            Self::Service { port, .. } => *port,
            Self::Elsewhere { at, .. } => at.port,
        }
    }

    /// The `Backend` object, where it takes one.
    pub(crate) fn object(&self, metadata: &Value, protocol: EndpointType) -> Option<Value> {
        let Self::Elsewhere { at, .. } = self else {
            return None;
        };
        let endpoint = match at.host.parse::<IpAddr>() {
            Ok(_) => json!({ "ip": { "address": at.host, "port": at.port } }),
            Err(_) => json!({ "fqdn": { "hostname": at.host, "port": at.port } }),
        };
        let mut spec = json!({ "endpoints": [endpoint] });
        if at.is_encrypted {
            spec["tls"] = json!({ "wellKnownCACertificates": "System", "sni": at.host });
        } else if protocol == EndpointType::Grpc {
            spec["appProtocols"] = json!(["gateway.envoyproxy.io/h2c"]);
        }
        Some(json!({
            "apiVersion": EXTENSIONS_VERSION,
            "kind": "Backend",
            "metadata": metadata,
            "spec": spec,
        }))
    }
}

impl Url {
    /// Reads where something is.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let wrong = |words: &str| format!("is {text:?}: {words}");
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| wrong("write it as https://host/path"))?;
        let (is_encrypted, implied) = match scheme {
            "http" | "ws" | "grpc" => (false, Some(80)),
            "https" | "wss" | "grpcs" => (true, Some(443)),
            "tcp" | "udp" => (false, None),
            "tls" => (true, None),
            _ => {
                return Err(wrong(
                    "it must start with http://, https://, ws://, wss://, grpc://, grpcs://, tcp://, tls:// or udp://",
                ));
            }
        };
        if rest.contains(['?', '#', '@']) {
            return Err(wrong("it may have a host, a port and a path only"));
        }
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                let port = port.parse().ok().filter(|port| (1..=65535).contains(port));
                (
                    host,
                    Some(port.ok_or_else(|| wrong("its port must be from 1 to 65535"))?),
                )
            }
            _ => (authority, implied),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_name =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        let is_host =
            host.parse::<IpAddr>().is_ok() || (!host.is_empty() && host.chars().all(is_name));
        if !is_host {
            return Err(wrong("it needs a host name in lower case, or an address"));
        }
        Ok(Self {
            is_encrypted,
            host: host.to_owned(),
            port: port.ok_or_else(|| wrong("it needs a port"))?,
            path: super::paths::joined(&[path]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        let url = Url::read("https://weather.test/v2/").unwrap();
        assert_eq!(
            (url.is_encrypted, url.port, url.path.as_str()),
            (true, 443, "/v2")
        );
        let url = Url::read("grpc://[::1]:9000").unwrap();
        assert_eq!(
            (url.host.as_str(), url.port, url.path.as_str()),
            ("::1", 9000, "/")
        );
        for wrong in [
            "weather.test",
            "ftp://weather.test",
            "https://",
            "https://a:b@weather.test",
            "http://weather.test:0",
            "http://weather.test:99999",
            "tcp://weather.test",
            "https://Weather.test",
            "https://weather.test/?q",
        ] {
            assert!(Url::read(wrong).is_err(), "{wrong}");
        }
    }
}
