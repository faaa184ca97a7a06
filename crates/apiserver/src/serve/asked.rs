//! What a request asks for, in the words of request logs and metrics.

use http::{Method, Uri};

use crate::{path::Path, rest};

/// A request in words: verb, resource, object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// `get`, `list`, `watch`, `create` … for resources, else the lower-case method.
    pub verb: &'static str,
    /// API group; empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Plural name; empty for paths that are no resource.
    pub resource: String,
    /// Subresource; empty for the object itself.
    pub subresource: String,
    /// Namespace; empty at the cluster scope.
    pub namespace: String,
    /// Name of the object; empty for collections.
    pub name: String,
}

/// Subresources that stream as long as both sides like.
const STREAMING: [&str; 4] = ["exec", "attach", "portforward", "proxy"];

impl Asked {
    /// Reads method, path and query.
    pub fn read(method: &Method, uri: &Uri) -> Self {
        let Path::Resource(target) = Path::parse(uri.path()) else {
            return Self {
                verb: plain_verb(method),
                ..Self::default()
            };
        };
        let asks_to_watch = asks_to_watch(uri.query().unwrap_or_default());
        Self {
            verb: rest::verb(method, &target, asks_to_watch).unwrap_or("other"),
            group: target.group,
            version: target.version,
            resource: target.plural,
            subresource: target.subresource.unwrap_or_default(),
            namespace: target.namespace.unwrap_or_default(),
            name: target.name.unwrap_or_default(),
        }
    }

    /// Whether the answer may take as long as both sides like.
    pub fn is_long_running(&self) -> bool {
        self.verb == "watch"
            || self.subresource == "log"
            || STREAMING.contains(&self.subresource.as_str())
    }

    /// `namespace`, `cluster` or `resource` (one object), as Kubernetes' metrics have it; empty for others.
    pub fn scope(&self) -> &'static str {
        match self {
            Self { resource, .. } if resource.is_empty() => "",
            Self { name, .. } if !name.is_empty() => "resource",
            Self { namespace, .. } if !namespace.is_empty() => "namespace",
            _ => "cluster",
        }
    }
}

fn plain_verb(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "get",
        "HEAD" => "head",
        "POST" => "post",
        "PUT" => "put",
        "PATCH" => "patch",
        "DELETE" => "delete",
        "OPTIONS" => "options",
        _ => "other",
    }
}

fn asks_to_watch(query: &str) -> bool {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('=').or(Some((pair, ""))))
        .find(|(name, _)| *name == "watch")
        .is_some_and(|(_, value)| !matches!(value.to_ascii_lowercase().as_str(), "false" | "0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &Method, uri: &'static str) -> String {
        let asked = Asked::read(method, &Uri::from_static(uri));
        format!(
            "{} {}/{}/{} {} ns={} name={} {}",
            asked.verb,
            asked.group,
            asked.version,
            asked.resource,
            asked.subresource,
            asked.namespace,
            asked.name,
            if asked.is_long_running() {
                "long"
            } else {
                "short"
            },
        )
    }

    #[test]
    fn requests_are_put_into_words() {
        let get = |uri| asked(&Method::GET, uri);
        assert_eq!(
            get("/api/v1/namespaces/shop/pods?limit=500"),
            "list /v1/pods  ns=shop name= short"
        );
        assert_eq!(
            get("/apis/apps/v1/namespaces/shop/deployments/web/scale"),
            "get apps/v1/deployments scale ns=shop name=web short"
        );
        assert_eq!(
            get("/api/v1/namespaces/shop"),
            "get /v1/namespaces  ns= name=shop short"
        );
        assert_eq!(
            asked(&Method::PUT, "/api/v1/namespaces/shop/finalize"),
            "update /v1/namespaces finalize ns= name=shop short"
        );
        assert_eq!(get("/apis/apps/v1"), "get //  ns= name= short");
        assert_eq!(
            asked(&Method::DELETE, "/apis/batch/v1/jobs"),
            "deletecollection batch/v1/jobs  ns= name= short"
        );
    }

    #[test]
    fn watches_in_both_spellings_and_logs_are_long() {
        let get = |uri| asked(&Method::GET, uri);
        assert_eq!(
            get("/api/v1/pods?watch=true&limit=1"),
            "watch /v1/pods  ns= name= long"
        );
        assert_eq!(
            get("/api/v1/watch/namespaces/shop/pods"),
            "watch /v1/pods  ns=shop name= long"
        );
        assert_eq!(
            get("/api/v1/pods?watch=false"),
            "list /v1/pods  ns= name= short"
        );
        assert_eq!(
            get("/api/v1/namespaces/shop/pods/web/log?follow=true"),
            "get /v1/pods log ns=shop name=web long"
        );
    }
}
