//! What to do when a field that may not change was changed: per kind, and never at the cost of data.

use quadrille_objects::{GroupKind, stage::holds_data};
use quadrille_planes::Trouble;
use serde_json::Value;

/// What to do about an immutable field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Immutable {
    /// Delete the object and make it anew.
    Replace,
    /// Leave it, and say why.
    Refuse(String),
}

/// On an object: lets it be replaced although that interrupts what it does.
const ALLOW_REPLACE: &str = quadrille_types::annotations::ALLOW_REPLACE;

/// What to do about an answer, if it is about an immutable field.
pub fn immutable(kind: &GroupKind, object: &Value, trouble: &Trouble) -> Option<Immutable> {
    let Trouble::Invalid(status) = trouble else {
        return None;
    };
    let is_about_it = status.message.contains("immutable")
        || status
            .message
            .contains("updates to statefulset spec for fields other than")
        || status.message.contains("cannot change roleRef")
        || (kind.is("", "Pod") && status.message.contains("pod updates may not change fields"));
    if !is_about_it {
        return None;
    }
    if holds_data(kind) {
        return Some(Immutable::Refuse(format!(
            "a field that cannot change was changed, and replacing a {} could lose data: undo the change, or \
             delete the object yourself ({})",
            kind.kind,
            trouble.message()
        )));
    }
    // Nothing is lost: they hold no data, and nothing that runs stops for long.
    let is_harmless = matches!(
        (&*kind.group, &*kind.kind),
        ("batch", "Job")
            | ("", "Pod" | "ConfigMap" | "Secret")
            | (
                "rbac.authorization.k8s.io",
                "RoleBinding" | "ClusterRoleBinding"
            )
            | ("storage.k8s.io", "StorageClass")
            | ("scheduling.k8s.io", "PriorityClass")
    );
    let is_allowed = object["metadata"]["annotations"][ALLOW_REPLACE] == "true";
    Some(if is_harmless || is_allowed {
        Immutable::Replace
    } else {
        Immutable::Refuse(format!(
            "a field that cannot change was changed: undo it, or let the {} be replaced, which interrupts it, with \
             the annotation {ALLOW_REPLACE}: \"true\" on the object ({})",
            kind.kind,
            trouble.message()
        ))
    })
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use serde_json::json;

    use super::*;

    fn answer(message: &str) -> Trouble {
        Status::failure(message, "Invalid").with_code(422).into()
    }

    #[test]
    fn jobs_are_replaced_data_is_kept_and_the_rest_needs_a_word() {
        let immutable_answer = answer("spec.template: Invalid value: field is immutable");
        let ask = |group: &str, kind: &str, object: &Value| {
            immutable(&GroupKind::new(group, kind), object, &immutable_answer)
        };
        let plain = json!({"metadata": {"name": "x"}});
        let allowed = json!({"metadata": {"annotations": {ALLOW_REPLACE: "true"}}});
        assert_eq!(ask("batch", "Job", &plain), Some(Immutable::Replace));
        assert_eq!(
            ask("apps", "Deployment", &allowed),
            Some(Immutable::Replace)
        );
        for (kind, object, words) in [
            ("Deployment", &plain, ALLOW_REPLACE),
            ("StatefulSet", &allowed, "could lose data"),
        ] {
            let Some(Immutable::Refuse(said)) = ask("apps", kind, object) else {
                panic!("{kind} is refused");
            };
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn other_answers_are_not_about_it() {
        let kind = GroupKind::new("batch", "Job");
        let invalid = answer("spec.template.spec.containers: Required value");
        assert_eq!(immutable(&kind, &json!({}), &invalid), None);
        let late = Trouble::Unreachable("gone".to_owned());
        assert_eq!(immutable(&kind, &json!({}), &late), None);
    }
}
