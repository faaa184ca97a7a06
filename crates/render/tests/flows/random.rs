//! Any components, visibilities and dependencies: the flows are those that were declared.

use std::cell::Cell;

use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use quadrille_render::Renderer;

use crate::{
    declared::{Case, Endpoint, NOBODY, PLACES, PROJECTS, Part, TARGETS, VISIBILITIES, Who},
    world::{Party, Port, World},
};

fn cases() -> impl Strategy<Value = Case> {
    let kind = prop::sample::select(vec!["HTTP", "gRPC", "TCP", "UDP"]);
    let words = prop::sample::subsequence(vec!["namespace", "internal", "external"], 0..=3);
    let endpoint =
        (kind, prop::sample::select(&TARGETS[..]), words).prop_map(|(kind, target, visibility)| {
            // Gateways carry no bare ports: the shipped type would have no route for them.
            Endpoint {
                kind,
                target,
                visibility,
            }
        });
    let endpoints = prop::collection::vec(endpoint, 0..=3);
    let need = (0..6_usize, 0..3_usize, 0..VISIBILITIES.len());
    let transport = prop::sample::select(vec!["TCP", "UDP"]);
    let outside = (
        0..PLACES.len(),
        prop::sample::select(&TARGETS[..]),
        transport,
    );
    let part = (
        0..PROJECTS.len(),
        endpoints,
        prop::collection::vec(need, 0..=3),
        prop::collection::vec(outside, 0..=2),
    )
        .prop_map(|(project, endpoints, needs, outside)| Part {
            project,
            endpoints,
            needs,
            outside,
        });
    let parts = prop::collection::vec(part, 1..=5);
    (any::<bool>(), any::<[bool; 3]>(), parts).prop_map(|(is_cilium, enforced, parts)| Case {
        is_cilium,
        enforced,
        parts,
    })
}

#[test]
fn flows_are_those_that_were_declared() {
    let renderer = Renderer::new();
    let config = ProptestConfig::with_cases(150);
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let (allowed, denied) = (Cell::new(0), Cell::new(0));
    runner
        .run(&cases(), |case| {
            let world = World::render(&renderer, case.documents());
            let mut world = world.map_err(TestCaseError::fail)?;
            let system = [("openchoreo.dev/system-component", "gateway")];
            let dns = [("k8s-app", "kube-dns")];
            let mut everybody = vec![
                (Who::Gateway, world.stranger("gateways", &[], &system)),
                (Who::Names, world.stranger("kube-system", &[], &dns)),
            ];
            let parts = 0..case.parts.len();
            everybody
                .extend(parts.map(|at| (Who::Component(at), world.component(&format!("c{at}")))));
            for (at, (_, name, address)) in PLACES.into_iter().enumerate() {
                everybody.push((Who::Place(at), Party::outside(name, address)));
            }
            for (at, (name, address)) in NOBODY.into_iter().enumerate() {
                everybody.push((Who::Nobody(at), Party::outside(name, address)));
            }
            for (from, source) in &everybody {
                for (to, target) in &everybody {
                    for number in TARGETS.into_iter().chain([1000, 7777]) {
                        for transport in ["TCP", "UDP"] {
                            let port = Port { number, transport };
                            let declared = case.declares(*from, *to, port);
                            let found = world.allows(source, target, port);
                            prop_assert_eq!(found, declared, "{:?} to {:?} {:?}", from, to, port);
                            let count = if found { &allowed } else { &denied };
                            count.set(count.get() + 1);
                        }
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    // Both happened often, or nothing was tried.
    assert!(
        allowed.get() > 10_000 && denied.get() > 10_000,
        "{allowed:?} {denied:?}"
    );
}
