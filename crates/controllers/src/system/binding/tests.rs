//! What becomes of a binding, and what is said of it.

use quadrille_types::{ScheduledTaskBinding, ServiceBinding};
use serde_json::Value;

use super::{
    super::known::{object, put, rest, service_binding, world},
    *,
};

fn key(name: &str) -> Key {
    Key::new("acme", name)
}

fn problem(world: &Inner, name: &str) -> (Reason, String) {
    let seen = around::<ServiceBinding>(world, &key(name)).unwrap();
    match render(&seen) {
        Ok(_) => panic!("nothing is wrong with {name}"),
        Err(problem) => problem,
    }
}

fn rendered(world: &Inner, name: &str) -> Outcome {
    let seen = around::<ServiceBinding>(world, &key(name)).unwrap();
    render(&seen).unwrap_or_else(|(_, words)| panic!("{words}"))
}

fn bound(world: &mut Inner, name: &str, second: u8, spec: &Value) {
    let object = object("ServiceBinding", name, second, spec);
    put(&mut world.system.service_bindings, &object);
}

#[test]
fn whatever_is_missing_has_its_reason_and_its_field() {
    let mut world = world();
    let mut spec = service_binding("cart", "development");
    spec["apis"] = json!({ "api": rest("/v1") });
    spec["apis"]["api"]["className"] = json!("guarded");
    bound(&mut world, "cart", 1, &spec);
    let (reason, words) = problem(&world, "cart");
    assert_eq!(reason, Reason::APIClassNotFound);
    assert!(words.starts_with("spec.apis.api.className: "), "{words}");
    spec["className"] = json!("large");
    bound(&mut world, "cart", 1, &spec);
    assert_eq!(problem(&world, "cart").0, Reason::ServiceClassNotFound);
    spec["environment"] = json!("attic");
    bound(&mut world, "cart", 1, &spec);
    assert_eq!(problem(&world, "cart").0, Reason::EnvironmentNotFound);
    spec["owner"]["projectName"] = json!("nowhere");
    bound(&mut world, "cart", 1, &spec);
    assert_eq!(problem(&world, "cart").0, Reason::ProjectNotFound);
    let task = object(
        "ScheduledTaskBinding",
        "report",
        1,
        &service_binding("report", "development"),
    );
    put(&mut world.system.scheduled_task_bindings, &task);
    let seen = around::<ScheduledTaskBinding>(&world, &key("report")).unwrap();
    let missing = render(&seen).map_err(|(reason, _)| reason);
    assert_eq!(missing.err(), Some(Reason::ScheduledTaskClassNotFound));
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let mut world = world();
    let mut spec = service_binding("cart", "development");
    spec["workloadSpec"]["containers"]["main"]["env"] = json!([
        { "key": "A", "valueFrom": { "configurationGroupRef": { "name": "none", "key": "a" } } },
        { "key": "B", "valueFrom": { "secretRef": { "name": "nobody", "key": "b" } } },
    ]);
    bound(&mut world, "cart", 1, &spec);
    let (reason, words) = problem(&world, "cart");
    assert_eq!(reason, Reason::InvalidConfiguration);
    assert!(
        words.contains("none") && words.contains("nobody"),
        "{words}"
    );
}

#[test]
fn the_second_binding_of_a_component_in_an_environment_waits_for_the_first() {
    let mut world = world();
    let mut first = service_binding("cart", "development");
    bound(&mut world, "z", 1, &first);
    bound(&mut world, "a", 2, &service_binding("cart", "development"));
    bound(&mut world, "next", 3, &service_binding("cart", "staging"));
    rendered(&world, "z");
    rendered(&world, "next");
    let (reason, words) = problem(&world, "a");
    assert_eq!(reason, Reason::InvalidConfiguration);
    assert!(words.contains("ServiceBinding z"), "{words}");
    first["releaseState"] = json!("Undeploy");
    bound(&mut world, "z", 1, &first);
    rendered(&world, "a");
}

