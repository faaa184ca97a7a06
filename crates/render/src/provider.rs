//! What a plane has: where its secrets come from, what enforces its network policies.

use std::collections::BTreeMap;

use quadrille_types::{
    DataPlaneSpec, Problem,
    annotations::{NETWORK_POLICY_PROVIDER, SECRET_PROVIDER},
};

/// Where the secrets of a plane come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecretProvider {
    /// The External Secrets operator makes Secrets of what is in a store.
    ExternalSecrets,
    /// The Secrets Store driver mounts what is in a store, and makes Secrets of it meanwhile.
    Csi,
    /// Secrets are there already: a reference's key is a Secret's name, its property a key within.
    Native,
}

/// What enforces the network policies of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PolicyProvider {
    /// Whatever knows the standard ones.
    Standard,
    /// Cilium.
    Cilium,
}

impl SecretProvider {
    /// What a plane's annotation says; without one, a plane with a store has the operator.
    pub(crate) fn of(
        plane: &DataPlaneSpec,
        annotations: &BTreeMap<String, String>,
    ) -> Result<Self, Problem> {
        match annotations.get(SECRET_PROVIDER).map(String::as_str) {
            Some("external-secrets") => Ok(Self::ExternalSecrets),
            Some("csi") => Ok(Self::Csi),
            None if plane.secret_store_ref.is_some() => Ok(Self::ExternalSecrets),
            None | Some("native") => Ok(Self::Native),
            Some(other) => Err(Problem::new(
                format!("metadata.annotations[{SECRET_PROVIDER}]"),
                format!("is {other:?}, must be external-secrets, csi or native"),
            )),
        }
    }

    /// Its word.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::ExternalSecrets => "external-secrets",
            Self::Csi => "csi",
            Self::Native => "native",
        }
    }

    /// Whether Secrets are made, under names that we choose.
    pub(crate) fn makes_secrets(self) -> bool {
        self != Self::Native
    }
}

impl PolicyProvider {
    /// What a plane's annotation says, or its older feature flag.
    pub(crate) fn of(plane: &DataPlaneSpec, annotations: &BTreeMap<String, String>) -> Self {
        let flags = plane
            .kubernetes_cluster
            .as_ref()
            .and_then(|cluster| cluster.feature_flags.as_ref());
        let is_cilium = match annotations.get(NETWORK_POLICY_PROVIDER) {
            Some(word) => word == "cilium",
            None => flags.and_then(|flags| flags.cilium).unwrap_or_default(),
        };
        if is_cilium {
            Self::Cilium
        } else {
            Self::Standard
        }
    }
}
