//! Who may what: roles × verbs × kinds, asked by real requests in everybody's name, the same on both clusters.

use http::{Method, Request, StatusCode};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, RoleBinding};
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    client::Body,
    core::DynamicObject,
    discovery::ApiResource,
};
use quadrille_controllers::permissions::people;
use quadrille_testkit::{Cluster, eventually};
use serde_json::{Value, json};

/// What somebody may do with a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum May {
    Nothing,
    See,
    Everything,
}
use May::{Everything, Nothing, See};

const VERBS: [&str; 8] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
];

const PEOPLE: [&str; 5] = [
    "platform-admin",
    "developer",
    "approver",
    "viewer",
    "nobody",
];

const OURS: &str = "openchoreo.dev/v1alpha1";
const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// A kind by API version and plural name, and what each of [`PEOPLE`] may do with it in an organization of theirs.
type Row = (&'static str, &'static str, [May; 5]);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    //                                platform-admin developer   approver    viewer   nobody
    (OURS, "projects",               [Everything,    See,        See,        See,     Nothing]),
    (OURS, "environments",           [Everything,    See,        See,        See,     Nothing]),
    (OURS, "deploymentpipelines",    [Everything,    See,        See,        See,     Nothing]),
    (OURS, "dataplanes",             [Everything,    Nothing,    Nothing,    Nothing, Nothing]),
    (OURS, "workflowplanes",         [Everything,    Nothing,    Nothing,    Nothing, Nothing]),
    (OURS, "releases",               [Everything,    See,        See,        See,     Nothing]),
    (OURS, "components",             [Everything,    Everything, See,        See,     Nothing]),
    (OURS, "workloads",              [Everything,    Everything, See,        See,     Nothing]),
    (OURS, "componentreleases",      [Everything,    Everything, See,        See,     Nothing]),
    (OURS, "releasebindings",        [Everything,    Everything, See,        See,     Nothing]),
    (OURS, "deployments",            [Everything,    Everything, See,        See,     Nothing]),
    (OURS, "endpoints",              [Everything,    Everything, See,        See,     Nothing]),
    (OURS, "configurationgroups",    [Everything,    Everything, See,        See,     Nothing]),
    (OURS, "secretreferences",       [Everything,    Everything, See,        See,     Nothing]),
    (OURS, "componenttypes",         [Everything,    See,        See,        See,     Nothing]),
    (OURS, "traits",                 [Everything,    See,        See,        See,     Nothing]),
    (OURS, "approvals",              [Everything,    See,        Everything, See,     Nothing]),
    ("v1", "secrets",                [Everything,    Nothing,    Nothing,    Nothing, Nothing]),
    ("v1", "events",                 [See,           See,        See,        See,     Nothing]),
    ("v1", "pods",                   [Nothing,       Nothing,    Nothing,    Nothing, Nothing]),
    ("v1", "serviceaccounts",        [Nothing,       Nothing,    Nothing,    Nothing, Nothing]),
    ("apps/v1", "deployments",       [Nothing,       Nothing,    Nothing,    Nothing, Nothing]),
    (RBAC, "rolebindings",           [Everything,    Nothing,    Nothing,    Nothing, Nothing]),
    (RBAC, "roles",                  [See,           Nothing,    Nothing,    Nothing, Nothing]),
];

/// The same for what belongs to no organization.
#[rustfmt::skip]
const WIDE: &[Row] = &[
    (OURS, "organizations",          [Everything,    Nothing,    Nothing,    Nothing, Nothing]),
    (OURS, "clusterdataplanes",      [Everything,    Nothing,    Nothing,    Nothing, Nothing]),
    (OURS, "clustercomponenttypes",  [Everything,    See,        See,        See,     See]),
    ("v1", "namespaces",             [Everything,    Nothing,    Nothing,    Nothing, Nothing]),
    ("v1", "nodes",                  [Nothing,       Nothing,    Nothing,    Nothing, Nothing]),
    (RBAC, "clusterrolebindings",    [Everything,    Nothing,    Nothing,    Nothing, Nothing]),
    (RBAC, "clusterroles",           [See,           Nothing,    Nothing,    Nothing, Nothing]),
];

impl May {
    fn covers(self, verb: &str) -> bool {
        match self {
            Nothing => false,
            See => matches!(verb, "get" | "list" | "watch"),
            Everything => true,
        }
    }
}

/// Everybody of an organization, each with their role.
struct Team {
    cluster: Cluster,
}

impl Team {
    async fn gather(cluster: Cluster) -> anyhow::Result<Self> {
        let client = cluster.client();
        for object in people::objects() {
            install(&client, &object).await?;
        }
        let team = Self { cluster };
        for role in people::ROLES {
            team.bind(role).await?;
        }
        // A real server takes a moment to hear of it.
        for role in &PEOPLE[..4] {
            eventually(&format!("the {role} has the role"), async || {
                let user = team.user(role);
                let path = Team::path(OURS, "projects", Some(team.cluster.namespace()));
                let code = team.ask(&user, "list", &path).await?;
                anyhow::ensure!(code != StatusCode::FORBIDDEN, "{code}");
                Ok(())
            })
            .await;
        }
        Ok(team)
    }

    fn user(&self, role: &str) -> String {
        self.cluster.unique(role)
    }

