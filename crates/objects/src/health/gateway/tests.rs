//! Tests of the Gateway API's kinds.

use crate::health::tests::check;

const ROUTE: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n\
     metadata: {namespace: shop, generation: 2}";
const GATEWAY: &str =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {generation: 2}";

fn conditions(list: &[(&str, &str, &str)]) -> String {
    let entry = |(kind, truth, reason): &(&str, &str, &str)| {
        format!(
            "{{type: {kind}, status: '{truth}', reason: {reason}, message: so, observedGeneration: 2}}"
        )
    };
    let entries = list.iter().map(entry).collect::<Vec<_>>().join(", ");
    format!("conditions: [{entries}]")
}

fn route(told: &[(&str, &str, &str)]) -> String {
    let parent =
        "parentRef: {name: edge, namespace: shop, kind: Gateway, group: gateway.networking.k8s.io}";
    format!(
        "spec: {{parentRefs: [{{name: edge}}]}}\nstatus: {{parents: [{{{parent}, {}}}]}}",
        conditions(told)
    )
}

#[test]
fn a_route_is_well_when_each_parent_has_accepted_it() {
    let fine = [
        ("Accepted", "True", "Accepted"),
        ("ResolvedRefs", "True", "ResolvedRefs"),
    ];
    let lost = [
        ("Accepted", "True", "Accepted"),
        ("ResolvedRefs", "False", "BackendNotFound"),
    ];
    let refused = [("Accepted", "False", "NotAllowedByListeners")];
    let pending = [("Accepted", "False", "Pending")];
    check(
        ROUTE,
        &[
            (&route(&fine), "Healthy"),
            (
                &route(&lost),
                "Degraded | BackendNotFound | parent edge: so",
            ),
            (&route(&refused), "Degraded | NotAllowedByListeners"),
            (&route(&pending), "Progressing | Pending"),
            (&route(&fine[..1]), "Progressing | NotObserved"),
            (
                &route(&fine).replace("observedGeneration: 2", "observedGeneration: 1"),
                "Progressing | NotObserved",
            ),
            (
                "spec: {parentRefs: [{name: edge}]}",
                "Progressing | NotAccepted | parent edge: its",
            ),
            // One of two parents has not answered, and a section is another parent.
            (
                &route(&fine).replace("[{name: edge}]", "[{name: edge}, {name: inner}]"),
                "Progressing | NotAccepted | parent inner: its",
            ),
            (
                &route(&fine).replace("[{name: edge}]", "[{name: edge, sectionName: web}]"),
                "Progressing | NotAccepted",
            ),
            ("spec: {}", "Unknown | NoParents"),
        ],
    );
}

#[test]
fn a_gateway_is_well_when_it_is_in_force_and_its_listeners_are_valid() {
    let fine = conditions(&[
        ("Accepted", "True", "Accepted"),
        ("Programmed", "True", "Programmed"),
    ]);
    let waits = conditions(&[
        ("Accepted", "True", "Accepted"),
        ("Programmed", "False", "AddressNotAssigned"),
    ]);
    let wrong = conditions(&[("Accepted", "False", "Invalid")]);
    let listener = conditions(&[("ResolvedRefs", "False", "InvalidCertificateRef")]);
    check(
        GATEWAY,
        &[
            (&format!("status: {{{fine}}}"), "Healthy"),
            (
                &format!("status: {{{waits}}}"),
                "Progressing | AddressNotAssigned",
            ),
            (&format!("status: {{{wrong}}}"), "Degraded | Invalid"),
            (
                &format!("status: {{{fine}, listeners: [{{name: https, {listener}}}]}}"),
                "Degraded | InvalidCertificateRef | listener https: so",
            ),
            ("spec: {}", "Progressing | NotObserved"),
        ],
    );
}

#[test]
fn a_policy_is_well_when_each_ancestor_has_accepted_it() {
    let told = |list: &[(&str, &str, &str)]| {
        format!(
            "status: {{ancestors: [{{ancestorRef: {{name: edge}}, {}}}]}}",
            conditions(list)
        )
    };
    check(
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {generation: 2}",
        &[
            ("spec: {}", "Progressing | NotAccepted"),
            (&told(&[("Accepted", "True", "Accepted")]), "Healthy"),
            (
                &told(&[
                    ("Accepted", "True", "Accepted"),
                    ("Overridden", "True", "Overridden"),
                ]),
                "Healthy",
            ),
            (
                &told(&[("Accepted", "False", "Invalid")]),
                "Degraded | Invalid | ancestor edge: so",
            ),
            (
                &told(&[
                    ("Accepted", "True", "Accepted"),
                    ("Programmed", "False", "Invalid"),
                ]),
                "Degraded | Invalid",
            ),
        ],
    );
}
