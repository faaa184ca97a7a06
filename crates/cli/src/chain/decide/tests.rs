//! What is decided before anything is written.

use serde_json::json;

use super::{
    super::scene::tests::{binding, condition, pipeline, ready, scene},
    *,
};

fn refused<T: std::fmt::Debug>(decided: Result<T, Failure>) -> String {
    decided.unwrap_err().to_string()
}

#[test]
fn what_is_ready_before_an_environment_is_promoted_to_it() {
    let scene = scene(vec![
        ready("development", "cart-2"),
        ready("staging", "cart-1"),
    ]);
    let staging = to_promote(&scene, &"staging".into(), None).unwrap();
    assert_eq!(
        (staging.release.as_str(), staging.from.as_str()),
        ("cart-2", "development")
    );
    let production = to_promote(&scene, &"production".into(), None).unwrap();
    assert_eq!(production.release, "cart-1");
}

#[test]
fn what_is_not_ready_is_not_promoted_and_the_reason_is_told() {
    let failing = json!({ "currentRelease": "cart-1", "conditions": [
        condition("Ready", "False", "ResourcesDegraded", "ImagePullBackOff")] });
    let scene = scene(vec![binding("development", "cart-1", &failing)]);
    let said = refused(to_promote(&scene, &"staging".into(), None));
    assert!(
        said.contains("development: cart-1 is Degraded: ImagePullBackOff"),
        "{said}"
    );
    let said = refused(to_promote(&scene, &"production".into(), None));
    assert!(said.contains("staging: nothing runs there"), "{said}");
    assert!(said.contains("quad promote cart --to staging"), "{said}");
    let said = refused(to_promote(&scene, &"development".into(), None));
    assert!(said.contains("quad deploy cart"), "{said}");
}

#[test]
fn order_is_a_remark_unless_the_pipeline_is_strict() {
    let mut scene = scene(vec![ready("development", "cart-2")]);
    let asked = to_promote(&scene, &"production".into(), Some("cart-2")).unwrap();
    assert_eq!(
        asked.remark.as_deref(),
        Some("cart-2 has not been Ready in staging")
    );
    scene.pipeline = pipeline("Strict");
    let said = refused(to_promote(&scene, &"production".into(), Some("cart-2")));
    assert!(said.contains("the pipeline is strict"), "{said}");
    assert!(to_promote(&scene, &"staging".into(), Some("cart-2")).is_ok());
    assert_eq!(
        to_deploy(&scene, &"development".into(), "cart-9").unwrap(),
        None
    );
    assert!(to_deploy(&scene, &"staging".into(), "cart-9").is_err());
}

#[test]
fn several_ways_with_several_releases_are_a_question() {
    let mut scene = scene(vec![ready("east", "cart-1"), ready("west", "cart-2")]);
    let spec = json!({ "promotionPaths": [
        { "sourceEnvironmentRef": "east", "targetEnvironmentRefs": [{ "name": "live" }] },
        { "sourceEnvironmentRef": "west", "targetEnvironmentRefs": [{ "name": "live" }] },
    ] });
    let spec: quadrille_types::DeploymentPipelineSpec = serde_json::from_value(spec).unwrap();
    scene.pipeline = spec.resolve().unwrap();
    let said = refused(to_promote(&scene, &"live".into(), None));
    assert!(
        said.contains("cart-1 from east\n    cart-2 from west"),
        "{said}"
    );
    scene.bindings[1] = ready("west", "cart-1");
    assert_eq!(
        to_promote(&scene, &"live".into(), None).unwrap().release,
        "cart-1"
    );
}

#[test]
fn a_rollback_goes_to_the_last_other_release_that_was_ready_and_is_kept() {
    let ran = |release: &str, was_ready: bool| {
        let ready_at = was_ready.then_some("2026-11-16T06:00:00Z");
        json!({ "releaseName": release, "since": "2026-11-16T05:00:00Z", "readyAt": ready_at })
    };
    let status = json!({ "currentRelease": "cart-4", "history": [
        ran("cart-4", true), ran("cart-3", false), ran("cart-2", true), ran("cart-1", true)] });
    let binding = binding("staging", "cart-4", &status);
    let scene = scene(vec![]);
    let kept = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let all = kept(&["cart-4", "cart-3", "cart-2", "cart-1"]);
    assert_eq!(to_go_back(&scene, &binding, &all).unwrap(), "cart-2");
    let fewer = kept(&["cart-4", "cart-1"]);
    assert_eq!(to_go_back(&scene, &binding, &fewer).unwrap(), "cart-1");
    let said = refused(to_go_back(&scene, &binding, &kept(&["cart-4"])));
    assert!(said.contains("no longer kept: cart-2 or cart-1"), "{said}");
    let fresh = ready("staging", "cart-4");
    assert!(refused(to_go_back(&scene, &fresh, &all)).contains("nothing to go back to"));
}

#[test]
fn what_was_asked_for_and_not_let_in_is_taken_back_by_a_rollback() {
    let mut waiting = ready("production", "cart-1");
    waiting.spec.release_name = Some("cart-2".to_owned());
    let kept = ["cart-1".to_owned(), "cart-2".to_owned()].into();
    assert_eq!(
        to_go_back(&scene(vec![]), &waiting, &kept).unwrap(),
        "cart-1"
    );
}

#[test]
fn only_what_waits_is_judged() {
    let waiting = json!({ "currentRelease": "cart-1", "conditions": [
        condition("Admitted", "False", "ApprovalRequired", "")] });
    let waiting = binding("production", "cart-2", &waiting);
    let around = scene(vec![waiting.clone()]);
    assert_eq!(to_judge(&around, &waiting).unwrap(), "cart-2");
    let runs = ready("production", "cart-1");
    let said = refused(to_judge(&scene(vec![runs.clone()]), &runs));
    assert!(said.contains("cart-1 runs there, and is Ready"), "{said}");
    // One of each track of a component of an older kind.
    let mut other = waiting.clone();
    other.spec.release_name = Some("cart-3".to_owned());
    let said = refused(to_judge(&scene(vec![waiting.clone(), other]), &waiting));
    assert!(said.contains("cart-2") && said.contains("cart-3"), "{said}");
}