    async fn bind(&self, role: &people::Role) -> anyhow::Result<()> {
        let name = self.user(role.name);
        let binding = json!({
            "apiVersion": RBAC,
            "kind": if role.is_local { "RoleBinding" } else { "ClusterRoleBinding" },
            "metadata": { "name": name },
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": role.cluster_role(),
            },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name }],
        });
        let how = PatchParams::apply("test").force();
        if role.is_local {
            let api = self.cluster.api::<RoleBinding>();
            api.patch(&name, &how, &Patch::Apply(&binding)).await?;
        } else {
            let api = self.cluster.all::<ClusterRoleBinding>();
            api.patch(&name, &how, &Patch::Apply(&binding)).await?;
        }
        Ok(())
    }

    fn path(api_version: &str, plural: &str, namespace: Option<&str>) -> String {
        let root = if api_version == "v1" { "/api" } else { "/apis" };
        match namespace {
            Some(namespace) => format!("{root}/{api_version}/namespaces/{namespace}/{plural}"),
            None => format!("{root}/{api_version}/{plural}"),
        }
    }

    /// Does something to a kind in somebody's name, in a way that changes nothing.
    async fn ask(&self, user: &str, verb: &str, path: &str) -> anyhow::Result<StatusCode> {
        let object = format!("{path}/there-is-none");
        let (method, target) = match verb {
            "get" => (Method::GET, object),
            "list" => (Method::GET, format!("{path}?limit=1")),
            "watch" => (Method::GET, format!("{path}?watch=true&timeoutSeconds=1")),
            "create" => (Method::POST, format!("{path}?dryRun=All")),
            "update" => (Method::PUT, format!("{object}?dryRun=All")),
            "patch" => (Method::PATCH, format!("{object}?dryRun=All")),
            "delete" => (Method::DELETE, format!("{object}?dryRun=All")),
            _ => (Method::DELETE, format!("{path}?dryRun=All")),
        };
        let content = if verb == "patch" {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let body = if matches!(verb, "create" | "update" | "patch") {
            "{}"
        } else {
            ""
        };
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header("content-type", content)
            .header("impersonate-user", user)
            .body(Body::from(body.as_bytes().to_vec()))?;
        Ok(self.cluster.client().send(request).await?.status())
    }

    /// Every verb on every kind of a table in everybody's name; gives what is not as it should be.
    async fn differences(
        &self,
        rows: &[Row],
        namespace: Option<&str>,
        wanted: impl Fn(May, &str) -> May,
    ) -> anyhow::Result<Vec<String>> {
        let mut wrong = Vec::new();
        for (api_version, plural, row) in rows {
            let path = Self::path(api_version, plural, namespace);
            for (may, role) in row.iter().zip(PEOPLE) {
                let may = wanted(*may, role);
                for verb in VERBS {
                    let code = self.ask(&self.user(role), verb, &path).await?;
                    let is_allowed = code != StatusCode::FORBIDDEN;
                    if is_allowed != may.covers(verb) {
                        wrong.push(format!("{role} {verb} {path}: {code}"));
                    }
                }
            }
        }
        Ok(wrong)
    }
}

async fn install(client: &Client, object: &Value) -> anyhow::Result<()> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let kind = if object["kind"] == "ClusterRole" {
        ApiResource::erase::<ClusterRole>(&())
    } else {
        ApiResource::erase::<ClusterRoleBinding>(&())
    };
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &kind);
    let how = PatchParams::apply("test").force();
    api.patch(name, &how, &Patch::Apply(object)).await?;
    Ok(())
}

#[tokio::test]
async fn everybody_may_what_the_table_says_in_their_organization() -> anyhow::Result<()> {
    let team = Team::gather(Cluster::start().await?).await?;
    let own = team.cluster.namespace().to_owned();
    let wrong = team.differences(TABLE, Some(&own), |may, _| may).await?;
    assert!(wrong.is_empty(), "{wrong:#?}");
    let wrong = team.differences(WIDE, None, |may, _| may).await?;
    assert!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}

#[tokio::test]
async fn nobody_but_a_platform_admin_sees_another_organization() -> anyhow::Result<()> {
    let team = Team::gather(Cluster::start().await?).await?;
    let only_admins = |may, role: &str| {
        if role == "platform-admin" {
            may
        } else {
            Nothing
        }
    };
    let wrong = team
        .differences(TABLE, Some("default"), only_admins)
        .await?;
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Nor all of them at once.
    let wrong = team.differences(&TABLE[..1], None, |may, role| {
        if role == "platform-admin" {
            may
        } else {
            Nothing
        }
    });
    let wrong: Vec<String> = wrong
        .await?
        .into_iter()
        .filter(|line| line.contains(" list "))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}

#[tokio::test]
async fn a_platform_admin_gives_roles_but_none_that_allow_more() -> anyhow::Result<()> {
    let team = Team::gather(Cluster::start().await?).await?;
    let path = Team::path(RBAC, "rolebindings", Some(team.cluster.namespace()));
    let bind = async |role: &str| -> anyhow::Result<StatusCode> {
        let binding = json!({
            "apiVersion": RBAC, "kind": "RoleBinding", "metadata": { "name": "given" },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "tom" }],
        });
        let request = Request::post(format!("{path}?dryRun=All"))
            .header("content-type", "application/json")
            .header("impersonate-user", team.user("platform-admin"))
            .body(Body::from(serde_json::to_vec(&binding)?))?;
        Ok(team.cluster.client().send(request).await?.status())
    };
    for role in ["quad-developer", "quad-approver", "quad-viewer"] {
        assert_eq!(bind(role).await?, StatusCode::CREATED, "{role}");
    }
    for role in ["cluster-admin", "edit"] {
        assert_eq!(bind(role).await?, StatusCode::FORBIDDEN, "{role}");
    }
    Ok(())
}
