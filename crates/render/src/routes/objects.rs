//! Routes as objects.

use serde_json::{Map, Value, json};

use super::{Backend, paths::Pattern};

/// The group of what Envoy Gateway adds to the Gateway API, and its version.
pub(super) const EXTENSIONS: &str = "gateway.envoyproxy.io";
pub(super) const EXTENSIONS_VERSION: &str = "gateway.envoyproxy.io/v1alpha1";

/// What a route carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteKind {
    Http,
    Grpc,
    Tcp,
    Udp,
}

impl RouteKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "HTTPRoute",
            Self::Grpc => "GRPCRoute",
            Self::Tcp => "TCPRoute",
            Self::Udp => "UDPRoute",
        }
    }
}

/// Which requests a route is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// All that come to its host.
    Anything,
    /// Those to a path and below it.
    Prefix(String),
    /// Those of a method to paths of a pattern.
    Operation { regex: String, method: String },
    /// Calls of one method of a gRPC service.
    Call { service: String, method: String },
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub(crate) struct Rule<'a> {
    pub(crate) matched: Match,
    pub(crate) filters: Vec<Value>,
    pub(crate) backend: &'a Backend,
}

/// A route.
#[derive(Clone, Debug)]
pub(crate) struct Route<'a> {
    pub(crate) kind: RouteKind,
    pub(crate) metadata: Value,
    pub(crate) parent: Value,
    /// The host that it is for; any where nothing is said.
    pub(crate) host: Option<&'a str>,
    pub(crate) rule: Rule<'a>,
}

impl Route<'_> {
    /// The route as an object.
    pub(crate) fn object(self) -> Value {
        let mut rule = Map::new();
        let matched = match self.rule.matched {
            Match::Anything => None,
            Match::Prefix(path) => Some(json!({ "path": { "type": "PathPrefix", "value": path } })),
            Match::Operation { regex, method } => Some(json!({
                "path": { "type": "RegularExpression", "value": regex }, "method": method,
            })),
            Match::Call { service, method } => {
                Some(json!({ "method": { "service": service, "method": method } }))
            }
        };
        if let Some(matched) = matched {
            rule.insert("matches".to_owned(), json!([matched]));
        }
        if !self.rule.filters.is_empty() {
            rule.insert("filters".to_owned(), self.rule.filters.into());
        }
        let backend = self.rule.backend.reference();
        rule.insert("backendRefs".to_owned(), json!([backend]));
        let mut spec = Map::new();
        spec.insert("parentRefs".to_owned(), json!([self.parent]));
        if let Some(host) = self.host {
            spec.insert("hostnames".to_owned(), json!([host]));
        }
        spec.insert("rules".to_owned(), json!([rule]));
        json!({
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": self.kind.as_str(),
            "metadata": self.metadata,
            "spec": spec,
        })
    }
}

/// The filter that replaces a matched prefix, and the host where the backend has one of its own.
pub(crate) fn rewritten(prefix: &str, backend: &Backend) -> Value {
    let mut rewrite =
        json!({ "path": { "type": "ReplacePrefixMatch", "replacePrefixMatch": prefix } });
    if let Some(host) = backend.host() {
        rewrite["hostname"] = host.into();
    }
    json!({ "type": "URLRewrite", "urlRewrite": rewrite })
}

/// The filter that names a `HTTPRouteFilter`.
pub(crate) fn extended(name: &str) -> Value {
    json!({
        "type": "ExtensionRef",
        "extensionRef": { "group": EXTENSIONS, "kind": "HTTPRouteFilter", "name": name },
    })
}

/// The `HTTPRouteFilter` that replaces paths by a pattern.
pub(crate) fn pattern_filter(metadata: &Value, pattern: &Pattern, backend: &Backend) -> Value {
    let substitution = match backend.path() {
        "/" => pattern.substitution.clone(),
        path => format!("{path}{}", pattern.substitution),
    };
    let mut rewrite = json!({ "path": {
        "type": "ReplaceRegexMatch",
        "replaceRegexMatch": { "pattern": pattern.regex, "substitution": substitution },
    }});
    if backend.host().is_some() {
        rewrite["hostname"] = json!({ "type": "Backend" });
    }
    json!({
        "apiVersion": EXTENSIONS_VERSION,
        "kind": "HTTPRouteFilter",
        "metadata": metadata,
        "spec": { "urlRewrite": rewrite },
    })
}
