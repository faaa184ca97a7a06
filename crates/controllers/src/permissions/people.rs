//! Roles for people: what they do with the platform, whichever cluster it runs on.
//!
//! | role | bound | may |
//! |---|---|---|
//! | `platform-admin` | in the whole cluster | everything of the platform, Secrets and the roles of others included |
//! | `developer` | in an organization | what is deployed and how; sees the stages, not the planes |
//! | `approver` | in an organization | sees what developers see, and approves |
//! | `viewer` | in an organization | sees what developers see |
//!
//! An organization is a namespace, so a binding in it says nothing about any other. Planes may hold credentials and
//! are for platform admins, like Secrets. Kinds that are still to come are named already; a rule for what does not
//! exist allows nothing.

use serde_json::{Value, json};

use super::{Rule, SEE, rule};

/// A role for people.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    /// What people call it.
    pub name: &'static str,
    /// Whether it is for one organization, and not for the whole cluster.
    pub is_local: bool,
    /// What it allows.
    rules: &'static [&'static [Rule]],
}

impl Role {
    /// The role of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ROLES.iter().find(|role| role.name == name)
    }

    /// The name of its `ClusterRole`.
    pub fn cluster_role(&self) -> String {
        format!("quad-{}", self.name)
    }
}

const GROUP: &str = "openchoreo.dev";
const ALL: &[&str] = &["*"];
const WRITE: &[&str] = &[
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
];

/// What developers make.
const MADE: &[&str] = &[
    "apibindings",
    "apis",
    "builds",
    "componentreleases",
    "components",
    "configurationgroups",
    "deployableartifacts",
    "deployments",
    "deploymenttracks",
    "endpoints",
    "gitcommitrequests",
    "observabilityalertrules",
    "projectreleasebindings",
    "projectreleases",
    "releasebindings",
    "resourcereleasebindings",
    "resourcereleases",
    "resources",
    "scheduledtaskbindings",
    "scheduledtasks",
    "secretreferences",
    "servicebindings",
    "services",
    "webapplicationbindings",
    "webapplications",
    "workflowruns",
    "workloads",
];

/// What the platform gives them to build on, and makes of what they make.
const GIVEN: &[&str] = &[
    "apiclasses",
    "componenttypes",
    "deploymentpipelines",
    "environments",
    "observabilityalertsnotificationchannels",
    "projects",
    "projecttypes",
    "releases",
    "renderedreleases",
    "resourcetypes",
    "scheduledtaskclasses",
    "serviceclasses",
    "traits",
    "webapplicationclasses",
    "workflows",
];

/// What approvers decide.
const APPROVALS: &[&str] = &["approvals"];

/// What whole clusters share, for everybody to see.
const CATALOG: &[&str] = &[
    "clustercomponenttypes",
    "clusterprojecttypes",
    "clusterresourcetypes",
    "clustertraits",
    "clusterworkflows",
];

const SEES: &[Rule] = &[
    rule(GROUP, MADE, SEE),
    rule(GROUP, GIVEN, SEE),
    rule(GROUP, APPROVALS, SEE),
    rule("", &["events"], SEE),
    rule("events.k8s.io", &["events"], SEE),
    // In an organization this is its own namespace and no other.
    rule("", &["namespaces"], &["get"]),
];

const MAKES: &[Rule] = &[rule(GROUP, MADE, WRITE)];

const APPROVES: &[Rule] = &[rule(GROUP, APPROVALS, WRITE)];

const RULES_THE_PLATFORM: &[Rule] = &[
    rule(GROUP, ALL, ALL),
    rule("", &["namespaces", "secrets"], WRITE),
    rule("", &["events"], SEE),
    rule("events.k8s.io", &["events"], SEE),
    rule("apiextensions.k8s.io", &["customresourcedefinitions"], SEE),
    rule("rbac.authorization.k8s.io", &["clusterroles", "roles"], SEE),
    // Who may what: no more than they may themselves, which the server sees to.
    rule(
        "rbac.authorization.k8s.io",
        &["clusterrolebindings", "rolebindings"],
        WRITE,
    ),
];

/// All of them.
pub const ROLES: &[Role] = &[
    Role {
        name: "platform-admin",
        is_local: false,
        rules: &[RULES_THE_PLATFORM],
    },
    Role {
        name: "developer",
        is_local: true,
        rules: &[SEES, MAKES],
    },
    Role {
        name: "approver",
        is_local: true,
        rules: &[SEES, APPROVES],
    },
    Role {
        name: "viewer",
        is_local: true,
        rules: &[SEES],
    },
];

/// The objects to install: a `ClusterRole` for each, and what everybody may see.
pub fn objects() -> Vec<Value> {
    let roles = ROLES.iter().map(|role| {
        let rules = role.rules.iter().copied().flatten();
        cluster_role(&role.cluster_role(), rules)
    });
    let catalog = cluster_role("quad-catalog", &[rule(GROUP, CATALOG, SEE)]);
    let everybody = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": { "name": "quad-catalog" },
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "quad-catalog",
        },
        "subjects": [{
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "Group",
            "name": "system:authenticated",
        }],
    });
    roles.chain([catalog, everybody]).collect()
}

fn cluster_role<'a>(name: &str, rules: impl IntoIterator<Item = &'a Rule>) -> Value {
    let rules: Vec<Value> = rules.into_iter().map(Rule::object).collect();
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": { "name": name },
        "rules": rules,
    })
}
