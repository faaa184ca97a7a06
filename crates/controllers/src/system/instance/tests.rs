//! What becomes of an instance, and what is said of it.

use quadrille_types::{Service, ServiceBinding};
use serde_json::json;

use super::{
    super::known::{object, put, world},
    *,
};

fn service() -> Value {
    object(
        "Service",
        "cart",
        1,
        &json!({
            "owner": { "projectName": "shop", "componentName": "cart" },
            "workloadName": "cart", "className": "default",
        }),
    )
}

fn workload(image: &str) -> Value {
    object(
        "Workload",
        "cart",
        1,
        &json!({
            "owner": { "projectName": "shop", "componentName": "cart" },
            "containers": { "main": { "image": image } },
        }),
    )
}

fn key() -> Key {
    Key::new("acme", "cart")
}

fn look(world: &Inner) -> (Wish<ServiceBinding>, Said) {
    let seen = around::<Service>(world, &key()).unwrap();
    decide(&seen)
}

/// A world with the service and its workload.
fn deployed() -> Inner {
    let mut world = world();
    put(&mut world.system.services, &service());
    put(&mut world.chain.workloads, &workload("cart:1"));
    world
}

/// The binding that was made, as the server has it.
fn made(world: &Inner) -> Value {
    let (wish, _) = look(world);
    let Wish::Make(binding) = wish else {
        panic!("no binding is made: {wish:?}");
    };
    let mut object = json!(binding);
    object["metadata"]["uid"] = json!("b");
    object["metadata"]["resourceVersion"] = json!("5");
    object["metadata"]["generation"] = json!(1);
    object
}

#[test]
fn it_is_bound_to_where_the_pipeline_begins_and_owns_its_binding() {
    let binding = made(&deployed());
    assert_eq!(binding["spec"]["environment"], "development");
    let owner = &binding["metadata"]["ownerReferences"][0];
    assert_eq!(owner["uid"], "uid-of-cart");
    assert_eq!(
        (&owner["kind"], &owner["controller"]),
        (&json!("Service"), &json!(true))
    );
    let labels = &binding["metadata"]["labels"];
    assert_eq!(labels["openchoreo.dev/component"], "cart");
}

#[test]
fn whatever_is_missing_is_said_and_nothing_is_made() {
    let mut world = world();
    put(&mut world.system.services, &service());
    let reason = |world: &Inner| {
        let (wish, (holds, reason, _)) = look(world);
        assert_eq!((wish, holds), (Wish::Nothing, Holds::False));
        reason
    };
    assert_eq!(reason(&world), Reason::WorkloadNotFound);
    put(&mut world.chain.workloads, &workload("cart:1"));
    let elsewhere = json!({ "deploymentPipelineRef": "other" });
    put(
        &mut world.shelves.projects,
        &object("Project", "shop", 0, &elsewhere),
    );
    assert_eq!(reason(&world), Reason::DeploymentPipelineNotFound);
    let mut nowhere = service();
    nowhere["spec"]["owner"]["projectName"] = json!("attic");
    put(&mut world.system.services, &nowhere);
    assert_eq!(reason(&world), Reason::ProjectNotFound);
}

#[test]
fn another_workload_changes_its_binding_and_whether_it_runs_stays_the_bindings_own() {
    let mut world = deployed();
    let mut binding = made(&world);
    binding["spec"]["releaseState"] = json!("Suspend");
    put(&mut world.system.service_bindings, &binding);
    assert_eq!(look(&world).0, Wish::Nothing);
    put(&mut world.chain.workloads, &workload("cart:2"));
    let (wish, (holds, _, words)) = look(&world);
    let Wish::Change(patch) = wish else {
        panic!("{wish:?}");
    };
    assert_eq!(
        patch["spec"],
        json!({ "workloadSpec": { "containers": { "main": { "image": "cart:2" } } } })
    );
    assert_eq!(patch["metadata"]["resourceVersion"], "5");
    assert_eq!(holds, Holds::False);
    assert_eq!(words, "ServiceBinding cart is being changed");
}

#[test]
fn a_binding_of_its_name_that_somebody_else_made_is_left_alone() {
    let mut world = deployed();
    let mut binding = made(&world);
    binding["metadata"]["ownerReferences"] = json!([]);
    put(&mut world.system.service_bindings, &binding);
    let (wish, (_, reason, words)) = look(&world);
    assert_eq!((wish, reason), (Wish::Nothing, Reason::OwnershipConflict));
    assert!(words.contains("ServiceBinding cart"), "{words}");
}

#[test]
fn it_is_doing_as_its_binding_is_once_that_was_looked_at() {
    let mut world = deployed();
    let mut binding = made(&world);
    let condition = |generation: i64| {
        json!({ "conditions": [{
            "type": "Ready", "status": "True", "reason": "ResourcesActive", "message": "well",
            "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": generation,
        }] })
    };
    binding["status"] = condition(0);
    put(&mut world.system.service_bindings, &binding);
    assert_eq!(look(&world).1.0, Holds::False);
    binding["status"] = condition(1);
    put(&mut world.system.service_bindings, &binding);
    let said = look(&world).1;
    assert_eq!(
        said,
        (Holds::True, Reason::ResourcesActive, "well".to_owned())
    );
}

#[test]
fn what_runs_stays_where_it_is_when_the_pipeline_begins_elsewhere() {
    let mut world = deployed();
    let mut binding = made(&world);
    binding["status"] = json!({ "conditions": [{
        "type": "Ready", "status": "True", "reason": "ResourcesActive", "message": "well",
        "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1,
    }] });
    put(&mut world.system.service_bindings, &binding);
    let path = json!({ "promotionPaths": [
        { "sourceEnvironmentRef": "staging", "targetEnvironmentRefs": [{ "name": "development" }] },
    ] });
    put(
        &mut world.shelves.pipelines,
        &object("DeploymentPipeline", "default", 0, &path),
    );
    let (wish, (holds, _, words)) = look(&world);
    assert_eq!((wish, holds), (Wish::Nothing, Holds::True));
    assert!(words.contains("it stays in development"), "{words}");
}
