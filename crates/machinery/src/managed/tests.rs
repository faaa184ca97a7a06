//! Tests of ownership.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::schema::Schema;
use crate::typed::test_schema::thing;
use crate::typed::tests::any_spec;

const VERSION: &str = "example.com/v1";

/// A cluster with one object.
struct World {
    schema: Schema,
    live: Option<Value>,
    second: u32,
}

impl World {
    fn new() -> Self {
        Self {
            schema: thing(),
            live: None,
            second: 0,
        }
    }

    fn with<Out>(
        &mut self,
        manager: &str,
        sub: &str,
        run: impl FnOnce(Option<&Value>, &Write<'_>) -> Out,
    ) -> Out {
        self.second += 1;
        let now = format!(
            "2026-01-01T00:{:02}:{:02}Z",
            self.second / 60,
            self.second % 60
        );
        let versions = OneSchema {
            api_version: VERSION,
            schema: self.schema.root(),
        };
        let reset = match sub {
            "" => Resets::custom(VERSION, true),
            _ => Resets::custom_status([VERSION]),
        };
        let blank = blank_custom(VERSION, "Thing");
        let write = Write {
            manager,
            api_version: VERSION,
            kind: "Thing",
            subresource: sub,
            now: &now,
            versions: &versions,
            reset: &reset,
            blank: &blank,
        };
        run(self.live.as_ref(), &write)
    }

    fn store(&mut self, mut object: Value) {
        object["metadata"]["uid"] = json!("u");
        if let Some(live) = &self.live {
            keep_times(live, &mut object);
        }
        self.live = Some(object);
    }

    fn update(&mut self, manager: &str, spec: &Value) -> &mut Self {
        let mut new = object(spec);
        new["metadata"]["uid"] = json!("u");
        let object = self.with(manager, "", |live, write| update(live, new, write));
        self.store(object);
        self
    }

    fn apply(&mut self, manager: &str, spec: &Value, force: bool) -> Result<bool, ApplyError> {
        let config = object(spec);
        let applied = self.with(manager, "", |live, write| {
            apply(live, &config, write, force)
        })?;
        self.store(applied.object);
        Ok(applied.changed)
    }

    fn spec(&self) -> &Value {
        &self.live.as_ref().unwrap()["spec"]
    }

    fn entries(&self) -> Vec<Value> {
        let live = self.live.as_ref().unwrap();
        live.pointer("/metadata/managedFields")
            .map_or(Vec::new(), |entries| entries.as_array().unwrap().clone())
    }

    /// `manager: fields` of every entry.
    fn owners(&self) -> Vec<String> {
        let entries = self.entries();
        let entries = entries.iter();
        entries
            .map(|entry| {
                format!(
                    "{}: {}",
                    entry["manager"].as_str().unwrap(),
                    entry["fieldsV1"]
                )
            })
            .collect()
    }
}

fn object(spec: &Value) -> Value {
    json!({ "apiVersion": VERSION, "kind": "Thing", "metadata": { "name": "n" }, "spec": spec })
}

#[test]
fn a_creator_owns_what_it_wrote() {
    let mut world = World::new();
    world.update("a", &json!({ "size": 1, "labels": { "x": "1" } }));
    assert_eq!(
        world.owners(),
        [r#"a: {"f:spec":{".":{},"f:labels":{".":{},"f:x":{}},"f:size":{}}}"#]
    );
}

#[test]
fn an_update_takes_only_what_it_changes() {
    let mut world = World::new();
    world.update("a", &json!({ "size": 1, "tags": ["x"] }));
    world.update("b", &json!({ "size": 2, "tags": ["x"] }));
    assert_eq!(
        world.owners(),
        [
            r#"a: {"f:spec":{".":{},"f:tags":{".":{},"v:\"x\"":{}}}}"#,
            r#"b: {"f:spec":{"f:size":{}}}"#
        ]
    );
}

#[test]
fn a_write_that_changes_nothing_leaves_the_times() {
    let mut world = World::new();
    world.apply("a", &json!({ "size": 1 }), false).unwrap();
    let before = world.live.clone();
    assert!(!world.apply("a", &json!({ "size": 1 }), false).unwrap());
    world.update("b", &json!({ "size": 1 }));
    assert_eq!(world.live, before);
}

#[test]
fn a_conflict_names_owner_and_field() {
    let mut world = World::new();
    world.update("a", &json!({ "size": 1, "labels": { "x": "1" } }));
    let one = world.apply("b", &json!({ "size": 2 }), false).unwrap_err();
    assert_eq!(
        one.status().to_value(),
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 409,
            "reason": "Conflict",
            "message": "Apply failed with 1 conflict: conflict with \"a\" using example.com/v1: .spec.size",
            "details": { "causes": [{
                "reason": "FieldManagerConflict",
                "message": "conflict with \"a\" using example.com/v1",
                "field": ".spec.size",
            }] },
        })
    );
    let two = world
        .apply("b", &json!({ "size": 2, "labels": { "x": "2" } }), false)
        .unwrap_err();
    assert_eq!(
        two.to_string(),
        "Apply failed with 2 conflicts: conflicts with \"a\" using example.com/v1:\n- .spec.size\n- .spec.labels.x"
    );
}

