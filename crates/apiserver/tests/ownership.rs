//! Ownership of fields, replayed from what a real server answered.
//!
//! Each file in `cases/ownership` is one object's life: what was written, what was stored, and who owned what
//! afterwards. Times are numbered by their first occurrence. A step's `written` is the object as it was when
//! the server looked at ownership, where something changed it later (an allocated address, a uid).

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

mod ownership {
    pub(crate) mod case;
    pub(crate) mod created;
    pub(crate) mod schema;
}

use ownership::case::Case;

fn replay(name: &str) {
    let path = format!(
        "{}/tests/cases/ownership/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap();
    let case: Case = serde_json::from_str(&text).unwrap();
    case.replay();
}

#[test]
fn a_config_map_changes_hands_by_updates_and_applies() {
    replay("config-map");
}

#[test]
fn a_deployment_keeps_containers_ports_and_variables_apart() {
    replay("deployment");
}

#[test]
fn ports_of_a_service_are_known_by_number_and_protocol() {
    replay("service");
}

#[test]
fn a_custom_resource_merges_as_its_schema_says() {
    replay("thing");
}

#[test]
fn kubectl_moves_from_client_side_to_server_side_apply() {
    replay("client-side-apply");
}

#[test]
fn the_oldest_of_many_updaters_are_merged() {
    replay("many-updaters");
}

#[test]
fn creators_of_built_in_kinds_own_what_a_real_server_says() {
    ownership::created::compare_all(include_str!("cases/ownership/created-kinds.json"));
}
