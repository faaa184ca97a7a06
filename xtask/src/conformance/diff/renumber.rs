//! Makes two transcripts comparable: values that a server chooses freely are replaced by numbers that say
//! only what must be equal and in which order.
//!
//! - uids, allocated IPs and ports, generated names: numbered by first occurrence;
//! - revisions of objects: their rank among all revisions of the script, so that a needless bump or a wrong
//!   order shows; revisions of lists and bookmarks: the newest object revision that they include;
//! - times: only their form, or numbered in order where the script keeps the clock;
//! - continue tokens, credentials, certificates, the server's own address: opaque.
//!
//! A value that stands in the script itself was not chosen by a server and stays as it is.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::run::Record;

static UID: LazyLock<Regex> =
    LazyLock::new(|| pattern("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
static TIME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"));
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b10\.\d{1,3}\.\d{1,3}\.\d{1,3}\b"));
static TOKEN_VOLUME: LazyLock<Regex> =
    LazyLock::new(|| pattern("kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}"));
static CREDENTIAL: LazyLock<Regex> = LazyLock::new(|| pattern("X509SHA256=[0-9a-f]{64}"));
static SERVER: LazyLock<Regex> = LazyLock::new(|| pattern(r"127\.0\.0\.1:\d+"));
static AGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+[smhdy])+$"));
static PREFIX: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#""?generateName"?:\s*"?([A-Za-z0-9._-]+)"#));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b\d+\b"));

/// How Go's error texts write a form of time.
const GO_LAYOUT: &str = "2006-01-02T15:04:05";

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant of this file")
}

/// Replaces freely chosen values in all records of one run of a script.
pub(super) fn renumber(records: &mut [Record], script: &str, clock: bool) {
    let mut seen = Seen::default();
    for record in records.iter() {
        seen.gather(&record.result, false, script);
    }
    let mut numbering = Numbering {
        script,
        script_numbers: NUMBER
            .find_iter(script)
            .map(|found| found.as_str())
            .collect(),
        clock,
        revisions: rank(&seen.revisions, "rv"),
        times: rank(&seen.times, "time"),
        prefixes: PREFIX
            .captures_iter(script)
            .map(|found| suffixed(&found[1]))
            .collect(),
        order: seen.revisions.into_iter().collect(),
        ..Numbering::default()
    };
    for record in records {
        record.result = numbering.value(&record.result, "", false);
    }
}

/// A prefix with the five characters that a server adds to it.
fn suffixed(prefix: &str) -> Regex {
    pattern(&format!(
        r"{}[bcdfghjklmnpqrstvwxz2456789]{{5}}\b",
        regex::escape(prefix)
    ))
}

fn rank<T: Ord + ToString>(values: &BTreeSet<T>, word: &str) -> BTreeMap<String, String> {
    values
        .iter()
        .zip(1..)
        .map(|(value, rank)| (value.to_string(), format!("<{word}-{rank}>")))
        .collect()
}

/// What a first pass over a transcript finds.
#[derive(Default)]
struct Seen {
    revisions: BTreeSet<u64>,
    times: BTreeSet<String>,
}

impl Seen {
    fn gather(&mut self, value: &Value, of_list: bool, script: &str) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let number = value.as_str().and_then(|text| text.parse().ok());
                    match (key.as_str(), number) {
                        ("resourceVersion", Some(revision)) if !of_list => {
                            self.revisions.insert(revision);
                        }
                        _ => self.gather(value, belongs_to_list(fields, key, of_list), script),
                    }
                }
            }
            Value::Array(items) => items
                .iter()
                .for_each(|item| self.gather(item, false, script)),
            Value::String(text) => {
                for time in TIME
                    .find_iter(text)
                    .filter(|time| !script.contains(time.as_str()))
                {
                    self.times.insert(second(time.as_str()));
                }
            }
            _ => {}
        }
    }
}

/// Whether the value under `key` is the metadata of a list or of a bookmark, whose revision is the store's
/// and not an object's.
fn belongs_to_list(fields: &Map<String, Value>, key: &str, of_list: bool) -> bool {
    match key {
        "metadata" => {
            of_list
                || (fields.contains_key("items") && !fields.contains_key("spec"))
                || fields.contains_key("rows")
        }
        "object" => fields.get("type").and_then(Value::as_str) == Some("BOOKMARK"),
        _ => of_list && key != "annotations",
    }
}

fn second(time: &str) -> String {
    time.chars().take(19).collect()
}

