//! One call to a Kubernetes API, read off its request line.

use std::fmt;

use http::{Method, Uri};

/// What a call asks for, in the words of Kubernetes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// One object, or a path that is no resource.
    Get,
    /// A collection.
    List,
    /// Changes of an object or a collection.
    Watch,
    /// A new object.
    Create,
    /// A whole object in place of another.
    Update,
    /// A part of an object.
    Patch,
    /// The end of one object.
    Delete,
    /// The end of a collection.
    DeleteCollection,
}

impl Verb {
    /// Whether it can change something.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Get | Self::List | Self::Watch)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        })
    }
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What it asks for.
    pub verb: Verb,
    /// API group; empty for the core group.
    pub group: String,
    /// Resource with its subresource, such as `deployments` or `deployments/scale`; a path such as `/version`
    /// if it is no resource.
    pub resource: String,
    /// Namespace, if it names one.
    pub namespace: Option<String>,
    /// Name of the object, if it names one.
    pub name: Option<String>,
    /// Path and query, as sent.
    pub target: String,
}

impl Call {
    /// Reads a request line.
    pub fn of(method: &Method, uri: &Uri) -> Self {
        let target = uri
            .path_and_query()
            .map_or_else(|| uri.path(), |target| target.as_str());
        let path: Vec<&str> = uri
            .path()
            .split('/')
            .filter(|part| !part.is_empty())
            .collect();
        let (group, rest) = match path.as_slice() {
            ["api", _, rest @ ..] if !rest.is_empty() => ("", rest),
            ["apis", group, _, rest @ ..] if !rest.is_empty() => (*group, rest),
            _ => return Self::of_path(method, uri.path(), target),
        };
        let (namespace, rest) = match rest {
            ["namespaces", namespace, resource @ ..]
                if !resource.is_empty() && !matches!(resource, ["status" | "finalize"]) =>
            {
                (Some((*namespace).to_owned()), resource)
            }
            rest => (None, rest),
        };
        let name = rest.get(1).map(|name| (*name).to_owned());
        let resource = match rest {
            [resource, _, subresource, ..] => format!("{resource}/{subresource}"),
            [resource, ..] => (*resource).to_owned(),
            [] => String::new(),
        };
        let verb = verb(method, name.is_some(), is_watch(uri));
        Self {
            verb,
            group: group.to_owned(),
            resource,
            namespace,
            name,
            target: target.to_owned(),
        }
    }

    fn of_path(method: &Method, path: &str, target: &str) -> Self {
        Self {
            verb: verb(method, true, false),
            group: String::new(),
            resource: path.to_owned(),
            namespace: None,
            name: None,
            target: target.to_owned(),
        }
    }
}

fn is_watch(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    query
        .split('&')
        .any(|pair| matches!(pair, "watch=true" | "watch=1" | "watch"))
}

fn verb(method: &Method, is_named: bool, is_watch: bool) -> Verb {
    match *method {
        Method::POST => Verb::Create,
        Method::PUT => Verb::Update,
        Method::PATCH => Verb::Patch,
        Method::DELETE if is_named => Verb::Delete,
        Method::DELETE => Verb::DeleteCollection,
        _ if is_watch => Verb::Watch,
        _ if is_named => Verb::Get,
        _ => Verb::List,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &Method, uri: &str) -> String {
        let call = Call::of(method, &uri.parse().unwrap());
        format!(
            "{} {}.{} {}/{}",
            call.verb,
            call.resource,
            call.group,
            call.namespace.unwrap_or_default(),
            call.name.unwrap_or_default()
        )
    }

    #[test]
    fn request_lines_are_read_like_a_server_reads_them() {
        for (method, uri, expected) in [
            (Method::GET, "/api/v1/pods", "list pods. /"),
            (Method::GET, "/api/v1/pods?watch=true", "watch pods. /"),
            (Method::GET, "/api/v1/namespaces/a/pods/b", "get pods. a/b"),
            (
                Method::POST,
                "/api/v1/namespaces/a/pods/b/eviction",
                "create pods/eviction. a/b",
            ),
            (Method::GET, "/api/v1/namespaces", "list namespaces. /"),
            (Method::GET, "/api/v1/namespaces/a", "get namespaces. /a"),
            (
                Method::PUT,
                "/api/v1/namespaces/a/status",
                "update namespaces/status. /a",
            ),
            (
                Method::PATCH,
                "/apis/apps/v1/namespaces/a/deployments/b",
                "patch deployments.apps a/b",
            ),
            (
                Method::PATCH,
                "/apis/apps/v1/namespaces/a/deployments/b/scale?dryRun=All",
                "patch deployments/scale.apps a/b",
            ),
            (
                Method::DELETE,
                "/apis/a.b/v1/xs",
                "deletecollection xs.a.b /",
            ),
            (Method::DELETE, "/apis/a.b/v1/xs/y", "delete xs.a.b /y"),
            (Method::GET, "/version", "get /version. /"),
            (Method::GET, "/apis/apps/v1", "get /apis/apps/v1. /"),
        ] {
            assert_eq!(read(&method, uri), expected, "{uri}");
        }
    }
}
