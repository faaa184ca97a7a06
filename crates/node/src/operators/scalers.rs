//! What KEDA says of what it scales: that it is ready to. Nobody measures anything, and nothing is scaled.

use serde_json::{Value, json};

use super::{
    Step,
    kinds::{Kind, World},
};
use crate::{
    read::{list, text},
    world::Kinds as _,
};

/// Statuses that do not say so.
pub(super) fn decide(world: &World) -> Vec<Step> {
    let kinds = [Kind::ScaledObject, Kind::ScaledJob].into_iter();
    let all = kinds.flat_map(|kind| {
        world
            .all(kind)
            .map(move |(place, object)| (kind, place, object))
    });
    all.filter_map(|(kind, place, object)| {
        let before = list(&object["status"]["conditions"]);
        let is_ready = |condition: &&Value| text(&condition["type"]) == "Ready";
        let ready = json!({
            "type": "Ready",
            "status": "True",
            "reason": format!("{}Ready", kind.name()),
            "message": format!("{} is ready for scaling, simulated", kind.name()),
        });
        if before.iter().find(is_ready) == Some(&ready) {
            return None;
        }
        let others = before
            .iter()
            .filter(|condition| !is_ready(condition))
            .cloned();
        let conditions: Vec<Value> = others.chain([ready]).collect();
        Some(Step::Report {
            kind,
            place: place.clone(),
            status: json!({ "conditions": conditions }),
        })
    })
    .collect()
}
