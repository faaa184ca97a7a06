//! Cases: requests, and the documents of what they go to.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::Value;

/// All cases, with what they share.
pub(super) struct Cases {
    pub(super) base: Vec<Value>,
    pub(super) each: Vec<Case>,
}

/// A file.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) requests: Vec<Request>,
    pub(super) documents: Vec<Value>,
}

/// What is asked, and what the answer must be.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Request {
    pub(super) name: String,
    /// Of whom, such as `Endpoint cart`; the only one that the case exposes where nothing is said.
    pub(super) of: Option<String>,
    /// The gateway that it is asked by.
    #[serde(default)]
    pub(super) by: Gateway,
    /// The audience whose address is asked for; the gateway's own where nothing is said.
    pub(super) address_of: Option<Gateway>,
    /// A host that is not the address's.
    pub(super) host: Option<String>,
    #[serde(default)]
    pub(super) speak: Protocol,
    #[serde(default = "get")]
    pub(super) method: String,
    #[serde(default)]
    pub(super) path: String,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    pub(super) token: Option<Token>,
    /// How often it is asked, all with the same answer.
    #[serde(default = "once")]
    pub(super) times: usize,
    pub(super) expect: Expected,
}

fn get() -> String {
    "GET".to_owned()
}

fn once() -> usize {
    1
}

/// One of the two gateways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Gateway {
    #[default]
    External,
    Internal,
}

impl Gateway {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::External => "gateway-external",
            Self::Internal => "gateway-internal",
        }
    }
}

/// What a request is made in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Protocol {
    #[default]
    Http,
    Websocket,
    Grpc,
    Tcp,
    Udp,
}

/// A token to come with.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Token {
    #[serde(default)]
    pub(super) scopes: Vec<String>,
    #[serde(default)]
    pub(super) claims: BTreeMap<String, Value>,
    /// Whether its time is over.
    #[serde(default)]
    pub(super) is_expired: bool,
    /// Whether somebody signed it whom nobody trusts.
    #[serde(default)]
    pub(super) is_forged: bool,
}

/// What the answer must be. What is not said may be anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Expected {
    pub(super) status: Option<u16>,
    /// The status of gRPC, which is told apart from that of HTTP.
    pub(super) grpc_status: Option<u16>,
    /// Headers of the answer; a null for one that must not be there.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Option<String>>,
    /// What the backend got: `path`, `host`, `method` or a header; a null for one that must not be there.
    #[serde(default)]
    pub(super) seen: BTreeMap<String, Option<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Requests {
    requests: Vec<Request>,
}

impl Case {
    /// Reads all cases of a folder. `KEY_SET` in a document is where the keys are that tokens are checked with.
    pub(super) fn read_all(folder: &Path, key_set: &str) -> anyhow::Result<Cases> {
        let mut files = fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<anyhow::Result<Vec<_>>>()?;
        files.sort();
        let mut cases = Cases {
            base: Vec::new(),
            each: Vec::new(),
        };
        for file in files {
            let text = fs::read_to_string(&file)?.replace("KEY_SET", key_set);
            let mut documents: Vec<Value> = serde_saphyr::from_multiple(&text)
                .with_context(|| format!("read {}", file.display()))?;
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            if name == "base" {
                cases.base = documents;
                continue;
            }
            ensure!(!documents.is_empty(), "{} is empty", file.display());
            let first: Requests = serde_json::from_value(documents.remove(0))
                .with_context(|| format!("the requests of {}", file.display()))?;
            cases.each.push(Self {
                name: name.into_owned(),
                requests: first.requests,
                documents,
            });
        }
        Ok(cases)
    }
}
