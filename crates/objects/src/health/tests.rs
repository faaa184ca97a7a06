//! Tests of verdicts on kinds with short rules, and what other tests share.

mod any_json;

use serde_json::{Value, json};

use super::{Health, Verdict, needs_status, of, of_kind};

/// An object from short YAML.
pub(super) fn read(yaml: &str) -> Value {
    serde_saphyr::from_str(yaml).unwrap()
}

/// A verdict in one line: health, reason and message.
pub(super) fn line(verdict: &Verdict) -> String {
    let parts = [
        Some(verdict.health.as_str()),
        verdict.reason.as_deref(),
        verdict.message.as_deref(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" | ")
}

/// Judges objects of one kind; each case is the rest of the object and what the verdict begins with.
pub(super) fn check(head: &str, cases: &[(&str, &str)]) {
    for (rest, expected) in cases {
        let yaml = format!("{head}\n{rest}");
        let said = line(&of(&read(&yaml)));
        assert!(said.starts_with(expected), "{yaml}\nsaid: {said}");
    }
}

#[test]
fn anything_that_is_being_deleted_progresses_until_a_deadline() {
    for head in [
        "{apiVersion: v1, kind: ConfigMap",
        "{apiVersion: apps/v1, kind: Deployment",
        "{apiVersion: example.com/v1, kind: Thing",
    ] {
        let going = "metadata: {deletionTimestamp: 2025-01-01T00:00:00Z, finalizers: [a/b]}";
        let verdict = of(&read(&format!("{head}, {going}}}")));
        assert_eq!(
            line(&verdict),
            "Progressing | Terminating | it is being deleted and waits for a/b"
        );
        assert!(verdict.deadline.is_some() && verdict.pods.is_none());
    }
}

#[test]
fn what_has_no_status_of_its_own_is_well_when_present() {
    for (version, kind) in [
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("v1", "ServiceAccount"),
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
        ("networking.k8s.io/v1", "NetworkPolicy"),
        // An address is not required: many controllers have none to tell.
        ("networking.k8s.io/v1", "Ingress"),
        ("storage.k8s.io/v1", "StorageClass"),
        ("secrets-store.csi.x-k8s.io/v1", "SecretProviderClass"),
        ("keda.sh/v1alpha1", "TriggerAuthentication"),
    ] {
        let object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}});
        assert_eq!(of(&object).health, Health::Healthy, "{kind}");
        let group = version.split_once('/').map_or("", |(group, _)| group);
        assert!(!needs_status(group, kind), "{kind}");
    }
}

#[test]
fn a_kind_is_known_by_its_group_too() {
    assert!(needs_status("apps", "Deployment"));
    assert!(needs_status("", "Service"));
    assert!(needs_status("example.com", "ConfigMap"));
    let other = json!({"apiVersion": "example.com/v1", "kind": "ConfigMap"});
    assert_eq!(of(&other).health, Health::Unknown);
    assert_eq!(of_kind("", "ConfigMap", &other).health, Health::Healthy);
}

#[test]
fn a_service_waits_only_for_the_address_of_a_load_balancer() {
    check(
        "apiVersion: v1\nkind: Service",
        &[
            ("spec: {type: ClusterIP, clusterIP: 10.0.0.1}", "Healthy"),
            ("spec: {clusterIP: None}", "Healthy"),
            (
                "spec: {type: ExternalName, externalName: a.example}",
                "Healthy",
            ),
            ("spec: {type: LoadBalancer}", "Progressing | NoAddress"),
            (
                "spec: {type: LoadBalancer}\nstatus: {loadBalancer: {ingress: [{ip: ''}]}}",
                "Progressing | NoAddress",
            ),
            (
                "spec: {type: LoadBalancer}\nstatus: {loadBalancer: {ingress: [{hostname: a.example}]}}",
                "Healthy",
            ),
        ],
    );
}

#[test]
fn a_claim_that_nobody_uses_yet_is_never_overdue() {
    let head = "apiVersion: v1\nkind: PersistentVolumeClaim";
    check(
        head,
        &[
            ("status: {phase: Bound}", "Healthy"),
            ("status: {phase: Lost}", "Degraded | ClaimLost"),
            (
                "status: {phase: Bound, conditions: [{type: NodeResizeError, status: 'True'}]}",
                "Degraded | ResizeFailed",
            ),
        ],
    );
    let waits = of(&read(&format!("{head}\nstatus: {{phase: Pending}}")));
    assert_eq!((waits.health, waits.deadline), (Health::Progressing, None));
    let made = of(&read(&format!(
        "{head}\nmetadata: {{annotations: {{volume.kubernetes.io/storage-provisioner: csi.example}}}}\n\
         status: {{phase: Pending}}"
    )));
    assert_eq!(
        line(&made),
        "Progressing | Provisioning | csi.example makes its volume"
    );
    assert!(made.deadline.is_some());
}

