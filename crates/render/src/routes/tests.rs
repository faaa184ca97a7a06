//! Readiness, and what a gateway's own network policy lets through.

use quadrille_types::release::TargetPlane;
use serde_json::{Value, json};

use super::*;

fn route(status: &Value) -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
        "metadata": { "name": "cart", "namespace": "cell", "generation": 2 },
        "spec": { "parentRefs": [{ "name": "gateway-external", "namespace": "openchoreo-data-plane" }] },
        "status": status,
    })
}

fn told(accepted: &str, resolved: &str, generation: i64) -> Value {
    let condition = |kind: &str, status: &str, reason: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": "because",
            "observedGeneration": generation, "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    json!({ "parents": [{
        "parentRef": { "name": "gateway-external", "namespace": "openchoreo-data-plane" },
        "controllerName": "gateway.envoyproxy.io/gatewayclass-controller",
        "conditions": [
            condition("Accepted", accepted, if accepted == "True" { "Accepted" } else { "NoMatchingParent" }),
            condition("ResolvedRefs", resolved, if resolved == "True" { "ResolvedRefs" } else { "BackendNotFound" }),
        ],
    }] })
}

fn judged(status: &Value) -> Readiness {
    let live = route(status);
    let planned = [Planned {
        id: "httproute-cart".to_owned(),
        plane: TargetPlane::Data,
        object: live.clone(),
    }];
    readiness(&planned, |_| Some(&live))
}

#[test]
fn a_route_without_a_status_is_not_ready() {
    for status in [json!(null), json!({}), json!({ "parents": [] })] {
        assert!(
            matches!(judged(&status), Readiness::Waiting { .. }),
            "{status}"
        );
    }
}

#[test]
fn a_route_is_ready_once_its_gateway_has_accepted_it_and_found_all_it_refers_to() {
    assert_eq!(judged(&told("True", "True", 2)), Readiness::Ready);
}

#[test]
fn what_was_said_of_an_older_route_does_not_count() {
    assert!(matches!(
        judged(&told("True", "True", 1)),
        Readiness::Waiting { .. }
    ));
}

#[test]
fn a_route_that_is_refused_says_by_which_word() {
    for (accepted, resolved, word) in [
        ("False", "True", "NoMatchingParent"),
        ("True", "False", "BackendNotFound"),
    ] {
        match judged(&told(accepted, resolved, 2)) {
            Readiness::Refused { reason, message } => {
                assert_eq!(reason, word);
                assert!(message.contains("HTTPRoute cart"), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_object_that_is_not_there_is_waited_for() {
    let planned = [Planned {
        id: "httproute-cart".to_owned(),
        plane: TargetPlane::Data,
        object: route(&json!({})),
    }];
    let outcome = readiness(&planned, |_| None);
    assert!(matches!(outcome, Readiness::Waiting { reason, .. } if reason == "NotApplied"));
    assert_eq!(readiness(&[], |_| None), Readiness::Ready);
}

#[test]
fn an_address_leaves_out_the_port_that_its_scheme_implies() {
    let address = |scheme, port| Address {
        audience: Audience::Public,
        scheme,
        host: "h".to_owned(),
        port,
        path: "/p".to_owned(),
    };
    assert_eq!(address("https", 443).url(), "https://h/p");
    assert_eq!(address("https", 8443).url(), "https://h:8443/p");
    assert_eq!(address("tcp", 443).url(), "tcp://h:443/p");
}
