//! What happens to a release: where it begins, and where it must end.

use serde_json::{Value, json};

/// A story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Story {
    /// A release is made.
    Create,
    /// Some objects change, some are no longer asked for, one is new.
    Shrink,
    /// Objects get another name or namespace; their ids stay.
    Move,
    /// The release is deleted.
    Delete,
}

/// Objects with their ids.
pub(crate) type Objects = Vec<(&'static str, Value)>;

impl Story {
    /// What the release asks for at first; nothing where it does not exist yet.
    pub(crate) fn before(self) -> Option<Objects> {
        (self != Self::Create).then(whole)
    }

    /// What it asks for in the end; nothing where it is deleted. `elsewhere` is another namespace.
    pub(crate) fn after(self, elsewhere: &str) -> Option<Objects> {
        match self {
            Self::Create => Some(whole()),
            Self::Delete => None,
            Self::Shrink => {
                let mut objects = whole();
                objects.retain(|(id, _)| !matches!(*id, "second" | "account"));
                change(&mut objects, "first", "/data/value", json!("2"));
                let image = "/spec/template/spec/containers/0/image";
                change(&mut objects, "web", image, json!("example.com/app:2"));
                objects.push(("third", config("third")));
                Some(objects)
            }
            Self::Move => {
                let mut objects = whole();
                change(&mut objects, "first", "/metadata/name", json!("moved"));
                change(
                    &mut objects,
                    "service",
                    "/metadata",
                    json!({ "name": "web", "namespace": elsewhere }),
                );
                Some(objects)
            }
        }
    }
}

fn change(objects: &mut Objects, id: &str, path: &str, value: Value) {
    let object = objects.iter_mut().find(|(known, _)| *known == id);
    *object.unwrap().1.pointer_mut(path).unwrap() = value;
}

fn whole() -> Objects {
    vec![
        ("web", workload("web", 1)),
        ("service", service("web")),
        ("first", config("first")),
        ("second", config("second")),
        ("account", account("web")),
        ("policy", policy("web")),
    ]
}

/// Objects of somebody else, one of each kind.
pub(crate) fn foreign() -> Vec<Value> {
    let name = "bystander";
    vec![
        policy(name),
        config(name),
        service(name),
        account(name),
        workload(name, 0),
    ]
}

pub(crate) fn config(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": name }, "data": { "value": "1" },
    })
}

fn account(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": name } })
}

fn service(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": name },
        "spec": { "selector": { "app": name }, "ports": [{ "port": 80 }] },
    })
}

fn policy(name: &str) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": { "name": name },
        "spec": { "podSelector": { "matchLabels": { "app": name } }, "policyTypes": ["Ingress"] },
    })
}

fn workload(name: &str, replicas: i32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{ "name": "main", "image": "example.com/app:1" }] },
            },
        },
    })
}
