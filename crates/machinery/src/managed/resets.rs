//! Fields that an endpoint puts back to what they were, so that nobody comes to own them there: `status` at
//! the object's own endpoint, `spec` at the status endpoint.

use crate::fieldset::{Filter, Pattern, Set};

/// What an endpoint resets, by version.
#[derive(Clone, Debug, Default)]
pub struct Resets {
    /// `None` is every version.
    rules: Vec<(Option<String>, Filter)>,
}

/// Kinds whose status endpoint resets something other than `spec`.
const STATUS_ENDPOINTS: &[(&str, &str, &[&[&str]])] = &[
    ("apps", "deployments", &[&["spec"], &["metadata", "labels"]]),
    (
        "",
        "pods",
        &[
            &["spec"],
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ],
    ),
    (
        "certificates.k8s.io",
        "certificatesigningrequests",
        &[&["spec"], &["status", "conditions"]],
    ),
];

/// Groups whose status endpoints also reset all metadata.
const METADATA_TOO: [&str; 8] = [
    "admissionregistration.k8s.io",
    "apiregistration.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

impl Resets {
    /// Nothing is reset.
    pub fn none() -> Self {
        Self::default()
    }

    /// What an endpoint of a built-in resource resets. `has_status` says whether the resource has a status
    /// endpoint.
    pub fn builtin(group: &str, plural: &str, subresource: &str, has_status: bool) -> Self {
        let filter = match (plural, subresource) {
            ("certificatesigningrequests", "") => without(&[&["spec"], &["status"]]),
            ("certificatesigningrequests", "approval") => {
                without(&[&["spec"], &["status", "certificate"]])
            }
            ("pods", "resize") => only(&[
                &["spec", "containers", "*", "resources"],
                &["spec", "containers", "*", "resizePolicy"],
                &["spec", "initContainers", "*", "resources"],
                &["spec", "initContainers", "*", "resizePolicy"],
            ]),
            ("namespaces", "finalize") | ("pods", "ephemeralcontainers") => without(&[&["status"]]),
            (_, "") if has_status => without(&[&["status"]]),
            (_, "status") => without(status_endpoint(group, plural)),
            _ => return Self::none(),
        };
        Self {
            rules: vec![(None, filter)],
        }
    }

    /// What the endpoint of a custom resource resets in its version, if the version has a status endpoint.
    pub fn custom(api_version: &str, has_status: bool) -> Self {
        if has_status {
            Self::none().with(api_version, &[&["status"]])
        } else {
            Self::none()
        }
    }

    /// What the status endpoint of a custom resource resets; `versions` are all those that have one.
    pub fn custom_status<'v>(versions: impl IntoIterator<Item = &'v str>) -> Self {
        versions.into_iter().fold(Self::none(), |resets, version| {
            resets.with(version, &[&["metadata"], &["spec"]])
        })
    }

    /// Also resets these paths of field names in a version.
    #[must_use]
    pub fn with(mut self, api_version: &str, paths: &[&[&str]]) -> Self {
        self.rules
            .push((Some(api_version.to_owned()), without(paths)));
        self
    }

    /// The rule for a version.
    pub fn of(&self, api_version: &str) -> Option<&Filter> {
        let fits = |version: &Option<String>| version.as_ref().is_none_or(|v| v == api_version);
        let rule = self.rules.iter().find(|(version, _)| fits(version));
        rule.map(|(_, filter)| filter)
    }
}

fn status_endpoint(group: &str, plural: &str) -> &'static [&'static [&'static str]] {
    let special = STATUS_ENDPOINTS
        .iter()
        .find(|known| known.0 == group && known.1 == plural);
    if let Some((_, _, paths)) = special {
        return paths;
    }
    if METADATA_TOO.contains(&group) || plural == "servicecidrs" {
        return &[&["spec"], &["metadata"]];
    }
    &[&["spec"]]
}

fn without(paths: &[&[&str]]) -> Filter {
    Filter::Without(Set::of_fields(paths))
}

fn only(paths: &[&[&str]]) -> Filter {
    Filter::Only(Pattern::new(paths))
}
