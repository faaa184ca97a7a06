//! Who one is by a token, or by none, and for whom one may speak: the same words from both clusters.

use http::{Request, StatusCode};
use k8s_openapi::api::{
    core::v1::ServiceAccount,
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};
use kube::{
    Client, Config,
    api::{DeleteParams, PostParams},
    client::Body,
    config::{AuthInfo, KubeConfigOptions, Kubeconfig},
};
use quadrille_testkit::{Cluster, builders::mk, eventually};
use serde_json::{Value, json};

/// A client with a token instead of the administrator's certificate, or with nothing.
async fn client_with(cluster: &Cluster, token: Option<&str>) -> anyhow::Result<Client> {
    let mut kubeconfig = Kubeconfig::read_from(cluster.kubeconfig().await?)?;
    for user in &mut kubeconfig.auth_infos {
        user.auth_info = Some(AuthInfo {
            token: token.map(|token| token.to_owned().into()),
            ..AuthInfo::default()
        });
    }
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    Ok(Client::try_from(config)?)
}

/// What a GET is answered: the code and the message.
async fn get(
    client: &Client,
    path: &str,
    speaking_for: Option<&str>,
) -> anyhow::Result<(StatusCode, String)> {
    let mut request = Request::get(path);
    if let Some(user) = speaking_for {
        request = request.header("impersonate-user", user);
    }
    let response = client.send(request.body(Body::empty())?).await?;
    let code = response.status();
    let body = response.into_body().collect_bytes().await?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    Ok((
        code,
        body["message"].as_str().unwrap_or_default().to_owned(),
    ))
}

async fn get_until(client: &Client, path: &str, speaking_for: Option<&str>, wanted: (u16, &str)) {
    eventually(&format!("{path} is answered {wanted:?}"), async || {
        let (code, message) = get(client, path, speaking_for).await?;
        anyhow::ensure!(
            (code.as_u16(), message.as_str()) == wanted,
            "{code} {message}"
        );
        Ok(())
    })
    .await;
}

async fn token_of(cluster: &Cluster, account: &str) -> anyhow::Result<String> {
    let namespace = cluster.namespace();
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token");
    let body =
        json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {} });
    let request = Request::post(path)
        .header("content-type", "application/json")
        .body(serde_json::to_vec(&body)?)?;
    let answer: Value = cluster.client().request(request).await?;
    Ok(answer["status"]["token"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}

#[tokio::test]
async fn a_token_is_its_account_as_long_as_that_lives_and_speaks_for_others_by_permission()
-> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let namespace = cluster.namespace().to_owned();
    let create = PostParams::default();
    let account = mk(json!({ "metadata": { "name": "builder" } }));
    cluster
        .api::<ServiceAccount>()
        .create(&create, &account)
        .await?;
    let account = json!({ "kind": "ServiceAccount", "name": "builder", "namespace": namespace });
    let role = |kind: &str, name: &str| json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name });
    let lists = mk(json!({
        "metadata": { "name": "lists" },
        "rules": [{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"] }],
    }));
    cluster.api::<Role>().create(&create, &lists).await?;
    let bound = mk(json!({
        "metadata": { "name": "builder" }, "roleRef": role("Role", "lists"), "subjects": [account],
    }));
    cluster.api::<RoleBinding>().create(&create, &bound).await?;

    let builder = client_with(&cluster, Some(&token_of(&cluster, "builder").await?)).await?;
    let maps = format!("/api/v1/namespaces/{namespace}/configmaps");
    get_until(&builder, &maps, None, (200, "")).await;
    let name = format!("system:serviceaccount:{namespace}:builder");
    let refused = format!(
        "secrets is forbidden: User {name:?} cannot list resource \"secrets\" in API group \"\" at the cluster scope"
    );
    get_until(&builder, "/api/v1/secrets", None, (403, &refused)).await;

    let refused = format!(
        "configmaps is forbidden: User {name:?} cannot impersonate-on:user-info:list resource \"configmaps\" in API \
         group \"\" in the namespace {namespace:?}"
    );
    get_until(&builder, &maps, Some("jane"), (403, &refused)).await;
    let wide = cluster.unique("speaker");
    let speaks = mk(json!({
        "metadata": { "name": wide },
        "rules": [{ "apiGroups": [""], "resources": ["users"], "resourceNames": ["jane"], "verbs": ["impersonate"] }],
    }));
    cluster
        .all::<ClusterRole>()
        .create(&create, &speaks)
        .await?;
    let bound = mk(json!({
        "metadata": { "name": wide }, "roleRef": role("ClusterRole", &wide), "subjects": [account],
    }));
    cluster
        .all::<ClusterRoleBinding>()
        .create(&create, &bound)
        .await?;
    let refused = format!(
        "configmaps is forbidden: User \"jane\" cannot list resource \"configmaps\" in API group \"\" in the \
         namespace {namespace:?}"
    );
    get_until(&builder, &maps, Some("jane"), (403, &refused)).await;
    // Now that the plain permission worked, its refusal is the one that is told.
    let refused = format!(
        "users \"tom\" is forbidden: User {name:?} cannot impersonate resource \"users\" in API group \"\" at the \
         cluster scope"
    );
    get_until(&builder, &maps, Some("tom"), (403, &refused)).await;

    let how = DeleteParams::default();
    cluster
        .api::<ServiceAccount>()
        .delete("builder", &how)
        .await?;
    get_until(&builder, &maps, None, (401, "Unauthorized")).await;
    cluster
        .all::<ClusterRoleBinding>()
        .delete(&wide, &how)
        .await?;
    cluster.all::<ClusterRole>().delete(&wide, &how).await?;
    Ok(())
}

#[tokio::test]
async fn who_shows_nothing_is_anonymous_and_who_shows_nonsense_is_nobody() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let anonymous = client_with(&cluster, None).await?;
    get_until(&anonymous, "/version", None, (200, "")).await;
    let refused = "forbidden: User \"system:anonymous\" cannot get path \"/api\"";
    get_until(&anonymous, "/api", None, (403, refused)).await;
    let refused = "pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API group \"\" at \
                   the cluster scope";
    get_until(&anonymous, "/api/v1/pods", None, (403, refused)).await;
    let liar = client_with(&cluster, Some("nonsense")).await?;
    get_until(&liar, "/version", None, (401, "Unauthorized")).await;
    Ok(())
}
