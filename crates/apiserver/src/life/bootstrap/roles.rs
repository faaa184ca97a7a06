//! The roles and bindings that every cluster has, as far as something here or its clients rely on them.

use quadrille_machinery::rbac;
use serde_json::{Value, json};

/// A role of the whole cluster.
struct Role {
    name: &'static str,
    /// The role that it is gathered into.
    part_of: Option<&'static str>,
    /// The label by which it gathers others.
    gathers: Option<&'static str>,
    rules: &'static [Rule],
}

/// Lists are separated by blanks.
struct Rule {
    groups: &'static str,
    resources: &'static str,
    paths: &'static str,
    verbs: &'static str,
}

const fn on(groups: &'static str, resources: &'static str, verbs: &'static str) -> Rule {
    Rule {
        groups,
        resources,
        paths: "",
        verbs,
    }
}

const fn paths(verbs: &'static str, paths: &'static str) -> Rule {
    Rule {
        groups: "",
        resources: "",
        paths,
        verbs,
    }
}

const READ: &str = "get list watch";
const WRITE: &str = "create delete deletecollection patch update";
const ALL_VERBS: &str = "create delete deletecollection get list patch update watch";

/// Who has which role: a role and the groups that it is bound to.
const BOUND: &[(&str, &[&str])] = &[
    ("cluster-admin", &["system:masters"]),
    ("system:basic-user", &["system:authenticated"]),
    ("system:discovery", &["system:authenticated"]),
    ("system:monitoring", &["system:monitoring"]),
    (
        "system:public-info-viewer",
        &["system:authenticated", "system:unauthenticated"],
    ),
    (
        "system:service-account-issuer-discovery",
        &["system:serviceaccounts"],
    ),
];

/// In the order in which they are written.
const ROLES: &[Role] = &[
    Role {
        name: "cluster-admin",
        part_of: None,
        gathers: None,
        rules: &[on("*", "*", "*"), paths("*", "*")],
    },
    Role {
        name: "admin",
        part_of: None,
        gathers: Some("admin"),
        rules: &[],
    },
    Role {
        name: "edit",
        part_of: Some("admin"),
        gathers: Some("edit"),
        rules: &[],
    },
    Role {
        name: "view",
        part_of: Some("edit"),
        gathers: Some("view"),
        rules: &[],
    },
    Role {
        name: "system:aggregate-to-admin",
        part_of: Some("admin"),
        gathers: None,
        rules: &[
            on(
                "authorization.k8s.io",
                "localsubjectaccessreviews",
                "create",
            ),
            on("rbac.authorization.k8s.io", "rolebindings roles", ALL_VERBS),
        ],
    },
    Role {
        name: "system:aggregate-to-edit",
        part_of: Some("edit"),
        gathers: None,
        rules: &[
            on(
                "core",
                "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy",
                READ,
            ),
            on("core", "serviceaccounts", "impersonate"),
            on(
                "core",
                "pods pods/attach pods/exec pods/portforward pods/proxy",
                WRITE,
            ),
            on("core", "pods/eviction", "create"),
            on(
                "core",
                "configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale \
                 secrets serviceaccounts services services/proxy",
                WRITE,
            ),
            on("core", "serviceaccounts/token", "create"),
            on("core events.k8s.io", "events", WRITE),
            on(
                "apps",
                "daemonsets deployments deployments/rollback deployments/scale replicasets \
                 replicasets/scale statefulsets statefulsets/scale",
                WRITE,
            ),
            on("autoscaling", "horizontalpodautoscalers", WRITE),
            on("batch", "cronjobs jobs", WRITE),
            on(
                "extensions",
                "daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies \
                 replicasets replicasets/scale replicationcontrollers/scale",
                WRITE,
            ),
            on("policy", "poddisruptionbudgets", WRITE),
            on("networking.k8s.io", "ingresses networkpolicies", WRITE),
            on("coordination.k8s.io", "leases", ALL_VERBS),
            on(
                "resource.k8s.io",
                "resourceclaims resourceclaimtemplates",
                WRITE,
            ),
        ],
    },
    Role {
        name: "system:aggregate-to-view",
        part_of: Some("view"),
        gathers: None,
        rules: &[
            on(
                "core",
                "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods \
                 replicationcontrollers replicationcontrollers/scale serviceaccounts services \
                 services/status",
                READ,
            ),
            on(
                "core",
                "bindings limitranges namespaces/status pods/log pods/status \
                 replicationcontrollers/status resourcequotas resourcequotas/status",
                READ,
            ),
            on("core", "namespaces", READ),
            on("core events.k8s.io", "events", READ),
            on("discovery.k8s.io", "endpointslices", READ),
            on(
                "apps",
                "controllerrevisions daemonsets daemonsets/status deployments deployments/scale \
                 deployments/status replicasets replicasets/scale replicasets/status statefulsets \
                 statefulsets/scale statefulsets/status",
                READ,
            ),
            on(
                "autoscaling",
                "horizontalpodautoscalers horizontalpodautoscalers/status",
                READ,
            ),
            on("batch", "cronjobs cronjobs/status jobs jobs/status", READ),
            on(
                "extensions",
                "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses \
                 ingresses/status networkpolicies replicasets replicasets/scale replicasets/status \
                 replicationcontrollers/scale",
                READ,
            ),
            on(
                "policy",
                "poddisruptionbudgets poddisruptionbudgets/status",
                READ,
            ),
            on(
                "networking.k8s.io",
                "ingresses ingresses/status networkpolicies",
                READ,
            ),
            on(
                "resource.k8s.io",
                "resourceclaims resourceclaims/status resourceclaimtemplates",
                READ,
            ),
        ],
    },
    Role {
        name: "system:auth-delegator",
        part_of: None,
        gathers: None,
        rules: &[
            on("authentication.k8s.io", "tokenreviews", "create"),
            on("authorization.k8s.io", "subjectaccessreviews", "create"),
        ],
    },
    Role {
        name: "system:basic-user",
        part_of: None,
        gathers: None,
        rules: &[
            on(
                "authorization.k8s.io",
                "selfsubjectaccessreviews selfsubjectrulesreviews",
                "create",
            ),
            on("authentication.k8s.io", "selfsubjectreviews", "create"),
        ],
    },
    Role {
        name: "system:discovery",
        part_of: None,
        gathers: None,
        rules: &[paths(
            "get",
            "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/",
        )],
    },
    Role {
        name: "system:monitoring",
        part_of: None,
        gathers: None,
        rules: &[
            paths(
                "get",
                "/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* \
                 /statusz",
            ),
            on("core", "nodes/metrics", "get"),
        ],
    },
    Role {
        name: "system:public-info-viewer",
        part_of: None,
        gathers: None,
        rules: &[paths("get", "/healthz /livez /readyz /version /version/")],
    },
    Role {
        name: "system:service-account-issuer-discovery",
        part_of: None,
        gathers: None,
        rules: &[paths(
            "get",
            "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks \
                 /openid/v1/jwks/",
        )],
    },
];

