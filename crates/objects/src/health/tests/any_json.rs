//! What holds for any JSON at all.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::health::{Health, Pod, of, steady_from, with_pods};

/// Names and words that rules look at, so that random objects reach deep into them.
const KEYS: [&str; 40] = [
    "metadata",
    "spec",
    "status",
    "conditions",
    "type",
    "reason",
    "message",
    "generation",
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "availableReplicas",
    "selector",
    "matchLabels",
    "matchExpressions",
    "key",
    "operator",
    "values",
    "labels",
    "ownerReferences",
    "controller",
    "name",
    "uid",
    "creationTimestamp",
    "phase",
    "containerStatuses",
    "state",
    "lastState",
    "waiting",
    "running",
    "terminated",
    "exitCode",
    "restartCount",
    "ready",
    "parentRefs",
    "parents",
    "listeners",
    "progressDeadlineSeconds",
    "startedAt",
    "finishedAt",
];
const WORDS: [&str; 14] = [
    "True",
    "False",
    "Ready",
    "Failed",
    "Pending",
    "Running",
    "In",
    "CrashLoopBackOff",
    "ErrImagePull",
    "Unschedulable",
    "2025-01-01T00:00:00Z",
    "pods \"",
    "1 ä, 2 ",
    "",
];
const KINDS: [(&str, &str); 18] = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "ReplicaSet"),
    ("v1", "Pod"),
    ("v1", "Service"),
    ("v1", "PersistentVolumeClaim"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("policy/v1", "PodDisruptionBudget"),
    ("gateway.networking.k8s.io/v1", "Gateway"),
    ("gateway.networking.k8s.io/v1", "HTTPRoute"),
    ("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy"),
    ("cilium.io/v2", "CiliumNetworkPolicy"),
    ("cert-manager.io/v1", "Certificate"),
    ("argoproj.io/v1alpha1", "Workflow"),
    ("example.com/v1", "Thing"),
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-2i64..4).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(&WORDS[..]).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 96, 8, |inner| {
        let key = proptest::sample::select(&KEYS[..]).prop_map(str::to_owned);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key, inner, 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Value> {
    let kind = proptest::sample::select(&KINDS[..]);
    (kind, any_json(), any_json(), any_json()).prop_map(
        |((version, kind), metadata, spec, status)| {
            let fixed = json!({"matchLabels": {"app": "a"}});
            let mut object = json!({
                "apiVersion": version, "kind": kind,
                "metadata": metadata, "spec": spec, "status": status,
            });
            // Half of the workloads can be judged by pods.
            if let Some(spec) = object["spec"].as_object_mut() {
                spec.entry("selector").or_insert(fixed);
            }
            object
        },
    )
}

proptest! {
    #[test]
    fn any_json_has_a_verdict_and_always_the_same(
        object in prop_oneof![any_json(), any_object()],
        pods in proptest::collection::vec(any_json(), 0..4),
    ) {
        let read = || pods.iter().map(Pod::read).collect::<Vec<_>>();
        let verdict = of(&object);
        prop_assert_eq!(&verdict, &of(&object.clone()));
        let judged = with_pods(&object, &read());
        prop_assert_eq!(&judged, &with_pods(&object.clone(), &read()));
        prop_assert_eq!(steady_from(&object, &read()), steady_from(&object, &read()));
        for verdict in [verdict, judged] {
            let length = verdict.message.as_deref().map_or(0, |line| line.chars().count());
            prop_assert!(length <= 300);
            prop_assert!(!verdict.message.is_some_and(|line| line.contains('\n')));
            prop_assert!(verdict.deadline.is_none() || verdict.health == Health::Progressing);
        }
    }
}
