//! What becomes of what runs: read off the objects before and after, never guessed.

use quadrille_objects::{difference, identity::split_api_version};
use serde_json::Value;

/// Something that happens to what runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Its pods restart once.
    Restart {
        /// The object.
        object: String,
        /// What of its pods differs.
        fields: Vec<String>,
    },
    /// What it selects cannot change: it must be deleted first.
    Reselect {
        /// The object.
        object: String,
        /// Its namespace.
        namespace: String,
    },
    /// It goes, and another one comes.
    Gone {
        /// The object.
        object: String,
        /// Its namespace.
        namespace: String,
    },
}

/// Kinds that select pods and run them.
const RUN: [&str; 3] = ["Deployment", "StatefulSet", "CronJob"];

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    let found = object.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

fn identity(object: &Value) -> [&str; 4] {
    [
        split_api_version(text(object, "/apiVersion")).0,
        text(object, "/kind"),
        text(object, "/metadata/namespace"),
        text(object, "/metadata/name"),
    ]
}

/// What happens to what runs.
pub(super) fn effects(before: &[Value], after: &[Value]) -> Vec<Effect> {
    let mut effects = Vec::new();
    for old in before {
        let [_, kind, namespace, name] = identity(old);
        let object = format!("{kind} {name}");
        let new = after.iter().find(|new| identity(new) == identity(old));
        let Some(new) = new else {
            effects.push(Effect::Gone {
                object,
                namespace: namespace.to_owned(),
            });
            continue;
        };
        if !RUN.contains(&kind) {
            continue;
        }
        if kind != "CronJob" && old["spec"]["selector"] != new["spec"]["selector"] {
            effects.push(Effect::Reselect {
                object,
                namespace: namespace.to_owned(),
            });
            continue;
        }
        // Jobs that run already go on; the next ones are made anew in any case.
        if kind != "CronJob" && old["spec"]["template"] != new["spec"]["template"] {
            let changes = difference::changes(old, new).into_iter();
            let fields = changes
                .map(|change| change.path)
                .filter(|path| path.starts_with("spec.template"));
            effects.push(Effect::Restart {
                object,
                fields: fields.collect(),
            });
        }
    }
    effects
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment() -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": { "name": "cart", "namespace": "cell" },
            "spec": {
                "selector": { "matchLabels": { "a": "1" } },
                "template": {
                    "metadata": { "labels": { "a": "1" } },
                    "spec": { "containers": [{ "name": "main", "image": "i:1" }] },
                },
            },
        })
    }

    fn changed(path: &str, value: Value) -> Vec<Effect> {
        let mut after = deployment();
        *after.pointer_mut(path).unwrap() = value;
        effects(&[deployment()], &[after])
    }

    #[test]
    fn labels_of_the_object_itself_do_nothing() {
        let mut after = deployment();
        after["metadata"]["labels"] = json!({ "b": "2" });
        assert_eq!(effects(&[deployment()], &[after]), []);
    }

    #[test]
    fn another_pod_template_restarts_pods_and_names_the_field() {
        let path = "/spec/template/spec/containers/0/image";
        assert_eq!(
            changed(path, json!("i:2")),
            [Effect::Restart {
                object: "Deployment cart".to_owned(),
                fields: vec!["spec.template.spec.containers[main].image".to_owned()],
            }]
        );
        let label = changed(
            "/spec/template/metadata/labels",
            json!({ "a": "1", "b": "2" }),
        );
        assert!(matches!(&label[..], [Effect::Restart { .. }]), "{label:?}");
    }

    #[test]
    fn another_selector_needs_another_object() {
        let effects = changed("/spec/selector/matchLabels/a", json!("2"));
        assert!(
            matches!(&effects[..], [Effect::Reselect { .. }]),
            "{effects:?}"
        );
    }

    #[test]
    fn another_name_is_another_object() {
        for path in ["/metadata/name", "/metadata/namespace"] {
            let effects = changed(path, json!("other"));
            assert!(matches!(&effects[..], [Effect::Gone { .. }]), "{effects:?}");
        }
    }
}
