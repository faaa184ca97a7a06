//! Roles and bindings as they come and go.

use quadrille_store::{Expect, Op, Options};
use serde_json::{Value, json};

use super::*;

async fn write(store: &Store, key: &str, object: &Value) {
    let op = Op::Put {
        key: key.to_owned().into(),
        value: object.to_string().into(),
        expect: Expect::Any,
    };
    store.commit(vec![op]).await.unwrap();
}

async fn erase(store: &Store, key: &str) {
    let op = Op::Delete {
        key: key.to_owned().into(),
        expect: Expect::Any,
        last: None,
    };
    store.commit(vec![op]).await.unwrap();
}

fn user(name: &str) -> User {
    User {
        name: name.to_owned(),
        ..User::default()
    }
}

fn reads_pods(rbac: &Rbac, user: &User, namespace: &str) -> bool {
    let attributes = Attributes {
        user,
        verb: "list",
        group: "",
        version: "v1",
        resource: "pods",
        subresource: "",
        namespace,
        name: "",
        path: "",
    };
    matches!(rbac.authorize(&attributes), Decision::Allow { .. })
}

const ROLE: &str = "roles.rbac.authorization.k8s.io/shop/reader";
const BINDING: &str = "rolebindings.rbac.authorization.k8s.io/shop/anna";

#[tokio::test]
async fn what_is_written_holds_for_the_next_question_and_what_is_deleted_no_longer() {
    let store = Store::in_memory(Options::default()).unwrap();
    let rbac = Rbac::new(store.clone());
    let anna = user("anna");
    assert!(!reads_pods(&rbac, &anna, "shop"));
    let role =
        json!({ "rules": [{ "verbs": ["list"], "apiGroups": [""], "resources": ["pods"] }] });
    let binding = json!({
        "roleRef": { "kind": "Role", "name": "reader" },
        "subjects": [{ "kind": "User", "name": "anna" }],
    });
    write(&store, BINDING, &binding).await;
    assert!(!reads_pods(&rbac, &anna, "shop"));
    write(&store, ROLE, &role).await;
    assert!(reads_pods(&rbac, &anna, "shop"));
    assert!(!reads_pods(&rbac, &anna, "market"));
    assert!(!reads_pods(&rbac, &anna, ""));
    assert!(!reads_pods(&rbac, &user("tom"), "shop"));
    erase(&store, BINDING).await;
    assert!(!reads_pods(&rbac, &anna, "shop"));
}

#[tokio::test]
async fn who_rules_is_asked_no_role() {
    let rbac = Rbac::new(Store::in_memory(Options::default()).unwrap());
    assert!(reads_pods(&rbac, &User::admin(), ""));
}
