//! What operators make and say, and what they leave alone.

use quadrille_planes::feed::News;
use serde_json::json;

use super::*;

const NOW: &str = "2026-01-01T00:00:00Z";
const LATER: &str = "2027-01-01T00:00:00Z";

fn world(objects: &[(Kind, Value)]) -> World {
    let mut world = World::default();
    for (kind, object) in objects {
        world.hear(*kind, News::Changed(object.clone().into()));
    }
    world
}

fn external_secret(change: impl FnOnce(&mut Value)) -> (Kind, Value) {
    let mut object = json!({
        "metadata": {
            "namespace": "shop", "name": "cart", "uid": "u1", "generation": 1,
            "labels": { "app": "cart" },
        },
        "spec": {
            "data": [{ "secretKey": "token" }, { "secretKey": "password" }],
            "target": { "name": "cart-secret", "creationPolicy": "Owner" },
        },
    });
    change(&mut object);
    (Kind::ExternalSecret, object)
}

fn class() -> (Kind, Value) {
    let object = json!({
        "metadata": { "namespace": "shop", "name": "vault", "uid": "u2", "generation": 1 },
        "spec": { "secretObjects": [
            { "secretName": "one", "type": "Opaque", "labels": { "app": "cart" },
              "data": [{ "objectName": "o", "key": "token" }] },
            { "secretName": "two", "type": "kubernetes.io/tls",
              "data": [{ "key": "tls.crt" }, { "key": "tls.key" }] },
        ]},
    });
    (Kind::SecretProviderClass, object)
}

/// The Secrets that are made.
fn made(steps: &[Step]) -> Vec<&Value> {
    let made = steps.iter().filter_map(|step| match step {
        Step::Make { secret, .. } => Some(secret),
        _ => None,
    });
    made.collect()
}

/// Does what is to be done, in the world only.
fn carry_out(world: &mut World, steps: Vec<Step>) {
    for step in steps {
        match step {
            Step::Make { secret, .. } | Step::Replace { secret, .. } => {
                world.hear(Kind::Secret, News::Changed(secret.into()));
            }
            Step::Report {
                kind,
                place,
                status,
            } => {
                let object = world.get(kind, &place.namespace, &place.name);
                let mut object = object.unwrap().clone();
                object["status"] = status;
                world.hear(kind, News::Changed(object.into()));
            }
        }
    }
}

/// What is said of the one `ExternalSecret`.
fn said(steps: &[Step]) -> String {
    let [Step::Report { status, .. }] = steps else {
        panic!("{steps:?}");
    };
    let ready = &status["conditions"][0];
    format!("{}/{}", ready["status"], ready["reason"]).replace('"', "")
}

#[test]
fn an_external_secret_gets_its_secret_then_its_word_and_then_rest() {
    let mut world = world(&[external_secret(|_| {})]);
    let steps = decide(&world, NOW);
    let [secret] = made(&steps)[..] else {
        panic!("{steps:?}");
    };
    assert_eq!(secret["metadata"]["namespace"], "shop");
    assert_eq!(secret["metadata"]["name"], "cart-secret");
    assert_eq!(secret["metadata"]["labels"], json!({ "app": "cart" }));
    assert_eq!(secret["type"], "Opaque");
    assert_eq!(
        secret["stringData"],
        json!({ "token": "simulated", "password": "simulated" })
    );
    let owner = &secret["metadata"]["ownerReferences"][0];
    assert_eq!(owner["apiVersion"], "external-secrets.io/v1");
    assert_eq!(owner["uid"], "u1");

    carry_out(&mut world, steps);
    let steps = decide(&world, NOW);
    assert_eq!(said(&steps), "True/SecretSynced");
    carry_out(&mut world, steps);
    assert_eq!(decide(&world, LATER), []);
}

#[test]
fn a_changed_external_secret_replaces_what_was_made_for_it() {
    let mut world = world(&[external_secret(|_| {})]);
    for _ in 0..2 {
        let steps = decide(&world, NOW);
        carry_out(&mut world, steps);
    }
    let (kind, object) = external_secret(|object| {
        object["metadata"]["generation"] = json!(2);
        object["spec"]["data"] = json!([{ "secretKey": "other" }]);
    });
    world.hear(kind, News::Changed(object.into()));
    let steps = decide(&world, NOW);
    let [Step::Replace { secret, .. }] = &steps[..] else {
        panic!("{steps:?}");
    };
    assert_eq!(secret["stringData"], json!({ "other": "simulated" }));
    carry_out(&mut world, steps);
    assert_eq!(said(&decide(&world, NOW)), "True/SecretSynced");
}