#[test]
fn an_autoscaler_at_its_limit_is_well_and_one_without_metrics_is_not() {
    let limited = "{type: AbleToScale, status: 'True'}, {type: ScalingActive, status: 'True'}, \
                   {type: ScalingLimited, status: 'True', reason: TooManyReplicas}";
    let off = "{type: ScalingActive, status: 'False', reason: ScalingDisabled}";
    let blind = "{type: ScalingActive, status: 'False', reason: FailedGetResourceMetric, message: no metrics}";
    let wrong = "{type: AbleToScale, status: 'False', reason: FailedUpdateScale, message: nope}";
    let with = |conditions: &str| format!("status: {{conditions: [{conditions}]}}");
    check(
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler",
        &[
            (&with(limited), "Healthy"),
            (&with(off), "Suspended | ScalingDisabled"),
            (
                &with(blind),
                "Progressing | FailedGetResourceMetric | no metrics",
            ),
            (&with(wrong), "Degraded | FailedUpdateScale | nope"),
            ("status: {}", "Progressing | NotObserved"),
            ("status: {currentReplicas: 2}", "Healthy"),
        ],
    );
}

#[test]
fn a_budget_that_allows_no_disruption_does_its_duty() {
    let seen = "metadata: {generation: 2}\nstatus: {observedGeneration: 2, conditions: [{type: DisruptionAllowed, status: 'False', reason: ";
    check(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget",
        &[
            (&format!("{seen}InsufficientPods}}]}}"), "Healthy"),
            (
                &format!("{seen}SyncFailed, message: no scale}}]}}"),
                "Degraded | SyncFailed | no scale",
            ),
            ("metadata: {generation: 1}", "Progressing | NotObserved"),
        ],
    );
}

#[test]
fn a_cilium_policy_is_well_until_somebody_says_otherwise() {
    check(
        "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy",
        &[
            ("spec: {}", "Healthy"),
            (
                "status: {conditions: [{type: Valid, status: 'True'}]}",
                "Healthy",
            ),
            (
                "status: {conditions: [{type: Valid, status: 'False', message: bad port}]}",
                "Degraded | Invalid | bad port",
            ),
            (
                "status: {nodes: {b: {error: second}, a: {ok: true}, c: {error: first}}}",
                "Degraded | NotEnforced | first",
            ),
        ],
    );
}

#[test]
fn an_external_secret_is_ready_or_failed() {
    let ready = |rest: &str| format!("status: {{conditions: [{{type: Ready, {rest}}}]}}");
    for kind in ["ExternalSecret", "SecretStore", "PushSecret"] {
        check(
            &format!("apiVersion: external-secrets.io/v1\nkind: {kind}"),
            &[
                ("spec: {}", "Progressing | NotObserved"),
                (&ready("status: 'True', reason: SecretSynced"), "Healthy"),
                (
                    &ready("status: 'False', reason: SecretSyncedError, message: no such key"),
                    "Degraded | SecretSyncedError | no such key",
                ),
            ],
        );
    }
}

#[test]
fn a_workflow_may_run_for_ever_but_has_to_start() {
    let head = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow";
    check(
        head,
        &[
            ("status: {phase: Succeeded}", "Healthy"),
            (
                "status: {phase: Failed, message: step 2}",
                "Degraded | Failed | step 2",
            ),
            (
                "spec: {suspend: true}\nstatus: {phase: Running}",
                "Suspended",
            ),
            (
                "status: {phase: Running, nodes: {a: {type: Suspend, phase: Running}}}",
                "Suspended",
            ),
            ("spec: {}", "Progressing | Pending"),
        ],
    );
    let runs = of(&read(&format!("{head}\nstatus: {{phase: Running}}")));
    assert_eq!((runs.health, runs.deadline), (Health::Progressing, None));
}

#[test]
fn a_definition_is_well_when_it_is_served_under_its_names() {
    let with = |conditions: &str| format!("status: {{conditions: [{conditions}]}}");
    let served = "{type: NamesAccepted, status: 'True'}, {type: Established, status: 'True'}";
    check(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition",
        &[
            ("spec: {}", "Progressing | NotObserved"),
            (&with(served), "Healthy"),
            (
                &with(&format!(
                    "{served}, {{type: NonStructuralSchema, status: 'True'}}"
                )),
                "Healthy",
            ),
            (
                &with("{type: Established, status: 'False', reason: Installing}"),
                "Progressing | Installing",
            ),
            (
                &with("{type: NamesAccepted, status: 'False', reason: PluralConflict}"),
                "Degraded | PluralConflict",
            ),
        ],
    );
    check(
        "apiVersion: apiregistration.k8s.io/v1\nkind: APIService",
        &[
            (&with("{type: Available, status: 'True'}"), "Healthy"),
            (
                &with("{type: Available, status: 'False', reason: MissingEndpoints}"),
                "Progressing | MissingEndpoints",
            ),
        ],
    );
    check(
        "apiVersion: v1\nkind: Namespace",
        &[
            ("status: {phase: Active}", "Healthy"),
            ("status: {phase: Terminating}", "Progressing | Terminating"),
            ("spec: {}", "Progressing | NotObserved"),
        ],
    );
}

#[test]
fn a_certificate_that_could_not_be_issued_is_in_trouble() {
    let with = |conditions: &str| format!("status: {{conditions: [{conditions}]}}");
    check(
        "apiVersion: cert-manager.io/v1\nkind: Certificate",
        &[
            (&with("{type: Ready, status: 'True'}"), "Healthy"),
            (
                &with(
                    "{type: Ready, status: 'False', reason: DoesNotExist}, {type: Issuing, status: 'True'}",
                ),
                "Progressing | DoesNotExist",
            ),
            (
                &with(
                    "{type: Ready, status: 'False', reason: DoesNotExist}, {type: Issuing, status: 'False', reason: Failed, message: no issuer}",
                ),
                "Degraded | Failed | no issuer",
            ),
        ],
    );
}
