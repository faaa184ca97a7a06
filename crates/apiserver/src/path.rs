//! What a URL asks for.
//!
//! Kubernetes paths are a grammar, not a fixed set: resources come and go with CRDs. So the whole path is
//! read here, once, into a [`Path`].

use percent_encoding::percent_decode_str;

/// What a URL path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// `/api`: the versions of the core group.
    CoreVersions,
    /// `/apis`: all named groups.
    Groups,
    /// `/apis/<group>`.
    Group(String),
    /// `/api/v1` or `/apis/<group>/<version>`: the resources of one version.
    Version { group: String, version: String },
    /// A resource, an object or a subresource.
    Resource(Target),
    /// `/openapi/v2`.
    OpenApiV2,
    /// `/openapi/v3` or `/openapi/v3/<document>`.
    OpenApiV3(Option<String>),
    /// `/version`.
    ServerVersion,
    /// `/livez`, `/readyz`, `/healthz` and what is below them.
    Health { check: Option<String> },
    /// `/metrics`.
    Metrics,
    /// `/.well-known/openid-configuration`: who issues the tokens of service accounts.
    TokenIssuer,
    /// `/openid/v1/jwks`: the keys that sign them.
    TokenKeys,
    /// `/`: the list of paths.
    Root,
    /// A path below `/api` or `/apis` that is none of the above.
    Lost,
    /// Anything else.
    Unknown,
}

/// A resource, an object or a subresource.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Target {
    pub(crate) group: String,
    pub(crate) version: String,
    /// The namespace of the request; `None` for cluster-scoped resources and all-namespace lists.
    pub(crate) namespace: Option<String>,
    pub(crate) plural: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
    /// Whether the deprecated `/watch/` prefix was used.
    pub(crate) watch: bool,
}

/// Subresources of a namespace: `/namespaces/x/status` is no resource `status` in namespace `x`.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];

impl Path {
    /// Reads a URL path.
    pub(crate) fn parse(path: &str) -> Self {
        let path = path.strip_prefix('/').unwrap_or(path);
        let path = path.strip_suffix('/').unwrap_or(path);
        let is_api = matches!(path.split('/').next(), Some("api" | "apis"));
        let nowhere = if is_api { Self::Lost } else { Self::Unknown };
        if path.split('/').any(str::is_empty) && !path.is_empty() {
            return nowhere;
        }
        let segments: Option<Vec<String>> = path
            .split('/')
            .filter(|segment| !segment.is_empty())
            .map(|segment| Some(percent_decode_str(segment).decode_utf8().ok()?.into_owned()))
            .collect();
        let Some(segments) = segments else {
            return Self::Unknown;
        };
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        if segments.iter().any(|segment| segment.contains('/')) {
            return nowhere;
        }
        match segments.as_slice() {
            [] => Self::Root,
            ["api"] => Self::CoreVersions,
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group((*group).to_owned()),
            ["api", version] => Self::Version {
                group: String::new(),
                version: (*version).to_owned(),
            },
            ["apis", group, version] => Self::Version {
                group: (*group).to_owned(),
                version: (*version).to_owned(),
            },
            ["api", version, rest @ ..] => target("", version, rest),
            ["apis", group, version, rest @ ..] => target(group, version, rest),
            ["openapi", "v2"] => Self::OpenApiV2,
            ["openapi", "v3"] => Self::OpenApiV3(None),
            ["openapi", "v3", document @ ..] => Self::OpenApiV3(Some(document.join("/"))),
            [".well-known", "openid-configuration"] => Self::TokenIssuer,
            ["openid", "v1", "jwks"] => Self::TokenKeys,
            ["version"] => Self::ServerVersion,
            ["metrics"] => Self::Metrics,
            ["livez" | "readyz" | "healthz"] => Self::Health { check: None },
            ["livez" | "readyz" | "healthz", check @ ..] => Self::Health {
                check: Some(check.join("/")),
            },
            _ => Self::Unknown,
        }
    }
}

fn target(group: &str, version: &str, segments: &[&str]) -> Path {
    let (watch, segments) = match segments {
        ["watch", rest @ ..] if !rest.is_empty() => (true, rest),
        _ => (false, segments),
    };
    let (namespace, segments) = match segments {
        ["namespaces", namespace, resource, ..]
            if !(group.is_empty() && NAMESPACE_SUBRESOURCES.contains(resource)) =>
        {
            (Some((*namespace).to_owned()), &segments[2..])
        }
        _ => (None, segments),
    };
    let [plural, rest @ ..] = segments else {
        return Path::Unknown;
    };
    let (name, subresource) = match rest {
        [] => (None, None),
        [name] => (Some((*name).to_owned()), None),
        [name, subresource @ ..] => (Some((*name).to_owned()), Some(subresource.join("/"))),
    };
    Path::Resource(Target {
        group: group.to_owned(),
        version: version.to_owned(),
        namespace,
        plural: (*plural).to_owned(),
        name,
        subresource,
        watch,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(path: &str) -> Target {
        match Path::parse(path) {
            Path::Resource(target) => target,
            other => panic!("{path} is {other:?}"),
        }
    }

    #[test]
    fn a_namespace_is_a_resource_and_a_prefix() {
        let object = resource("/api/v1/namespaces/shop");
        assert_eq!(
            (object.plural.as_str(), object.name.as_deref()),
            ("namespaces", Some("shop"))
        );
        assert_eq!(object.namespace, None);

        let list = resource("/api/v1/namespaces/shop/pods");
        assert_eq!(
            (list.plural.as_str(), list.namespace.as_deref()),
            ("pods", Some("shop"))
        );

        let finalize = resource("/api/v1/namespaces/shop/finalize");
        assert_eq!(finalize.plural, "namespaces");
        assert_eq!(finalize.subresource.as_deref(), Some("finalize"));
    }

    #[test]
    fn a_group_may_have_a_resource_called_status() {
        let list = resource("/apis/example.dev/v1/namespaces/shop/status");
        assert_eq!(
            (list.plural.as_str(), list.namespace.as_deref()),
            ("status", Some("shop"))
        );
    }

    #[test]
    fn segments_are_percent_decoded() {
        let object =
            resource("/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode/status");
        assert_eq!(object.name.as_deref(), Some("system:node"));
        assert_eq!(object.subresource.as_deref(), Some("status"));
    }

    #[test]
    fn empty_segments_and_slashes_in_names_lead_nowhere() {
        assert_eq!(Path::parse("/api//v1/namespaces"), Path::Lost);
        assert_eq!(Path::parse("/api/v1/nodes/a%2Fb"), Path::Lost);
        assert_eq!(Path::parse("/a//b"), Path::Unknown);
        assert_eq!(resource("/api/v1/namespaces/").plural, "namespaces");
    }

    #[test]
    fn what_is_no_api_is_unknown() {
        assert_eq!(Path::parse("/favicon.ico"), Path::Unknown);
        assert_eq!(Path::parse("/"), Path::Root);
    }
}