#[test]
fn a_template_says_type_labels_and_keys() {
    let world = world(&[external_secret(|object| {
        object["spec"]["target"]["template"] = json!({
            "type": "kubernetes.io/dockerconfigjson",
            "metadata": { "labels": { "from": "template" }, "annotations": { "a": "b" } },
            "data": { ".dockerconfigjson": "{{ .token }}" },
        });
    })]);
    let steps = decide(&world, NOW);
    let secret = made(&steps)[0];
    assert_eq!(secret["type"], "kubernetes.io/dockerconfigjson");
    assert_eq!(secret["metadata"]["labels"], json!({ "from": "template" }));
    assert_eq!(secret["metadata"]["annotations"]["a"], "b");
    assert_eq!(
        secret["stringData"],
        json!({ ".dockerconfigjson": r#"{"auths":{}}"# })
    );
}

#[test]
fn a_secret_that_somebody_else_made_stays_as_it_is() {
    let theirs = json!({ "metadata": { "namespace": "shop", "name": "cart-secret" } });
    let world = world(&[external_secret(|_| {}), (Kind::Secret, theirs)]);
    assert_eq!(said(&decide(&world, NOW)), "True/SecretSynced");
}

#[test]
fn of_two_that_ask_for_one_secret_the_first_has_it_for_good() {
    let second = external_secret(|object| {
        object["metadata"]["name"] = json!("later");
        object["metadata"]["uid"] = json!("u9");
        object["spec"]["data"] = json!([{ "secretKey": "other" }]);
    });
    let mut world = world(&[external_secret(|_| {}), second]);
    for _ in 0..2 {
        let steps = decide(&world, NOW);
        assert!(
            !steps
                .iter()
                .any(|step| matches!(step, Step::Replace { .. })),
            "{steps:?}"
        );
        assert!(made(&steps).len() < 2, "{steps:?}");
        carry_out(&mut world, steps);
    }
    assert_eq!(decide(&world, LATER), []);
}

#[test]
fn policies_say_whether_there_is_a_secret_and_whether_it_is_owned() {
    let with = |policy: &str| {
        let object = external_secret(|object| {
            object["spec"]["target"]["creationPolicy"] = json!(policy);
        });
        decide(&world(&[object]), NOW)
    };
    let orphan = with("Orphan");
    assert!(made(&orphan)[0]["metadata"]["ownerReferences"].is_null());
    for policy in ["Merge", "None"] {
        assert_eq!(said(&with(policy)), "True/SecretSynced");
    }
}

#[test]
fn nothing_is_made_for_what_is_on_its_way_out() {
    let leaving = external_secret(|object| {
        object["metadata"]["deletionTimestamp"] = json!(NOW);
    });
    assert_eq!(decide(&world(&[leaving]), NOW), []);
}

#[test]
fn what_the_api_refuses_is_told_once() {
    let mut world = world(&[external_secret(|_| {})]);
    let steps = decide(&world, NOW);
    let [Step::Make { asker, .. }] = &steps[..] else {
        panic!("{steps:?}");
    };
    let report = refused(&world, asker, NOW).unwrap();
    assert_eq!(
        said(std::slice::from_ref(&report)),
        "False/SecretSyncedError"
    );
    carry_out(&mut world, vec![report]);
    assert_eq!(refused(&world, asker, LATER), None);
}

fn refused(world: &World, asker: &(Kind, Place), now: &str) -> Option<Step> {
    external_secrets::refused(world, asker, "no", now)
}

#[test]
fn a_provider_class_gets_its_mirrors_and_then_rest() {
    let mut world = world(&[class()]);
    let steps = decide(&world, NOW);
    let secrets = made(&steps);
    assert_eq!(secrets.len(), 2);
    assert_eq!(secrets[0]["metadata"]["name"], "one");
    assert_eq!(secrets[0]["metadata"]["labels"], json!({ "app": "cart" }));
    assert_eq!(secrets[0]["stringData"], json!({ "token": "simulated" }));
    assert_eq!(secrets[1]["type"], "kubernetes.io/tls");
    let owner = &secrets[1]["metadata"]["ownerReferences"][0];
    assert_eq!(owner["kind"], "SecretProviderClass");
    carry_out(&mut world, steps);
    assert_eq!(decide(&world, LATER), []);
}

#[test]
fn what_keda_scales_is_ready_and_what_else_it_says_stays() {
    let object = json!({
        "metadata": { "namespace": "shop", "name": "cart" },
        "status": { "conditions": [
            { "type": "Active", "status": "False" }, { "type": "Ready", "status": "Unknown" },
        ]},
    });
    let mut world = world(&[(Kind::ScaledObject, object)]);
    let steps = decide(&world, NOW);
    let [Step::Report { status, .. }] = &steps[..] else {
        panic!("{steps:?}");
    };
    assert_eq!(status["conditions"][0]["type"], "Active");
    assert_eq!(status["conditions"][1]["reason"], "ScaledObjectReady");
    assert_eq!(status["conditions"][1]["status"], "True");
    carry_out(&mut world, steps);
    assert_eq!(decide(&world, LATER), []);
}
