//! In which order objects come, and in which they go.

use crate::identity::GroupKind;

/// When an object comes; removal is in reverse. What runs comes after what isolates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The place for everything else.
    Namespace,
    /// What limits those who run here: policies, quotas.
    Isolation,
    /// Definitions of kinds, and what makes them work.
    Definitions,
    /// Who runs, and with what: accounts, permissions, configuration, services.
    Config,
    /// What runs, and every kind that is not known here.
    Workloads,
    /// What leads traffic there, scales it, or guards it once it runs.
    Routes,
}

impl Stage {
    /// Every stage, in order of appearance.
    pub const ALL: [Self; 6] = [
        Self::Namespace,
        Self::Isolation,
        Self::Definitions,
        Self::Config,
        Self::Workloads,
        Self::Routes,
    ];

    /// The stage of a kind.
    pub fn of(kind: &GroupKind) -> Self {
        match (&*kind.group, &*kind.kind) {
            ("", "Namespace") => Self::Namespace,
            ("", "ResourceQuota" | "LimitRange")
            | (
                "networking.k8s.io" | "crd.projectcalico.org" | "projectcalico.org",
                "NetworkPolicy" | "GlobalNetworkPolicy",
            )
            | ("cilium.io", "CiliumNetworkPolicy" | "CiliumClusterwideNetworkPolicy")
            | ("policy.networking.k8s.io" | "security.istio.io", _) => Self::Isolation,
            ("apiextensions.k8s.io" | "apiregistration.k8s.io" | "storage.k8s.io", _)
            | ("scheduling.k8s.io", "PriorityClass")
            | ("node.k8s.io", "RuntimeClass")
            | ("gateway.networking.k8s.io", "GatewayClass")
            | ("networking.k8s.io", "IngressClass") => Self::Definitions,
            (
                "",
                "ServiceAccount"
                | "Secret"
                | "ConfigMap"
                | "Service"
                | "Endpoints"
                | "PersistentVolume"
                | "PersistentVolumeClaim",
            )
            | (
                "rbac.authorization.k8s.io"
                | "discovery.k8s.io"
                | "external-secrets.io"
                | "secrets-store.csi.x-k8s.io"
                | "cert-manager.io"
                | "bitnami.com",
                _,
            ) => Self::Config,
            ("networking.k8s.io", "Ingress")
            | (
                "gateway.networking.k8s.io"
                | "gateway.envoyproxy.io"
                | "networking.istio.io"
                | "traefik.io"
                | "autoscaling"
                | "keda.sh"
                | "policy"
                | "admissionregistration.k8s.io"
                | "monitoring.coreos.com",
                _,
            ) => Self::Routes,
            _ => Self::Workloads,
        }
    }

    /// Whether something runs from this stage on, and isolation must be there first.
    pub fn needs_isolation(self) -> bool {
        self >= Self::Workloads
    }

    /// Whether what runs must be gone before objects of this stage go.
    pub fn isolates(self) -> bool {
        self <= Self::Isolation
    }
}

/// Kinds whose removal can lose what cannot be made again.
pub fn holds_data(kind: &GroupKind) -> bool {
    matches!(
        (&*kind.group, &*kind.kind),
        (
            "",
            "PersistentVolumeClaim" | "PersistentVolume" | "Namespace"
        ) | ("apps", "StatefulSet")
            | ("apiextensions.k8s.io", "CustomResourceDefinition")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolation_comes_before_what_runs_and_routes_come_last() {
        let order = [
            ("", "Namespace"),
            ("networking.k8s.io", "NetworkPolicy"),
            ("apiextensions.k8s.io", "CustomResourceDefinition"),
            ("", "ConfigMap"),
            ("apps", "Deployment"),
            ("gateway.networking.k8s.io", "HTTPRoute"),
        ];
        let stages: Vec<_> = order
            .iter()
            .map(|(group, kind)| Stage::of(&GroupKind::new(group, kind)))
            .collect();
        assert_eq!(stages, Stage::ALL);
        assert_eq!(
            Stage::of(&GroupKind::new("example.com", "Widget")),
            Stage::Workloads
        );
        assert!(Stage::of(&GroupKind::new("cilium.io", "CiliumNetworkPolicy")).isolates());
    }

    #[test]
    fn kinds_that_hold_data_are_known() {
        assert!(holds_data(&GroupKind::new("", "PersistentVolumeClaim")));
        assert!(holds_data(&GroupKind::new("apps", "StatefulSet")));
        assert!(!holds_data(&GroupKind::new("apps", "Deployment")));
    }
}
