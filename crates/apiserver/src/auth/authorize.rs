//! May they? The question ([`Attributes`]), who answers it ([`Authorizer`]), and how a no is worded.

use quadrille_machinery::status::Status;
use serde_json::json;

use super::{MASTERS, User};

/// What a request wants to do, as far as permissions care.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// Who asks.
    pub user: &'a User,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; for paths that
    /// are no resource the lower-case HTTP method.
    pub verb: &'a str,
    /// API group; empty for the core group.
    pub group: &'a str,
    /// API version.
    pub version: &'a str,
    /// Plural name; empty when the path is no resource.
    pub resource: &'a str,
    /// Subresource; empty for the object itself.
    pub subresource: &'a str,
    /// Namespace; empty at the cluster scope.
    pub namespace: &'a str,
    /// Name of the object; empty for collections.
    pub name: &'a str,
    /// The path of the URL.
    pub path: &'a str,
}

impl<'a> Attributes<'a> {
    /// A path that is no resource.
    pub fn of_path(user: &'a User, verb: &'a str, path: &'a str) -> Self {
        Self {
            user,
            verb,
            group: "",
            version: "",
            resource: "",
            subresource: "",
            namespace: "",
            name: "",
            path,
        }
    }

    /// Whether this is about a resource (rather than `/metrics`, `/apis` …).
    pub fn is_resource_request(&self) -> bool {
        !self.resource.is_empty() || self.path.is_empty()
    }
}

/// The answer to "may they".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Yes.
    Allow {
        /// Who says so, or empty.
        reason: String,
    },
    /// No.
    Deny {
        /// More than the standard words, or empty.
        reason: String,
    },
}

impl Decision {
    /// Yes, without a word.
    pub fn allow() -> Self {
        Self::Allow {
            reason: String::new(),
        }
    }

    /// No, without a word.
    pub fn deny() -> Self {
        Self::Deny {
            reason: String::new(),
        }
    }
}

/// Decides who may do what.
pub trait Authorizer: Send + Sync {
    /// Decides one request.
    fn authorize(&self, attributes: &Attributes<'_>) -> Decision;

    /// `Ok` if they may, else the answer for those who may not.
    fn require(&self, attributes: &Attributes<'_>) -> Result<(), Status> {
        match self.authorize(attributes) {
            Decision::Allow { .. } => Ok(()),
            Decision::Deny { reason } => Err(forbidden(attributes, &reason)),
        }
    }
}

/// Lets members of `system:masters` do everything, and others nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct MastersOnly;

impl Authorizer for MastersOnly {
    fn authorize(&self, attributes: &Attributes<'_>) -> Decision {
        if attributes.user.is_in(MASTERS) {
            Decision::allow()
        } else {
            Decision::deny()
        }
    }
}

/// The 403 for a denied request, worded as Kubernetes does.
pub fn forbidden(attributes: &Attributes<'_>, reason: &str) -> Status {
    let mut why = without_markup(&refusal(attributes));
    if !reason.is_empty() {
        why.push_str(": ");
        why.push_str(reason);
    }
    if attributes.is_resource_request() {
        return Status::forbidden(attributes.group, attributes.resource, attributes.name, &why);
    }
    Status {
        code: 403,
        reason: "Forbidden",
        message: format!("forbidden: {why}"),
        details: json!({}),
        list_continue: None,
    }
}

fn refusal(attributes: &Attributes<'_>) -> String {
    let Attributes {
        verb,
        group,
        resource,
        subresource,
        namespace,
        path,
        ..
    } = attributes;
    let user = &attributes.user.name;
    if !attributes.is_resource_request() {
        return format!("User {user:?} cannot {verb} path {path:?}");
    }
    let target = if subresource.is_empty() {
        (*resource).to_owned()
    } else {
        format!("{resource}/{subresource}")
    };
    let scope = if namespace.is_empty() {
        "at the cluster scope".to_owned()
    } else {
        format!("in the namespace {namespace:?}")
    };
    format!("User {user:?} cannot {verb} resource {target:?} in API group {group:?} {scope}")
}

/// Messages may end up in a browser: nothing in them may look like markup.
fn without_markup(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing_pods<'a>(user: &'a User, namespace: &'a str) -> Attributes<'a> {
        Attributes {
            user,
            verb: "list",
            group: "",
            version: "v1",
            resource: "pods",
            subresource: "",
            namespace,
            name: "",
            path: "/api/v1/pods",
        }
    }

    fn anna() -> User {
        User {
            name: "anna".to_owned(),
            ..User::default()
        }
    }

    #[test]
    fn masters_may_everything_and_others_nothing() {
        let (admin, anna) = (User::admin(), anna());
        assert_eq!(
            MastersOnly.authorize(&listing_pods(&admin, "")),
            Decision::allow()
        );
        assert_ne!(
            MastersOnly.authorize(&listing_pods(&anna, "")),
            Decision::allow()
        );
    }

    #[test]
    fn a_refusal_names_user_verb_resource_group_and_scope() {
        let anna = anna();
        let in_namespace = forbidden(&listing_pods(&anna, "default"), "");
        assert_eq!(
            in_namespace.message,
            r#"pods is forbidden: User "anna" cannot list resource "pods" in API group "" in the namespace "default""#
        );
        let scale = Attributes {
            verb: "update",
            group: "apps",
            resource: "deployments",
            subresource: "scale",
            name: "web",
            ..listing_pods(&anna, "")
        };
        assert_eq!(
            forbidden(&scale, "no binding").message,
            r#"deployments.apps "web" is forbidden: User "anna" cannot update resource "deployments/scale" in API group "apps" at the cluster scope: no binding"#
        );
    }

    #[test]
    fn a_refused_path_is_named_and_markup_in_it_is_defused() {
        let anna = anna();
        let path = Attributes {
            verb: "get",
            resource: "",
            path: "/metrics/<b>",
            ..listing_pods(&anna, "")
        };
        let status = forbidden(&path, "");
        assert_eq!(
            status.message,
            r#"forbidden: User "anna" cannot get path "/metrics/&lt;b&gt;""#
        );
        assert_eq!(status.details, json!({}));
    }
}
