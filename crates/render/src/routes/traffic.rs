//! How much traffic gets through a gateway, as a `BackendTrafficPolicy`.

use serde_json::{Map, Value, json};

use super::{
    objects::{EXTENSIONS_VERSION, RouteKind},
    security::target,
};

/// The most limits that one policy takes.
const MOST_LIMITS: usize = 16;
/// The most requests that a limit can count.
const MOST_REQUESTS: i64 = u32::MAX as i64;

/// How often callers may come within a unit of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) requests: i64,
    pub(crate) unit: &'static str,
    /// The one method and the pattern of paths with their query that it is for; everything where there is none.
    pub(crate) operation: Option<(String, String)>,
}

/// What gets through.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Traffic {
    pub(crate) limits: Vec<Limit>,
    pub(crate) circuit_breaker: Option<Value>,
}

/// The unit of time that a word means.
pub(crate) fn unit(word: &str) -> Option<&'static str> {
    let units = ["Second", "Minute", "Hour", "Day"];
    units
        .into_iter()
        .find(|unit| unit.eq_ignore_ascii_case(word))
}

impl Limit {
    /// Why this cannot be asked; nothing where it can.
    pub(crate) fn trouble(requests: i64) -> Option<String> {
        (!(1..=MOST_REQUESTS).contains(&requests))
            .then(|| format!("is {requests}, must be from 1 to {MOST_REQUESTS}"))
    }
}

impl Traffic {
    /// Why this cannot be asked; nothing where it can.
    pub(crate) fn trouble(&self) -> Option<String> {
        (self.limits.len() > MOST_LIMITS).then(|| {
            format!(
                "asks for {} limits, gateways keep {MOST_LIMITS}",
                self.limits.len()
            )
        })
    }

    /// The policy for routes; nothing where nothing is asked. Each route counts for itself.
    pub(crate) fn policy(&self, metadata: &Value, routes: &[(RouteKind, &str)]) -> Option<Value> {
        let mut spec = Map::new();
        if !self.limits.is_empty() {
            let rules: Vec<Value> = self.limits.iter().map(|limit| self.rule(limit)).collect();
            let limits = json!({ "type": "Local", "local": { "rules": rules } });
            spec.insert("rateLimit".to_owned(), limits);
        }
        if let Some(breaker) = &self.circuit_breaker {
            spec.insert("circuitBreaker".to_owned(), breaker.clone());
        }
        if spec.is_empty() {
            return None;
        }
        let targets: Vec<Value> = routes.iter().copied().map(target).collect();
        spec.insert("targetRefs".to_owned(), targets.into());
        Some(json!({
            "apiVersion": EXTENSIONS_VERSION,
            "kind": "BackendTrafficPolicy",
            "metadata": metadata,
            "spec": spec,
        }))
    }

    /// A limit for everything, beside those of operations, names all paths: as a rule without a selector it would count
    /// only what no other rule does, and all units would have to be multiples of its own.
    fn rule(&self, limit: &Limit) -> Value {
        let mut rule = json!({ "limit": { "requests": limit.requests, "unit": limit.unit } });
        let selector = match &limit.operation {
            Some((method, regex)) => Some(json!({
                "methods": [{ "value": method }],
                "path": { "type": "RegularExpression", "value": regex },
            })),
            None if self.limits.len() > 1 => {
                Some(json!({ "path": { "type": "PathPrefix", "value": "/" } }))
            }
            None => None,
        };
        if let Some(selector) = selector {
            rule["clientSelectors"] = json!([selector]);
        }
        rule
    }
}