#[test]
fn who_agrees_becomes_a_co_owner_without_a_time() {
    let mut world = World::new();
    world.apply("a", &json!({ "size": 1 }), false).unwrap();
    assert!(!world.apply("b", &json!({ "size": 1 }), false).unwrap());
    let entries = world.entries();
    assert_eq!(entries[0]["manager"], "b");
    assert_eq!(entries[0].get("time"), None);
    // Only when both have let go is the field gone.
    world.apply("a", &json!({}), false).unwrap();
    assert_eq!(world.spec(), &json!({ "size": 1 }));
    world.apply("b", &json!({}), false).unwrap();
    assert_eq!(world.spec().get("size"), None);
}

#[test]
fn fields_that_others_updated_survive_their_applier() {
    let mut world = World::new();
    world
        .apply("a", &json!({ "labels": { "x": "1", "y": "1" } }), false)
        .unwrap();
    world.update("b", &json!({ "labels": { "x": "1", "y": "2" } }));
    world.apply("a", &json!({}), false).unwrap();
    assert_eq!(world.spec(), &json!({ "labels": { "y": "2" } }));
}

#[test]
fn an_empty_list_of_managers_forgets_them_all() {
    for reset in [json!([]), json!([{}])] {
        let mut world = World::new();
        world.update("a", &json!({ "size": 1 }));
        let mut new = world.live.clone().unwrap();
        new["metadata"]["managedFields"] = reset;
        let object = world.with("b", "", |live, write| update(live, new, write));
        assert_eq!(object.pointer("/metadata/managedFields"), None);
        world.store(object);
        world.update("b", &json!({ "size": 2 }));
        assert_eq!(world.owners(), [""; 0]);
        world.apply("c", &json!({ "size": 2 }), false).unwrap();
        assert_eq!(
            world.owners(),
            [
                r#"c: {"f:spec":{"f:size":{}}}"#,
                r#"before-first-apply: {"f:spec":{".":{},"f:size":{}}}"#
            ]
        );
    }
}

#[test]
fn what_cannot_be_read_of_managers_counts_as_left_out() {
    let mut world = World::new();
    world.update("a", &json!({ "size": 1 }));
    let before = world.entries();
    let mut new = world.live.clone().unwrap();
    new["metadata"]["managedFields"] = json!([{ "manager": "x", "operation": "Bad" }]);
    let object = world.with("b", "", |live, write| update(live, new, write));
    world.store(object);
    assert_eq!(world.entries(), before);
}

#[test]
fn an_object_that_does_not_fit_its_schema_is_stored_untracked() {
    let mut world = World::new();
    world.update("a", &json!({ "size": "one" }));
    assert_eq!(world.owners(), [""; 0]);
}

#[test]
fn the_status_endpoint_owns_nothing_but_status() {
    let mut world = World::new();
    world.update("a", &json!({ "size": 1 }));
    let mut new = world.live.clone().unwrap();
    new["spec"]["size"] = json!(2);
    new["status"] = json!({ "phase": "Up" });
    let object = world.with("c", "status", |live, write| update(live, new, write));
    world.store(object);
    let entries = world.entries();
    assert_eq!(entries[1]["subresource"], "status");
    assert_eq!(
        entries[1]["fieldsV1"],
        json!({ "f:status": { ".": {}, "f:phase": {} } })
    );
    assert_eq!(
        entries[0]["fieldsV1"],
        json!({ "f:spec": { ".": {}, "f:size": {} } })
    );
}

