//! What a request wants to do, read off its method and URL: the words in which permissions speak.

use std::borrow::Cow;

use http::Method;
use percent_encoding::percent_decode_str;
use quadrille_machinery::{names, selector::FieldSelector};

use super::{Attributes, User};
use crate::{
    options::Query,
    path::{Path, Target},
};

/// What somebody wants to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Action {
    verb: Cow<'static, str>,
    group: String,
    version: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
    path: String,
}

impl Action {
    /// Reads a request. `url_path` is the path as it came.
    pub(crate) fn of(method: &Method, path: &Path, url_path: &str, query: &Query) -> Self {
        let plain = percent_decode_str(url_path)
            .decode_utf8_lossy()
            .into_owned();
        match path {
            Path::Resource(target) => Self {
                path: plain,
                ..Self::on(method, target, query)
            },
            _ => Self::on_path(method, plain),
        }
    }

    /// Something done to a path that is no resource.
    pub(crate) fn on_path(method: &Method, path: String) -> Self {
        Self {
            verb: Cow::Owned(method.as_str().to_ascii_lowercase()),
            path,
            ..Self::default()
        }
    }

    fn on(method: &Method, target: &Target, query: &Query) -> Self {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let mut name = text(&target.name);
        let subresource = text(&target.subresource);
        // A namespace is in itself: who may something in it may it with the namespace, too.
        let namespace = if target.plural == "namespaces" && target.namespace.is_none() {
            name.clone()
        } else {
            text(&target.namespace)
        };
        let verb = match method.as_str() {
            _ if target.watch => "watch",
            "POST" => "create",
            "GET" | "HEAD" if !name.is_empty() => "get",
            "GET" | "HEAD" => {
                name = selected_name(query).unwrap_or_default();
                let watches = query.switch("watch").unwrap_or(false);
                if watches { "watch" } else { "list" }
            }
            "PUT" => "update",
            "PATCH" => "patch",
            "DELETE" if name.is_empty() => "deletecollection",
            "DELETE" => "delete",
            _ => "",
        };
        Self {
            verb: Cow::Borrowed(verb),
            group: target.group.clone(),
            version: target.version.clone(),
            resource: target.plural.clone(),
            // What follows is for whoever answers there.
            subresource: subresource.split('/').next().unwrap_or_default().to_owned(),
            namespace,
            name,
            path: String::new(),
        }
    }

    /// As a question about somebody.
    pub(crate) fn by<'a>(&'a self, user: &'a User) -> Attributes<'a> {
        Attributes {
            user,
            verb: &self.verb,
            group: &self.group,
            version: &self.version,
            resource: &self.resource,
            subresource: &self.subresource,
            namespace: &self.namespace,
            name: &self.name,
            path: &self.path,
        }
    }
}

/// A list of the one object of a name is about that object.
fn selected_name(query: &Query) -> Option<String> {
    let selector = FieldSelector::parse(query.get("fieldSelector")?).ok()?;
    let name = selector.exact("metadata.name")?;
    names::name_is_path_segment(name, false)
        .is_empty()
        .then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(method: &str, url: &str) -> Action {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        Action::of(
            &method,
            &Path::parse(path),
            path,
            &Query::parse(Some(query)),
        )
    }

    fn verb(method: &str, url: &str) -> String {
        action(method, url).verb.into_owned()
    }

    #[test]
    fn a_get_without_a_name_lists_or_watches() {
        assert_eq!(verb("GET", "/api/v1/pods"), "list");
        assert_eq!(verb("HEAD", "/api/v1/pods"), "list");
        assert_eq!(verb("GET", "/api/v1/pods?watch=1"), "watch");
        assert_eq!(verb("GET", "/api/v1/watch/pods"), "watch");
        assert_eq!(verb("GET", "/api/v1/namespaces/shop/pods/web"), "get");
        assert_eq!(
            verb("DELETE", "/api/v1/namespaces/shop/pods"),
            "deletecollection"
        );
    }

    #[test]
    fn a_list_of_one_name_is_about_that_object() {
        let one = action(
            "GET",
            "/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dweb",
        );
        assert_eq!((one.verb.as_ref(), one.name.as_str()), ("list", "web"));
        let other = action(
            "GET",
            "/api/v1/namespaces/shop/pods?fieldSelector=metadata.name!%3Dweb",
        );
        assert_eq!(other.name, "");
    }

    #[test]
    fn a_namespace_is_in_itself() {
        let namespace = action("GET", "/api/v1/namespaces/shop");
        assert_eq!(namespace.namespace, "shop");
        assert_eq!(namespace.name, "shop");
        assert_eq!(action("GET", "/api/v1/namespaces").namespace, "");
        let status = action("PUT", "/api/v1/namespaces/shop/status");
        assert_eq!(
            (status.namespace.as_str(), status.subresource.as_str()),
            ("shop", "status")
        );
    }

    #[test]
    fn other_paths_are_known_by_their_method() {
        let path = action("POST", "/openapi/v2");
        assert_eq!(
            (path.verb.as_ref(), path.path.as_str()),
            ("post", "/openapi/v2")
        );
        assert_eq!(path.resource, "");
    }
}
