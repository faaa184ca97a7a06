//! `spec.replicas` when somebody else scales.
//!
//! An object that an autoscaler scales must be applied without `spec.replicas`, but only once the autoscaler
//! is seen to own the field: taking it out earlier makes the server fall back to one replica.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    identity::{GroupKind, Identity, split_api_version},
    live::Live,
    owned::ReplicasOwner,
};

/// What to do about `spec.replicas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replicas {
    /// Apply the object as it is written.
    AsWritten,
    /// Leave the field out: an autoscaler has it.
    LeftOut,
    /// The field was dropped, and the autoscaler that is to have it has not taken it yet: hold on to what is
    /// there.
    Held(i64),
}

/// Whether objects of a kind have `spec.replicas` that others may scale.
pub fn is_scalable(kind: &GroupKind) -> bool {
    &*kind.group == "apps" && matches!(&*kind.kind, "Deployment" | "StatefulSet" | "ReplicaSet")
}

/// What an object scales, if it is an autoscaler.
pub fn target(kind: &GroupKind, namespace: &str, object: &Value) -> Option<Identity> {
    let is_autoscaler =
        kind.is("autoscaling", "HorizontalPodAutoscaler") || kind.is("keda.sh", "ScaledObject");
    if !is_autoscaler {
        return None;
    }
    let reference = &object["spec"]["scaleTargetRef"];
    let name = reference["name"].as_str()?;
    let kind = reference["kind"].as_str().unwrap_or("Deployment");
    let (group, _) = split_api_version(reference["apiVersion"].as_str().unwrap_or("apps/v1"));
    Some(Identity::new(group, kind, namespace, name))
}

/// What to do about `spec.replicas` of an object that is there. `is_written` tells whether the field is asked
/// for, `has_autoscaler` whether an autoscaler for the object is known.
pub fn replicas(live: &Live, is_written: bool, has_autoscaler: bool) -> Replicas {
    match (&live.replicas_owner, live.replicas) {
        (Some(ReplicasOwner::Scaler(name)), _)
            if is_written && (has_autoscaler || !name.starts_with("kubectl")) =>
        {
            Replicas::LeftOut
        }
        (Some(ReplicasOwner::Ours), Some(count)) if !is_written && has_autoscaler => {
            Replicas::Held(count)
        }
        _ => Replicas::AsWritten,
    }
}

/// The text of an object with `spec.replicas` left out or set.
pub fn with_replicas(text: &str, replicas: &Replicas) -> Arc<str> {
    let Ok(mut object) = serde_json::from_str::<Value>(text) else {
        return text.into();
    };
    let Some(spec) = object["spec"].as_object_mut() else {
        return text.into();
    };
    match replicas {
        Replicas::AsWritten => return text.into(),
        Replicas::LeftOut => spec.remove("replicas"),
        Replicas::Held(count) => spec.insert("replicas".to_owned(), (*count).into()),
    };
    object.to_string().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn live(owner: ReplicasOwner) -> Live {
        Live {
            replicas_owner: Some(owner),
            replicas: Some(5),
            ..Live::default()
        }
    }

    #[test]
    fn an_autoscaler_keeps_what_it_scaled_and_a_person_does_not() {
        let autoscaler = live(ReplicasOwner::Scaler("kube-controller-manager".to_owned()));
        let person = live(ReplicasOwner::Scaler("kubectl".to_owned()));
        assert_eq!(replicas(&autoscaler, true, false), Replicas::LeftOut);
        assert_eq!(replicas(&person, true, false), Replicas::AsWritten);
        assert_eq!(replicas(&person, true, true), Replicas::LeftOut);
        assert_eq!(replicas(&autoscaler, false, true), Replicas::AsWritten);
    }

    #[test]
    fn a_dropped_field_is_held_until_the_autoscaler_has_it() {
        let ours = live(ReplicasOwner::Ours);
        assert_eq!(replicas(&ours, false, true), Replicas::Held(5));
        assert_eq!(replicas(&ours, false, false), Replicas::AsWritten);
        assert_eq!(replicas(&ours, true, true), Replicas::AsWritten);
    }

    #[test]
    fn texts_lose_or_gain_the_field() {
        let text = r#"{"spec":{"paused":true,"replicas":3}}"#;
        let out = with_replicas(text, &Replicas::LeftOut);
        assert_eq!(&*out, r#"{"spec":{"paused":true}}"#);
        assert_eq!(
            &*with_replicas(&out, &Replicas::Held(7)),
            r#"{"spec":{"paused":true,"replicas":7}}"#
        );
    }

    #[test]
    fn autoscalers_tell_what_they_scale() {
        let hpa = json!({"spec": {"scaleTargetRef": {
            "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db",
        }}});
        let kind = GroupKind::new("autoscaling", "HorizontalPodAutoscaler");
        assert_eq!(
            target(&kind, "shop", &hpa),
            Some(Identity::new("apps", "StatefulSet", "shop", "db"))
        );
        let keda = json!({"spec": {"scaleTargetRef": {"name": "cart"}}});
        let kind = GroupKind::new("keda.sh", "ScaledObject");
        assert_eq!(
            target(&kind, "shop", &keda),
            Some(Identity::new("apps", "Deployment", "shop", "cart"))
        );
        assert_eq!(target(&GroupKind::new("", "Service"), "shop", &keda), None);
    }
}
