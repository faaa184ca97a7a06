//! The request log: one line per answered request, good enough to count requests per client.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    time::Duration,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use serde::Serialize;

use super::asked::Asked;

/// One answered request. A watch is answered when it starts.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry<'a> {
    /// When the answer began.
    pub time: Timestamp,
    /// Who; empty for strangers.
    pub user: &'a str,
    /// What they did: `get`, `list`, `watch` …
    pub verb: &'static str,
    /// Group of the resource.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub group: &'a str,
    /// Plural name.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub resource: &'a str,
    /// Subresource.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub subresource: &'a str,
    /// Namespace.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub namespace: &'a str,
    /// Name of the object.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub name: &'a str,
    /// Path and query.
    pub uri: &'a str,
    /// Status code.
    pub code: u16,
    /// Time until the answer began.
    pub microseconds: u64,
    /// What the client calls itself.
    pub user_agent: &'a str,
    /// What admission policies note about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Entry<'a> {
    /// An entry for a request that was just answered.
    pub fn now(
        asked: &'a Asked,
        user: &'a str,
        uri: &'a str,
        user_agent: &'a str,
        code: u16,
        took: Duration,
    ) -> Self {
        Self {
            time: Timestamp::now(),
            user,
            verb: asked.verb,
            group: &asked.group,
            resource: &asked.resource,
            subresource: &asked.subresource,
            namespace: &asked.namespace,
            name: &asked.name,
            uri,
            code,
            microseconds: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            user_agent,
            annotations: None,
        }
    }
}

/// Where entries go.
pub trait RequestLog: Send + Sync {
    /// Takes an entry. Called on the path of every request: must not wait long.
    fn record(&self, entry: &Entry<'_>);
}

/// JSON lines, appended to a file.
#[derive(Debug)]
pub struct JsonLines(Mutex<State>);

#[derive(Debug)]
struct State {
    file: File,
    broken: bool,
}

impl JsonLines {
    /// Appends to this file; makes it if it is not there.
    pub fn append(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self(Mutex::new(State {
            file,
            broken: false,
        })))
    }
}

impl RequestLog for JsonLines {
    fn record(&self, entry: &Entry<'_>) {
        let Ok(mut line) = serde_json::to_vec(entry) else {
            return;
        };
        line.push(b'\n');
        let mut state = self.0.lock();
        // One write per line: lines stay whole even when several processes append.
        let result = state.file.write_all(&line);
        if let Err(error) = &result
            && !state.broken
        {
            tracing::warn!(%error, "the request log cannot be written; requests are served without it");
        }
        state.broken = result.is_err();
    }
}

#[cfg(test)]
mod tests {
    use http::{Method, Uri};

    use super::*;

    #[test]
    fn a_line_tells_who_did_what_to_what_and_how_it_went() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests.jsonl");
        let uri = "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=x";
        let asked = Asked::read(&Method::PATCH, &Uri::from_static(uri));
        let log = JsonLines::append(&path).unwrap();
        let took = Duration::from_micros(1500);
        log.record(&Entry::now(&asked, "anna", uri, "kubectl/v1.36", 200, took));
        log.record(&Entry::now(&asked, "anna", uri, "kubectl/v1.36", 409, took));

        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        let line = &lines[1];
        for (field, value) in [
            ("user", "anna"),
            ("verb", "patch"),
            ("group", "apps"),
            ("resource", "deployments"),
            ("namespace", "shop"),
            ("name", "web"),
            ("userAgent", "kubectl/v1.36"),
            ("uri", uri),
        ] {
            assert_eq!(line[field], value);
        }
        assert_eq!(
            (line["code"].as_u64(), line["microseconds"].as_u64()),
            (Some(409), Some(1500))
        );
    }
}
