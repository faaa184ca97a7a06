//! Credentials for a plane: wrong, over, refused, missing, and rotated.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use k8s_openapi::api::{
    authentication::v1::TokenRequest, core::v1::ServiceAccount, rbac::v1::ClusterRoleBinding,
};
use kube::api::{DeleteParams, PostParams};
use quadrille_testkit::{ClusterKind, builders::mk, eventually};
use quadrille_types::conditions::ConditionType;
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use serde_json::{Value, json};

use crate::{
    doors::{Door, as_user, kubeconfig},
    platform::{Platform, config},
};

fn encoded(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

/// A client certificate of an authority that nobody knows, valid through the given year.
fn certificate(last_year: i32) -> Value {
    let authority =
        CertifiedIssuer::self_signed(CertificateParams::default(), KeyPair::generate().unwrap())
            .unwrap();
    let mut params = CertificateParams::default();
    params.not_before = rcgen::date_time_ymd(2000, 1, 1);
    params.not_after = rcgen::date_time_ymd(last_year + 1, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    json!({
        "client-certificate-data": encoded(&certificate.pem()),
        "client-key-data": encoded(&key.serialize_pem()),
    })
}

/// The token of a new account that may do everything.
async fn token(platform: &Platform, account: &str) -> String {
    let accounts = platform.cluster.api::<ServiceAccount>();
    let object = mk(json!({ "metadata": { "name": account } }));
    let params = PostParams::default();
    accounts.create(&params, &object).await.unwrap();
    let binding: ClusterRoleBinding = mk(json!({
        "metadata": { "name": platform.cluster.unique(account) },
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin",
        },
        "subjects": [{
            "kind": "ServiceAccount", "name": account, "namespace": platform.namespace(),
        }],
    }));
    let bindings = platform.cluster.all::<ClusterRoleBinding>();
    bindings.create(&params, &binding).await.unwrap();
    let request: TokenRequest = mk(json!({ "spec": { "audiences": [] } }));
    let request = eventually("the account gets a token", async || {
        accounts
            .create_token_request(account, &params, &request)
            .await
    })
    .await;
    request.status.unwrap().token.unwrap()
}

#[tokio::test]
async fn wrong_credentials_are_told_as_what_they_are_and_right_ones_work_at_once() {
    let platform = Platform::start().await;
    let right = kubeconfig(&platform.cluster).await;
    platform.add_plane("far").await;
    let objects = [("a", config("a", "1"))];
    let fields = json!({ "environmentName": "far" });
    platform.release_with("cart", &objects, fields).await;
    let message = platform.until_plane("far", "False", "SecretMissing").await;
    let secret = format!("{}/far", platform.namespace());
    assert!(message.contains(&secret), "{message}");
    let mut stranger = right.clone();
    let authority =
        CertifiedIssuer::self_signed(CertificateParams::default(), KeyPair::generate().unwrap());
    stranger["clusters"][0]["cluster"]["certificate-authority-data"] =
        encoded(&authority.unwrap().pem()).into();
    let exec = json!({ "exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "login",
        "interactiveMode": "Never",
    }});
    for (wrong, reason) in [
        (
            as_user(&right, json!({ "token": "s3cr3t" })),
            "CredentialsInvalid",
        ),
        (stranger, "CertificateUntrusted"),
        (as_user(&right, certificate(2001)), "CertificateExpired"),
        (as_user(&right, exec), "CredentialsRefused"),
        (json!({ "kind": "Config" }), "CredentialsMalformed"),
    ] {
        platform.put_kubeconfig("far", &wrong).await;
        let message = platform.until_plane("far", "False", reason).await;
        assert!(!message.contains("s3cr3t"), "{message}");
        let release = platform
            .until_said("cart", ConditionType::Ready, "False", "PlaneUnreachable")
            .await;
        let resources = release.status.unwrap().resources;
        assert!(resources.iter().all(|entry| entry.uid.is_none()));
    }
    platform.put_kubeconfig("far", &right).await;
    platform.until_plane("far", "True", "").await;
    platform.until("cart", ConditionType::Ready, "True").await;
    platform.until_configs(&[("a", "1")]).await;
}

#[tokio::test]
async fn a_program_in_a_kubeconfig_is_not_run_and_the_refusal_says_what_to_do() {
    let platform = Platform::start().await;
    let right = kubeconfig(&platform.cluster).await;
    let exec = json!({ "exec": { "command": "login" } });
    platform.put_kubeconfig("far", &as_user(&right, exec)).await;
    platform.add_plane("far").await;
    let message = platform
        .until_plane("far", "False", "CredentialsRefused")
        .await;
    assert!(message.contains("user.exec"), "{message}");
    assert!(
        message.contains("use a service account's token"),
        "{message}"
    );
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_not_let_in() {
    let platform = Platform::start().await;
    let right = kubeconfig(&platform.cluster).await;
    let user = certificate(3000);
    platform.put_kubeconfig("far", &as_user(&right, user)).await;
    platform.add_plane("far").await;
    let message = platform.until_plane("far", "False", "C").await;
    assert!(!message.contains("does not answer"), "{message}");
}

/// Credentials that can be taken back. The embedded server lets only its administrator in, so there it is the way
/// that is taken back, not the user.
enum Lent {
    Account(String),
    Way(Door),
}

impl Lent {
    async fn to(platform: &Platform, name: &str) -> (Self, Value) {
        let admin = kubeconfig(&platform.cluster).await;
        if platform.cluster.kind() == ClusterKind::Embedded {
            let door = Door::shut_before(&admin).await;
            door.open();
            let kubeconfig = door.through(&admin);
            return (Self::Way(door), kubeconfig);
        }
        let token = token(platform, name).await;
        let kubeconfig = as_user(&admin, json!({ "token": token }));
        (Self::Account(name.to_owned()), kubeconfig)
    }

    async fn take_back(&self, platform: &Platform) {
        match self {
            Self::Way(door) => door.shut(),
            Self::Account(name) => {
                let accounts = platform.cluster.api::<ServiceAccount>();
                let params = DeleteParams::default();
                accounts.delete(name, &params).await.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn rotated_credentials_are_used_without_a_restart() {
    let platform = Platform::start().await;
    let (old, kubeconfig) = Lent::to(&platform, "old").await;
    platform.put_kubeconfig("far", &kubeconfig).await;
    platform.add_plane("far").await;
    let fields = json!({ "environmentName": "far" });
    let objects = [("a", config("a", "1"))];
    platform
        .release_with("cart", &objects, fields.clone())
        .await;
    platform.until("cart", ConditionType::Ready, "True").await;
    let uid = platform.uid(&config("a", "1")).await;
    let (_new, kubeconfig) = Lent::to(&platform, "new").await;
    platform.put_kubeconfig("far", &kubeconfig).await;
    old.take_back(&platform).await;
    for value in ["2", "3"] {
        let objects = [("a", config("a", value))];
        platform
            .release_with("cart", &objects, fields.clone())
            .await;
        platform.until("cart", ConditionType::Ready, "True").await;
        platform.until_configs(&[("a", value)]).await;
    }
    assert_eq!(platform.uid(&config("a", "1")).await, uid);
    platform.until_plane("far", "True", "").await;
    platform.remove(&config("a", "3")).await;
    platform.until_configs(&[("a", "3")]).await;
}