/// All of them as objects.
pub(super) fn objects() -> Vec<Value> {
    let mut roles: Vec<Value> = ROLES.iter().map(Role::object).collect();
    // From the smallest to the largest, so that each finds what it gathers.
    for gathering in ["view", "edit", "admin"] {
        let Some(place) = roles
            .iter()
            .position(|role| role["metadata"]["name"] == gathering)
        else {
            continue;
        };
        let mut by_name: Vec<&Value> = roles.iter().collect();
        by_name.sort_by_key(|role| role["metadata"]["name"].as_str());
        let gathered = json!(rbac::aggregated(&roles[place], &by_name).unwrap_or_default());
        roles[place]["rules"] = gathered;
    }
    roles.extend(BOUND.iter().map(|(role, groups)| binding(role, groups)));
    roles
}

impl Role {
    fn object(&self) -> Value {
        let label = |to: &str| format!("{}/aggregate-to-{to}", rbac::GROUP);
        let mut object = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": metadata(self.name),
            "rules": self.rules.iter().map(Rule::object).collect::<Vec<_>>(),
        });
        if let Some(whole) = self.part_of {
            object["metadata"]["labels"][label(whole)] = json!("true");
        }
        if let Some(gathered) = self.gathers {
            let mut labels = serde_json::Map::new();
            labels.insert(label(gathered), json!("true"));
            object["aggregationRule"] =
                json!({ "clusterRoleSelectors": [{ "matchLabels": labels }] });
        }
        object
    }
}

impl Rule {
    fn object(&self) -> Value {
        let list = |text: &str| -> Vec<String> {
            let words = text.split_whitespace();
            words
                .map(|word| {
                    if word == "core" {
                        String::new()
                    } else {
                        word.to_owned()
                    }
                })
                .collect()
        };
        if self.paths.is_empty() {
            json!({
                "apiGroups": list(self.groups),
                "resources": list(self.resources),
                "verbs": list(self.verbs),
            })
        } else {
            json!({ "nonResourceURLs": list(self.paths), "verbs": list(self.verbs) })
        }
    }
}

fn metadata(name: &str) -> Value {
    json!({
        "name": name,
        "labels": { "kubernetes.io/bootstrapping": "rbac-defaults" },
        "annotations": { "rbac.authorization.kubernetes.io/autoupdate": "true" },
    })
}

fn binding(role: &str, groups: &[&str]) -> Value {
    let subjects: Vec<Value> = groups
        .iter()
        .map(|group| json!({ "apiGroup": rbac::GROUP, "kind": "Group", "name": group }))
        .collect();
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": metadata(role),
        "roleRef": { "apiGroup": rbac::GROUP, "kind": "ClusterRole", "name": role },
        "subjects": subjects,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_edit_may_also_view_and_who_administers_may_do_both() {
        let objects = objects();
        let rules = |name: &str| {
            let role = objects
                .iter()
                .find(|object| object["metadata"]["name"] == name);
            rbac::Rule::read_all(role.unwrap())
        };
        let (view, edit, admin) = (rules("view"), rules("edit"), rules("admin"));
        assert!(!view.is_empty());
        assert!(rbac::missing(&edit, &view).is_empty());
        assert!(rbac::missing(&admin, &edit).is_empty());
        assert!(!rbac::missing(&view, &edit).is_empty());
    }
}
