//! Callers with keys, and callers from pages: what both an Endpoint's policies and a class's rules ask for.

use std::sync::LazyLock;

use quadrille_types::Problem;
use regex::Regex;
use serde_json::{Map, Value, json};

use super::security::seconds;

/// Keys in Secrets, and where callers send them.
pub(crate) fn api_keys<'a>(secrets: impl Iterator<Item = &'a str>, sources: &Value) -> Value {
    let secrets: Vec<Value> = secrets.map(|name| json!({ "name": name })).collect();
    json!({ "credentialRefs": secrets, "extractFrom": sources })
}

/// From which pages callers may come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages<'a> {
    pub(crate) origins: &'a [String],
    pub(crate) methods: &'a [String],
    pub(crate) headers: &'a [String],
    pub(crate) exposed: &'a [String],
    /// For how many seconds a browser may remember all this.
    pub(crate) max_age: Option<i64>,
    /// Whether cookies may come along.
    pub(crate) credentials: Option<bool>,
}

impl Pages<'_> {
    /// As policies take it. What is empty is left out.
    pub(crate) fn written(&self, field: &str) -> Result<Value, Problem> {
        for (index, origin) in self.origins.iter().enumerate() {
            if !is_origin(origin) {
                let words = format!(
                    "is {origin:?}, must be *, or a page's origin such as https://shop.example.com"
                );
                return Err(Problem::new(
                    format!("{field}.allowOrigins[{index}]"),
                    words,
                ));
            }
        }
        let mut written = Map::new();
        let lists = [
            ("allowOrigins", self.origins),
            ("allowMethods", self.methods),
            ("allowHeaders", self.headers),
            ("exposeHeaders", self.exposed),
        ];
        for (name, list) in lists {
            if !list.is_empty() {
                written.insert(name.to_owned(), json!(list));
            }
        }
        if let Some(count) = self.max_age {
            let age = seconds(count).ok_or_else(|| {
                let words = format!("is {count}, must be a number of seconds that is not negative");
                Problem::new(format!("{field}.maxAge"), words)
            })?;
            written.insert("maxAge".to_owned(), age.into());
        }
        if let Some(credentials) = self.credentials {
            written.insert("allowCredentials".to_owned(), credentials.into());
        }
        Ok(Value::Object(written))
    }
}

/// A scheme and a host, either of which may have a star, and a port.
fn is_origin(text: &str) -> bool {
    static ORIGIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[A-Za-z][A-Za-z0-9+.-]*://(\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)(:[0-9]{1,5})?$")
            .expect("the pattern is a constant")
    });
    text == "*" || ORIGIN.is_match(text)
}