/// The second pass.
#[derive(Default)]
struct Numbering<'a> {
    script: &'a str,
    script_numbers: BTreeSet<&'a str>,
    clock: bool,
    revisions: BTreeMap<String, String>,
    order: Vec<u64>,
    times: BTreeMap<String, String>,
    prefixes: Vec<Regex>,
    generated: BTreeMap<String, String>,
    uids: BTreeMap<String, String>,
    addresses: BTreeMap<String, String>,
    ports: BTreeMap<String, String>,
}

impl Numbering<'_> {
    fn value(&mut self, value: &Value, key: &str, of_list: bool) -> Value {
        match value {
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| {
                    let inside = belongs_to_list(fields, key, of_list);
                    (self.text(key, ""), self.value(value, key, inside))
                })
                .collect(),
            Value::Array(items) => items
                .iter()
                .map(|item| self.value(item, key, false))
                .collect(),
            Value::String(text) if key == "resourceVersion" => self.revision(text, of_list).into(),
            Value::String(text) => self.text(text, key).into(),
            Value::Number(port) if matches!(key, "nodePort" | "healthCheckNodePort") => {
                let port = port.to_string();
                if self.script_numbers.contains(port.as_str()) {
                    value.clone()
                } else {
                    number(&mut self.ports, &port, "port").into()
                }
            }
            other => other.clone(),
        }
    }

    fn revision(&self, text: &str, of_list: bool) -> String {
        match text.parse::<u64>() {
            Ok(revision) if of_list => {
                let included = self.order.partition_point(|known| *known <= revision);
                format!("<after rv-{included}>")
            }
            _ => self
                .revisions
                .get(text)
                .cloned()
                .unwrap_or_else(|| text.to_owned()),
        }
    }

    fn text(&mut self, text: &str, key: &str) -> String {
        if key == "continue" && !text.is_empty() {
            return "<continue>".to_owned();
        }
        if key == "token" && text.len() > 40 {
            return "<token>".to_owned();
        }
        if key == "cells" && AGE.is_match(text) {
            return "<age>".to_owned();
        }
        if text.starts_with("-----BEGIN") || text.starts_with("LS0tLS1CRUdJTi") {
            return "<pem>".to_owned();
        }
        let mut text = self.names(text);
        text = self.each(&UID, &text, |this, uid| number(&mut this.uids, uid, "uid"));
        text = self.each(&TIME, &text, Self::time);
        text = self.each(&ADDRESS, &text, |this, ip| {
            number(&mut this.addresses, ip, "ip")
        });
        text = SERVER.replace_all(&text, "<server>").into_owned();
        text = CREDENTIAL.replace_all(&text, "<credential>").into_owned();
        text = TOKEN_VOLUME
            .replace_all(&text, "kube-api-access-<any>")
            .into_owned();
        let lowered = text.to_lowercase();
        if lowered.contains("resource version") || lowered.contains("resourceversion") {
            text = NUMBER
                .replace_all(&text, |found: &Captures<'_>| {
                    let digits = &found[0];
                    if digits.len() < 2 || self.script_numbers.contains(digits) {
                        digits.to_owned()
                    } else {
                        "<revision>".to_owned()
                    }
                })
                .into_owned();
        }
        text
    }

    fn names(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for prefix in std::mem::take(&mut self.prefixes) {
            text = self.each(&prefix, &text, |this, name| {
                let numbered = number(&mut this.generated, name, "name");
                format!("{}{numbered}", &name[..name.len() - 5])
            });
            self.prefixes.push(prefix);
        }
        text
    }

    fn time(&mut self, time: &str) -> String {
        if time.starts_with(GO_LAYOUT) {
            return time.to_owned();
        }
        let form = if time.contains('.') {
            " with fraction"
        } else {
            ""
        };
        if self.clock {
            let number = self.times.get(&second(time)).cloned().unwrap_or_default();
            format!("{number}{form}")
        } else {
            format!("<time{form}>")
        }
    }

    fn each(
        &mut self,
        pattern: &Regex,
        text: &str,
        replace: impl Fn(&mut Self, &str) -> String,
    ) -> String {
        pattern
            .replace_all(text, |found: &Captures<'_>| {
                let found = &found[0];
                if self.script.contains(found) {
                    found.to_owned()
                } else {
                    replace(self, found)
                }
            })
            .into_owned()
    }
}

fn number(known: &mut BTreeMap<String, String>, value: &str, word: &str) -> String {
    let next = known.len() + 1;
    known
        .entry(value.to_owned())
        .or_insert_with(|| format!("<{word}-{next}>"))
        .clone()
}

#[cfg(test)]
mod tests;