#[test]
fn what_it_calls_is_looked_for_in_its_own_environment() {
    let mut world = world();
    let mut spec = service_binding("cart", "development");
    spec["workloadSpec"]["connections"] = json!({ "stock": {
        "type": "api", "params": { "componentName": "stock", "endpoint": "api" },
        "inject": { "env": [{ "name": "STOCK", "value": "{{ .url }}" }] },
    } });
    bound(&mut world, "cart", 1, &spec);
    bound(
        &mut world,
        "stock-staging",
        1,
        &service_binding("stock", "staging"),
    );
    let waits = pending(&rendered(&world, "cart").plan.pending_connections);
    let waits = waits.unwrap_or_default();
    assert!(
        waits.starts_with("waits for endpoint api of shop/stock: "),
        "{waits}"
    );
    bound(
        &mut world,
        "stock",
        1,
        &service_binding("stock", "development"),
    );
    assert_eq!(
        pending(&rendered(&world, "cart").plan.pending_connections),
        None
    );
}

#[test]
fn a_copy_in_the_next_environment_is_the_same_version() {
    let content = |spec: &Value| {
        let object = object("ServiceBinding", "x", 1, spec);
        let binding: ServiceBinding = serde_json::from_value(object).unwrap();
        version(&binding)
    };
    let here = service_binding("cart", "development");
    let mut there = service_binding("cart", "staging");
    assert_eq!(content(&here), content(&there));
    there["releaseState"] = json!("Suspend");
    assert_eq!(content(&here), content(&there));
    there["workloadSpec"]["containers"]["main"]["image"] = json!("cart:2");
    assert_ne!(content(&here), content(&there));
}

#[test]
fn what_is_said_depends_on_what_is_asked_for() {
    use ReleaseState::{Active, Suspend};
    let doing = |holds, reason| Doing {
        holds,
        reason,
        words: "Deployment x: why".to_owned(),
    };
    let cases = [
        (
            Active,
            Holds::True,
            Reason::Ready,
            Holds::True,
            Reason::ResourcesActive,
        ),
        // B20: what was stopped by others is not in trouble.
        (
            Active,
            Holds::True,
            Reason::ReadyWithSuspendedResources,
            Holds::True,
            Reason::ResourcesActive,
        ),
        (
            Active,
            Holds::False,
            Reason::ResourcesDegraded,
            Holds::False,
            Reason::ResourceHealthDegraded,
        ),
        (
            Active,
            Holds::False,
            Reason::ResourceApplyFailed,
            Holds::False,
            Reason::ResourceHealthDegraded,
        ),
        // B19: nothing in the plane yet is not ready.
        (
            Active,
            Holds::False,
            Reason::ResourcesProgressing,
            Holds::False,
            Reason::ResourceHealthProgressing,
        ),
        (
            Active,
            Holds::Unknown,
            Reason::ResourcesUnknown,
            Holds::Unknown,
            Reason::ResourceHealthProgressing,
        ),
        (
            Suspend,
            Holds::True,
            Reason::ReadyWithSuspendedResources,
            Holds::False,
            Reason::ResourcesSuspended,
        ),
        (
            Suspend,
            Holds::True,
            Reason::CronJobSuspended,
            Holds::False,
            Reason::ResourcesSuspended,
        ),
        (
            Suspend,
            Holds::True,
            Reason::Ready,
            Holds::False,
            Reason::ResourceHealthProgressing,
        ),
    ];
    for (state, holds, reason, expected, said_as) in cases {
        let said = said(state, &doing(holds, reason), 3);
        assert_eq!((said.0, said.1), (expected, said_as), "{state:?} {reason}");
    }
    let well = said(Active, &doing(Holds::True, Reason::Ready), 3).2;
    assert_eq!(well, "All 3 resources are deployed and healthy");
    let words = said(Active, &doing(Holds::False, Reason::ResourcesDegraded), 3).2;
    assert_eq!(words, "Deployment x: why");
}
