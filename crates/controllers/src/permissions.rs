//! Who may do what. The controllers: nothing that they don't do; a test runs them with exactly this. People: by four
//! roles ([`people`]). `deploy/rbac/` is generated from here.

pub mod people;
pub mod policies;

use serde_json::{Value, json};

/// What may be done with some resources.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The API group; nothing for the core group.
    pub group: &'static str,
    /// The resources.
    pub resources: &'static [&'static str],
    /// What may be done with them.
    pub verbs: &'static [&'static str],
}

impl Rule {
    /// As a role has it.
    pub fn object(&self) -> Value {
        json!({ "apiGroups": [self.group], "resources": self.resources, "verbs": self.verbs })
    }
}

const fn rule(
    group: &'static str,
    resources: &'static [&'static str],
    verbs: &'static [&'static str],
) -> Rule {
    Rule {
        group,
        resources,
        verbs,
    }
}

/// What whoever only looks may do.
const SEE: &[&str] = &["get", "list", "watch"];
const KEEP: &[&str] = &["get", "list", "watch", "create", "patch", "delete"];

/// In the control plane's cluster, in every namespace that is looked after.
pub const CONTROL_PLANE: &[Rule] = &[
    rule(
        "openchoreo.dev",
        &[
            "components",
            "dataplanes",
            "deployableartifacts",
            "deploymentpipelines",
            "deployments",
            "deploymenttracks",
            "environments",
            "projects",
        ],
        &["get", "list", "watch", "patch", "delete"],
    ),
    rule(
        "openchoreo.dev",
        &[
            "componentreleases",
            "endpoints",
            "releasebindings",
            "releases",
            "scheduledtaskbindings",
            "servicebindings",
            "webapplicationbindings",
        ],
        KEEP,
    ),
    rule(
        "openchoreo.dev",
        &["apibindings"],
        &["get", "list", "watch", "patch", "delete"],
    ),
    rule(
        "openchoreo.dev",
        &[
            "apis",
            "approvals",
            "builds",
            "scheduledtasks",
            "services",
            "webapplications",
            "workloads",
        ],
        &["get", "list", "watch", "delete"],
    ),
    rule(
        "openchoreo.dev",
        &[
            "apiclasses",
            "componenttypes",
            "configurationgroups",
            "scheduledtaskclasses",
            "secretreferences",
            "serviceclasses",
            "traits",
            "webapplicationclasses",
        ],
        SEE,
    ),
    rule(
        "openchoreo.dev",
        &[
            "apibindings/status",
            "apis/status",
            "approvals/status",
            "components/status",
            "componenttypes/status",
            "configurationgroups/status",
            "dataplanes/status",
            "deployableartifacts/status",
            "deploymentpipelines/status",
            "deployments/status",
            "deploymenttracks/status",
            "endpoints/status",
            "environments/status",
            "projects/status",
            "releasebindings/status",
            "releases/status",
            "scheduledtaskbindings/status",
            "scheduledtasks/status",
            "servicebindings/status",
            "services/status",
            "traits/status",
            "webapplicationbindings/status",
            "webapplications/status",
        ],
        &["patch"],
    ),
    rule("events.k8s.io", &["events"], &["create"]),
];

/// In the control plane's cluster as a whole: what every organization may use; and where organizations are looked after:
/// an organization is a namespace.
pub const ORGANIZATIONS: &[Rule] = &[
    rule(
        "openchoreo.dev",
        &["clustercomponenttypes", "clustertraits"],
        SEE,
    ),
    rule(
        "openchoreo.dev",
        &["clustercomponenttypes/status", "clustertraits/status"],
        &["patch"],
    ),
    rule(
        "openchoreo.dev",
        &["organizations"],
        &["get", "list", "watch", "patch"],
    ),
    rule("openchoreo.dev", &["organizations/status"], &["patch"]),
    rule("", &["namespaces"], KEEP),
];

/// In the namespace of the lease.
pub const LEASE: &[Rule] = &[rule(
    "coordination.k8s.io",
    &["leases"],
    &["get", "create", "update"],
)];

/// In namespaces whose planes have their credentials in Secrets. Each is asked for by its name.
pub const CREDENTIALS: &[Rule] = &[rule("", &["secrets"], &["list", "watch"])];

/// In a plane: the kinds that releases are made of. Whoever releases others adds them; what is not here, such as
/// cluster roles, a release cannot bring.
pub const PLANE: &[Rule] = &[
    rule(
        "",
        &[
            "configmaps",
            "limitranges",
            "namespaces",
            "persistentvolumeclaims",
            "resourcequotas",
            "secrets",
            "serviceaccounts",
            "services",
        ],
        KEEP,
    ),
    rule("", &["pods"], &["list", "watch"]),
    rule(
        "apps",
        &["daemonsets", "deployments", "replicasets", "statefulsets"],
        KEEP,
    ),
    rule("autoscaling", &["horizontalpodautoscalers"], KEEP),
    rule("batch", &["cronjobs", "jobs"], KEEP),
    rule("networking.k8s.io", &["ingresses", "networkpolicies"], KEEP),
    rule("policy", &["poddisruptionbudgets"], KEEP),
    rule("cilium.io", &["ciliumnetworkpolicies"], KEEP),
    rule("external-secrets.io", &["externalsecrets"], KEEP),
    rule(
        "gateway.networking.k8s.io",
        &[
            "grpcroutes",
            "httproutes",
            "tcproutes",
            "tlsroutes",
            "udproutes",
        ],
        KEEP,
    ),
    rule(
        "gateway.envoyproxy.io",
        &[
            "backendtrafficpolicies",
            "httproutefilters",
            "securitypolicies",
        ],
        KEEP,
    ),
    rule(
        "secrets-store.csi.x-k8s.io",
        &["secretproviderclasses"],
        KEEP,
    ),
];
