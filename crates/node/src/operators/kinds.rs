//! The kinds of operators that are stood in for.

use serde_json::Value;

use super::secret::MADE_FOR;
use crate::world::{self, Kinds, retain};

/// A kind that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    ExternalSecret,
    SecretProviderClass,
    ScaledObject,
    ScaledJob,
    Secret,
}

/// Everything that is seen.
pub(super) type World = world::World<Kind>;

impl Kind {
    /// Its group and version.
    pub(super) fn api_version(self) -> String {
        self.resource().api_version
    }
}

impl Kinds for Kind {
    const ALL: &'static [Self] = &[
        Self::ExternalSecret,
        Self::SecretProviderClass,
        Self::ScaledObject,
        Self::ScaledJob,
        Self::Secret,
    ];

    fn parts(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::ExternalSecret => (
                "external-secrets.io",
                "v1",
                "ExternalSecret",
                "externalsecrets",
            ),
            Self::SecretProviderClass => (
                "secrets-store.csi.x-k8s.io",
                "v1",
                "SecretProviderClass",
                "secretproviderclasses",
            ),
            Self::ScaledObject => ("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects"),
            Self::ScaledJob => ("keda.sh", "v1alpha1", "ScaledJob", "scaledjobs"),
            Self::Secret => ("", "v1", "Secret", "secrets"),
        }
    }

    fn is_known_by_metadata(self) -> bool {
        self == Self::Secret
    }

    fn trim(self, object: &mut Value) {
        match self {
            Self::ExternalSecret => {
                retain(object, "", &["metadata", "spec", "status"]);
                retain(object, "/spec", &["target", "data"]);
            }
            Self::SecretProviderClass => {
                retain(object, "", &["metadata", "spec"]);
                retain(object, "/spec", &["secretObjects"]);
            }
            Self::ScaledObject | Self::ScaledJob => retain(object, "", &["metadata", "status"]),
            Self::Secret => retain(object, "", &["metadata"]),
        }
        let metadata: &[&str] = match self {
            Self::Secret => &["namespace", "name", "annotations"],
            _ => &[
                "namespace",
                "name",
                "uid",
                "generation",
                "deletionTimestamp",
                "labels",
            ],
        };
        retain(object, "/metadata", metadata);
        retain(object, "/metadata/annotations", &[MADE_FOR]);
    }
}
