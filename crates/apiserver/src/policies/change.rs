//! What a request is about to do, as policies see it.

use serde_json::{Value, json};

use crate::rest::Request;

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    fn options_kind(self) -> &'static str {
        match self {
            Self::Create => "CreateOptions",
            Self::Update => "UpdateOptions",
            Self::Delete => "DeleteOptions",
        }
    }
}

/// A change that is ready to be written.
pub(crate) struct Change<'a> {
    pub(crate) operation: Operation,
    /// The new object, in the version of the request; null when one is deleted.
    pub(crate) object: &'a Value,
    /// The object that is there; null when one is created.
    pub(crate) old: &'a Value,
    /// Options of the request, without their type.
    pub(crate) options: Value,
    pub(crate) dry_run: bool,
}

/// A kind in a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) name: String,
}

impl Kind {
    /// The kind that an object says it is.
    fn of(object: &Value) -> Self {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let (group, version) = match api_version.split_once('/') {
            Some((group, version)) => (group.to_owned(), version.to_owned()),
            None => (String::new(), api_version),
        };
        Self {
            group,
            version,
            name: kind,
        }
    }

    fn value(&self) -> Value {
        json!({"group": self.group, "version": self.version, "kind": self.name})
    }
}

impl Change<'_> {
    /// The kind that the request speaks: that of the object, or of the subresource.
    pub(super) fn kind(&self, request: &Request) -> Kind {
        let object = if self.object.is_null() {
            self.old
        } else {
            self.object
        };
        let own = Kind::of(object);
        if own.name.is_empty() {
            let resource = &request.resource;
            return Kind {
                group: resource.group.clone(),
                version: resource.version.clone(),
                name: resource.kind.clone(),
            };
        }
        own
    }

    /// The name of the object; whoever deletes many names none.
    pub(super) fn name<'n>(&'n self, request: &'n Request) -> &'n str {
        if request.one_of_many {
            return "";
        }
        let own = self.object["metadata"]["name"].as_str();
        request.target.name.as_deref().or(own).unwrap_or_default()
    }

    /// The namespace of the request; a request for a namespace is in it.
    pub(super) fn namespace<'n>(&'n self, request: &'n Request) -> &'n str {
        if is_for_namespace(request) {
            self.name(request)
        } else {
            request.namespace().unwrap_or_default()
        }
    }
}

/// Whether a request is about a namespace as a whole.
pub(super) fn is_for_namespace(request: &Request) -> bool {
    request.resource.group.is_empty() && request.resource.plural == "namespaces"
}

/// `request` for expressions.
pub(super) fn request_value(
    request: &Request,
    change: &Change<'_>,
    matched_kind: &Kind,
    matched: &quadrille_machinery::policy::Place<'_>,
) -> Value {
    let resource = &request.resource;
    let mut options = change.options.clone();
    options["kind"] = json!(change.operation.options_kind());
    options["apiVersion"] = json!("meta.k8s.io/v1");
    let mut value = json!({
        "kind": matched_kind.value(),
        "resource": {
            "group": matched.group,
            "version": matched.version,
            "resource": matched.resource,
        },
        "requestKind": change.kind(request).value(),
        "requestResource": {
            "group": resource.group,
            "version": resource.version,
            "resource": resource.plural,
        },
        "operation": change.operation.name(),
        "userInfo": request.user.info(),
        "dryRun": change.dry_run,
        "options": options,
    });
    for (field, text) in [
        ("subResource", request.subresource()),
        ("requestSubResource", request.subresource()),
        ("name", change.name(request)),
        ("namespace", change.namespace(request)),
    ] {
        if !text.is_empty() {
            value[field] = json!(text);
        }
    }
    value
}