#[test]
fn owners_in_a_version_that_is_gone_own_nothing() {
    let mut world = World::new();
    world.update("a", &json!({ "size": 1 }));
    let live = world.live.as_mut().unwrap();
    live["metadata"]["managedFields"][0]["apiVersion"] = json!("example.com/v0");
    world.apply("b", &json!({ "size": 2 }), false).unwrap();
    assert_eq!(world.owners(), [r#"b: {"f:spec":{"f:size":{}}}"#]);
}

#[test]
fn a_wrong_request_is_refused_in_the_server_s_words() {
    let mut world = World::new();
    let mut refused = |config: Value| {
        let error = world.with("a", "", |live, write| apply(live, &config, write, false));
        let status = error.unwrap_err().status();
        (status.code, status.message)
    };
    let wrong_kind = json!({ "apiVersion": VERSION, "kind": "Other" });
    let invalid = "invalid object type: example.com/v1, Kind=Other".to_owned();
    assert_eq!(refused(wrong_kind), (400, invalid));
    let mut owned = object(&json!({}));
    owned["metadata"]["managedFields"] = json!([{ "manager": "me" }]);
    assert_eq!(
        refused(owned),
        (400, "metadata.managedFields must be nil".to_owned())
    );
    let unknown = object(&json!({ "bogus": 1 }));
    let message = "failed to create typed patch object (/n; example.com/v1, Kind=Thing): .spec.bogus: field \
                   not declared in schema";
    assert_eq!(refused(unknown), (500, message.to_owned()));
}

#[test]
fn a_scale_takes_replicas_from_their_owner() {
    let path = crate::fieldset::Path::of_fields(["spec", "replicas"]);
    let replicas = [("apps/v1".to_owned(), Some(path))].into();
    let entry = |manager: &str, version: &str, sub: &str, fields: Value| {
        let mut entry = json!({
            "manager": manager, "operation": "Update", "apiVersion": version,
            "fieldsType": "FieldsV1", "fieldsV1": fields,
        });
        if !sub.is_empty() {
            entry["subresource"] = json!(sub);
        }
        entry
    };
    let mut parent = entry(
        "a",
        "apps/v1",
        "",
        json!({ "f:spec": { "f:paused": {}, "f:replicas": {} } }),
    );
    parent["time"] = json!("2026-01-01T00:00:00Z");
    let parent = vec![parent];
    let scale = scale_to_subresource(&parent, &replicas).unwrap();
    assert_eq!(scale[0]["apiVersion"], "autoscaling/v1");
    let taken = [entry(
        "b",
        "autoscaling/v1",
        "scale",
        json!({ "f:spec": { "f:replicas": {} } }),
    )];
    let after = scale_to_parent(&parent, &taken, "apps/v1", &replicas).unwrap();
    assert_eq!(
        after[0]["fieldsV1"],
        json!({ "f:spec": { "f:replicas": {} } })
    );
    assert_eq!(
        (&after[0]["manager"], after[0].get("time")),
        (&json!("b"), None)
    );
    assert_eq!(
        after[1]["fieldsV1"],
        json!({ "f:spec": { "f:paused": {} } })
    );
}

#[test]
fn a_scale_that_keeps_the_replicas_splits_their_owner_as_a_real_server_does() {
    let path = crate::fieldset::Path::of_fields(["spec", "replicas"]);
    let replicas = [("apps/v1".to_owned(), Some(path))].into();
    let parent = [json!({
        "manager": "a", "operation": "Update", "apiVersion": "apps/v1", "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": { "f:spec": { "f:paused": {}, "f:replicas": {} } },
    })];
    let scale = scale_to_subresource(&parent, &replicas).unwrap();
    let after = scale_to_parent(&parent, &scale, "apps/v1", &replicas).unwrap();
    let fields: Vec<_> = after.iter().map(|entry| &entry["fieldsV1"]).collect();
    assert_eq!(
        fields,
        [
            &json!({ "f:spec": { "f:replicas": {} } }),
            &json!({ "f:spec": { "f:paused": {} } })
        ]
    );
    assert_eq!(after[0].get("time"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn applying_again_changes_nothing(
        writes in prop::collection::vec((0..3_u8, any::<bool>(), any_spec()), 1..8)
    ) {
        let mut world = World::new();
        for (manager, by_apply, spec) in writes {
            let manager = ["a", "b", "c"][usize::from(manager)];
            if !by_apply {
                world.update(manager, &spec);
                continue;
            }
            world.apply(manager, &spec, true).unwrap();
            let before = world.live.clone();
            // Whoever takes back all that he said leaves a null, which no server stores.
            if before.as_ref().is_some_and(|live| live["spec"].is_null()) {
                return Ok(());
            }
            prop_assert!(!world.apply(manager, &spec, false).unwrap());
            prop_assert_eq!(&world.live, &before);
            let entries = world.entries();
            let managed = decode(&entries).unwrap();
            prop_assert_eq!(encode(&managed), entries);
        }
    }
}
