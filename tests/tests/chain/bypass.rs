//! Nobody gets something into production that nobody else agreed to, whatever they send to the API server.

use http::{Request, StatusCode};
use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams},
    client::Body,
    core::{ApiResource, GroupVersionKind},
};
use quadrille_controllers::permissions::{people, policies};
use quadrille_testkit::eventually;
use quadrille_types::annotations;
use serde_json::{Value, json};

use crate::shop::Shop;

const GROUP: &str = "apis/openchoreo.dev/v1alpha1";

/// A shop with people in it who have no more than their roles.
struct Team {
    shop: Shop,
}

impl Team {
    async fn gather(shop: Shop) -> Self {
        let team = Self { shop };
        for role in people::objects() {
            team.install(&role).await;
        }
        // Others on the same cluster are not concerned.
        for mut policy in policies::objects() {
            let org = team.shop.org.clone();
            let own = |name: &Value| json!(format!("{}-{org}", name.as_str().unwrap()));
            policy["metadata"]["name"] = own(&policy["metadata"]["name"]);
            if policy["kind"] == "ValidatingAdmissionPolicy" {
                policy["spec"]["matchConstraints"]["namespaceSelector"] =
                    json!({ "matchLabels": { "kubernetes.io/metadata.name": org } });
            } else {
                policy["spec"]["policyName"] = own(&policy["spec"]["policyName"]);
            }
            team.install(&policy).await;
        }
        for role in ["developer", "approver"] {
            team.install(&json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                "metadata": { "name": role, "namespace": team.shop.org },
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                    "name": format!("quad-{role}"),
                },
                "subjects": [{
                    "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": team.user(role),
                }],
            }))
            .await;
        }
        team
    }

    fn user(&self, role: &str) -> String {
        format!("{role}-{}", self.shop.org)
    }

    async fn install(&self, object: &Value) {
        let (version, kind) = (object["apiVersion"].as_str(), object["kind"].as_str());
        let (group, version) = version.unwrap().split_once('/').unwrap();
        let plural = match kind.unwrap() {
            "ValidatingAdmissionPolicy" => "validatingadmissionpolicies".to_owned(),
            other => format!("{}s", other.to_lowercase()),
        };
        let gvk = GroupVersionKind::gvk(group, version, kind.unwrap());
        let resource = ApiResource::from_gvk_with_plural(&gvk, &plural);
        let client = self.shop.stage.client();
        let api: Api<DynamicObject> = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(client, namespace, &resource),
            None => Api::all_with(client, &resource),
        };
        let name = object["metadata"]["name"].as_str().unwrap();
        let how = PatchParams::apply("test").force();
        api.patch(name, &how, &Patch::Apply(object)).await.unwrap();
    }

    /// Somebody sends something; what the server answers.
    async fn sends(&self, role: &str, method: &str, path: &str, body: &Value) -> StatusCode {
        let content = if method == "PATCH" {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let request = Request::builder()
            .method(method)
            .uri(format!("/{GROUP}/namespaces/{}/{path}", self.shop.org))
            .header("content-type", content)
            .header("impersonate-user", self.user(role))
            .body(Body::from(body.to_string().into_bytes()))
            .unwrap();
        let client = self.shop.stage.client();
        client.send(request).await.unwrap().status()
    }

    fn word(&self, release: &str, by: &str) -> Value {
        json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Approval",
            "metadata": { "generateName": "word-" },
            "spec": {
                "owner": { "projectName": "shop", "componentName": "cart" },
                "environment": "prod", "releaseName": release, "by": self.user(by),
            },
        })
    }
}

#[tokio::test]
async fn nobody_gets_past_an_approval() {
    let (shop, release) = Shop::asking().await;
    let team = Team::gather(shop).await;
    let refused = StatusCode::UNPROCESSABLE_ENTITY;
    let somebody =
        json!({ "metadata": { "annotations": { annotations::REQUESTED_BY: "somebody" } } });
    eventually("the policies are in force", async || {
        let word = team.word(&release, "developer");
        let approval = team.sends("approver", "POST", "approvals?dryRun=All", &word);
        let binding = "releasebindings/cart-prod?dryRun=All";
        let request = team.sends("developer", "PATCH", binding, &somebody);
        match (approval.await, request.await) {
            (one, other) if one == refused && other == refused => Ok(()),
            codes => Err(format!("{codes:?}")),
        }
    })
    .await;
    let current = json!({ "status": { "currentRelease": release } });
    let resources = json!({ "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Release",
        "metadata": { "name": "cart-prod" },
        "spec": { "owner": { "projectName": "shop", "componentName": "cart" }, "environmentName": "prod" } });
    let open = json!({ "spec": { "promotionPaths": [] } });
    let attempts = [
        (
            "developer",
            "POST",
            "approvals",
            team.word(&release, "developer"),
            StatusCode::FORBIDDEN,
        ),
        (
            "developer",
            "POST",
            "approvals",
            team.word(&release, "approver"),
            StatusCode::FORBIDDEN,
        ),
        (
            "developer",
            "PATCH",
            "releasebindings/cart-prod/status",
            current,
            StatusCode::FORBIDDEN,
        ),
        (
            "developer",
            "POST",
            "releases",
            resources,
            StatusCode::FORBIDDEN,
        ),
        (
            "developer",
            "PATCH",
            "deploymentpipelines/main",
            open,
            StatusCode::FORBIDDEN,
        ),
        (
            "developer",
            "PATCH",
            "releasebindings/cart-prod",
            somebody,
            refused,
        ),
        (
            "approver",
            "POST",
            "approvals",
            team.word(&release, "developer"),
            refused,
        ),
        (
            "approver",
            "PATCH",
            "releasebindings/cart-prod",
            json!({ "spec": {} }),
            StatusCode::FORBIDDEN,
        ),
    ];
    for (role, method, path, body, expected) in attempts {
        let code = team.sends(role, method, path, &body).await;
        assert_eq!(code, expected, "{role} {method} {path}");
    }
    let shop = &team.shop;
    shop.until_asked("cart").await;
    assert_eq!(shop.data("cart", "shop", "prod").await, None);
    let word = team.word(&release, "approver");
    let code = team.sends("approver", "POST", "approvals", &word).await;
    assert_eq!(code, StatusCode::CREATED);
    shop.until_ready("cart", "prod").await;
    let history = shop.binding("cart", "prod").await.status.unwrap().history;
    assert_eq!(history[0].approved_by, Some(team.user("approver")));
}
