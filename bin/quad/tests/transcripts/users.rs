//! Local users: one laptop plays a team.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::Value;
use tempfile::tempdir;

use crate::{instance::Instance, quad::quad};

fn user(home: &Path, line: &str) -> crate::quad::Finished {
    let mut arguments: Vec<&str> = ["user"]
        .into_iter()
        .chain(line.split_whitespace())
        .collect();
    let data = home.join("data");
    arguments.extend(["--data-dir", data.to_str().unwrap()]);
    quad(home, &arguments)
}

/// The code that a path is answered for whom a kubeconfig names.
async fn asked(kubeconfig: &Path, path: &str) -> u16 {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let client = Client::try_from(config.unwrap()).unwrap();
    let request = http::Request::get(path)
        .body(kube::client::Body::empty())
        .unwrap();
    client.send(request).await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_developer_is_made_works_and_is_removed() {
    let home = tempdir().unwrap();
    let _instance = Instance::start_on_data(home.path());
    let added = user(home.path(), "add anna --role developer");
    assert_eq!(added.code, Some(0), "{}", added.err);
    assert_eq!(
        added.out,
        "✔ anna is a developer of default\n\
         \n\
         Next:  export KUBECONFIG=~/data/users/anna.kubeconfig\n       \
         kubectl auth whoami\n       \
         kubectl auth can-i --list\n"
    );
    let kubeconfig = home.path().join("data/users/anna.kubeconfig");
    let mode = fs::metadata(&kubeconfig).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let releases =
        |namespace: &str| format!("/apis/openchoreo.dev/v1alpha1/namespaces/{namespace}/releases");
    assert_eq!(asked(&kubeconfig, &releases("default")).await, 200);
    assert_eq!(asked(&kubeconfig, &releases("kube-system")).await, 403);
    assert_eq!(
        asked(&kubeconfig, "/api/v1/namespaces/default/secrets").await,
        403
    );

    // Once more changes nothing, and another role is another line.
    assert_eq!(user(home.path(), "add anna --role developer").code, Some(0));
    assert_eq!(
        user(home.path(), "add eve --role platform-admin").code,
        Some(0)
    );
    assert_eq!(
        user(
            home.path(),
            "add anna --role approver --organization kube-public"
        )
        .code,
        Some(0)
    );
    assert_eq!(
        user(home.path(), "list").out,
        "NAME   ROLE             ORGANIZATION   KUBECONFIG\n\
         anna   approver         kube-public    ~/data/users/anna.kubeconfig\n\
         anna   developer        default        ~/data/users/anna.kubeconfig\n\
         eve    platform-admin   (all)          ~/data/users/eve.kubeconfig\n"
    );
    let listed: Value = serde_json::from_str(&user(home.path(), "list -o json").out).unwrap();
    assert_eq!(listed[2]["name"], "eve");

    let copy = home.path().join("copy");
    fs::copy(&kubeconfig, &copy).unwrap();
    let removed = user(home.path(), "remove anna");
    assert_eq!(
        removed.out,
        "anna is no longer a user. Copies of the kubeconfig still say who they are, and may nothing.\n"
    );
    assert!(!kubeconfig.exists());
    assert_eq!(asked(&copy, &releases("default")).await, 403);
    assert!(!user(home.path(), "list").out.contains("anna"));
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let home = tempdir().unwrap();
    let early = user(home.path(), "list");
    assert_eq!(early.code, Some(1));
    assert_eq!(
        early.err,
        "✖ nothing runs on ~/data\n  \
         Start it: quad up --data-dir ~/data\n  \
         or name the folder of another one: --data-dir FOLDER\n"
    );
    let _instance = Instance::start_on_data(home.path());
    for (line, words) in [
        (
            "add Anna --role developer",
            "\"Anna\" cannot be the name of a user",
        ),
        (
            "add anna --role developer --organization nowhere",
            "there is no organization nowhere",
        ),
        (
            "add eve --role platform-admin --organization default",
            "a platform-admin is of no organization",
        ),
        ("remove tom", "there is no local user tom"),
    ] {
        let failed = user(home.path(), line);
        assert_eq!(failed.code, Some(1), "{line}: {}", failed.out);
        assert!(failed.err.contains(words), "{line}: {}", failed.err);
        assert!(
            failed.err.lines().count() > 1,
            "nothing to do next: {}",
            failed.err
        );
    }
    let unknown = user(home.path(), "add anna --role boss");
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown
            .err
            .contains("platform-admin, developer, approver, viewer"),
        "{}",
        unknown.err
    );
    assert_eq!(
        user(home.path(), "list").out,
        "No local users. Make one: quad user add anna --role developer\n"
    );
}
